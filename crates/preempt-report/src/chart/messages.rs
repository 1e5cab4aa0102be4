//! Which step received what which step sent, found out from the values of a run.
//!
//! A run shows the contents of a channel as a list, and nothing else that a run shows changes its length: an array has as many
//! elements as it was declared with. So a list whose length changes is a channel; what is new in it was sent by the step, and
//! what is gone was received by it. A message keeps its place in the list until it is taken, which is how each receive is
//! traced back to its send. (A poll that leaves the message where it is changes nothing and is no arrow.)
//!
//! Cost: for each step, the length of the lists that it changed.

use super::Message;
use preempt_core::{Change, Trace, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The channels of a run: variables, and elements of arrays, as in `queue[2]`.
pub(super) struct Channels(BTreeSet<String>);

/// What a variable holds at some time.
type Values<'t> = BTreeMap<&'t str, &'t Value>;

impl Channels {
    pub fn of(trace: &Trace) -> Channels {
        let mut channels = Channels(BTreeSet::new());
        let mut values: Values<'_> = named(&trace.initial).collect();
        for (name, value) in trace.steps.iter().flat_map(|step| named(&step.changed)) {
            if let Some(before) = values.insert(name, value) {
                channels.look(name.to_string(), before, value);
            }
        }
        channels
    }

    fn look(&mut self, path: String, before: &Value, after: &Value) {
        let (Value::List(before), Value::List(after)) = (before, after) else { return };
        if before.len() != after.len() {
            self.0.insert(path);
            return;
        }
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            self.look(format!("{path}[{index}]"), before, after);
        }
    }

    pub fn messages(&self, trace: &Trace) -> Vec<Message> {
        let mut delivery = Delivery { channels: self, queues: BTreeMap::new(), messages: Vec::new() };
        let mut values: Values<'_> = BTreeMap::new();
        for (name, value) in named(&trace.initial) {
            delivery.step(name.to_string(), &Value::Gone, value, None);
            values.insert(name, value);
        }
        for (number, step) in trace.steps.iter().enumerate() {
            for (name, value) in named(&step.changed) {
                let before = values.insert(name, value).unwrap_or(&Value::Gone);
                delivery.step(name.to_string(), before, value, Some(number));
            }
        }
        delivery.messages.sort_by_key(|message| message.sent);
        delivery.messages
    }
}

fn named(changes: &[Change]) -> impl Iterator<Item = (&str, &Value)> {
    changes.iter().map(|change| (change.name.as_str(), &change.value))
}

struct Delivery<'c> {
    channels: &'c Channels,
    /// By channel: which messages are in it, by their numbers.
    queues: BTreeMap<String, Vec<usize>>,
    messages: Vec<Message>,
}

impl Delivery<'_> {
    /// What a step has done to a variable, and to channels that are elements of it.
    fn step(&mut self, path: String, before: &Value, after: &Value, step: Option<usize>) {
        let empty = Vec::new();
        let (before, after) = match (before, after) {
            (Value::List(before), Value::List(after)) => (before, after),
            (_, Value::List(after)) => (&empty, after),
            // Whoever owned it is gone, and so is what was in it.
            _ => {
                let prefix = format!("{path}[");
                self.queues.retain(|name, _| *name != path && !name.starts_with(&prefix));
                return;
            }
        };
        if self.channels.0.contains(&path) {
            return self.transfer(path, before, after, step);
        }
        for (index, after) in after.iter().enumerate() {
            let before = before.get(index).unwrap_or(&Value::Gone);
            self.step(format!("{path}[{index}]"), before, after, step);
        }
    }

    fn transfer(&mut self, channel: String, before: &[Value], after: &[Value], step: Option<usize>) {
        let edit = Edit::between(before, after);
        let sent: Vec<usize> = after[edit.at_after..edit.at_after + edit.inserted]
            .iter()
            .map(|message| {
                let text = words(message);
                self.messages.push(Message { channel: channel.clone(), text, sent: step, received: None });
                self.messages.len() - 1
            })
            .collect();
        let queue = self.queues.entry(channel).or_default();
        // The queue follows the values, which are what they are: it never has fewer messages than they have.
        queue.resize_with(before.len(), || usize::MAX);
        for number in queue.drain(edit.at_before..edit.at_before + edit.removed) {
            if let (Some(message), Some(step)) = (self.messages.get_mut(number), step) {
                message.received = Some(step);
            }
        }
        let place = edit.at_after.min(queue.len());
        queue.splice(place..place, sent);
    }
}

/// The fields of a message, as they stand in a send.
fn words(message: &Value) -> String {
    match message {
        Value::List(fields) => fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        one => one.to_string(),
    }
}

/// How one list became another: so many elements removed at one place, so many inserted at another.
struct Edit {
    at_before: usize,
    removed: usize,
    at_after: usize,
    inserted: usize,
}

impl Edit {
    /// The smaller of two explanations: elements replaced in the middle, as a send or a receive does it; or some taken from the
    /// front and others put at the end, as a sequence does that receives and sends in one step.
    fn between(before: &[Value], after: &[Value]) -> Edit {
        let most = before.len().min(after.len());
        let prefix = before.iter().zip(after).take_while(|(one, other)| one == other).count();
        let suffix = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other);
        let suffix = suffix.count().min(most - prefix);
        let middle = Edit {
            at_before: prefix,
            removed: before.len() - prefix - suffix,
            at_after: prefix,
            inserted: after.len() - prefix - suffix,
        };
        let kept = (0..=before.len()).map(|from| &before[from..]).find(|rest| after.starts_with(rest));
        let kept = kept.map_or(0, <[Value]>::len);
        let shifted =
            Edit { at_before: 0, removed: before.len() - kept, at_after: kept, inserted: after.len() - kept };
        let size = |edit: &Edit| edit.removed + edit.inserted;
        if size(&shifted) <= size(&middle) { shifted } else { middle }
    }
}
