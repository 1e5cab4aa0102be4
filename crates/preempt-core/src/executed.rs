//! Which parts of an input a search has executed, and which it never did: what Spin calls "unreached".

use crate::source::Location;

/// What of an input took part in a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// What the input is made of.
    pub unit: ExecutedUnit,
    /// Has the search seen everything that can be executed, as far as its verdict reaches? If not, what is listed was not
    /// executed so far.
    pub complete: bool,
    /// Only runs with up to so many processes were looked at, of a system that may have any number; what is never possible has no
    /// run with any number.
    pub processes: Option<usize>,
    /// Process by process, in the order of the text.
    pub parts: Vec<ExecutedPart>,
}

/// What an input is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutedUnit {
    /// Of a program.
    Statement,
    /// Of a net.
    Transition,
    /// Of a protocol, a channel system or a grammar.
    Rule,
}

/// A process, or the whole of an input that has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutedPart {
    /// As the user declared it.
    pub name: String,
    /// How many units it has.
    pub total: usize,
    /// Was any of it ever looked at? A process that was never started was not.
    pub entered: bool,
    /// Places that nobody came to.
    pub never_reached: Vec<Unit>,
    /// Somebody came there, but it could never be executed: a guard that was never true, a channel that stayed empty or
    /// full.
    pub never_true: Vec<Unit>,
    /// Guards that were true whenever somebody came there; `None` where the search has left out states, so that this is
    /// not known.
    pub never_false: Option<Vec<Unit>>,
}

/// A statement, a transition or a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Where it stands, if it stands in a text.
    pub location: Option<Location>,
    /// As the user wrote it.
    pub text: String,
}

impl ExecutedUnit {
    /// The word for one of them.
    pub fn name(self) -> &'static str {
        match self {
            ExecutedUnit::Statement => "statement",
            ExecutedUnit::Transition => "transition",
            ExecutedUnit::Rule => "rule",
        }
    }
}

impl ExecutedPart {
    /// How many of its units were never executed.
    pub fn missing(&self) -> usize {
        self.never_reached.len() + self.never_true.len()
    }
}

impl Executed {
    /// How many units there are.
    pub fn total(&self) -> usize {
        self.parts.iter().map(|part| part.total).sum()
    }

    /// How many of them were never executed.
    pub fn missing(&self) -> usize {
        self.parts.iter().map(ExecutedPart::missing).sum()
    }
}
