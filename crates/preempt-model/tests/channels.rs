//! Channels, on models built by hand.

use crate::common;

use common::{add, bench, bind, exactly, load, local, number, receive, send, set};
use preempt_model::{Command, Expr, Index, Init, Pattern, Place, Probe, Scope, System, Type};

fn sorted(channel: &Expr, fields: Vec<Expr>) -> Command {
    Command::Send { channel: channel.clone(), sorted: true, fields }
}

fn random(channel: &Expr, pattern: Vec<Pattern>) -> Command {
    Command::Receive { channel: channel.clone(), random: true, keep: false, pattern }
}

#[test]
fn messages_come_out_in_the_order_in_which_they_went_in() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(2, &[Type::BYTE]);
    bench.process(bench.line(vec![
        send(&c, vec![number(7)]),
        send(&c, vec![number(8)]),
        receive(&c, vec![bind(&x)]),
        receive(&c, vec![bind(&y)]),
    ]));
    assert_eq!(bench.ends(), [[7, 8]]);
}

#[test]
fn a_full_channel_blocks_and_so_does_an_empty_one() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(1, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![number(1)]), send(&c, vec![number(2)])]));
    let d = bench.channel(1, &[Type::BYTE]);
    bench.process(bench.line(vec![receive(&d, vec![bind(&x)])]));
    let seen = bench.explore();
    assert_eq!((seen.states, seen.deadlocks), (2, 1));
}

#[test]
fn fields_are_cut_to_their_types() {
    let mut bench = bench();
    let (x, y) = (bench.global(Type::INT, 0), bench.global(Type::INT, 0));
    let c = bench.channel(1, &[Type::BYTE, Type::BIT]);
    bench.process(
        bench.line(vec![send(&c, vec![number(257), number(2)]), receive(&c, vec![bind(&x), bind(&y)])]),
    );
    assert_eq!(bench.ends(), [[1, 0]]);
}

#[test]
fn what_is_received_is_cut_to_the_variable() {
    let mut bench = bench();
    let (x, y) = (bench.global(Type::BIT, 0), bench.byte(0));
    let c = bench.channel(1, &[Type::BYTE]);
    let d = bench.channel(1, &[Type::SHORT]);
    bench.process(bench.line(vec![
        send(&c, vec![number(3)]),
        send(&d, vec![number(-1)]),
        receive(&c, vec![bind(&x)]),
        receive(&d, vec![bind(&y)]),
    ]));
    assert_eq!(bench.ends(), [[1, 255]]);
}

#[test]
fn a_sorted_send_goes_behind_what_is_not_greater() {
    let mut bench = bench();
    let places = [0; 3].map(|_| bench.byte(0));
    let c = bench.channel(3, &[Type::BYTE, Type::BYTE]);
    let mut commands: Vec<_> =
        [(2, 1), (1, 2), (2, 0)].map(|(a, b)| sorted(&c, vec![number(a), number(b)])).to_vec();
    commands.extend(places.iter().map(|place| receive(&c, vec![bind(&local(0)), bind(place)])));
    bench.process(bench.line(commands));
    assert_eq!(bench.ends(), [[2, 0, 1]], "(1, 2), (2, 0), (2, 1)");
}

/// Found by comparison with Spin: the place is found by 2, although the field keeps 0 of it.
#[test]
fn a_sorted_send_compares_what_was_sent() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(2, &[Type::BIT, Type::BYTE]);
    bench.process(bench.line(vec![
        sorted(&c, vec![number(1), number(5)]),
        sorted(&c, vec![number(2), number(6)]),
        receive(&c, vec![bind(&local(0)), bind(&x)]),
        receive(&c, vec![bind(&local(0)), bind(&y)]),
    ]));
    assert_eq!(bench.ends(), [[5, 6]]);
}

#[test]
fn a_random_receive_takes_the_first_that_matches() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(3, &[Type::BYTE, Type::BYTE]);
    let mut commands: Vec<_> =
        [(1, 5), (2, 6), (2, 7)].map(|(a, b)| send(&c, vec![number(a), number(b)])).to_vec();
    commands.push(random(&c, vec![exactly(2), bind(&x)]));
    commands.push(set(&y, Expr::Len(Box::new(c.clone()))));
    commands.push(receive(&c, vec![exactly(2), bind(&x)]));
    bench.process(bench.line(commands));
    let seen = bench.explore();
    assert_eq!(seen.ends.into_iter().collect::<Vec<_>>(), [[6, 2]]);
    assert_eq!(seen.deadlocks, 1, "the oldest message is (1, 5)");
}

#[test]
fn a_copying_receive_leaves_the_message() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(1, &[Type::BYTE]);
    let keep = |pattern| Command::Receive { channel: c.clone(), random: false, keep: true, pattern };
    bench.process(bench.line(vec![
        send(&c, vec![number(4)]),
        keep(vec![bind(&x)]),
        set(&y, Expr::Len(Box::new(c.clone()))),
        keep(vec![exactly(5)]),
    ]));
    let seen = bench.explore();
    assert_eq!(seen.ends.into_iter().collect::<Vec<_>>(), [[4, 1]]);
    assert_eq!(seen.deadlocks, 1);
}

#[test]
fn questions_change_nothing() {
    let mut bench = bench();
    let answers = [0; 6].map(|_| bench.byte(9));
    let c = bench.channel(2, &[Type::BYTE]);
    let poll =
        |value, random| Expr::Poll { channel: Box::new(c.clone()), random, pattern: vec![exactly(value)] };
    let probe = |probe| Expr::Probe(probe, Box::new(c.clone()));
    let mut commands = vec![send(&c, vec![number(1)]), send(&c, vec![number(2)])];
    let questions =
        [poll(1, false), poll(2, false), poll(2, true), probe(Probe::Full), probe(Probe::Empty), {
            Expr::Len(Box::new(c.clone()))
        }];
    commands.extend(answers.iter().zip(questions).map(|(place, question)| set(place, question)));
    bench.process(bench.line(commands));
    assert_eq!(bench.ends(), [[1, 0, 1, 1, 0, 2]]);
}

/// `c ? i, a[i]`: the index is the value just received.
#[test]
fn fields_are_received_one_after_the_other() {
    let mut bench = bench();
    let (i, first) = (bench.byte(0), bench.byte(0));
    bench.byte(0);
    let index = Index { value: load(&i), length: 2, stride: 1, array: "a".into() };
    let element = Place { indices: vec![index], ..first };
    let c = bench.channel(1, &[Type::BYTE, Type::BYTE]);
    bench.process(
        bench.line(vec![send(&c, vec![number(1), number(8)]), receive(&c, vec![bind(&i), bind(&element)])]),
    );
    assert_eq!(bench.ends(), [[1, 0, 8]]);
}

#[test]
fn a_rendezvous_is_one_step_and_the_receiver_runs_afterwards() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![number(3)])]));
    bench.process(bench.line(vec![receive(&c, vec![bind(&x)])]));
    let system = bench.system();
    let initial = system.initial_states().remove(0);
    assert!(system.successors(&initial, 1).is_empty(), "the receiver cannot begin it");
    let moves = system.successors(&initial, 0);
    assert_eq!(moves.len(), 1);
    assert_eq!(moves[0].runs, 1);
    assert_eq!(common::globals(&system, moves[0].state.as_ref().unwrap()), [3]);
}

#[test]
fn every_receiver_that_matches_is_a_step_of_its_own() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![number(3)])]));
    bench.process(bench.line(vec![receive(&c, vec![bind(&x)])]));
    bench.process(bench.line(vec![receive(&c, vec![exactly(4)])]));
    bench.process(bench.line(vec![receive(&c, vec![bind(&y)])]));
    let system = bench.system();
    let moves = system.successors(&system.initial_states()[0], 0);
    assert_eq!(moves.iter().map(|step| step.runs).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(bench.ends(), [[0, 3], [3, 0]]);
}

#[test]
fn atomicity_passes_to_the_receiver() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.atomic_line(vec![send(&c, vec![number(3)]), set(&x, number(1))]));
    bench.process(bench.atomic_line(vec![receive(&c, vec![bind(&x)]), Command::SKIP]));
    let d = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.line(vec![receive(&d, vec![bind(&x)])]));
    let system = bench.system();
    let initial = system.initial_states().remove(0);
    let after = system.successors(&initial, 0).remove(0).state.unwrap();
    assert_eq!(system.exclusive(&after), Some(1));
    let after = system.successors(&after, 1).remove(0).state.unwrap();
    assert_eq!(system.exclusive(&after), None, "the sender is in its sequence, but no longer alone");
    let after = system.successors(&after, 0).remove(0).state.unwrap();
    assert_eq!(common::globals(&system, &after), [1]);
}

#[test]
fn a_receiver_outside_of_any_sequence_ends_atomicity() {
    let mut bench = bench();
    let x = bench.byte(0);
    let c = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.atomic_line(vec![send(&c, vec![number(3)]), set(&x, number(1))]));
    bench.process(bench.line(vec![receive(&c, vec![bind(&x)]), Command::SKIP]));
    let system = bench.system();
    let after = system.successors(&system.initial_states()[0], 0).remove(0).state.unwrap();
    assert_eq!(system.exclusive(&after), None);
}

#[test]
fn a_deterministic_block_may_begin_with_the_receiving_end() {
    let mut bench = bench();
    let (x, y) = (bench.byte(0), bench.byte(0));
    let c = bench.channel(0, &[Type::BYTE]);
    bench.process(bench.line(vec![send(&c, vec![number(3)])]));
    let block = bench.block(vec![
        vec![(Some(receive(&c, vec![bind(&x)])), Some(1))],
        vec![(Some(set(&y, add(load(&x), number(1)))), None)],
    ]);
    bench.process(bench.line(vec![block]));
    let system = bench.system();
    let moves = system.successors(&system.initial_states()[0], 0);
    assert_eq!(moves.len(), 1);
    assert_eq!(common::globals(&system, moves[0].state.as_ref().unwrap()), [3, 4]);
}

/// A process makes a channel of its own, sends its number to a global variable and dies: the channel is gone.
#[test]
fn the_channels_of_a_process_die_with_it() {
    let mut bench = bench();
    let x = bench.byte(0);
    let template = bench.template(1, &[Type::BYTE]);
    let own = Place::scalar(Scope::Local, 0, Type::CHANNEL);
    let first = bench.process(bench.line(vec![Command::Guard(load(&x)), send(&load(&x), vec![number(1)])]));
    let second = bench.process(bench.line(vec![set(&x, load(&own))]));
    bench.code_mut(second).init.push(Init::Channel { hidden: false, slot: 0, template });
    let seen = bench.explore();
    assert_eq!(seen.violations.into_iter().collect::<Vec<_>>(), ["there is no channel 1"]);
    assert_eq!(seen.deadlocks, 0, "before its death the channel can be used by {first:?}");
}
