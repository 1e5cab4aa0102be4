//! What an engine finds: a run to a target, a certificate that there is none, or nothing.

use crate::certificate::Certificate;
use preempt_core::{Budget, Change, Location, SourceMap, Step, StopReason, SwitchKind, Trace, Value};
use preempt_net::{Marking, Problem};

/// Steps of a run between two looks at the budget.
pub(crate) const POLL: usize = 256;

/// An initial marking and the transitions to fire from it, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// One of the initial markings.
    pub initial: Marking,
    /// In the order in which they fire, by their numbers in the net.
    pub transitions: Vec<usize>,
}

/// What an engine knows at its end about the targets that it was given.
#[derive(Debug)]
pub(crate) enum Coverability {
    /// The run ends in one of them.
    Covered(Run),
    /// None of them can be covered.
    Safe(Certificate),
    Unknown(StopReason),
}

impl Run {
    /// Does the run start initially, fire by the exact rule, and end in a target? `None` if it was stopped on the way.
    pub(crate) fn is_counterexample(&self, problem: &Problem, stopped: &dyn Fn() -> bool) -> Option<bool> {
        if !problem.is_initial(&self.initial) {
            return Some(false);
        }
        let mut marking = self.initial.clone();
        for (step, number) in self.transitions.iter().enumerate() {
            if step.is_multiple_of(POLL) && stopped() {
                return None;
            }
            match problem.net.transitions.get(*number).and_then(|transition| transition.fire(&marking)) {
                Some(after) => marking = after,
                None => return Some(false),
            }
        }
        Some(problem.covers_target(&marking))
    }

    /// The run for people: every step with the places it changes. Nothing if it cannot be replayed, or if the budget is
    /// exhausted first.
    pub fn trace(&self, problem: &Problem, sources: Option<&SourceMap>, budget: &Budget) -> Option<Trace> {
        let change = |place: u32, tokens: u64| Change {
            name: problem.net.places.get(place as usize).cloned().unwrap_or_default(),
            value: Value::Number(i64::try_from(tokens).unwrap_or(i64::MAX)),
        };
        let initial = self.initial.iter().map(|(place, tokens)| change(place, tokens)).collect();
        let mut steps = Vec::new();
        let mut before = self.initial.clone();
        for (at, number) in self.transitions.iter().enumerate() {
            if at.is_multiple_of(POLL) && budget.exhausted().is_some() {
                return None;
            }
            let transition = problem.net.transitions.get(*number)?;
            let after = transition.fire(&before)?;
            let mut changed = Vec::new();
            for (place, _) in before.join(&after).iter() {
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
                calls: Vec::new(),
                text: transition.name.clone(),
                choice: None,
                switch: SwitchKind::None,
                changed,
                output: None,
                partner: None,
            });
            before = after;
        }
        Some(Trace { initial, steps, loop_start: None, processes: 1 })
    }
}
