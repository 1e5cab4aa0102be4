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
        /// What is printed, with directives for the arguments.
        format: String,
        /// A value for each directive.
        args: Vec<Expr>,
    },
    /// Puts a message into a channel, or hands it to whoever receives on a rendezvous channel.
    Send {
        /// Evaluates to the channel's number.
        channel: Expr,
        /// It goes before the first message that is greater, instead of to the end.
        sorted: bool,
        /// Of the message.
        fields: Vec<Expr>,
    },
    /// `random`: the first message that matches, not only the oldest. `keep`: it stays in the channel.
    Receive {
        /// Evaluates to the channel's number.
        channel: Expr,
        /// Looks behind the oldest message too.
        random: bool,
        /// A copy is taken.
        keep: bool,
        /// For each field what it must be, or where it goes.
        pattern: Vec<Pattern>,
    },
    /// Starts a process; `result` is evaluated with its number as `Expr::NewPid`.
    Run {
        /// What the new process executes.
        code: CodeId,
        /// A value for each parameter.
        args: Vec<Expr>,
        /// 1 unless it is said otherwise.
        priority: u8,
        /// Where the result goes, and what it is.
        result: Option<(Place, Expr)>,
    },
    /// The process ends: possible only for the newest living one.
    End,
    /// Changes the priority of a process.
    SetPriority {
        /// Whose.
        pid: Expr,
        /// From 1 to 255; anything else is a run-time error.
        priority: Expr,
    },
    /// Several commands as one step; where there is a choice, the first that can be executed is taken.
    Deterministic(Box<Block>),
    /// Enters a procedure; the edge's target is where `Return` comes back to.
    Call {
        /// Of the procedure.
        code: CodeId,
        /// A value for each parameter.
        args: Vec<Expr>,
        /// Where the values go that it returns.
        results: Vec<Place>,
    },
    /// Leaves a procedure with these values.
    Return(Vec<Expr>),
}

/// What a field of a received message must be, or where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// It must have this value.
    Match(Expr),
    /// It is stored here.
    Bind(Place),
}

/// The inside of a deterministic block: a small graph, entered at node 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// By their numbers: the ways on, in the order in which they are tried.
    pub nodes: Vec<Vec<BlockEdge>>,
}

/// A way from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEdge {
    /// `None`: goes on without doing anything.
    pub command: Option<Command>,
    /// `None`: the block ends.
    pub next: Option<usize>,
    /// Where the command stands.
    pub span: Span,
    /// As the user wrote it.
    pub text: String,
}

impl Pattern {
    /// Calls `visit` for every expression in the pattern.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Pattern::Match(expr) => expr.visit(visit),
            Pattern::Bind(place) => place.visit(visit),
        }
    }
}

impl Command {
    /// Does nothing, at any time.
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
