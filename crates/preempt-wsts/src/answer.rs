//! What an engine finds.

use crate::certificate::Certificate;
use preempt_core::{Change, Location, SourceMap, Step, StopReason, SwitchKind, Trace, Value};
use preempt_net::{Marking, Problem};

/// An initial marking and the transitions to fire from it, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub initial: Marking,
    pub transitions: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Covered(Run),
    Safe(Certificate),
    Unknown(StopReason),
}

impl Run {
    /// The run for people: every step with the places it changes. Nothing if it cannot be replayed.
    pub fn trace(&self, problem: &Problem, sources: Option<&SourceMap>) -> Option<Trace> {
        let markings = problem.replay(&self.initial, &self.transitions).ok()?;
        let change = |place: u32, tokens: u64| Change {
            name: problem.net.places.get(place as usize).cloned().unwrap_or_default(),
            value: Value::Number(i64::try_from(tokens).unwrap_or(i64::MAX)),
        };
        let initial = self.initial.iter().map(|(place, tokens)| change(place, tokens)).collect();
        let mut steps = Vec::with_capacity(self.transitions.len());
        for (number, pair) in self.transitions.iter().zip(markings.windows(2)) {
            let (before, after) = (&pair[0], &pair[1]);
            let mut changed = Vec::new();
            for (place, _) in before.join(after).iter() {
                if before.get(place) != after.get(place) {
                    changed.push(change(place, after.get(place)));
                }
            }
            let span = problem.spans.get(*number);
            let location: Option<Location> = span.zip(sources).map(|(span, sources)| sources.location(*span));
            steps.push(Step {
                process: "net".into(),
                pid: 0,
                location,
                text: problem.net.transitions[*number].name.clone(),
                choice: None,
                switch: SwitchKind::None,
                changed,
                output: None,
                partner: None,
            });
        }
        Some(Trace { initial, steps, loop_start: None, processes: 1 })
    }
}
