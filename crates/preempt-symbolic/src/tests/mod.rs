//! Random programs: what the rules find must be what brute force finds.

mod brute;
mod generate;

use crate::check::{SharedStates, SymbolicOptions, check};
use crate::configurations::Configurations;
use crate::graph::{Graph, Programs, raw};
use crate::liveness::Liveness;
use crate::places::own;
use crate::round_robin::{Analysis, Method};
use crate::sequential;
use crate::threads::Threads;
use crate::vars::{Copy, Shape, VariableOrder, Vars};
use generate::{Kind, program, sources};
use preempt_core::{Budget, Silent, Verdict};
use preempt_model::{Interpreter, Model, System, Type};
use std::collections::BTreeSet;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 14 };
const PLAIN: Kind =
    Kind { threads: 2, procedures: 0, recursive: false, atomic: false, asserts: false, starts: false };

/// A program with everything that an analysis needs.
struct Setting {
    threads: Threads,
    vars: Vars,
    /// Every thread has a program of its own.
    programs: Programs,
}

impl Setting {
    fn new(model: &Model, contexts: usize, liveness: &Liveness) -> Setting {
        let threads = Threads::of(model, &sources(), 4, &Budget::unlimited()).unwrap();
        let mut shape = Shape::of(model, &threads.extra);
        shape.own = own(model, &threads);
        let vars =
            Vars::new(shape, contexts, VariableOrder::Dependencies, TABLE, &Budget::unlimited()).unwrap();
        let graph = |thread| Graph::new(&vars, model, &threads, thread, liveness).unwrap();
        let graphs: Vec<Graph> = threads.all.iter().map(graph).collect();
        let of_thread = (0..graphs.len()).collect();
        Setting { threads, vars, programs: Programs { graphs, of_thread } }
    }

    fn initial(&self) -> preempt_bdd::Bdd {
        let values = self.threads.initial.globals.iter().map(|value| raw(*value, Type::BIT));
        let values = values.chain(std::iter::repeat(0));
        let point: Vec<_> = self.vars.all_shared(Copy::Start(0)).zip(values).collect();
        self.vars.space.point(&point).unwrap()
    }

    /// The shared states after each round.
    fn rounds(&self, method: Method) -> Vec<BTreeSet<Vec<i32>>> {
        let mut analysis = Analysis::new(&self.vars, &self.programs, self.initial(), method).unwrap();
        (0..self.vars.contexts)
            .map(|k| {
                assert!(analysis.round(k).unwrap().is_none());
                self.members(&analysis.handoff.reachable(k).unwrap(), k)
            })
            .collect()
    }

    fn members(&self, set: &preempt_bdd::Bdd, k: usize) -> BTreeSet<Vec<i32>> {
        let model_slots = self.threads.initial.globals.len();
        let variables: Vec<_> = self.vars.all_shared(Copy::Start(k)).collect();
        let mut rest = set.clone();
        let mut members = BTreeSet::new();
        while let Some(values) = self.vars.space.pick(&rest, &variables) {
            let point: Vec<_> = variables.iter().copied().zip(values.iter().copied()).collect();
            rest = rest.minus(&self.vars.space.point(&point).unwrap()).unwrap();
            members.insert(values[..model_slots].iter().map(|&value| value as i32).collect());
        }
        members
    }

    fn configurations(&self) -> Vec<usize> {
        let graphs: Vec<&Graph> = self.programs.graphs.iter().collect();
        let mut configurations = Configurations::new(&self.vars, &graphs, &self.initial()).unwrap().unwrap();
        let variables = configurations.variables();
        (0..self.vars.contexts)
            .map(|_| {
                configurations.round().unwrap();
                let count = self.vars.space.count(&configurations.reached, &variables).unwrap();
                usize::try_from(count).unwrap()
            })
            .collect()
    }
}

/// So many programs in a short run; `PREEMPT_CASES=10` for ten times as many.
fn cases(first: u64, count: u64) -> std::ops::Range<u64> {
    let times = std::env::var("PREEMPT_CASES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    first..first + count * times
}

/// Shared states after each round, and where it can be compared the number of configurations.
fn compare(seeds: std::ops::Range<u64>, kind: Kind, contexts: usize) -> usize {
    let sources = sources();
    let mut compared = 0;
    for seed in seeds {
        let model = program(seed, kind);
        let system = Interpreter::new(&model, &sources).unwrap();
        // after what the first process did alone
        let initial = system.close(&Threads::of(&model, &sources, 4, &Budget::unlimited()).unwrap().initial);
        let Some(brute) = brute::rounds(&system, initial, kind.threads, contexts, 4) else { continue };
        let setting = Setting::new(&model, contexts, &Liveness::of(&model, &Budget::unlimited()).unwrap());
        let lazy = setting.rounds(Method::Lazy);
        let eager = setting.rounds(Method::Eager);
        assert_eq!(lazy, eager, "seed {seed} {kind:?}: lazy and eager");
        for (symbolic, explicit) in lazy.iter().zip(&brute.shared) {
            match brute.cut {
                false => assert_eq!(symbolic, explicit, "seed {seed} {kind:?}"),
                true => assert!(explicit.is_subset(symbolic), "seed {seed} {kind:?}"),
            }
        }
        if !kind.recursive && !kind.atomic && !kind.starts {
            let setting = Setting::new(&model, contexts, &Liveness::everything(&model));
            assert_eq!(setting.configurations(), brute.configurations, "seed {seed} {kind:?}");
        }
        compared += usize::from(!brute.cut);
    }
    println!("{kind:?}, {contexts} contexts: {compared} compared");
    compared
}

#[test]
fn two_threads_reach_what_brute_force_reaches() {
    assert!(compare(cases(0, 800), PLAIN, 3) > 700);
    assert!(compare(cases(1000, 60), PLAIN, 4) > 50);
}

#[test]
fn three_and_four_threads_reach_what_brute_force_reaches() {
    assert!(compare(cases(0, 300), Kind { threads: 3, ..PLAIN }, 3) > 270);
    assert!(compare(cases(0, 100), Kind { threads: 4, ..PLAIN }, 2) > 80);
    assert!(compare(cases(1000, 40), Kind { threads: 3, ..PLAIN }, 4) > 30);
    assert!(compare(cases(1000, 10), Kind { threads: 4, ..PLAIN }, 4) > 5);
}

#[test]
fn procedures_across_contexts_reach_what_brute_force_reaches() {
    assert!(compare(cases(0, 300), Kind { procedures: 2, ..PLAIN }, 3) > 200);
    assert!(compare(cases(1000, 40), Kind { procedures: 2, ..PLAIN }, 4) > 20);
    assert!(compare(cases(0, 150), Kind { procedures: 1, threads: 3, ..PLAIN }, 3) > 90);
}

#[test]
fn atomic_sequences_are_left_only_where_they_block() {
    assert!(compare(cases(0, 400), Kind { atomic: true, ..PLAIN }, 3) > 350);
    assert!(compare(cases(0, 300), Kind { atomic: true, procedures: 1, ..PLAIN }, 3) > 200);
}

#[test]
fn threads_that_are_started_later_wait() {
    assert!(compare(cases(0, 300), Kind { starts: true, ..PLAIN }, 3) > 250);
    assert!(compare(cases(0, 150), Kind { starts: true, threads: 3, ..PLAIN }, 3) > 100);
}

#[test]
fn recursion_agrees_where_brute_force_ends() {
    assert!(compare(cases(0, 400), Kind { procedures: 2, recursive: true, ..PLAIN }, 3) > 100);
}

/// The verdict, K and a run that replays: `check` panics if it does not.
fn verdicts(seeds: std::ops::Range<u64>, kind: Kind, contexts: usize) -> [usize; 2] {
    let sources = sources();
    let mut count = [0, 0];
    for seed in seeds {
        let model = program(seed, kind);
        let system = Interpreter::new(&model, &sources).unwrap();
        // after what the first process did alone
        let initial = system.close(&Threads::of(&model, &sources, 4, &Budget::unlimited()).unwrap().initial);
        let Some(brute) = brute::rounds(&system, initial, kind.threads, contexts, 4) else { continue };
        let ways = [
            (Method::Lazy, SharedStates::Bits),
            (Method::Lazy, SharedStates::Numbers),
            (Method::Eager, SharedStates::Bits),
        ];
        // By number the analysis begins again and again, here with the first state alone.
        let by_number = seed.is_multiple_of(4);
        for (method, shared) in ways.into_iter().filter(|way| by_number || way.1 == SharedStates::Bits) {
            let options = SymbolicOptions {
                contexts: Some(contexts as u32),
                method,
                shared,
                table: TABLE,
                ..SymbolicOptions::default()
            };
            let report = check(&model, &sources, &options, &mut Silent).unwrap();
            match brute.violation {
                Some((round, _)) => {
                    assert_eq!(
                        report.outcome.verdict,
                        Verdict::Violated,
                        "seed {seed} {kind:?} {method:?} {shared:?}"
                    );
                    // with calls that were not followed it may come earlier
                    if !brute.cut {
                        assert_eq!(
                            report.contexts as usize,
                            round + 1,
                            "seed {seed} {kind:?} {method:?} {shared:?}"
                        );
                    }
                }
                None if !brute.cut => {
                    assert_eq!(
                        report.outcome.verdict,
                        Verdict::Holds,
                        "seed {seed} {kind:?} {method:?} {shared:?}"
                    )
                }
                None => {}
            }
        }
        count[usize::from(brute.violation.is_some())] += 1;
    }
    println!("{kind:?}, {contexts} contexts: {} hold and {} fail", count[0], count[1]);
    count
}

#[test]
fn verdicts_and_contexts_are_those_of_brute_force() {
    let [safe, unsafe_] = verdicts(cases(0, 400), Kind { asserts: true, ..PLAIN }, 3);
    assert!(safe > 50 && unsafe_ > 50, "{safe} {unsafe_}");
    verdicts(cases(0, 200), Kind { asserts: true, atomic: true, threads: 3, ..PLAIN }, 2);
    verdicts(cases(0, 200), Kind { asserts: true, starts: true, ..PLAIN }, 3);
}

#[test]
fn counterexamples_lead_through_calls_and_returns() {
    let [safe, unsafe_] = verdicts(cases(0, 300), Kind { asserts: true, procedures: 2, ..PLAIN }, 3);
    assert!(safe > 30 && unsafe_ > 50, "{safe} {unsafe_}");
    verdicts(cases(0, 300), Kind { asserts: true, procedures: 2, recursive: true, atomic: true, ..PLAIN }, 3);
}

/// Fig. 3: eager, lazy and brute force reach the same states of a sequential program.
#[test]
fn sequential_programs_reach_the_same_states_eagerly_and_lazily() {
    let sources = sources();
    let mut compared = 0;
    for seed in 0..400 {
        let kind = Kind { threads: 1, procedures: 2, recursive: seed % 2 == 0, ..PLAIN };
        let model = program(seed, kind);
        let setting = Setting::new(&model, 1, &Liveness::everything(&model));
        let (vars, graph) = (&setting.vars, &setting.programs.graphs[0]);
        let (rules, _) = sequential::lazy(vars, graph, &setting.initial(), false).unwrap();
        let lazy = sequential::reachable(&rules).unwrap();
        let to_entry = vars.shared_renaming([(Copy::Start(0), Copy::Entry)]);
        let entry = setting.initial().rename(&to_entry).unwrap();
        let mut eager = sequential::eager(vars, graph, &entry).unwrap();
        eager.retain(|_, states| !states.is_false());
        assert_eq!(lazy, eager, "seed {seed}");

        let system = Interpreter::new(&model, &sources).unwrap();
        let Some(brute) = brute::rounds(&system, system.initial_states().remove(0), 1, 1, 5) else {
            continue;
        };
        if brute.cut {
            continue;
        }
        compared += 1;
        // the top of the stack: code, location, shared state and locals
        let mut explicit = BTreeSet::new();
        for state in &brute.met {
            let machine = system.open(state);
            let frame = machine.processes[0].frame();
            explicit.insert((frame.code, frame.location, machine.globals, frame.locals.clone()));
        }
        let variables: Vec<_> = vars.all_shared(Copy::Now(0)).chain(vars.locals().iter().copied()).collect();
        let mut symbolic = BTreeSet::new();
        for (&(procedure, node), states) in &lazy {
            let mut rest = states.clone();
            while let Some(values) = vars.space.pick(&rest, &variables) {
                let point: Vec<_> = variables.iter().copied().zip(values.iter().copied()).collect();
                rest = rest.minus(&vars.space.point(&point).unwrap()).unwrap();
                let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
                let (globals, locals) = values.split_at(vars.shared_count());
                let content = &graph.procedures[procedure];
                let location = content.nodes[node].location.unwrap();
                symbolic.insert((content.code, location, globals.to_vec(), locals.to_vec()));
            }
        }
        assert_eq!(symbolic, explicit, "seed {seed}");
    }
    assert!(compared > 200, "{compared}");
}

/// A renaming that turns two variables round builds the diagram anew. `present` are the copies that occur.
#[test]
fn renamings_of_the_rules_and_of_the_hand_off_keep_the_order() {
    use Copy::{Entry, Next, Now, Other, Start};
    let model = program(0, PLAIN);
    let liveness = Liveness::of(&model, &Budget::unlimited()).unwrap();
    let contexts = 3;
    let vars = Setting::new(&model, contexts, &liveness).vars;
    let level = |copy: Copy| vars.space.levels(vars.shared(0, copy))[0];
    let keeps = |present: Vec<Copy>, renaming: &dyn Fn(Copy) -> Copy| {
        let mut order: Vec<(u32, u32)> =
            present.iter().map(|&copy| (level(copy), level(renaming(copy)))).collect();
        order.sort_unstable();
        assert!(order.windows(2).all(|two| two[0].1 < two[1].1), "{present:?}: {order:?}");
    };
    for k in 0..contexts {
        let starts: Vec<Copy> = (0..=k).map(Start).collect();
        let before: Vec<Copy> = (0..k).map(Now).collect();
        let ends: Vec<Copy> = (0..=k).map(Now).collect();
        let others: Vec<Copy> = (0..=k).map(Other).collect();
        // R1: what is next is now; R2: a caller and a summary meet in `Next`
        keeps([&starts[..], &before, &[Entry, Next]].concat(), &|copy| {
            if copy == Next { Now(k) } else { copy }
        });
        keeps([&starts[..], &ends, &[Entry]].concat(), &|copy| if copy == Now(k) { Next } else { copy });
        for from in 0..=k {
            let summary = [&starts[from + 1..], &ends[from..], &[Entry]].concat();
            keeps(summary, &|copy| if copy == Entry { Next } else { copy });
        }
        // the hand-off: what is before a thread, what is after it, and both for the first thread
        let ended = |copy| if let Now(i) = copy { Start(i) } else { copy };
        keeps([&others[..], &ends].concat(), &ended);
        keeps([&starts[..], &ends].concat(), &|copy| match copy {
            Start(i) => Other(i),
            copy => ended(copy),
        });
        if k + 1 < contexts {
            let next: Vec<Copy> = (1..=k + 1).map(Other).collect();
            keeps([&starts[..], &ends].concat(), &|copy| if let Now(i) = copy { Other(i + 1) } else { copy });
            let after = [&starts[..], &next].concat();
            keeps(after, &|copy| if let Start(i) = copy { Now(i) } else { copy });
            keeps([&ends[..], &next].concat(), &|copy| if let Other(i) = copy { Start(i) } else { copy });
        }
    }
}
