//! A trail for a run that violates a formula, with a claim to go along.
//!
//! Spin makes a claim from a formula by a translation of its own, and a trail would have to name that claim's moves. So the
//! trail brings its own claim: the automaton that found the violation, written as a never claim, which Spin reads behind the
//! model (`spin -N CLAIM`). The model is read once more with that claim at its end, so the claim's statements are counted
//! and its path along the run is found as those of a claim of the model ([`super::claim`]).

use super::{Trail, write_trail};
use crate::ast::{self, ExprKind, Item, Temporal};
use crate::{Additions, ModelText, Parsed, load, parse_ltl, parse_model, pretty};
use preempt_core::{Property, PropertyKind, SourceMap, Trace};
use preempt_model::expr::{BinaryOp, UnaryOp};
use preempt_model::ltl::to_automaton;
use preempt_model::property::{Automaton, AutomatonState, Formula, Ltl};
use preempt_model::{Expr, Interpreter, Model};

/// Not a name that a model is likely to have.
const CLAIM: &str = "preempt_claim";

/// The trail, and the claim that belongs to it. `None` if there is none: the formula has something for which there is no
/// text, or the run does not fit.
pub fn write_trail_with_formula(
    &ModelText { name, text, additions }: &ModelText<'_>,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
    model: &Model,
    property: &Property,
    recorded: &Trace,
) -> Option<(Trail, String)> {
    if property.kind != PropertyKind::Ltl {
        return None;
    }
    let number = model.formulas.iter().position(|formula| formula.name == property.name)?;
    let formula = &model.formulas[number];
    let mut sources = SourceMap::new();
    let Parsed { program, macros, .. } = parse_model(&mut sources, name, text, &additions.defines, read);
    let of_the_model = program.items.iter().filter_map(|item| match item {
        Item::Ltl(ltl) => Some(ltl.formula.clone()),
        _ => None,
    });
    let given = additions.formula.as_ref();
    let given = given.and_then(|text| parse_ltl(&mut SourceMap::new(), "--ltl", text, &macros).0);
    let written = of_the_model.chain(given).nth(number)?;
    let claim = claim_text(formula, &written)?;
    let plain = Additions { formula: None, ..additions.clone() };
    let loaded = load(name, &format!("{text}\n{claim}"), &plain, read);
    // The claim that goes along counts, as the formula's does.
    let model = Model { counts_claim: true, ..loaded.model? };
    let interpreter = Interpreter::new(&model, &loaded.sources).ok()?;
    let property = Property::new(PropertyKind::Never, CLAIM.into(), None);
    let trail = write_trail(&interpreter, &loaded.numbers, &property, recorded).ok()?;
    Some((trail, claim))
}

/// The never claim that follows a run as long as the formula may still be violated.
fn claim_text(formula: &Formula, written: &ast::Expr) -> Option<String> {
    let automaton = to_automaton(&formula.formula.negated()).ok()?;
    let mut words = Words::default();
    words.of_formula(&formula.formula, written);
    let mut text = format!("never {CLAIM} {{\n");
    // A claim begins with its first statement. Whoever comes to its end has seen enough.
    let (ends, goes_on): (Vec<usize>, Vec<usize>) =
        (0..automaton.states.len()).partition(|state| accepts_everything(&automaton, *state));
    let first = goes_on.iter().filter(|state| **state == automaton.initial);
    let others = goes_on.iter().filter(|state| **state != automaton.initial);
    for state in first.chain(others) {
        text.push_str(&format!("{}:\n\tif\n", label(&automaton, *state)));
        for (guard, target) in &automaton.states[*state].edges {
            let guard = words.of_guard(guard)?;
            text.push_str(&format!("\t:: ({guard}) -> goto {}\n", label(&automaton, *target)));
        }
        if automaton.states[*state].edges.is_empty() {
            text.push_str("\t:: (false)\n");
        }
        text.push_str("\tfi;\n");
    }
    for state in &ends {
        text.push_str(&format!("{}:\n", label(&automaton, *state)));
    }
    text.push_str("\tskip\n}\n");
    // Without such a state nobody comes to the end.
    Some(if ends.is_empty() { text.replace("\tfi;\n\tskip\n}\n", "\tfi\n}\n") } else { text })
}

fn label(automaton: &Automaton, state: usize) -> String {
    let accepting = automaton.states[state].accepting;
    format!("{}preempt_{state}", if accepting { "accept_" } else { "" })
}

/// Whatever is read from here on is accepted.
fn accepts_everything(automaton: &Automaton, state: usize) -> bool {
    let AutomatonState { accepting, edges } = &automaton.states[state];
    *accepting && matches!(edges.as_slice(), [(Expr::Const(1), target)] if *target == state)
}

/// How the parts of a formula are written.
#[derive(Default)]
struct Words {
    known: Vec<(Expr, String)>,
}

impl Words {
    /// The formula and its text have the same shape, down to the parts without temporal operators.
    fn of_formula(&mut self, formula: &Ltl, written: &ast::Expr) {
        use Temporal as T;
        match (formula, &written.kind) {
            (Ltl::Atom(expr), _) => self.of_atom(expr, written),
            (Ltl::Not(inner), ExprKind::Unary(ast::UnaryOp::Not, text)) => self.of_formula(inner, text),
            (Ltl::And(left, right), ExprKind::Binary(ast::BinaryOp::And, first, second))
            | (Ltl::Or(left, right), ExprKind::Binary(ast::BinaryOp::Or, first, second)) => {
                self.of_formula(left, first);
                self.of_formula(right, second);
            }
            (formula, ExprKind::Temporal(temporal)) => match (formula, temporal) {
                (Ltl::Always(inner), T::Always(text))
                | (Ltl::Eventually(inner), T::Eventually(text))
                | (Ltl::Next(inner), T::Next(text)) => self.of_formula(inner, text),
                (Ltl::Until(left, right), T::Until(first, second))
                | (Ltl::Release(left, right), T::Release(first, second))
                | (Ltl::WeakUntil(left, right), T::WeakUntil(first, second))
                | (Ltl::Implies(left, right), T::Implies(first, second))
                | (Ltl::Equivalent(left, right), T::Equivalent(first, second)) => {
                    self.of_formula(left, first);
                    self.of_formula(right, second);
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// The automaton may ask for parts of it, and for the opposite.
    fn of_atom(&mut self, expr: &Expr, written: &ast::Expr) {
        self.known.push((expr.clone(), pretty::expr_text(written)));
        if let (Expr::Unary(UnaryOp::Not, inner), ExprKind::Unary(ast::UnaryOp::Not, text)) =
            (expr, &written.kind)
        {
            self.of_atom(inner, text);
        }
    }

    fn of_guard(&self, guard: &Expr) -> Option<String> {
        if let Some((_, text)) = self.known.iter().find(|(expr, _)| expr == guard) {
            return Some(text.clone());
        }
        match guard {
            Expr::Const(value) => Some(value.to_string()),
            Expr::Unary(UnaryOp::Not, inner) => Some(format!("!({})", self.of_guard(inner)?)),
            Expr::Binary(BinaryOp::And, left, right) => {
                Some(format!("({}) && ({})", self.of_guard(left)?, self.of_guard(right)?))
            }
            Expr::Binary(op, left, right) => {
                let other = Expr::Binary(opposite(*op)?, left.clone(), right.clone());
                let (_, text) = self.known.iter().find(|(expr, _)| *expr == other)?;
                Some(format!("!({text})"))
            }
            _ => None,
        }
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return None,
    })
}
