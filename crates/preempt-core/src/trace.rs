//! A run, told step by step.

use crate::property_result::TraceCost;
use crate::source::Location;

/// A run that can be shown and replayed: `choice` and `initial` decide everything that the program left open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The variables before the first step.
    pub initial: Vec<Change>,
    pub steps: Vec<Step>,
    /// For a run without end: the step to which the last one leads back.
    pub loop_start: Option<usize>,
    /// How many processes existed at some time.
    pub processes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// `Name(pid)`.
    pub process: String,
    pub pid: usize,
    pub location: Option<Location>,
    pub text: String,
    /// Which of several outcomes the step took, where text and process do not say it.
    pub choice: Option<String>,
    pub switch: SwitchKind,
    /// Variables and channels whose value the step changed.
    pub changed: Vec<Change>,
    /// What the step printed.
    pub output: Option<String>,
    /// A rendezvous is one step of two processes: this one sends, and the partner receives.
    pub partner: Option<Partner>,
}

/// The receiver of a rendezvous; it is the running process afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partner {
    /// `Name(pid)`.
    pub process: String,
    pub pid: usize,
    pub location: Option<Location>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub name: String,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
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
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|step| step.switch == SwitchKind::Preemption).count()
    }

    pub fn cost(&self) -> TraceCost {
        TraceCost { preemptions: self.preemptions(), steps: self.steps.len() }
    }

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
