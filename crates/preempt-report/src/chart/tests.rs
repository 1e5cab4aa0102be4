//! Which arrows a run has, and what an SVG may hold.

use super::{Chart, Message, render_svg};
use crate::fixtures::Run;
use preempt_core::{Awaited, Property, PropertyKind, Value, Waiting};

fn list(values: &[i64]) -> Value {
    Value::List(values.iter().map(|value| Value::Number(*value)).collect())
}

/// A run in which one step follows another, each leaving the channel `c` like this.
fn through(contents: &[&[i64]]) -> Vec<(String, Option<usize>, Option<usize>)> {
    let mut run = Run::new(&[]);
    run.trace.initial.push(preempt_core::Change { name: "c".into(), value: list(&[]) });
    for (number, values) in contents.iter().enumerate() {
        run = run.step(number % 2, 1, "step", &[]).changing("c", list(values));
    }
    let messages = Chart::new(&run.trace, None).messages;
    messages.into_iter().map(|Message { text, sent, received, .. }| (text, sent, received)).collect()
}

fn message(text: &str, sent: usize, received: Option<usize>) -> (String, Option<usize>, Option<usize>) {
    (text.into(), Some(sent), received)
}

#[test]
fn what_is_sent_first_is_received_first() {
    let messages = through(&[&[1], &[1, 1], &[1], &[]]);
    assert_eq!(messages, [message("1", 0, Some(2)), message("1", 1, Some(3))]);
}

#[test]
fn a_message_is_taken_from_where_it_is() {
    // A sorted send puts 2 between, and a random receive takes 3 first.
    let messages = through(&[&[1], &[1, 3], &[1, 2, 3], &[1, 2], &[1]]);
    assert_eq!(
        messages,
        [message("1", 0, None), message("3", 1, Some(3)), message("2", 2, Some(4))],
        "1 stays in the channel"
    );
}

#[test]
fn one_step_may_receive_and_send() {
    let messages = through(&[&[1], &[1, 2], &[2, 3], &[3]]);
    assert_eq!(messages, [message("1", 0, Some(2)), message("2", 1, Some(3)), message("3", 2, None)]);
}

#[test]
fn an_array_is_no_channel_but_may_hold_some() {
    let queues = |one: &[i64], other: &[i64]| Value::List(vec![list(one), list(other)]);
    let mut run = Run::new(&[]);
    for (name, value) in [("a", list(&[0, 0])), ("q", queues(&[], &[]))] {
        run.trace.initial.push(preempt_core::Change { name: name.into(), value });
    }
    let run = run
        .step(0, 1, "a[0] = 1", &[])
        .changing("a", list(&[1, 0]))
        .step(0, 2, "q[1]!7", &[])
        .changing("q", queues(&[], &[7]))
        .step(1, 3, "q[1]?x", &[])
        .changing("q", queues(&[], &[]));
    let messages = Chart::new(&run.trace, None).messages;
    let only = Message { channel: "q[1]".into(), text: "7".into(), sent: Some(1), received: Some(2) };
    assert_eq!(messages, [only]);
}

#[test]
fn who_only_waits_has_a_lane() {
    let run = Run::new(&[]).step(0, 1, "skip", &[]);
    let mut property = Property::new(PropertyKind::Deadlock, "deadlock".into(), None);
    let statements = vec![Awaited { location: None, text: "c?x".into() }];
    property.waiting.push(Waiting { process: "Q(1)".into(), pid: 1, may_end: false, statements });
    assert_eq!(Chart::new(&run.trace, Some(&property)).lanes, ["P(0)", "Q(1)"]);
}

#[test]
fn text_of_a_model_is_only_text() {
    let hostile = "</text><script>alert(1)</script>&\"'\u{0}";
    let mut run = Run::new(&[]).step(0, 1, hostile, &[]).step(1, 2, "x", &[]).received_by(0, 3, hostile);
    run.last().process = hostile.into();
    let property = Property::new(PropertyKind::Assertion, hostile.into(), None);
    let picture = render_svg(&run.trace, Some(&property));
    assert!(!picture.contains("<script") && !picture.contains('\u{0}'), "{picture}");
    assert_eq!(picture.matches("</text>").count(), picture.matches("<text").count());
}

#[test]
fn switches_loops_and_messages_are_drawn() {
    let picture = render_svg(&crate::fixtures::lost_mutex(), None);
    assert_eq!(picture.matches("class=\"preemption\"").count(), 2);
    let run =
        Run::new(&[]).step(0, 1, "a", &[]).step(1, 2, "r!1", &[]).received_by(0, 3, "r?x").looping_to(1);
    let picture = render_svg(&run.trace, None);
    assert_eq!(picture.matches("class=\"forced\"").count(), 1);
    assert_eq!(picture.matches("class=\"message\"").count(), 1);
    assert_eq!(picture.matches("class=\"loop\"").count(), 1);
    assert_eq!(render_svg(&preempt_core::Trace::default(), None).matches("class=\"lane\"").count(), 0);
}
