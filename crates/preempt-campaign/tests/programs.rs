//! Some hundred programs of every kind of comparison; `campaign` runs more of them. Every option is in the tables.

use preempt_campaign::{Kind, liveness, promela, safety, sequential, successors};
use preempt_core::{Cost, Limits};
use preempt_explicit::{Figure, Order, Published, Reduction, SearchOptions, Storage, SuccessorSource};
use preempt_model::kinds;
use preempt_promela::generator::{shrink, text_of};
use std::collections::BTreeSet;

/// `PREEMPT_CASES=20000` for a long run.
fn cases(few: u64) -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

fn agree(kind: Kind, few: u64) {
    let mut compared = 0;
    for seed in 0..cases(few) {
        let lines = kind.lines(seed);
        match kind.compare(&text_of(&lines), seed) {
            None => {}
            Some(Ok(number)) => compared += number,
            Some(Err(difference)) => {
                let small = shrink(&lines, &mut |text| matches!(kind.compare(text, seed), Some(Err(_))));
                panic!("seed {seed}: {difference}\n{}", text_of(&small));
            }
        }
    }
    assert!(compared >= few / 4, "{compared} comparisons");
}

#[test]
fn machine_code_and_interpreter_state_by_state() {
    agree(Kind::Successors, 200);
}

#[test]
fn every_way_to_search() {
    agree(Kind::Safety, 60);
}

#[test]
fn every_way_to_decide_runs_without_end() {
    agree(Kind::Liveness, 60);
}

#[test]
fn symbolic_and_sequentialized() {
    agree(Kind::Sequential, 80);
}

#[test]
fn boolean_programs() {
    agree(Kind::Boolean, 16);
}

/// Every model that comes with the project, in as many states as are met in a moment.
#[test]
fn sample_models_state_by_state() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["models/promela", "benches/models"] {
        let listed = std::fs::read_dir(root.join(folder)).expect("there are sample models");
        files.extend(listed.map(|entry| entry.expect("the folder can be listed").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the model can be read");
        let program = promela(&text).unwrap_or_else(|| panic!("{}", file.display()));
        let compared = successors::compare(&program, 300).unwrap_or_else(|difference| {
            panic!("{}: {difference}", file.display());
        });
        assert!(compared > 0, "{}", file.display());
    }
}

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

/// Whoever adds an option to the explicit engine has to vary it in a table: without it, this does not compile.
#[test]
fn every_option_is_varied() {
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
            limits,
            successors,
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
            format!("limited states {}", states.is_some()),
            format!("limited depth {}", depth.is_some()),
            format!("stutter invariant {stutter_invariant}"),
        ]);
    }
    let flags =
        ["fair switch", "limited cost", "simplify", "limited states", "limited depth", "stutter invariant"];
    let flags = flags.iter().flat_map(|flag| [format!("{flag} true"), format!("{flag} false")]);
    let bounds =
        [None, Some(0), Some(1), Some(2), Some(3)].map(|bound: Option<u32>| format!("bound {bound:?}"));
    let lists = [ORDERS, STORES, COSTS, REDUCTIONS, SOURCES].concat();
    let all: BTreeSet<String> = lists.into_iter().map(str::to_string).chain(flags).chain(bounds).collect();
    assert_eq!(all.difference(&met).collect::<Vec<_>>(), [""; 0], "never varied");
    let methods: BTreeSet<String> =
        liveness::table().iter().map(|entry| format!("{:?} {}", entry.method, entry.weakly_fair)).collect();
    assert_eq!(methods.len(), 6, "every method, fair and not: {methods:?}");
    let symbolic: BTreeSet<String> =
        sequential::table()
            .iter()
            .map(|options| {
                let preempt_symbolic::SymbolicOptions {
                    contexts,
                    method,
                    instances,
                    order,
                    table: _,
                    limits: _,
                } = options;
                format!("{contexts:?} {method:?} {instances} {order:?}")
            })
            .collect();
    assert_eq!(symbolic.len(), 24, "{symbolic:?}");
}
