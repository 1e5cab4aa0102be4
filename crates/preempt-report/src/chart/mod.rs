//! A run as a picture: who moves when, and which message goes from whom to whom. [`messages`] finds the messages, [`svg`]
//! draws the chart by itself; the page in [`crate::html`] draws the same chart, as much of it as is visible.

mod messages;
mod svg;

pub use svg::render_svg;

use messages::Channels;
use preempt_core::{Property, Step, Trace};
use std::collections::BTreeMap;

/// What is drawn of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// Names of the processes that move or wait, by their numbers.
    pub lanes: Vec<String>,
    /// For each step the lane of the process that moves, and of its partner at a rendezvous.
    pub steps: Vec<(usize, Option<usize>)>,
    /// Messages through channels, in the order in which they were sent.
    pub messages: Vec<Message>,
}

/// A message that was put into a channel by one step, and may be taken out by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// As in `c` or `queue[2]`.
    pub channel: String,
    /// What it says.
    pub text: String,
    /// The number of the step that sends it; `None` if it was there from the beginning.
    pub sent: Option<usize>,
    /// The number of the step that receives it; `None` if nobody does.
    pub received: Option<usize>,
}

impl Chart {
    /// Of a run, with those who wait at its end.
    pub fn new(trace: &Trace, property: Option<&Property>) -> Chart {
        let mut found: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for step in &trace.steps {
            found.insert((step.pid, &step.process), 0);
            if let Some(partner) = &step.partner {
                found.insert((partner.pid, &partner.process), 0);
            }
        }
        for waiting in property.into_iter().flat_map(|property| &property.waiting) {
            found.insert((waiting.pid, &waiting.process), 0);
        }
        for (number, lane) in found.values_mut().enumerate() {
            *lane = number;
        }
        let lanes_of = |step: &Step| {
            let partner = step.partner.as_ref().map(|partner| found[&(partner.pid, &*partner.process)]);
            (found[&(step.pid, &*step.process)], partner)
        };
        Chart {
            lanes: found.keys().map(|(_, name)| name.to_string()).collect(),
            steps: trace.steps.iter().map(lanes_of).collect(),
            messages: Channels::of(trace).messages(trace),
        }
    }
}

#[cfg(test)]
mod tests;
