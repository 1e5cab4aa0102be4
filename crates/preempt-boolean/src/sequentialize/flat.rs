//! The sequential program without procedures: one graph of steps, for languages that have no stack.
//!
//! Every call is replaced by a copy of what it calls, with variables of its own. A program that calls itself has no such form and
//! is refused, and so is one whose expressions may have no value: the languages differ in what they make of an index out of
//! range. A thread that gives up goes to its end at once, since no call is left that would have to be left.

use super::skeleton::{Function, Skeleton, Step};
use super::slots::Slot;
use super::{go_on, refused};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{BinaryOp, Expr, Place, Scope};
use std::collections::HashMap;

/// The number of a node.
pub type NodeId = usize;

#[derive(Debug)]
pub struct Flat {
    /// Of all copies of all functions.
    pub locals: Vec<Slot>,
    /// Entered at the first.
    pub nodes: Vec<Node>,
}

#[derive(Debug)]
pub struct Node {
    pub action: Action,
    /// Where it goes on, any of these.
    pub next: Vec<NodeId>,
}

#[derive(Debug, Clone)]
pub enum Action {
    /// Nothing.
    Skip,
    /// A thread begins: in the first round.
    Begin,
    /// Any number of rounds passes; or the thread gives up and goes here.
    Switch(NodeId),
    /// Goes on only if it holds.
    Assume(Expr),
    /// Records a failure and goes here if it does not hold.
    Require(Expr, NodeId),
    /// All at once.
    Assign(Vec<(Place, Expr)>),
    /// Goes on only if every round began as the one before had ended.
    Check,
    /// The end: has something failed?
    Verdict,
}

/// More than this is no program that anybody wants to read.
const MOST_NODES: usize = 200_000;

pub fn flat(skeleton: &Skeleton, budget: &Budget) -> Result<Flat, Diagnostic> {
    let mut copier =
        Copier { skeleton, budget, flat: Flat { locals: Vec::new(), nodes: Vec::new() }, calls: Vec::new() };
    let mut before: Option<NodeId> = None;
    for thread in 0..skeleton.threads.len() {
        let begin = copier.node(Action::Begin);
        if let Some(before) = before {
            copier.flat.nodes[before].next.push(begin);
        }
        let end = copier.node(Action::Skip);
        let entry = copier.copy(thread, Vec::new(), (end, end), Vec::new())?;
        copier.flat.nodes[begin].next.push(entry);
        before = Some(end);
    }
    let (check, verdict) = (copier.node(Action::Check), copier.node(Action::Verdict));
    if let Some(before) = before {
        copier.flat.nodes[before].next.push(check);
    }
    copier.flat.nodes[check].next.push(verdict);
    Ok(copier.flat)
}

struct Copier<'s> {
    skeleton: &'s Skeleton,
    budget: &'s Budget,
    flat: Flat,
    /// The functions that are being copied.
    calls: Vec<usize>,
}

impl Copier<'_> {
    fn node(&mut self, action: Action) -> NodeId {
        self.flat.nodes.push(Node { action, next: Vec::new() });
        self.flat.nodes.len() - 1
    }

    /// A copy of a function: where it is entered. It goes on at `back` when it returns, with these places assigned, and at
    /// `stop` when the thread gives up.
    fn copy(
        &mut self,
        number: usize,
        arguments: Vec<Expr>,
        (back, stop): (NodeId, NodeId),
        results: Vec<Place>,
    ) -> Result<NodeId, Diagnostic> {
        let function: &Function = &self.skeleton.functions[number];
        if self.calls.contains(&number) {
            let name = &function.name;
            let message = format!("this cannot be written without a stack: `{name}` calls itself");
            return Err(Diagnostic::global_error(message).hint("the languages boolean and c have procedures"));
        }
        self.calls.push(number);
        let first = self.flat.locals.len() as u32;
        let copies = function.locals.iter().map(|slot| {
            let name = format!("{}_{}", function.name, slot.name);
            Slot { name, ty: slot.ty }
        });
        self.flat.locals.extend(copies);
        let mut labels: HashMap<&str, NodeId> = HashMap::new();
        for block in &function.blocks {
            let node = self.node(Action::Skip);
            labels.insert(&block.label, node);
        }
        for block in &function.blocks {
            let mut at = labels[block.label.as_str()];
            for (step, span) in &block.steps {
                go_on(self.budget)?;
                if self.flat.nodes.len() > MOST_NODES {
                    return Err(refused(*span, "without procedures it has too many statements"));
                }
                let mut follow = |copier: &mut Self, action: Action| {
                    let node = copier.node(action);
                    copier.flat.nodes[at].next.push(node);
                    at = node;
                };
                match step {
                    Step::Switch => follow(self, Action::Switch(stop)),
                    Step::Assume(expr) => {
                        let expr = moved(expr, first, *span)?;
                        follow(self, Action::Assume(expr));
                    }
                    Step::Require(expr) => {
                        let expr = moved(expr, first, *span)?;
                        follow(self, Action::Require(expr, stop));
                    }
                    Step::Assign(assignments) => {
                        let assignments = assignments.iter().map(|(place, value)| {
                            Ok((moved_place(place, first, *span)?, moved(value, first, *span)?))
                        });
                        let assignments = assignments.collect::<Result<_, Diagnostic>>()?;
                        follow(self, Action::Assign(assignments));
                    }
                    Step::Call { function, args, results } => {
                        let args = args.iter().map(|arg| moved(arg, first, *span));
                        let args = args.collect::<Result<Vec<_>, _>>()?;
                        let results = results.iter().map(|place| moved_place(place, first, *span));
                        let results = results.collect::<Result<Vec<_>, _>>()?;
                        let after = self.node(Action::Skip);
                        let entry = self.copy(*function, args, (after, stop), results)?;
                        self.flat.nodes[at].next.push(entry);
                        at = after;
                    }
                    Step::Return(values) => {
                        let values = values.iter().map(|value| moved(value, first, *span));
                        let values = values.collect::<Result<Vec<_>, _>>()?;
                        let assigned: Vec<(Place, Expr)> = results.iter().cloned().zip(values).collect();
                        follow(self, Action::Assign(assigned));
                        self.flat.nodes[at].next.push(back);
                    }
                    Step::Stop => self.flat.nodes[at].next.push(stop),
                    Step::Goto(targets) => {
                        for target in targets {
                            let target = labels[target.as_str()];
                            self.flat.nodes[at].next.push(target);
                        }
                    }
                }
            }
        }
        self.calls.pop();
        let entry = labels.get("start").copied().unwrap_or(back);
        let parameters = function.locals.iter().take(function.parameters).enumerate();
        let handed = parameters.zip(arguments).map(|((slot, local), value)| {
            (Place::scalar(Scope::Local, first + slot as u32, local.ty), value)
        });
        let enter = self.node(Action::Assign(handed.collect()));
        self.flat.nodes[enter].next.push(entry);
        Ok(enter)
    }
}

/// The same expression over the locals of a copy.
fn moved(expr: &Expr, first: u32, span: Span) -> Result<Expr, Diagnostic> {
    let inner = |expr: &Expr| moved(expr, first, span).map(Box::new);
    Ok(match expr {
        Expr::Load(place) => Expr::load(moved_place(place, first, span)?),
        Expr::Unary(operator, operand) => Expr::Unary(*operator, inner(operand)?),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => {
            return Err(refused(span, "a division may have no value, and other languages take it otherwise"));
        }
        Expr::Binary(operator, left, right) => Expr::Binary(*operator, inner(left)?, inner(right)?),
        Expr::Conditional(condition, then, otherwise) => {
            Expr::Conditional(inner(condition)?, inner(then)?, inner(otherwise)?)
        }
        other => other.clone(),
    })
}

fn moved_place(place: &Place, first: u32, span: Span) -> Result<Place, Diagnostic> {
    if !place.indices.is_empty() {
        return Err(refused(span, "an index may be out of range, and other languages take it otherwise"));
    }
    let mut place = place.clone();
    if place.scope == Scope::Local {
        place.slot += first;
    }
    Ok(place)
}
