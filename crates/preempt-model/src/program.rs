//! A whole program: its variables, channels, and the code of its processes as graphs of guarded commands.

use crate::command::Command;
use crate::expr::Expr;
use crate::property::{Claim, Exclusive, Formula, TraceAssertion};
use crate::types::Type;
use preempt_core::Span;
use std::borrow::Cow;

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub globals: Vec<Variable>,
    /// How many slots the globals fill.
    pub global_slots: u32,
    pub hidden: Vec<Variable>,
    pub hidden_slots: u32,
    /// Initial values of globals and hidden variables, in order; slots not named start at 0.
    pub init: Vec<Init>,
    pub templates: Vec<ChannelTemplate>,
    pub symbols: Vec<SymbolSet>,
    pub codes: Vec<Code>,
    /// The processes that exist at the beginning, in the order of their numbers.
    pub start: Vec<Start>,
    /// Is the process that moved last part of the state? Only if an expression asks for it.
    pub remembers_last: bool,
    /// Does any process have a priority other than 1, or may it get one?
    pub has_priorities: bool,
    pub claims: Vec<Claim>,
    pub formulas: Vec<Formula>,
    pub trace_assertion: Option<TraceAssertion>,
    pub exclusives: Vec<Exclusive>,
    /// A claim watches the processes and is one more of them in `Expr::ProcessCount`. See
    /// [`Check::model_of`](crate::check::Check::model_of).
    pub counts_claim: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeId(pub u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateId(pub u16);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

impl LocationId {
    /// Where a label stands at which no process ever stops.
    pub const NOWHERE: LocationId = LocationId(u32::MAX);
}

/// A scalar, or an array of scalars, as it is shown to people. A record is one `Variable` per field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub slot: u32,
    pub ty: Type,
    /// `None` for a scalar.
    pub length: Option<u32>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Init {
    Set {
        hidden: bool,
        slot: u32,
        ty: Type,
        value: Expr,
    },
    /// Makes a new channel and keeps its number.
    Channel {
        hidden: bool,
        slot: u32,
        template: TemplateId,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelTemplate {
    pub name: String,
    /// 0: sender and receiver meet.
    pub capacity: u32,
    pub fields: Vec<Type>,
}

/// Symbolic constants: `names[i]` has the value `i + 1`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolSet {
    pub names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub code: CodeId,
    pub priority: u8,
}

/// The code of a process or of a procedure.
#[derive(Debug, Clone)]
pub struct Code {
    pub name: String,
    pub kind: CodeKind,
    /// The first slots of the locals, in order.
    pub parameters: Vec<Type>,
    pub variables: Vec<Variable>,
    pub slots: u32,
    pub init: Vec<Init>,
    pub locations: Vec<Location>,
    pub entry: LocationId,
    /// The process may move only while this holds.
    pub provided: Option<Expr>,
    /// The author promises that it is deterministic.
    pub deterministic: bool,
    pub labels: Vec<(String, LocationId)>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    Process,
    Procedure,
    /// A never claim or a trace assertion: it moves with the others and is no process.
    Observer,
}

#[derive(Debug, Clone, Default)]
pub struct Location {
    /// The number that the source language gives this place.
    pub number: u32,
    /// In the order in which they are tried; the order decides only what `else` means and what is shown first.
    pub edges: Vec<Edge>,
    pub end: bool,
    pub progress: bool,
    pub accept: bool,
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub command: Command,
    pub target: LocationId,
    /// After this step nobody else may run until the process leaves the atomic sequence or blocks in it.
    pub atomic: bool,
    /// Edges of an `unless` escape carry its number. If one of them can be taken, only those with the
    /// same number are.
    pub escape: Option<u32>,
    pub span: Span,
    pub text: String,
}

impl Model {
    pub fn code(&self, id: CodeId) -> &Code {
        &self.codes[usize::from(id.0)]
    }

    pub fn template(&self, id: TemplateId) -> &ChannelTemplate {
        &self.templates[usize::from(id.0)]
    }

    /// Every command of every code.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.codes.iter().flat_map(|code| &code.locations).flat_map(|location| &location.edges)
    }

    /// The model while a claim watches it, or while none does.
    pub fn counting_claim(&self, counts_claim: bool) -> Cow<'_, Model> {
        match self.counts_claim == counts_claim {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Model { counts_claim, ..self.clone() }),
        }
    }

    /// Does a process ask how many there are? Observers do not count.
    pub fn processes_count(&self) -> bool {
        let mut count = false;
        let mut look = |expr: &Expr| count |= *expr == Expr::ProcessCount;
        for code in self.codes.iter().filter(|code| code.kind != CodeKind::Observer) {
            code.visit(&mut look);
        }
        self.exclusives.iter().for_each(|exclusive| exclusive.channel.visit(&mut look));
        count
    }
}

impl Code {
    /// Calls `visit` for every expression in the code.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        for edge in self.locations.iter().flat_map(|location| &location.edges) {
            edge.command.visit(visit);
        }
        for init in &self.init {
            if let Init::Set { value, .. } = init {
                value.visit(visit);
            }
        }
        if let Some(provided) = &self.provided {
            provided.visit(visit);
        }
    }

    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// How many channels a new process of this code makes.
    pub fn channel_count(&self) -> usize {
        self.init.iter().filter(|init| matches!(init, Init::Channel { .. })).count()
    }
}
