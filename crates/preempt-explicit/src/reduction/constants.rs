//! What never changes while a process lives, put into its commands: its number, and locals that nobody assigns to.
//! So `flag[_pid]` is one slot, and a channel that came as a parameter is one channel.

use super::assigned::assigned_places;
use preempt_model::command::{Command, Pattern};
use preempt_model::expr::{BinaryOp, UnaryOp};
use preempt_model::{CodeId, CodeKind, Expr, Init, Model, Place, Scope};
use std::collections::{BTreeSet, HashMap};

/// What is known of one process; nothing is known of one that does not exist yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub pid: Option<u8>,
    /// The slots with their values.
    pub locals: &'a [(u32, i32)],
}

impl Known<'_> {
    pub const NOTHING: Known<'static> = Known { pid: None, locals: &[] };
}

/// Global variables that hold the channel made with them for ever, by slot.
#[derive(Debug, Clone)]
pub(super) struct Channels(HashMap<u32, i32>);

impl Channels {
    pub fn new(model: &Model) -> Channels {
        let mut found = HashMap::new();
        let mut number = 0;
        for init in &model.init {
            match init {
                Init::Set { hidden: false, slot, .. } => {
                    found.remove(slot);
                }
                Init::Set { .. } => {}
                Init::Channel { hidden, slot, .. } => {
                    number += 1;
                    if !hidden {
                        found.insert(*slot, number);
                    }
                }
            }
        }
        for edge in model.edges() {
            assigned_places(&edge.command, &mut |place| {
                if place.scope == Scope::Global {
                    place.range().for_each(|slot| {
                        found.remove(&slot);
                    });
                }
            });
        }
        Channels(found)
    }
}

/// The slots of a code's locals that are never assigned to and decide which element of an array, or which channel, is
/// meant; and whether the process's number decides it, too.
pub(super) fn deciding<'m>(model: &'m Model, id: CodeId) -> (Vec<u32>, bool) {
    let code = model.code(id);
    if code.kind != CodeKind::Process {
        return (Vec::new(), false);
    }
    let mut deciding: Vec<&Expr> = Vec::new();
    let mut assigned: BTreeSet<u32> = BTreeSet::new();
    let edges = || code.locations.iter().flat_map(|location| &location.edges);
    for edge in edges() {
        channels(&edge.command, &mut |expr| deciding.push(expr));
        assigned_places(&edge.command, &mut |place| {
            deciding.extend(place.indices.iter().map(|index| &index.value));
            if place.scope == Scope::Local {
                assigned.extend(place.range());
            }
        });
    }
    let mut look = |expr: &'m Expr| {
        if let Expr::Load(place) = expr {
            deciding.extend(place.indices.iter().map(|index| &index.value));
        }
    };
    edges().for_each(|edge| edge.command.visit(&mut look));
    code.provided.iter().for_each(|clause| clause.visit(&mut look));
    let promises = model.exclusives.iter().filter(|promise| promise.code == id);
    deciding.extend(promises.map(|promise| &promise.channel));
    let mut used: BTreeSet<u32> = BTreeSet::new();
    let mut number = false;
    for expr in deciding {
        expr.visit(&mut |inner| match inner {
            Expr::Load(place) if place.scope == Scope::Local && place.indices.is_empty() => {
                used.insert(place.slot);
            }
            Expr::SelfPid => number = true,
            _ => {}
        });
    }
    (used.difference(&assigned).copied().collect(), number)
}

/// The expressions that name channels.
fn channels<'m>(command: &'m Command, visit: &mut dyn FnMut(&'m Expr)) {
    match command {
        Command::Send { channel, .. } | Command::Receive { channel, .. } => visit(channel),
        Command::Deterministic(block) => {
            let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            inner.for_each(|command| channels(command, visit));
        }
        _ => {}
    }
    command.visit(&mut |expr| match expr {
        Expr::Len(channel) | Expr::Probe(_, channel) | Expr::Poll { channel, .. } => visit(channel),
        _ => {}
    });
}

/// A command with what is known put in.
pub(super) fn with_known(command: &Command, known: Known<'_>, channels: &Channels) -> Command {
    let mut command = command.clone();
    Put { known, channels }.command(&mut command);
    command
}

pub(super) fn expr_with_known(expr: &Expr, known: Known<'_>, channels: &Channels) -> Expr {
    let mut expr = expr.clone();
    Put { known, channels }.expr(&mut expr);
    expr
}

struct Put<'a> {
    known: Known<'a>,
    channels: &'a Channels,
}

impl Put<'_> {
    fn command(&self, command: &mut Command) {
        match command {
            Command::Guard(expr) | Command::Assert(expr) => self.expr(expr),
            Command::Else | Command::End => {}
            Command::Assign(assignments) => assignments.iter_mut().for_each(|(place, value)| {
                self.place(place);
                self.expr(value);
            }),
            Command::Print { args, .. } | Command::Return(args) => self.exprs(args),
            Command::Send { channel, fields, .. } => {
                self.expr(channel);
                self.exprs(fields);
            }
            Command::Receive { channel, pattern, .. } => {
                self.expr(channel);
                self.pattern(pattern);
            }
            Command::Run { args, result, .. } => {
                self.exprs(args);
                if let Some((place, value)) = result {
                    self.place(place);
                    self.expr(value);
                }
            }
            Command::SetPriority { pid, priority } => {
                self.expr(pid);
                self.expr(priority);
            }
            Command::Deterministic(block) => {
                let inner = block.nodes.iter_mut().flatten().filter_map(|edge| edge.command.as_mut());
                inner.for_each(|command| self.command(command));
            }
            Command::Call { args, results, .. } => {
                self.exprs(args);
                results.iter_mut().for_each(|place| self.place(place));
            }
        }
    }

    fn exprs(&self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|expr| self.expr(expr));
    }

    fn pattern(&self, pattern: &mut [Pattern]) {
        pattern.iter_mut().for_each(|part| match part {
            Pattern::Match(expr) => self.expr(expr),
            Pattern::Bind(place) => self.place(place),
        });
    }

    /// Indices that are known move the place to the slot that is meant.
    fn place(&self, place: &mut Place) {
        place.indices.iter_mut().for_each(|index| self.expr(&mut index.value));
        let mut moved = 0;
        place.indices.retain(|index| match index.value {
            Expr::Const(value) if (0..index.length as i32).contains(&value) => {
                moved += value as u32 * index.stride;
                false
            }
            _ => true,
        });
        place.slot += moved;
    }

    fn expr(&self, expr: &mut Expr) {
        let known = match expr {
            Expr::SelfPid => self.known.pid.map(i32::from),
            Expr::Load(place) => {
                self.place(place);
                match (place.scope, place.indices.is_empty()) {
                    (Scope::Local, true) => {
                        let local = self.known.locals.iter().find(|(slot, _)| *slot == place.slot);
                        local.map(|(_, value)| *value)
                    }
                    (Scope::Global, true) => self.channels.0.get(&place.slot).copied(),
                    _ => None,
                }
            }
            Expr::Unary(op, inner) => {
                self.expr(inner);
                match (op, &**inner) {
                    (UnaryOp::Not, Expr::Const(value)) => Some(i32::from(*value == 0)),
                    (UnaryOp::Negate, Expr::Const(value)) => Some(value.wrapping_neg()),
                    _ => None,
                }
            }
            Expr::Binary(op, left, right) => {
                self.expr(left);
                self.expr(right);
                match (&**left, &**right) {
                    (Expr::Const(left), Expr::Const(right)) => arithmetic(*op, *left, *right),
                    _ => None,
                }
            }
            Expr::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
                None
            }
            Expr::Len(inner)
            | Expr::Probe(_, inner)
            | Expr::Enabled(inner)
            | Expr::PcValue(inner)
            | Expr::Priority(inner) => {
                self.expr(inner);
                None
            }
            Expr::Poll { channel, pattern, .. } => {
                self.expr(channel);
                self.pattern(pattern);
                None
            }
            // The place is another process's, with other constants.
            Expr::At { .. } | Expr::Remote { .. } => None,
            _ => None,
        };
        if let Some(value) = known {
            *expr = Expr::Const(value);
        }
    }
}

/// As the interpreter does it; `None` for what indices are not made of, and for what has no meaning.
fn arithmetic(op: BinaryOp, left: i32, right: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div if right != 0 => left.wrapping_div(right),
        BinaryOp::Rem if right != 0 => left.wrapping_rem(right),
        _ => return None,
    })
}
