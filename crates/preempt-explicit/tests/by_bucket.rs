//! The search bucket by bucket against the one in order of cost, on random programs: with steps charged, with limits of depth, and with
//! stores that do not keep states, by one thread and by several.

use crate::by_level::{by_level as at_once, each_program, in_order, search};
use preempt_core::{Cost, Coverage, Limits, Outcome, StopReason, Verdict};
use preempt_explicit::{Goal, Order, Reduction, SearchOptions, Storage};

const COMPACT: Storage = Storage::Compact { bits: 64 };
const WIDE: Storage = Storage::Compact { bits: 128 };
const AMPLE: Storage = Storage::Bitstate { hashes: 3, bits: Some(1 << 22) };

type Numbers = (u64, u64, String, String);

fn numbers(outcome: &Outcome) -> Numbers {
    let stats = &outcome.stats;
    (stats.states, stats.transitions, format!("{:?}", stats.violations), format!("{:?}", stats.levels))
}

/// What is asked of every program: what is charged, within which bound, and how deep a run may be.
const QUESTIONS: [(Cost, Option<u32>, Option<u64>); 10] = [
    (Cost::Steps, None, None),
    (Cost::Steps, Some(0), None),
    (Cost::Steps, Some(6), None),
    (Cost::Steps, None, Some(5)),
    (Cost::Preemptions, None, Some(7)),
    (Cost::Preemptions, Some(1), Some(9)),
    (Cost::Switches, None, Some(6)),
    (Cost::Switches, None, Some(40)),
    (Cost::Preemptions, None, Some(1000)),
    (Cost::Preemptions, None, Some(5)),
];

fn with((cost, bound, depth): (Cost, Option<u32>, Option<u64>), options: SearchOptions) -> SearchOptions {
    SearchOptions { cost, bound, limits: Limits { depth, ..options.limits }, ..options }
}

/// A search that can be saved waits beyond the greatest depth; one that cannot looks at nothing there, as this one.
#[test]
fn the_same_numbers() {
    let mut cut = 0;
    each_program(15, |model, sources, name| {
        for (number, question) in QUESTIONS.into_iter().enumerate() {
            // Where preemptions are charged, not all may be.
            let fair_switch = number % 2 == 0 && question.0 == Cost::Preemptions;
            let count = |options: SearchOptions| {
                let options = SearchOptions { fair_switch, ..with(question, options) };
                search(model, sources, &options, Goal::Count).outcome
            };
            let expected = count(SearchOptions { store: COMPACT, ..in_order() });
            for (store, threads) in
                [(Storage::Exact, 1), (Storage::Exact, 2), (Storage::Exact, 3), (AMPLE, 2)]
            {
                let found = count(SearchOptions { store, ..at_once(threads) });
                let name = format!("{question:?}, {store:?}, {threads} threads: {name}");
                assert_eq!(numbers(&found), numbers(&expected), "{name}");
                // An item that waits beyond the greatest depth may turn out to have nothing to do.
                if store == AMPLE {
                    continue;
                }
                if found.verdict == Verdict::Holds {
                    let without = (question.0, question.1, None);
                    let options = SearchOptions { fair_switch, ..with(without, in_order()) };
                    let whole = search(model, sources, &options, Goal::Count).outcome;
                    assert_eq!(numbers(&found), numbers(&whole), "{name}");
                } else {
                    assert_eq!(found.verdict, expected.verdict, "{name}");
                }
                cut += u32::from(found.verdict == Verdict::Inconclusive(StopReason::Depth));
            }
        }
    });
    assert!(cut > 30, "{cut}");
}

#[test]
fn the_same_runs() {
    let mut violated = 0;
    each_program(12, |model, sources, name| {
        for question in QUESTIONS {
            for (fair_switch, reduction) in [
                (false, Reduction::None),
                (true, Reduction::None),
                (false, Reduction::Exact),
                (true, Reduction::Exact),
            ] {
                if fair_switch && question.0 != Cost::Preemptions {
                    continue;
                }
                let found = |options: SearchOptions, goal| {
                    let options = SearchOptions { fair_switch, reduction, ..with(question, options) };
                    let found = search(model, sources, &options, goal);
                    let Outcome { violation, counterexample, guarantee, .. } = found.outcome;
                    (violation, counterexample, guarantee, found.errors)
                };
                for goal in [Goal::First, Goal::All] {
                    let expected = found(in_order(), goal);
                    violated += u32::from(expected.0.is_some());
                    for threads in [1, 2] {
                        let how = format!(
                            "{question:?}, fair {fair_switch}, {reduction:?}, {goal:?}, {threads} threads"
                        );
                        assert_eq!(found(at_once(threads), goal), expected, "{how}: {name}");
                    }
                }
            }
        }
    });
    assert!(violated > 30, "{violated}");
}

/// With room enough: the numbers of the exact store at every level, and a violation that costs as much.
#[test]
fn as_the_exact_store() {
    let mut violated = 0;
    each_program(9, |model, sources, name| {
        for (cost, bound) in [
            (Cost::Preemptions, None),
            (Cost::Preemptions, Some(1)),
            (Cost::Switches, None),
            (Cost::Steps, None),
            (Cost::Steps, Some(5)),
        ] {
            for (fair_switch, reduction) in
                [(false, Reduction::None), (true, Reduction::None), (false, Reduction::Exact)]
            {
                if fair_switch && cost != Cost::Preemptions {
                    continue;
                }
                let with = |options| SearchOptions { cost, bound, fair_switch, reduction, ..options };
                let counted = numbers(&search(model, sources, &with(in_order()), Goal::Count).outcome);
                let found = search(model, sources, &with(in_order()), Goal::First).outcome.counterexample;
                violated += u32::from(found.is_some());
                for (store, threads) in [(COMPACT, 1), (WIDE, 2), (AMPLE, 1), (AMPLE, 2)] {
                    let options = with(SearchOptions { store, ..at_once(threads) });
                    let how =
                        format!("{cost:?} {bound:?} {fair_switch} {reduction:?} {store:?} {threads}: {name}");
                    let again = search(model, sources, &options, Goal::Count).outcome;
                    assert_eq!(numbers(&again), counted, "{how}");
                    let plain = SearchOptions { levels: false, ..options.clone() };
                    let plain = search(model, sources, &plain, Goal::Count).outcome;
                    assert_eq!(
                        (plain.stats.states, plain.stats.transitions),
                        (counted.0, counted.1),
                        "{how}"
                    );
                    let run = search(model, sources, &options, Goal::First).outcome.counterexample;
                    let cost_of = |trace: preempt_core::Trace| {
                        let charged = match cost {
                            Cost::Preemptions => trace.preemptions(),
                            Cost::Switches => trace.switches(),
                            Cost::Steps => 0,
                        };
                        // What the reduction leaves in which order is a matter of the search.
                        (charged, (reduction == Reduction::None).then_some(trace.steps.len()))
                    };
                    assert_eq!(run.map(cost_of), found.clone().map(cost_of), "{how}");
                }
            }
        }
    });
    assert!(violated > 10, "{violated}");
}

/// Far too few bits: states are mistaken for others, and it does not depend on the threads which. Nothing is said to hold, and
/// what is found is real.
#[test]
fn the_same_is_missed() {
    let (mut missed, mut asked) = (0, 0);
    each_program(18, |model, sources, name| {
        let whole = search(model, sources, &in_order(), Goal::Count).outcome;
        for (hashes, bits) in [(1, 1 << 7), (2, 1 << 8), (3, 1 << 10)] {
            let store = Storage::Bitstate { hashes, bits: Some(bits) };
            for (cost, levels, goal) in [
                (Cost::Preemptions, true, Goal::Count),
                (Cost::Preemptions, false, Goal::Count),
                (Cost::Switches, true, Goal::Count),
                (Cost::Steps, true, Goal::Count),
                (Cost::Preemptions, true, Goal::First),
                (Cost::Steps, true, Goal::First),
            ] {
                let seen = |threads| -> (Numbers, Verdict, Option<Coverage>, Option<preempt_core::Trace>) {
                    let options = SearchOptions { store, cost, levels, ..at_once(threads) };
                    let found = search(model, sources, &options, goal).outcome;
                    (numbers(&found), found.verdict, found.stats.coverage.clone(), found.counterexample)
                };
                let expected = seen(1);
                for threads in [2, 3] {
                    assert_eq!(
                        seen(threads),
                        expected,
                        "{store:?} {cost:?} {levels} {goal:?} {threads}: {name}"
                    );
                }
                assert_ne!(expected.1, Verdict::Holds, "{name}");
                let is_faulty = whole.verdict == Verdict::Violated;
                assert!(expected.1 != Verdict::Violated || is_faulty, "{name}");
                assert!(expected.0.0 <= whole.stats.states, "{name}");
                (asked, missed) = (asked + 1, missed + u32::from(expected.0.0 < whole.stats.states));
            }
        }
    });
    assert!(missed * 4 > asked, "{missed} of {asked}");
}

/// The limit of states is met exactly where nothing is looked up at once.
#[test]
fn limits() {
    each_program(6, |model, sources, name| {
        let whole = search(model, sources, &in_order(), Goal::Count).outcome.stats.states;
        for (store, cost) in
            [(Storage::Exact, Cost::Steps), (COMPACT, Cost::Preemptions), (AMPLE, Cost::Preemptions)]
        {
            for threads in [1, 2] {
                for most in [1, 7, whole - 1, whole] {
                    let limits = Limits { states: Some(most), ..Limits::default() };
                    let options = SearchOptions { store, cost, limits, ..at_once(threads) };
                    let counted = search(model, sources, &options, Goal::Count).outcome;
                    let is_cut = counted.verdict == Verdict::Inconclusive(StopReason::States);
                    assert_eq!(is_cut, most < whole, "{store:?} {most} of {whole}: {name}");
                    if is_cut && store != Storage::Exact {
                        assert_eq!(counted.stats.states, most + 1, "{store:?}: {name}");
                    }
                    let in_order = SearchOptions { limits, cost, ..in_order() };
                    let expected = search(model, sources, &in_order, Goal::First).outcome;
                    let found = search(model, sources, &options, Goal::First).outcome;
                    if expected.verdict == Verdict::Violated && store == Storage::Exact {
                        assert_eq!(found.counterexample, expected.counterexample, "{most}: {name}");
                    }
                }
            }
        }
    });
}

/// States of many pieces, whose keys have pairs and are packed anew again and again, and sequences of many steps, some of more than a
/// step can be remembered with.
#[test]
fn wide_states_and_long_sequences() {
    let text = "
        byte x[200]; short i; chan c = [0] of { byte }; chan d = [3] of { byte, short };
        proctype W(byte n) { byte k; do :: k < n -> k++; x[k + n] = k :: k >= n -> break od; c!k }
        active proctype A() {
            short k;
            do
            :: i < 250 && i != 7 && i % 60 != 59 && i % 9 != 8 -> atomic { x[(i * 7) % 200] = (i * 13) % 251; i++ }
            :: i == 7 -> run W(1); i++
            :: i < 250 && i % 60 == 59 && nfull(d) -> atomic { k = 0; do :: k < i -> k++ :: else -> break od; k = 0; d!1,i; i++ }
            :: i < 250 && i != 7 && i % 60 != 59 && i % 9 == 8 -> atomic { if :: x[i % 5] > 3 -> k = 1; k = 2; k = 3 :: k = 4 fi; k = 0; i++ }
            :: i >= 250 -> break
            od
        }
        active proctype B() { byte v; do :: c?v -> x[v] = v :: d?v,_ -> skip :: timeout -> break od }
    ";
    let loaded = preempt_promela::load("m.pml", text, &preempt_promela::Additions::default(), &mut |_| {
        Err(String::new())
    });
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    for (cost, depth) in [(Cost::Steps, None), (Cost::Preemptions, Some(300)), (Cost::Preemptions, None)] {
        for store in [Storage::Exact, WIDE, Storage::Bitstate { hashes: 3, bits: Some(1 << 27) }] {
            let count = |options: SearchOptions| {
                let options = with((cost, None, depth), SearchOptions { store, ..options });
                let outcome = search(&model, &sources, &options, Goal::Count).outcome;
                (numbers(&outcome), outcome.stats.depth)
            };
            let in_order = SearchOptions { store: WIDE, ..in_order() };
            let in_order = with((cost, None, depth), in_order);
            let expected = search(&model, &sources, &in_order, Goal::Count).outcome;
            let expected = (numbers(&expected), expected.stats.depth);
            assert!(expected.0.0 > 500, "{expected:?}");
            for threads in [1, 2] {
                let mut found = count(at_once(threads));
                if store == Storage::Exact && (cost, depth) == (Cost::Preemptions, None) {
                    // That is the search level by level, which does not know it.
                    found.1 = expected.1;
                }
                assert_eq!(found, expected, "{cost:?} {depth:?} {store:?} {threads}");
            }
        }
    }
}

/// What the others do where a cheap run comes too late, and a dearer one in time. Most programs have no such state; this one has some at
/// every depth.
#[test]
fn a_dearer_run_in_fewer_steps() {
    for seed in [21, 22, 23] {
        let (model, sources) = preempt_model::generator::program_from_seed(seed).to_model();
        for depth in 2..10 {
            let count = |options: SearchOptions| {
                let options = with((Cost::Preemptions, None, Some(depth)), options);
                numbers(&search(&model, &sources, &options, Goal::Count).outcome)
            };
            let expected = count(SearchOptions { store: WIDE, ..in_order() });
            for store in [Storage::Exact, WIDE, AMPLE] {
                assert_eq!(
                    count(SearchOptions { store, ..at_once(2) }),
                    expected,
                    "{seed} {depth} {store:?}"
                );
            }
        }
    }
}

/// Along a path of at most so many steps: whatever is violated within them is found, though the path may come too late to it, and what
/// is counted does not depend on the threads either.
#[test]
fn along_a_path_of_limited_depth() {
    let (mut violated, mut cut) = (0, 0);
    each_program(40, |model, sources, name| {
        for depth in [2, 5, 9, 14] {
            let limited = |options: SearchOptions| with((Cost::Preemptions, None, Some(depth)), options);
            let steps = with((Cost::Steps, None, Some(depth)), in_order());
            let expected = search(model, sources, &steps, Goal::First).outcome.verdict;
            let counted = numbers(&search(model, sources, &steps, Goal::Count).outcome);
            for store in [Storage::Exact, WIDE] {
                let along = |threads| SearchOptions {
                    order: Order::DepthFirst,
                    fair_switch: depth == 5,
                    store,
                    ..limited(at_once(threads))
                };
                let found = |threads| {
                    let found = search(model, sources, &along(threads), Goal::First).outcome;
                    (found.verdict, found.violation, found.counterexample)
                };
                let one = found(1);
                assert_eq!(one.0, expected, "{depth} {store:?}: {name}");
                assert_eq!(found(2), one, "{depth} {store:?}: {name}");
                // What is near is searched along a path alone.
                let near = SearchOptions { in_order_first: 8192, ..along(1) };
                let verdict = search(model, sources, &near, Goal::First).outcome.verdict;
                assert_eq!(verdict, expected, "near: {depth} {store:?}: {name}");
                let count = numbers(&search(model, sources, &along(2), Goal::Count).outcome);
                assert_eq!((count.0, count.1), (counted.0, counted.1), "{depth} {store:?}: {name}");
            }
            violated += u32::from(expected == Verdict::Violated);
            cut += u32::from(expected == Verdict::Inconclusive(StopReason::Depth));
        }
    });
    assert!(violated > 20 && cut > 20, "{violated} {cut}");
}

/// Whichever way it tries first, the path comes to the last three steps by five others, and none of the two others brings it there anew.
#[test]
fn what_a_path_comes_to_too_late() {
    let text = "
        byte x;
        active proctype P() {
            if :: x = 1; x = 2; x = 3; x = 4; x = 9 :: x = 9 :: x = 5; x = 6; x = 7; x = 8; x = 9 fi;
            x = 10; x = 11; assert(false)
        }
    ";
    let loaded = preempt_promela::load("m.pml", text, &preempt_promela::Additions::default(), &mut |_| {
        Err(String::new())
    });
    let (model, sources) = (loaded.model.expect("a model"), loaded.sources);
    for store in [Storage::Exact, COMPACT] {
        for (threads, in_order_first, fair_switch) in [(1, 8192, false), (2, 0, false), (1, 0, true)] {
            let limits = Limits { depth: Some(7), ..Limits::default() };
            let options = SearchOptions { store, threads, in_order_first, fair_switch, limits, ..in_order() };
            let options = SearchOptions { order: Order::DepthFirst, reduction: Reduction::None, ..options };
            let found = search(&model, &sources, &options, Goal::First).outcome;
            assert_eq!(found.verdict, Verdict::Violated, "{store:?} {threads}");
            let run = found.counterexample.expect("a run");
            assert_eq!(run.steps.len(), 4, "{store:?} {threads}");
        }
    }
}
