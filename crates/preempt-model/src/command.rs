//! What a step does.

use crate::expr::{Expr, Place};
use crate::program::CodeId;
use preempt_core::Span;

/// A guarded command: it can be executed or not, and executing it changes the state at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Can be executed when the expression is not zero; changes nothing.
    Guard(Expr),
    /// Can be executed when no earlier edge of the location can.
    Else,
    /// All values are computed, then all are assigned.
    Assign(Vec<(Place, Expr)>),
    /// Always executable; a violation if the condition is zero.
    Assert(Expr),
    /// `%`-directives as in C; symbols are printed by `%e`.
    Print {
        format: String,
        args: Vec<Expr>,
    },
    Send {
        channel: Expr,
        sorted: bool,
        fields: Vec<Expr>,
    },
    /// `random`: the first message that matches, not only the oldest. `keep`: it stays in the channel.
    Receive {
        channel: Expr,
        random: bool,
        keep: bool,
        pattern: Vec<Pattern>,
    },
    /// Starts a process; `result` is evaluated with its number as `Expr::NewPid`.
    Run {
        code: CodeId,
        args: Vec<Expr>,
        priority: u8,
        result: Option<(Place, Expr)>,
    },
    /// The process ends: possible only for the newest living one.
    End,
    SetPriority {
        pid: Expr,
        priority: Expr,
    },
    /// Several commands as one step; where there is a choice, the first that can be executed is taken.
    Deterministic(Box<Block>),
    /// Enters a procedure; the edge's target is where `Return` comes back to.
    Call {
        code: CodeId,
        args: Vec<Expr>,
        results: Vec<Place>,
    },
    Return(Vec<Expr>),
}

/// What a field of a received message must be, or where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Match(Expr),
    Bind(Place),
}

/// The inside of a deterministic block: a small graph, entered at node 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    pub nodes: Vec<Vec<BlockEdge>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEdge {
    /// `None`: goes on without doing anything.
    pub command: Option<Command>,
    /// `None`: the block ends.
    pub next: Option<usize>,
    pub span: Span,
    pub text: String,
}

impl Pattern {
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Pattern::Match(expr) => expr.visit(visit),
            Pattern::Bind(place) => place.visit(visit),
        }
    }
}

impl Command {
    pub const SKIP: Command = Command::Guard(Expr::TRUE);

    /// Calls `visit` for every expression in the command.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Command::Guard(expr) | Command::Assert(expr) => expr.visit(visit),
            Command::Else | Command::End => {}
            Command::Assign(assignments) => {
                for (place, value) in assignments {
                    place.visit(visit);
                    value.visit(visit);
                }
            }
            Command::Print { args, .. } | Command::Return(args) => {
                args.iter().for_each(|arg| arg.visit(visit))
            }
            Command::Send { channel, fields, .. } => {
                channel.visit(visit);
                fields.iter().for_each(|field| field.visit(visit));
            }
            Command::Receive { channel, pattern, .. } => {
                channel.visit(visit);
                pattern.iter().for_each(|part| part.visit(visit));
            }
            Command::Run { args, result, .. } => {
                args.iter().for_each(|arg| arg.visit(visit));
                if let Some((place, value)) = result {
                    place.visit(visit);
                    value.visit(visit);
                }
            }
            Command::SetPriority { pid, priority } => {
                pid.visit(visit);
                priority.visit(visit);
            }
            Command::Deterministic(block) => {
                for edge in block.nodes.iter().flatten() {
                    if let Some(command) = &edge.command {
                        command.visit(visit);
                    }
                }
            }
            Command::Call { args, results, .. } => {
                args.iter().for_each(|arg| arg.visit(visit));
                results.iter().for_each(|place| place.visit(visit));
            }
        }
    }
}
