//! What of a run is shown: all of it, or long stretches of one process folded.

use preempt_core::{Change, SwitchKind, Trace, Value};
use std::ops::Range;

/// A run of at most this many steps is shown whole.
const WHOLE: usize = 200;
/// A stretch of one process is folded if it is longer than this ...
const LONG_STRETCH: usize = 12;
/// ... down to its first and its last steps.
const FIRST: usize = 4;
const LAST: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    Step(usize),
    /// Steps of one process that are left out.
    Fold(Range<usize>),
}

pub(super) fn rows(trace: &Trace, full: bool) -> Vec<Row> {
    let steps = trace.steps.len();
    if full || steps <= WHOLE {
        return (0..steps).map(Row::Step).collect();
    }
    let mut rows = Vec::new();
    let mut start = 0;
    while start < steps {
        let end = stretch_end(trace, start);
        if end - start > LONG_STRETCH {
            rows.extend((start..start + FIRST).map(Row::Step));
            rows.push(Row::Fold(start + FIRST..end - LAST));
            rows.extend((end - LAST..end).map(Row::Step));
        } else {
            rows.extend((start..end).map(Row::Step));
        }
        start = end;
    }
    rows
}

/// Where the stretch of one process ends that begins here; the start of a loop and a rendezvous stay visible.
fn stretch_end(trace: &Trace, start: usize) -> usize {
    let process = &trace.steps[start].process;
    let goes_on = |i: &usize| {
        let step = &trace.steps[*i];
        step.switch == SwitchKind::None
            && step.process == *process
            && step.partner.is_none()
            && trace.loop_start != Some(*i)
    };
    let mut end = start + 1;
    while end < trace.steps.len() && goes_on(&end) {
        end += 1;
    }
    end
}

/// The values after the steps `range`, for the variables that these steps changed.
pub(super) fn net_changes(trace: &Trace, range: Range<usize>) -> Vec<Change> {
    let mut changes = Vec::new();
    for step in &trace.steps[range] {
        step.changed.iter().for_each(|change| apply(&mut changes, change));
    }
    changes
}

/// All variables after the last step, in the order in which they were first seen.
pub(super) fn final_values(trace: &Trace) -> Vec<Change> {
    let mut values = trace.initial.clone();
    for step in &trace.steps {
        step.changed.iter().for_each(|change| apply(&mut values, change));
    }
    values.retain(|change| change.value != Value::Gone);
    values
}

fn apply(values: &mut Vec<Change>, change: &Change) {
    match values.iter_mut().find(|known| known.name == change.name) {
        Some(known) => known.value = change.value.clone(),
        None => values.push(change.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Run;

    fn long_run(steps: u32) -> Run {
        (0..steps).fold(Run::new(&[("i", 0)]), |run, i| run.step(0, 1, "i++", &[("i", i64::from(i) + 1)]))
    }

    #[test]
    fn short_runs_and_full_ones_are_whole() {
        assert_eq!(rows(&long_run(200).trace, false).len(), 200);
        assert_eq!(rows(&long_run(201).trace, true).len(), 201);
    }

    #[test]
    fn a_long_stretch_keeps_its_ends() {
        let rows = rows(&long_run(201).trace, false);
        assert_eq!(rows.len(), FIRST + 1 + LAST);
        assert_eq!(rows[FIRST], Row::Fold(4..198));
        assert_eq!(rows.last(), Some(&Row::Step(200)));
    }

    #[test]
    fn a_fold_does_not_hide_the_start_of_a_loop() {
        let rows = rows(&long_run(300).looping_to(150).trace, false);
        assert!(rows.contains(&Row::Step(150)), "{rows:?}");
    }

    #[test]
    fn values_follow_the_steps() {
        let run = long_run(20).step(1, 1, "j = 5", &[("j", 5)]).changing("i", Value::Gone);
        assert_eq!(net_changes(&run.trace, 3..9)[0].value, Value::Number(9));
        let end = final_values(&run.trace);
        assert_eq!(end.iter().map(|change| change.name.as_str()).collect::<Vec<_>>(), ["j"]);
    }
}
