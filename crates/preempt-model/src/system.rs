//! Anything that moves step by step, process by process: the seam between what a system means and how it is
//! searched. The interpreter implements it for models; write it for a Rust type to check a protocol of your own.
//!
//! Two processes that add one to a counter by reading it and writing it back lose an addition, with one preemption:
//!
//! ```
//! use preempt_core::{PropertyKind, Silent, Verdict};
//! use preempt_model::search::{self, ReferenceOptions};
//! use preempt_model::system::{Description, Successor, System, Violation};
//!
//! struct Counting;
//!
//! /// The counter, and for each process what it has read, and whether it is done.
//! #[derive(Debug, Clone, PartialEq, Eq, Hash)]
//! struct State { counter: u8, read: [Option<u8>; 2], done: [bool; 2] }
//!
//! impl System for Counting {
//!     type State = State;
//!     type Action = &'static str;
//!
//!     fn initial_states(&self) -> Vec<State> {
//!         vec![State { counter: 0, read: [None; 2], done: [false; 2] }]
//!     }
//!
//!     fn process_count(&self, _: &State) -> usize {
//!         2
//!     }
//!
//!     fn successors(&self, state: &State, me: usize) -> Vec<Successor<State, &'static str>> {
//!         let mut next = state.clone();
//!         let action = match (state.done[me], state.read[me]) {
//!             (true, _) => return Vec::new(),
//!             (false, None) => {
//!                 next.read[me] = Some(state.counter);
//!                 "read"
//!             }
//!             (false, Some(value)) => {
//!                 next.counter = value + 1;
//!                 next.done[me] = true;
//!                 "write"
//!             }
//!         };
//!         let lost = next.done == [true; 2] && next.counter != 2;
//!         let violation = lost.then(|| Violation {
//!             kind: PropertyKind::Assertion,
//!             name: "an addition is lost".into(),
//!             location: None,
//!         });
//!         vec![Successor { action, state: Some(next), runs: me, violation }]
//!     }
//!
//!     fn process_name(&self, _: &State, process: usize) -> String {
//!         format!("adder {process}")
//!     }
//!
//!     fn describe(&self, _: &State, _: usize, action: &&'static str) -> Description {
//!         Description { text: action.to_string(), ..Description::default() }
//!     }
//! }
//!
//! let outcome = search::check(&Counting, &ReferenceOptions::default(), &mut Silent);
//! assert_eq!(outcome.verdict, Verdict::Violated);
//! assert_eq!(outcome.counterexample.unwrap().preemptions(), 1);
//! ```

use crate::footprint::Footprint;
use preempt_core::{Budget, Call, Change, Location, Partner, Property, PropertyKind, Waiting};
use std::fmt::Debug;
use std::hash::Hash;

/// A concurrent system: its states, and the steps of its processes.
pub trait System {
    /// Everything that decides what can follow.
    type State: Clone + Eq + Hash + Debug;
    /// Which of its moves a process makes: together with state and process it decides the step.
    type Action: Clone + Eq + Debug;

    /// Where a run can begin.
    fn initial_states(&self) -> Vec<Self::State>;

    /// Processes are numbered from 0.
    fn process_count(&self, state: &Self::State) -> usize;

    /// Every step that the process can make now. The order is the same each time.
    fn successors(&self, state: &Self::State, process: usize) -> Vec<Successor<Self::State, Self::Action>>;

    /// The process that alone may run, in the middle of its atomic sequence.
    fn exclusive(&self, _state: &Self::State) -> Option<usize> {
        None
    }

    /// The same state after the process that alone could run has given that up, because it cannot move.
    fn release(&self, state: &Self::State) -> Self::State {
        state.clone()
    }

    /// No process can move: is that as it should be?
    fn may_end(&self, _state: &Self::State) -> bool {
        true
    }

    /// No process can move, and that is not as it should be: what would let this one go on, and may it end here? `None` if
    /// there is nothing to say of it.
    fn waiting(&self, state: &Self::State, process: usize) -> Option<Waiting> {
        let process_name = self.process_name(state, process);
        Some(Waiting { process: process_name, pid: process, may_end: false, statements: Vec::new() })
    }

    /// What is wrong with the state itself, if something is. Asked of stable states only.
    fn state_violation(&self, _state: &Self::State) -> Option<Violation> {
        None
    }

    /// For people.
    fn process_name(&self, _state: &Self::State, process: usize) -> String {
        format!("P({process})")
    }

    /// The step for people; without words of its own, the action as it is debugged.
    fn describe(&self, _state: &Self::State, _process: usize, action: &Self::Action) -> Description {
        Description { text: format!("{action:?}").trim_matches('"').to_string(), ..Description::default() }
    }

    /// All variables with their values, in an order that does not change.
    fn variables(&self, _state: &Self::State) -> Vec<Change> {
        Vec::new()
    }

    /// From now on, a step that may take long looks at this budget. If that is stopped, steps are missing and what is
    /// found counts for nothing.
    fn work_within(&self, _budget: &Budget) {}

    /// The budget that was given, or one that does not end.
    fn budget(&self) -> Budget {
        Budget::unlimited()
    }

    /// How much memory a state takes, roughly.
    fn state_bytes(&self, _state: &Self::State) -> usize {
        size_of::<Self::State>()
    }

    /// What the next steps of the process touch; `None` if that is not known.
    fn footprint(&self, _state: &Self::State, _process: usize) -> Option<Footprint> {
        None
    }
}

/// A step and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successor<S, A> {
    /// Which of its moves the process made.
    pub action: A,
    /// `None` if the run ends here, because what follows has no meaning.
    pub state: Option<S>,
    /// The process that is running afterwards: usually the one that moved, after a rendezvous the receiver.
    pub runs: usize,
    /// What the step itself violates.
    pub violation: Option<Violation>,
}

impl<S, A> Successor<S, A> {
    /// A step after which the process that made it is running, and nothing is wrong.
    pub fn new(action: A, state: S, process: usize) -> Successor<S, A> {
        Successor { action, state: Some(state), runs: process, violation: None }
    }
}

/// What is wrong with a step or a state, in words that are the same whenever it happens there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Violation {
    /// Of what it is an instance.
    pub kind: PropertyKind,
    /// In the words of the system.
    pub name: String,
    /// Where it is stated, if that is in a text.
    pub location: Option<Location>,
}

impl Violation {
    /// Something that must not happen, in words of its own.
    pub fn assertion(name: impl Into<String>) -> Violation {
        Violation { kind: PropertyKind::Assertion, name: name.into(), location: None }
    }
}

impl From<Violation> for Property {
    fn from(violation: Violation) -> Property {
        Property::new(violation.kind, violation.name, violation.location)
    }
}

/// A step for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// What is done.
    pub text: String,
    /// Where that stands, if it stands in a text.
    pub location: Option<Location>,
    /// Through which inlines it came there, the outermost first.
    pub calls: Vec<Call>,
    /// Which outcome was taken, where text and process do not say it.
    pub choice: Option<String>,
    /// What the step printed.
    pub output: Option<String>,
    /// The receiver of a rendezvous.
    pub partner: Option<Partner>,
}
