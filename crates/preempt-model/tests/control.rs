//! Who may move, and when: on models built by hand.

use crate::common;

use common::{Bench, add, bench, bind, equal, load, number, receive, send, set};
use preempt_core::{PropertyKind, Silent, Verdict};
use preempt_model::search::{self, ReferenceOptions};
use preempt_model::{CodeKind, Command, Expr, Start, System, Type};

#[test]
fn nobody_interrupts_an_atomic_sequence() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    bench.process(bench.atomic_line(vec![set(&x, number(1)), set(&x, number(0))]));
    bench.process(bench.line(vec![set(&y, load(&x))]));
    assert_eq!(bench.ends(), [[0, 0]]);
}

#[test]
fn a_process_that_blocks_in_its_sequence_gives_up_the_processor() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let wait = Command::Guard(load(&y));
    bench.process(bench.atomic_line(vec![set(&x, number(1)), wait, set(&x, number(2)), set(&x, number(3))]));
    bench.process(bench.line(vec![Command::Guard(load(&x)), set(&y, load(&x)), set(&y, load(&x))]));
    assert_eq!(bench.ends(), [[3, 1], [3, 3]], "never 2: once it goes on, it is alone again");
    let outcome = search::check(&bench.system(), &ReferenceOptions::default(), &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert_eq!(outcome.stats.levels.iter().map(|level| level.states).sum::<u64>(), outcome.stats.states);
}

#[test]
fn switching_away_from_a_blocked_sequence_is_no_preemption() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    bench.process(bench.atomic_line(vec![set(&x, number(1)), Command::Guard(load(&y)), Command::SKIP]));
    bench.process(bench.line(vec![Command::Guard(load(&x)), Command::Assert(number(0))]));
    let options = ReferenceOptions { bound: Some(0), ..ReferenceOptions::default() };
    let outcome = search::check(&bench.system(), &options, &mut Silent);
    let trace = outcome.counterexample.expect("the assertion fails");
    assert_eq!((trace.preemptions(), trace.switches(), trace.steps.len()), (0, 1, 3));
}

#[test]
fn else_is_for_when_nothing_before_it_can_be_taken() {
    for (initial, expected) in [(0, 7), (1, 5), (2, 6)] {
        let mut bench = bench();
        let x = bench.byte(initial);
        let is = |value| Command::Guard(equal(load(&x), number(value)));
        let edges = vec![
            (0, bench.edge(is(1), 1)),
            (0, bench.edge(is(2), 2)),
            (0, bench.edge(Command::Else, 3)),
            (1, bench.edge(set(&x, number(5)), 4)),
            (2, bench.edge(set(&x, number(6)), 4)),
            (3, bench.edge(set(&x, number(7)), 4)),
        ];
        bench.process(edges);
        assert_eq!(bench.ends(), [[expected]]);
    }
}

#[test]
fn an_escape_that_can_be_taken_is_taken() {
    for (wanted, expected) in [(0, 1), (1, 2)] {
        let mut bench = bench();
        let (x, escape) = (bench.byte(0), bench.byte(wanted));
        let edges = vec![
            (0, bench.escape(Command::Guard(load(&escape)), 1)),
            (0, bench.edge(set(&x, number(1)), 2)),
            (1, bench.edge(set(&x, number(2)), 2)),
        ];
        bench.process(edges);
        assert_eq!(bench.ends(), [[expected, wanted.into()]]);
    }
}

#[test]
fn all_alternatives_of_an_escape_are_offered() {
    let mut bench = bench();
    let x = bench.byte(0);
    let edges = vec![
        (0, bench.escape(set(&x, number(1)), 1)),
        (0, bench.escape(set(&x, number(2)), 1)),
        (0, bench.edge(set(&x, number(3)), 1)),
    ];
    bench.process(edges);
    assert_eq!(bench.ends(), [[1], [2]]);
}

#[test]
fn timeout_holds_when_nobody_can_move() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    bench.process(bench.line(vec![Command::Guard(Expr::Timeout), set(&x, load(&y))]));
    bench.process(bench.line(vec![set(&y, number(1)), set(&y, number(2)), Command::Guard(number(0))]));
    let seen = bench.explore();
    assert_eq!(seen.ends.into_iter().collect::<Vec<_>>(), [[2, 2]]);
    assert_eq!(seen.deadlocks, 1);
}

#[test]
fn a_process_that_is_not_provided_for_waits() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let code = bench.process(bench.line(vec![set(&y, number(1)), set(&y, load(&x))]));
    bench.code_mut(code).provided = Some(equal(load(&x), number(2)));
    bench.process(bench.line(vec![set(&x, number(1)), set(&x, number(2)), set(&x, number(3))]));
    let seen = bench.explore();
    // It starts when x is 2, and is caught by the 3 unless it has finished; the 3 may come late.
    assert!(
        seen.ends.contains(&vec![3, 0]) && seen.ends.contains(&vec![3, 1]) && seen.ends.contains(&vec![3, 2])
    );
    assert!(!seen.ends.contains(&vec![3, 3]));
}

/// The one with the higher priority runs whenever it can.
fn with_priorities(first: u8, second: u8) -> Bench {
    let mut bench = bench();
    let x = bench.byte(0);
    let write = |value| set(&x, add(add(load(&x), load(&x)), number(value)));
    bench.process(bench.line(vec![write(1)]));
    bench.process(bench.line(vec![write(2)]));
    bench.model.start[0].priority = first;
    bench.model.start[1].priority = second;
    bench.model.has_priorities = first != 1 || second != 1;
    bench
}

#[test]
fn priorities_decide_who_runs() {
    assert_eq!(with_priorities(1, 1).ends(), [[4], [5]]);
    assert_eq!(with_priorities(2, 1).ends(), [[4]]);
    assert_eq!(with_priorities(1, 2).ends(), [[5]]);
    assert_eq!(with_priorities(3, 3).ends(), [[4], [5]]);
}

#[test]
fn a_priority_may_change() {
    let mut bench = bench();
    let x = bench.byte(0);
    let lower = Command::SetPriority { pid: Expr::SelfPid, priority: number(1) };
    bench.process(bench.line(vec![lower, set(&x, number(1))]));
    bench.process(bench.line(vec![set(&x, number(2))]));
    bench.model.start = vec![
        Start { code: preempt_model::CodeId(0), priority: 3 },
        Start { code: preempt_model::CodeId(1), priority: 2 },
    ];
    bench.model.has_priorities = true;
    assert_eq!(bench.ends(), [[1]], "after lowering itself it is the last to write");
}

#[test]
fn the_newest_process_dies_first() {
    let mut bench = bench();
    let x = bench.byte(0);
    bench.process(vec![]);
    bench.process(bench.line(vec![set(&x, Expr::ProcessCount)]));
    let system = bench.system();
    let initial = system.initial_states().remove(0);
    assert!(system.successors(&initial, 0).is_empty(), "a newer one lives");
    assert_eq!(bench.ends(), [[2]]);
    assert_eq!(bench.explore().states, 4);
}

#[test]
fn numbers_of_dead_processes_are_used_again() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let child = bench.line(vec![set(&x, add(load(&x), Expr::SelfPid))]);
    let child = bench.code(CodeKind::Process, 0, child);
    let run = |place: &preempt_model::Place| Command::Run {
        code: child,
        args: vec![],
        priority: 1,
        result: Some((place.clone(), Expr::NewPid)),
    };
    let alone = || Command::Guard(equal(Expr::ProcessCount, number(1)));
    bench.process(bench.line(vec![run(&y), alone(), run(&y), alone()]));
    assert_eq!(bench.ends(), [[2, 1]]);
}

#[test]
fn a_new_process_gets_its_arguments_cut_to_their_types() {
    let mut bench = bench();
    let x = bench.byte(0);
    let child = bench.line(vec![set(&x, load(&common::local(0)))]);
    let child = bench.code(CodeKind::Process, 1, child);
    bench.code_mut(child).parameters = vec![Type::BIT];
    bench.process(bench.line(vec![Command::Run {
        code: child,
        args: vec![number(3)],
        priority: 1,
        result: None,
    }]));
    assert_eq!(bench.ends(), [[1]]);
}

#[test]
fn a_deterministic_block_takes_the_first_that_is_ready() {
    let mut bench = bench();
    let x = bench.byte(0);
    let guard = |value| Some(Command::Guard(equal(load(&x), number(value))));
    let block = bench.block(vec![
        vec![(Some(set(&x, number(1))), Some(1))],
        vec![(guard(0), Some(2)), (guard(1), Some(3)), (Some(Command::SKIP), Some(2))],
        vec![(Some(set(&x, number(8))), None)],
        vec![(Some(set(&x, number(9))), None)],
    ]);
    bench.process(bench.line(vec![block]));
    assert_eq!(bench.ends(), [[9]]);
    assert_eq!(bench.explore().states, 3);
}

#[test]
fn a_deterministic_block_begins_only_if_its_first_command_is_ready() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let block = bench
        .block(vec![vec![(Some(Command::Guard(load(&y))), Some(1))], vec![(Some(set(&x, number(1))), None)]]);
    bench.process(bench.line(vec![block]));
    let seen = bench.explore();
    assert_eq!((seen.states, seen.deadlocks), (1, 1));
}

#[test]
fn counting_passes_over_a_failed_assertion() {
    let mut bench = bench();
    let x = bench.byte(0);
    bench.process(bench.line(vec![Command::Assert(load(&x)), set(&x, number(1)), Command::Assert(load(&x))]));
    let outcome = search::count(&bench.system(), &ReferenceOptions::default(), &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert_eq!(outcome.stats.states, 5);
    assert_eq!(outcome.stats.violations[&PropertyKind::Assertion], 1);
}

#[test]
fn a_sender_waits_for_a_receiver_without_taking_an_escape_from_it() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(0, &[Type::BYTE]);
    let edges = vec![
        (0, bench.escape(receive(&c, vec![bind(&x)]), 1)),
        (0, bench.edge(Command::Guard(number(0)), 1)),
    ];
    bench.process(edges);
    bench.process(bench.line(vec![send(&c, vec![number(4)])]));
    assert_eq!(bench.ends(), [[4]]);
}

#[test]
fn a_process_may_rest_in_a_procedure_if_all_its_frames_may() {
    // Who waits for ever in a procedure: (may it rest there, may its caller rest behind the call) -> deadlocks.
    for (inner, outer, deadlocks) in [(true, true, 0), (false, true, 1), (true, false, 1)] {
        let mut bench = bench();
        let procedure = bench.line(vec![Command::Guard(number(0)), Command::Return(vec![])]);
        let procedure = bench.code(CodeKind::Procedure, 0, procedure);
        bench.code_mut(procedure).locations[0].end = inner;
        let call = Command::Call { code: procedure, args: vec![], results: vec![] };
        let caller = bench.process(bench.line(vec![call, Command::SKIP]));
        bench.code_mut(caller).locations[1].end = outer;
        assert_eq!(bench.explore().deadlocks, deadlocks);
    }
}
