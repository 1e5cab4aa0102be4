//! Every option is in the tables: whoever adds one to an engine has to vary it there, and without that this does not
//! compile.

use preempt_campaign::chance::{SwarmEntry, WalkEntry, swarm_table, walk_table};
use preempt_campaign::{liveness, safety, sequential, stateless};
use preempt_core::{Cost, Limits};
use preempt_explicit::{Figure, Order, Published, Reduction, SearchOptions, Storage, SuccessorSource, Walks};
use preempt_model::kinds;
use preempt_stateless::{BoundFunction, ExplorationLimits, Strategy};
use std::collections::BTreeSet;

kinds!(ORDERS, order_kind, Order, {
    Order::ByCost => "by cost",
    Order::DepthFirst => "depth first",
    Order::Published(Published { figure: Figure::NaiveBounded, .. }) => "figure 2",
    Order::Published(Published { figure: Figure::ContextBounded, .. }) => "figure 3",
    Order::Published(Published { figure: Figure::WithReduction, .. }) => "figure 5",
    Order::Random(_) => "random",
});
kinds!(STORES, store_kind, Storage, {
    Storage::Exact => "exact",
    Storage::Compact { .. } => "compact",
    Storage::Bitstate { .. } => "bitstate",
});
kinds!(COSTS, cost_kind, Cost, {
    Cost::Preemptions => "preemptions",
    Cost::Switches => "switches",
    Cost::Steps => "steps",
});
kinds!(REDUCTIONS, reduction_kind, Reduction, {
    Reduction::None => "no reduction",
    Reduction::Exact => "exact reduction",
    Reduction::Strong => "strong reduction",
});
kinds!(SOURCES, source_kind, SuccessorSource, {
    SuccessorSource::Native => "native",
    SuccessorSource::Interpreted => "interpreted",
});

/// The names of all values, each of which some entry has.
fn assert_all(all: impl IntoIterator<Item = String>, met: &BTreeSet<String>) {
    let all: BTreeSet<String> = all.into_iter().collect();
    assert_eq!(all.difference(met).collect::<Vec<_>>(), [""; 0], "never varied");
}

fn both(flags: &[&str]) -> Vec<String> {
    flags.iter().flat_map(|flag| [format!("{flag} true"), format!("{flag} false")]).collect()
}

fn bounds() -> Vec<String> {
    [None, Some(0), Some(1), Some(2), Some(3)].map(|bound: Option<u32>| format!("bound {bound:?}")).to_vec()
}

fn names(lists: &[&[&str]]) -> Vec<String> {
    lists.concat().into_iter().map(str::to_string).collect()
}

#[test]
fn of_the_explicit_engine() {
    let mut met = BTreeSet::new();
    let safety = safety::table().into_iter().map(|entry| entry.options);
    for options in safety.chain(liveness::table().into_iter().map(|entry| entry.options)) {
        let SearchOptions {
            order,
            store,
            cost,
            bound,
            cheaper_than,
            fair_switch,
            reduction,
            simplify,
            symmetry,
            limits,
            // Where its states are: the search on disk is compared in the engine's own tests.
            scratch: _,
            memory_on_disk: _,
            successors,
            levels,
            in_order_first,
            gives_up,
            threads,
            stutter_invariant,
        } = options;
        let Limits { states, depth, time: _, memory_bytes: _ } = limits;
        met.extend([order_kind(&order), store_kind(&store), cost_kind(&cost)].map(str::to_string));
        met.extend([reduction_kind(&reduction), source_kind(&successors)].map(str::to_string));
        met.extend([
            format!("bound {bound:?}"),
            format!("fair switch {fair_switch}"),
            format!("limited cost {}", cheaper_than.is_some()),
            format!("simplify {simplify}"),
            format!("symmetry {symmetry}"),
            format!("limited states {}", states.is_some()),
            format!("limited depth {}", depth.is_some()),
            format!("stutter invariant {stutter_invariant}"),
            format!("levels {levels}"),
            format!("in order first {}", in_order_first > 0),
            format!("gives up {gives_up}"),
            format!("several threads {}", threads > 1),
        ]);
    }
    let flags = [
        "fair switch",
        "limited cost",
        "simplify",
        "symmetry",
        "limited states",
        "limited depth",
        "stutter invariant",
        "levels",
        "in order first",
        "gives up",
        "several threads",
    ];
    let lists = names(&[ORDERS, STORES, COSTS, REDUCTIONS, SOURCES]);
    assert_all([lists, both(&flags), bounds()].concat(), &met);
    let methods: BTreeSet<String> =
        liveness::table().iter().map(|entry| format!("{:?} {}", entry.method, entry.weakly_fair)).collect();
    assert_eq!(methods.len(), 6, "every method, fair and not: {methods:?}");
}

#[test]
fn of_the_symbolic_engine() {
    let symbolic: BTreeSet<String> = sequential::table()
        .iter()
        .map(|options| {
            let preempt_symbolic::SymbolicOptions {
                contexts,
                method,
                instances,
                order,
                shared,
                table: _,
                limits: _,
            } = options;
            format!("{contexts:?} {method:?} {instances} {order:?} {shared:?}")
        })
        .collect();
    assert_eq!(symbolic.len(), 24, "{symbolic:?}");
}

#[test]
fn of_explicit_rounds() {
    let rounds: BTreeSet<String> = sequential::rounds_table()
        .iter()
        .map(|options| {
            let preempt_rounds::RoundsOptions { contexts, instances, symmetry, caps, limits: _ } = options;
            format!("{contexts:?} {instances} {symmetry} {caps:?}")
        })
        .collect();
    assert_eq!(rounds.len(), 32, "{rounds:?}");
}

#[test]
fn of_random_walks() {
    let mut met = BTreeSet::new();
    for entry in walk_table() {
        // What is a preemption, is not theirs to say: there is no fair switch.
        let WalkEntry { walks, bound, limits } = entry;
        let Walks { seed: _, most } = walks;
        // Nothing is stored, so there is hardly any memory to be limited.
        let Limits { states, depth, time, memory_bytes: _ } = limits;
        assert!(depth.is_some(), "a walk may go round for ever");
        met.extend([
            format!("bound {bound:?}"),
            format!("limited walks {}", most.is_some()),
            format!("limited states {}", states.is_some()),
            format!("limited time {}", time.is_some()),
        ]);
    }
    let flags = ["limited walks", "limited states", "limited time"];
    assert_all([both(&flags), bounds()].concat(), &met);
}

#[test]
fn of_swarms() {
    let mut met = BTreeSet::new();
    for entry in swarm_table() {
        let SwarmEntry { options, seed: _, threads } = entry;
        // Order, store, reduction and what a run may cost are each search's own.
        let SearchOptions {
            order: _,
            store: _,
            cost: _,
            bound,
            cheaper_than: _,
            fair_switch: _,
            reduction: _,
            simplify: _,
            symmetry: _,
            limits,
            scratch: _,
            memory_on_disk: _,
            successors,
            levels: _,
            in_order_first: _,
            gives_up: _,
            threads: _,
            stutter_invariant: _,
        } = options;
        let Limits { states, depth, time, memory_bytes } = limits;
        assert!(time.is_some() && memory_bytes.is_some(), "a swarm uses all that it is given");
        met.extend([
            source_kind(&successors).to_string(),
            format!("bound {bound:?}"),
            format!("limited states {}", states.is_some()),
            format!("limited depth {}", depth.is_some()),
            format!("several threads {}", threads > 1),
        ]);
    }
    let flags = ["limited states", "limited depth", "several threads"];
    assert_all([names(&[SOURCES]), both(&flags), bounds()].concat(), &met);
}

kinds!(STRATEGIES, strategy_kind, Strategy, {
    Strategy::Marking => "marking",
    Strategy::Basic => "basic",
    Strategy::Bpor => "bpor",
    Strategy::BporBy(BoundFunction::Preemptions) => "bpor by preemptions",
    Strategy::BporBy(BoundFunction::ContextSwitches) => "bpor by context switches",
    Strategy::BporBy(BoundFunction::Delays) => "bpor by delays",
    Strategy::BporBy(BoundFunction::Depth) => "bpor by depth",
    Strategy::Dpor => "dpor",
    Strategy::CbDfs => "cb-dfs",
    Strategy::RoundRobin => "round-robin",
    Strategy::Random(_) => "random",
    Strategy::Pct { .. } => "pct",
});

#[test]
fn of_the_stateless_engine() {
    let mut met = BTreeSet::new();
    for entry in stateless::table() {
        let stateless::Entry { strategy, limits, threads, promise: _ } = entry;
        let ExplorationLimits {
            preemptions,
            fair,
            steps,
            gives_up_long_runs,
            executions,
            time,
            stop_at_failure,
        } = limits;
        assert!(executions.is_some(), "some make far too many runs");
        met.extend([
            strategy_kind(&strategy).to_string(),
            format!("bound {preemptions:?}"),
            format!("fair {}", fair.is_some()),
            format!("short runs {}", steps < 10),
            format!("long runs given up {gives_up_long_runs}"),
            format!("limited time {}", time.is_some()),
            format!("stop at failure {stop_at_failure}"),
            format!("side by side {threads:?}"),
        ]);
    }
    let flags = ["fair", "short runs", "long runs given up", "limited time", "stop at failure"];
    let threads =
        [None, Some(1), Some(2), Some(4)].map(|threads: Option<u32>| format!("side by side {threads:?}"));
    assert_all([names(&[STRATEGIES]), both(&flags), bounds(), threads.to_vec()].concat(), &met);
}
