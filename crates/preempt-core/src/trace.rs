//! A run, step by step.

use crate::property_result::TraceCost;
use crate::source::Location;

/// A run that can be shown and replayed: `choice` and `initial` decide everything that the program left open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The variables before the first step.
    pub initial: Vec<Change>,
    /// In the order in which they happen.
    pub steps: Vec<Step>,
    /// For a run without end: the step to which the last one leads back.
    pub loop_start: Option<usize>,
    /// How many processes existed at some time.
    pub processes: usize,
}

/// One step of one process, or of two that meet at a rendezvous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// `Name(pid)`.
    pub process: String,
    /// The number of the process in its state.
    pub pid: usize,
    /// Where the statement stands, if it stands in a text.
    pub location: Option<Location>,
    /// Through which inlines the statement came where it is executed, the outermost first.
    pub calls: Vec<Call>,
    /// The statement as the user wrote it.
    pub text: String,
    /// Which of several outcomes the step took, where text and process do not say it.
    pub choice: Option<String>,
    /// Whether the process before it could have gone on.
    pub switch: SwitchKind,
    /// Variables and channels whose value the step changed.
    pub changed: Vec<Change>,
    /// What the step printed.
    pub output: Option<String>,
    /// A rendezvous is one step of two processes: this one sends, and the partner receives.
    pub partner: Option<Partner>,
}

/// A use of an inline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name of the inline.
    pub name: String,
    /// Where it is used.
    pub location: Location,
}

/// The receiver of a rendezvous; it is the running process afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partner {
    /// `Name(pid)`.
    pub process: String,
    /// The number of the process in its state.
    pub pid: usize,
    /// Where its receive statement stands.
    pub location: Option<Location>,
    /// Its receive statement as the user wrote it.
    pub text: String,
}

/// A variable or channel, and what it holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// As the user would write it: `x`, `P(1):i`, `a[2]`.
    pub name: String,
    /// What it holds after the step.
    pub value: Value,
}

/// What a variable or channel holds, for showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number of any type; truth is 0 or 1.
    Number(i64),
    /// A symbolic constant, or a value that has only a name.
    Name(String),
    /// An array, a message, or the contents of a channel.
    List(Vec<Value>),
    /// The variable is gone: its process has died.
    Gone,
}

/// How the running process came to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchKind {
    /// It ran before, or this is the first step.
    None,
    /// The process before it could not move.
    Forced,
    /// The process before it could have gone on.
    Preemption,
}

impl Trace {
    /// How often a process was left that could have gone on.
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|step| step.switch == SwitchKind::Preemption).count()
    }

    /// The order of runs: fewer preemptions first, then fewer steps.
    pub fn cost(&self) -> TraceCost {
        TraceCost { preemptions: self.preemptions(), steps: self.steps.len() }
    }

    /// How often another process went on, forced or not.
    pub fn switches(&self) -> usize {
        self.steps.iter().filter(|step| step.switch != SwitchKind::None).count()
    }
}

impl Step {
    /// Name and pid of the process that is running after the step: the one that a switch leaves.
    pub fn running_after(&self) -> (&str, usize) {
        match &self.partner {
            Some(partner) => (&partner.process, partner.pid),
            None => (&self.process, self.pid),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Name(name) => f.write_str(name),
            Value::Gone => f.write_str("-"),
            Value::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    value.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}
