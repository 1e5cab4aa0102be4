//! A protocol written as a Rust type and checked without any model: what a user of the `System` trait does.

use preempt_core::{Change, PropertyKind, Silent, SwitchKind, Value, Verdict};
use preempt_model::search::{self, ReferenceOptions, oracle};
use preempt_model::system::Description;
use preempt_model::{Successor, System, Violation};

/// Peterson's algorithm for two processes. `turn_first` has them take turns before they raise their flags,
/// which breaks it.
struct Peterson {
    turn_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    Start,
    Between,
    Waiting,
    Critical,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Memory {
    at: [At; 2],
    flag: [bool; 2],
    turn: usize,
}

impl Peterson {
    fn next(&self, memory: &Memory, me: usize) -> Option<Memory> {
        let mut next = memory.clone();
        let other = 1 - me;
        next.at[me] = match memory.at[me] {
            At::Start | At::Between => {
                if (memory.at[me] == At::Start) == self.turn_first {
                    next.turn = other;
                } else {
                    next.flag[me] = true;
                }
                if memory.at[me] == At::Start { At::Between } else { At::Waiting }
            }
            At::Waiting if memory.flag[other] && memory.turn == other => return None,
            At::Waiting => At::Critical,
            At::Critical => {
                next.flag[me] = false;
                At::Done
            }
            At::Done => return None,
        };
        Some(next)
    }
}

impl System for Peterson {
    type State = Memory;
    /// A process has at most one move.
    type Action = ();

    fn initial_states(&self) -> Vec<Memory> {
        vec![Memory { at: [At::Start; 2], flag: [false; 2], turn: 0 }]
    }

    fn process_count(&self, _: &Memory) -> usize {
        2
    }

    fn successors(&self, memory: &Memory, process: usize) -> Vec<Successor<Memory, ()>> {
        let Some(next) = self.next(memory, process) else { return Vec::new() };
        let violation = (next.at == [At::Critical; 2]).then(|| Violation {
            kind: PropertyKind::Assertion,
            name: "both are in the critical section".into(),
            location: None,
        });
        vec![Successor { action: (), state: Some(next), runs: process, violation }]
    }

    fn may_end(&self, memory: &Memory) -> bool {
        memory.at == [At::Done; 2]
    }

    fn process_name(&self, _: &Memory, process: usize) -> String {
        ["left", "right"][process].into()
    }

    fn describe(&self, memory: &Memory, process: usize, _: &()) -> Description {
        Description { text: format!("leaves {:?}", memory.at[process]), ..Description::default() }
    }

    fn variables(&self, memory: &Memory) -> Vec<Change> {
        vec![Change { name: "turn".into(), value: Value::Number(memory.turn as i64) }]
    }
}

#[test]
fn petersons_algorithm_excludes() {
    let system = Peterson { turn_first: false };
    let outcome = search::check(&system, &ReferenceOptions::default(), &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert_eq!(outcome.stats.states, oracle::cheapest_costs(&system, false).states.len() as u64);
}

#[test]
fn taking_turns_first_breaks_it_with_two_preemptions() {
    let system = Peterson { turn_first: true };
    let outcome = search::check(&system, &ReferenceOptions::default(), &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert_eq!(outcome.violation.unwrap().name, "both are in the critical section");
    let trace = outcome.counterexample.unwrap();
    let expected = oracle::cheapest_costs(&system, false).cheapest().unwrap();
    assert_eq!(
        (trace.preemptions() as u32, trace.steps.len() as u64),
        (expected.preemptions, expected.steps)
    );
    // Left takes its turn; right goes all the way, as left's flag is down; left follows, as the turn is its own.
    let switches: Vec<_> = trace.steps.iter().map(|step| (step.process.as_str(), step.switch)).collect();
    assert_eq!(switches[0], ("left", SwitchKind::None));
    assert_eq!(switches[1], ("right", SwitchKind::Preemption));
    assert_eq!(switches.len(), 6);
    assert_eq!(expected.preemptions, 2, "right is left in the critical section, where it could go on");
    let one = ReferenceOptions { bound: Some(1), ..ReferenceOptions::default() };
    assert_eq!(search::check(&system, &one, &mut Silent).verdict, Verdict::Holds);
}
