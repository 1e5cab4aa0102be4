//! Hand-made traces for the tests of this crate.

use preempt_core::{
    Bound, Change, Cost, Guarantee, Level, Location, Outcome, Partner, Property, PropertyKind, Report, Stats,
    Step, SwitchKind, Trace, Value, Verdict,
};
use std::time::Duration;

pub fn at(line: u32) -> Option<Location> {
    Some(Location { file: "models/broken.pml".into(), line, column: 5 })
}

/// Builds a trace step by step; a step by another process than the last is a forced switch unless said otherwise.
#[derive(Default)]
pub struct Run {
    pub trace: Trace,
}

impl Run {
    pub fn new(initial: &[(&str, i64)]) -> Run {
        let mut run = Run::default();
        run.trace.initial = numbers(initial);
        run
    }

    pub fn step(mut self, pid: usize, line: u32, text: &str, changed: &[(&str, i64)]) -> Run {
        let switch = match self.trace.steps.last() {
            Some(last) if last.running_after().1 != pid => SwitchKind::Forced,
            _ => SwitchKind::None,
        };
        self.trace.steps.push(Step {
            process: format!("P({pid})"),
            pid,
            location: at(line),
            calls: Vec::new(),
            text: text.into(),
            choice: None,
            switch,
            changed: numbers(changed),
            output: None,
            partner: None,
        });
        self.trace.processes = self.trace.processes.max(pid + 1);
        self
    }

    pub fn last(&mut self) -> &mut Step {
        self.trace.steps.last_mut().unwrap()
    }

    pub fn preempting(mut self) -> Run {
        self.last().switch = SwitchKind::Preemption;
        self
    }

    pub fn printing(mut self, output: &str) -> Run {
        self.last().output = Some(output.into());
        self
    }

    pub fn changing(mut self, name: &str, value: Value) -> Run {
        self.last().changed.push(Change { name: name.into(), value });
        self
    }

    pub fn received_by(mut self, pid: usize, line: u32, text: &str) -> Run {
        self.last().partner =
            Some(Partner { process: format!("P({pid})"), pid, location: at(line), text: text.into() });
        self.trace.processes = self.trace.processes.max(pid + 1);
        self
    }

    pub fn looping_to(mut self, step: usize) -> Run {
        self.trace.loop_start = Some(step);
        self
    }
}

fn numbers(values: &[(&str, i64)]) -> Vec<Change> {
    values.iter().map(|(n, v)| Change { name: (*n).into(), value: Value::Number(*v) }).collect()
}

/// Two processes pass a guard before either has raised its flag.
pub fn lost_mutex() -> Trace {
    Run::new(&[("busy", 0), ("inside", 0)])
        .step(0, 7, "busy == 0", &[])
        .step(1, 7, "busy == 0", &[])
        .preempting()
        .step(1, 8, "busy = 1", &[("busy", 1)])
        .step(1, 9, "inside++", &[("inside", 1)])
        .step(1, 10, "assert(inside == 1)", &[])
        .step(0, 8, "busy = 1", &[])
        .preempting()
        .step(0, 9, "inside++", &[("inside", 2)])
        .step(0, 10, "assert(inside == 1)", &[])
        .trace
}

pub fn violated(kind: PropertyKind, name: &str, trace: Trace) -> Report {
    Report::from(Outcome {
        verdict: Verdict::Violated,
        guarantee: Guarantee::Exhaustive,
        violation: Some(Property::new(kind, name.into(), at(10))),
        counterexample: Some(trace),
        stats: some_stats(),
    })
}

pub fn holds(bound: Option<u32>) -> Report {
    Report::from(Outcome {
        verdict: Verdict::Holds,
        guarantee: match bound {
            Some(most) => Guarantee::Bounded(Bound { unit: Cost::Preemptions, most }),
            None => Guarantee::Exhaustive,
        },
        violation: None,
        counterexample: None,
        stats: some_stats(),
    })
}

pub fn some_stats() -> Stats {
    Stats {
        states: 12345,
        transitions: 23456,
        depth: 78,
        time: Duration::from_millis(1250),
        peak_bytes: 5_400_000,
        levels: vec![
            Level { level: 0, states: 2345, transitions: 3456 },
            Level { level: 1, states: 10000, transitions: 20000 },
        ],
        ..Stats::default()
    }
}

pub fn without_colour(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}
