//! A whole program: its variables, channels, and the code of its processes as graphs of guarded commands.

use crate::command::Command;
use crate::coverage::Marks;
use crate::expr::Expr;
use crate::property::{Claim, Exclusive, Formula, TraceAssertion};
use crate::types::Type;
use preempt_core::Span;
use std::borrow::Cow;

/// A concurrent program as data. [`Interpreter`](crate::Interpreter) says what it means.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// Everybody's variables.
    pub globals: Vec<Variable>,
    /// How many slots the globals fill.
    pub global_slots: u32,
    /// Variables that are no part of the state.
    pub hidden: Vec<Variable>,
    /// How many slots they fill.
    pub hidden_slots: u32,
    /// Initial values of globals and hidden variables, in order; slots not named start at 0.
    pub init: Vec<Init>,
    /// What channels are made from.
    pub templates: Vec<ChannelTemplate>,
    /// Sets of symbolic constants.
    pub symbols: Vec<SymbolSet>,
    /// Of processes, procedures and observers.
    pub codes: Vec<Code>,
    /// The processes that exist at the beginning, in the order of their numbers.
    pub start: Vec<Start>,
    /// Is the process that moved last part of the state? Only if an expression asks for it.
    pub remembers_last: bool,
    /// Does any process have a priority other than 1, or may it get one?
    pub has_priorities: bool,
    /// Never claims.
    pub claims: Vec<Claim>,
    /// Formulas of temporal logic.
    pub formulas: Vec<Formula>,
    /// Which sends and receives there may be, and in which order.
    pub trace_assertion: Option<TraceAssertion>,
    /// Who alone may use an end of a channel.
    pub exclusives: Vec<Exclusive>,
    /// A claim watches the processes and is one more of them in `Expr::ProcessCount`. See
    /// [`Check::model_of`](crate::check::Check::model_of).
    pub counts_claim: bool,
    /// Where whoever executes the model notes which edges were taken; `None` if nobody wants to know.
    pub marks: Option<Marks>,
}

/// A code by its number in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeId(pub u16);

/// A channel template by its number in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateId(pub u16);

/// A location by its number in its code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

impl LocationId {
    /// Where a label stands at which no process ever stops.
    pub const NOWHERE: LocationId = LocationId(u32::MAX);
}

/// A scalar, or an array of scalars, as it is shown to people. A record is one `Variable` per field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// As the user declared it.
    pub name: String,
    /// The first of its slots.
    pub slot: u32,
    /// Of the value, or of each element.
    pub ty: Type,
    /// `None` for a scalar.
    pub length: Option<u32>,
    /// Where it is declared.
    pub span: Span,
}

/// What a variable begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Init {
    /// A value.
    Set {
        /// Of a hidden variable.
        hidden: bool,
        /// Which.
        slot: u32,
        /// Of the variable, which may cut the value.
        ty: Type,
        /// Evaluated when the process begins, or the program.
        value: Expr,
    },
    /// Makes a new channel and keeps its number.
    Channel {
        /// Of a hidden variable.
        hidden: bool,
        /// Where its number is kept.
        slot: u32,
        /// What it is like.
        template: TemplateId,
    },
}

/// What a channel is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelTemplate {
    /// As the user declared it.
    pub name: String,
    /// 0: sender and receiver meet.
    pub capacity: u32,
    /// Types of the fields of a message.
    pub fields: Vec<Type>,
}

/// Symbolic constants: `names[i]` has the value `i + 1`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolSet {
    /// In the order of their values.
    pub names: Vec<String>,
}

/// A process that is there from the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// What it executes.
    pub code: CodeId,
    /// 1 unless it is said otherwise.
    pub priority: u8,
}

/// The code of a process or of a procedure.
#[derive(Debug, Clone)]
pub struct Code {
    /// As the user declared it.
    pub name: String,
    /// What is executed by it.
    pub kind: CodeKind,
    /// The first slots of the locals, in order.
    pub parameters: Vec<Type>,
    /// Local variables, for people.
    pub variables: Vec<Variable>,
    /// How many slots the locals fill, parameters included.
    pub slots: u32,
    /// Of the locals.
    pub init: Vec<Init>,
    /// By their numbers.
    pub locations: Vec<Location>,
    /// Where it begins.
    pub entry: LocationId,
    /// The process may move only while this holds.
    pub provided: Option<Expr>,
    /// The author promises that it is deterministic.
    pub deterministic: bool,
    /// Names of places, with where they are.
    pub labels: Vec<(String, LocationId)>,
    /// Where it is declared.
    pub span: Span,
}

/// Who executes a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// A process.
    Process,
    /// Whoever calls it.
    Procedure,
    /// A never claim or a trace assertion: it moves with the others and is no process.
    Observer,
}

/// Where a process can stand.
#[derive(Debug, Clone, Default)]
pub struct Location {
    /// The number that the source language gives this place.
    pub number: u32,
    /// In the order in which they are tried; the order decides only what `else` means and what is shown first.
    pub edges: Vec<Edge>,
    /// May a process stand here when all is over?
    pub end: bool,
    /// Is being here progress?
    pub progress: bool,
    /// Is coming here again and again what is looked for?
    pub accept: bool,
}

/// A step that can be made from a location.
#[derive(Debug, Clone)]
pub struct Edge {
    /// What it does.
    pub command: Command,
    /// Where it leads.
    pub target: LocationId,
    /// After this step nobody else may run until the process leaves the atomic sequence or blocks in it.
    pub atomic: bool,
    /// Edges of an `unless` escape carry its number. If one of them can be taken, only those with the
    /// same number are.
    pub escape: Option<u32>,
    /// Where the statement stands.
    pub span: Span,
    /// As the user wrote it.
    pub text: String,
}

impl Model {
    /// The code of this number.
    pub fn code(&self, id: CodeId) -> &Code {
        &self.codes[usize::from(id.0)]
    }

    /// The template of this number.
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

    /// The location of this number.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// How many channels a new process of this code makes.
    pub fn channel_count(&self) -> usize {
        self.init.iter().filter(|init| matches!(init, Init::Channel { .. })).count()
    }
}
