//! What has no meaning ends the run with a violation that says what is wrong: on models built by hand.

use crate::common;

use common::{Bench, add, bench, bind, load, number, receive, send, set};
use preempt_core::{Limits, PropertyKind, Silent, StopReason, Verdict};
use preempt_model::search::{self, ReferenceOptions};
use preempt_model::{BinaryOp, CodeKind, Command, Expr, Index, Init, Place, Type};

/// The only thing that can go wrong, and that a check finds it.
fn fault(bench: &Bench) -> String {
    let seen = bench.explore();
    let outcome = search::check(&bench.system(), &ReferenceOptions::default(), &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Violated);
    let property = outcome.violation.expect("a violation has a name");
    assert_eq!(property.kind, PropertyKind::RuntimeError);
    assert_eq!(seen.violations.into_iter().collect::<Vec<_>>(), [property.name.as_str()]);
    property.name
}

fn of_line(commands: Vec<Command>) -> String {
    let mut bench = bench();
    bench.process(bench.line(commands));
    fault(&bench)
}

#[test]
fn an_index_out_of_range() {
    for index in [-1, 2, 1_000_000_000] {
        let uses: [fn(Place) -> Command; 2] =
            [|element| Command::Guard(load(&element)), |element| set(&element, number(1))];
        for command in uses {
            let mut bench = bench();
            let first = bench.byte(0);
            bench.byte(0);
            let indices = vec![Index { value: number(index), length: 2, stride: 1, array: "a".into() }];
            bench.process(bench.line(vec![command(Place { indices, ..first })]));
            assert_eq!(fault(&bench), format!("index {index} is out of range: a has 2 elements"));
        }
    }
}

#[test]
fn division_by_zero() {
    let divide = |op| vec![Command::Guard(Expr::binary(op, number(1), number(0)))];
    assert_eq!(of_line(divide(BinaryOp::Div)), "division by zero");
    assert_eq!(of_line(divide(BinaryOp::Rem)), "remainder of a division by zero");
}

#[test]
fn a_channel_that_is_none() {
    let nothing = number(0);
    assert_eq!(of_line(vec![send(&nothing, vec![])]), "the channel is not initialised");
    assert_eq!(of_line(vec![receive(&nothing, vec![])]), "the channel is not initialised");
    assert_eq!(of_line(vec![Command::Guard(Expr::Len(Box::new(number(3))))]), "there is no channel 3");
}

#[test]
fn wrong_numbers_of_fields() {
    let mut bench = bench();
    let c = bench.channel(1, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![])]));
    assert_eq!(fault(&bench), "0 fields are sent, the channel takes 1");
    let mut bench = common::bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(1, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![number(1)]), receive(&c, vec![bind(&x), bind(&y)])]));
    assert_eq!(fault(&bench), "the message has 1 fields, the receive statement 2");
}

#[test]
fn too_many_processes() {
    let mut bench = bench();
    let child = bench.code(CodeKind::Process, 0, vec![]);
    let run = Command::Run { code: child, args: vec![], priority: 1, result: None };
    // The sequence never ends, so that children do not come and go.
    let edges = vec![(0, bench.atomic(run, 0))];
    bench.process(edges);
    assert_eq!(fault(&bench), "too many processes: there can be 255");
}

/// As many as a byte can number, those that exist from the beginning and those that processes bring along together.
#[test]
fn too_many_channels() {
    for (globals, own) in [(0, 1), (0, 2), (1, 2), (250, 2), (255, 1)] {
        let mut bench = bench();
        (0..globals).for_each(|_| _ = bench.channel(1, &[Type::BYTE]));
        let (started, template) = (bench.byte(0), bench.template(1, &[Type::BYTE]));
        let child = bench.code(CodeKind::Process, own, vec![]);
        let channel = |slot| Init::Channel { hidden: false, slot, template };
        bench.model.codes[usize::from(child.0)].init = (0..own).map(channel).collect();
        let run = Command::Run { code: child, args: vec![], priority: 1, result: None };
        let count = set(&started, add(load(&started), number(1)));
        let edges = vec![(0, bench.atomic(run, 1)), (1, bench.atomic(count, 0))];
        bench.process(edges);
        // The process that starts the others is one of the 255.
        let room = (255 - globals) / own;
        let what = if room >= 254 { "processes" } else { "channels" };
        assert_eq!(fault(&bench), format!("too many {what}: there can be 255"));
        let outcome = search::check(&bench.system(), &ReferenceOptions::default(), &mut Silent);
        let steps = outcome.counterexample.map(|trace| trace.steps.len() as u32);
        assert_eq!(steps, Some(2 * room.min(254) + 1), "{globals} and {own} each");
    }
    let mut bench = bench();
    (0..256).for_each(|_| _ = bench.channel(1, &[Type::BYTE]));
    bench.process(vec![]);
    let refused = preempt_model::Interpreter::new(&bench.model, &bench.sources).map(|_| ());
    assert_eq!(refused.map_err(|fault| fault.0), Err("too many channels: there can be 255".into()));
}

#[test]
fn a_deterministic_block_that_blocks() {
    let mut bench = bench();
    let block = bench
        .block(vec![vec![(Some(Command::SKIP), Some(1))], vec![(Some(Command::Guard(number(0))), None)]]);
    bench.process(bench.line(vec![block]));
    assert_eq!(fault(&bench), "a statement blocks inside a d_step sequence");
}

#[test]
fn a_deterministic_block_that_does_not_end() {
    let mut bench = bench();
    let block = bench.block(vec![vec![(Some(Command::SKIP), Some(0))]]);
    bench.process(bench.line(vec![block]));
    // It is no fault, it only takes its time; if there is any left, it goes on.
    let limits = Limits { time: Some(std::time::Duration::from_millis(5)), ..Limits::default() };
    let outcome = search::count(
        &bench.system(),
        &ReferenceOptions { limits, ..ReferenceOptions::default() },
        &mut Silent,
    );
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Time));
    assert!(outcome.stats.violations.is_empty());
}

#[test]
fn a_deterministic_block_that_never_begins() {
    let mut bench = bench();
    let block = bench.block(vec![vec![(None, Some(0))]]);
    bench.process(bench.line(vec![block]));
    assert_eq!(fault(&bench), "the d_step sequence never begins: its first statements only jump");
}

#[test]
fn a_rendezvous_inside_a_deterministic_block() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(0, &[Type::BYTE]);
    let block = bench
        .block(vec![vec![(Some(Command::SKIP), Some(1))], vec![(Some(send(&c, vec![number(1)])), None)]]);
    bench.process(bench.line(vec![block]));
    bench.process(bench.line(vec![receive(&c, vec![bind(&x)])]));
    assert_eq!(fault(&bench), "a rendezvous is attempted inside a d_step sequence");
}

#[test]
fn polling_a_rendezvous_channel() {
    let mut bench = bench();
    let c = bench.channel(0, &[Type::BYTE]);
    let poll = Expr::Poll { channel: Box::new(c.clone()), random: false, pattern: vec![common::exactly(1)] };
    bench.process(bench.line(vec![Command::Guard(poll)]));
    assert_eq!(fault(&bench), "a rendezvous channel cannot be polled");
    let mut bench = common::bench();
    let c = bench.channel(0, &[Type::BYTE]);
    let copy = Command::Receive { channel: c, random: false, keep: true, pattern: vec![common::exactly(1)] };
    bench.process(bench.line(vec![copy]));
    assert_eq!(fault(&bench), "a rendezvous channel cannot be polled");
}

#[test]
fn a_procedure_that_calls_itself_for_ever() {
    let mut bench = bench();
    let f = preempt_model::CodeId(0);
    let call = || Command::Call { code: f, args: vec![], results: vec![] };
    let edges = bench.line(vec![call()]);
    bench.code(CodeKind::Procedure, 0, edges);
    bench.process(bench.line(vec![call()]));
    assert_eq!(fault(&bench), "calls are nested deeper than 1000");
}

#[test]
fn returning_from_nowhere() {
    assert_eq!(of_line(vec![Command::Return(vec![])]), "return outside of a procedure");
}

#[test]
fn priorities_and_processes_that_are_not_there() {
    let priority = |priority| Command::SetPriority { pid: number(0), priority: number(priority) };
    assert_eq!(of_line(vec![priority(0)]), "priority 0 is out of range: it is 1 to 255");
    assert_eq!(of_line(vec![priority(256)]), "priority 256 is out of range: it is 1 to 255");
    assert_eq!(of_line(vec![Command::Guard(Expr::PcValue(Box::new(number(7))))]), "there is no process 7");
}

#[test]
fn initial_values_without_meaning_are_refused() {
    let mut bench = bench();
    let x = bench.byte(0);
    let value = Expr::binary(BinaryOp::Div, number(1), load(&x));
    bench.model.init.push(Init::Set { hidden: false, slot: 0, ty: Type::BYTE, value });
    let fault = preempt_model::Interpreter::new(&bench.model, &bench.sources).expect_err("1 / 0");
    assert_eq!(fault.0, "division by zero");
}

#[test]
fn the_run_ends_where_it_has_no_meaning() {
    let mut bench = bench();
    let x = bench.byte(0);
    let divide = Expr::binary(BinaryOp::Div, number(1), load(&x));
    bench.process(bench.line(vec![set(&x, divide), set(&x, add(load(&x), number(1)))]));
    assert_eq!(bench.explore().states, 1);
    assert!(bench.ends().is_empty(), "the process can move, but there is no state behind");
}
