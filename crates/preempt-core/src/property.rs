//! What a system can violate, in words that are the same for every kind of input.

use crate::source::Location;
use crate::waiting::Waiting;

/// The kinds of properties, over all inputs and engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PropertyKind {
    /// An assertion in the program is false when it is executed.
    Assertion,
    /// No process can move and not all of them are where they may end (Spin: invalid end state).
    Deadlock,
    /// The program does something that has no meaning: divides by zero, indexes out of range.
    RuntimeError,
    /// The never claim accepts a run of the program.
    Never,
    /// A run of the program does not satisfy a formula of linear temporal logic.
    Ltl,
    /// A cycle through an accept label.
    Acceptance,
    /// A cycle that never passes a progress label.
    NonProgress,
    /// `trace` or `notrace`.
    TraceAssertion,
    /// `xr` or `xs`: exclusive use of a channel's end.
    Exclusive,
    /// A marking at least as large as the target can be reached.
    Coverability,
}

impl PropertyKind {
    /// Every kind, in the order in which reports list them.
    pub const ALL: [PropertyKind; 10] = [
        PropertyKind::Assertion,
        PropertyKind::Deadlock,
        PropertyKind::RuntimeError,
        PropertyKind::Never,
        PropertyKind::Ltl,
        PropertyKind::Acceptance,
        PropertyKind::NonProgress,
        PropertyKind::TraceAssertion,
        PropertyKind::Exclusive,
        PropertyKind::Coverability,
    ];

    /// The kind with this [`name`](PropertyKind::name).
    pub fn from_name(name: &str) -> Option<PropertyKind> {
        PropertyKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in reports and in `expect:` headers of models.
    pub fn name(self) -> &'static str {
        match self {
            PropertyKind::Assertion => "assertion",
            PropertyKind::Deadlock => "deadlock",
            PropertyKind::RuntimeError => "runtime-error",
            PropertyKind::Never => "never",
            PropertyKind::Ltl => "ltl",
            PropertyKind::Acceptance => "acceptance",
            PropertyKind::NonProgress => "non-progress",
            PropertyKind::TraceAssertion => "trace-assertion",
            PropertyKind::Exclusive => "exclusive",
            PropertyKind::Coverability => "coverability",
        }
    }
}

/// The property that was violated, in words that are the same whenever it happens there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Property {
    /// Which kind of property it is.
    pub kind: PropertyKind,
    /// What was violated, in the user's words: `assert(x == 1)`, `index 4 is out of range (a has 4)`.
    pub name: String,
    /// For a deadlock: where the first of those stands who are stuck.
    pub location: Option<Location>,
    /// For a deadlock: where everybody stands, those who may end there included.
    pub waiting: Vec<Waiting>,
}

impl Property {
    /// Those who cannot go on and may not end where they stand.
    pub fn stuck(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(|it| !it.may_end)
    }

    /// A property that no process waits for.
    pub fn new(kind: PropertyKind, name: String, location: Option<Location>) -> Property {
        Property { kind, name, location, waiting: Vec::new() }
    }
}
