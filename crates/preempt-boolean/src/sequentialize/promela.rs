//! The sequential program as Promela: one process, whose assertion fails if and only if the concurrent program does within the
//! contexts. For programs without recursion.
//!
//! Every node of [`flat`](super::flat) is a label and an atomic sequence. Values that are chosen are chosen before they are used, and
//! what is only used within a step is 0 outside of it, so that no state is counted twice. An assumption that does not hold ends
//! the process as it may end.

use super::flat::{Action, Flat, flat};
use super::go_on;
use super::skeleton::Skeleton;
use super::slots::{Names, Slot};
use preempt_core::{Budget, Diagnostic};
use preempt_model::{BinaryOp, Expr, Place, Scope, Type, UnaryOp};
use std::fmt::Write;

pub fn program(skeleton: &Skeleton, budget: &Budget) -> Result<String, Diagnostic> {
    let flat = flat(skeleton, budget)?;
    let mut names = Names::default();
    names.reserve(&["k", "failed", "main", "done"]);
    let named = |prefix: &str, slots: &mut dyn Iterator<Item = &Slot>, names: &mut Names| -> Vec<Slot> {
        slots
            .map(|slot| Slot { name: names.unique(&format!("{prefix}_{}", slot.name)), ty: slot.ty })
            .collect()
    };
    let shared = named("s", &mut skeleton.shared.iter().map(|(slot, _)| slot), &mut names);
    let guesses = named("g", &mut skeleton.shared.iter().map(|(slot, _)| slot), &mut names);
    let locals = named("l", &mut flat.locals.iter(), &mut names);
    let mut writer = Writer { skeleton, flat: &flat, shared, guesses, locals, temporaries: 0, choices: 0 };
    let body = writer.body(budget)?;
    let mut out = String::new();
    let contexts = skeleton.contexts;
    let _ = writeln!(
        out,
        "/* Threads take turns, each for at most {contexts} contexts. The shared variables have a copy for"
    );
    let _ = writeln!(out, "   each round (s_...), and what that was guessed to begin with (g_...). */");
    out.push_str("byte k;\nbit failed;\n");
    for slot in &writer.shared {
        let _ = writeln!(out, "{} {}[{contexts}];", keyword(slot.ty), slot.name);
    }
    for slot in &writer.guesses {
        let _ = writeln!(out, "{} {}[{contexts}];", keyword(slot.ty), slot.name);
    }
    for slot in &writer.locals {
        let _ = writeln!(out, "{} {};", keyword(slot.ty), slot.name);
    }
    for number in 0..writer.temporaries {
        let _ = writeln!(out, "int t_{number};");
    }
    for number in 0..writer.choices {
        let _ = writeln!(out, "int any_{number};");
    }
    out.push_str("\nactive proctype main() {\n");
    out.push_str(&body);
    out.push_str("done: skip\n}\n");
    Ok(out)
}

/// The smallest type of Promela that has all values.
fn keyword(ty: Type) -> &'static str {
    match (ty.bits, ty.signed) {
        (1, false) => "bit",
        (..=8, false) => "byte",
        (..=16, true) => "short",
        _ => "int",
    }
}

struct Writer<'s> {
    skeleton: &'s Skeleton,
    flat: &'s Flat,
    shared: Vec<Slot>,
    guesses: Vec<Slot>,
    locals: Vec<Slot>,
    /// The most that a step needs.
    temporaries: usize,
    choices: usize,
}

impl Writer<'_> {
    fn body(&mut self, budget: &Budget) -> Result<String, Diagnostic> {
        let mut out = String::from("  atomic {\n");
        for (slot, (_, value)) in self.shared.iter().zip(&self.skeleton.shared) {
            let _ = writeln!(out, "    {}[0] = {value};", slot.name);
        }
        let guessed: Vec<(String, String, Type)> = self
            .shared
            .iter()
            .zip(&self.guesses)
            .map(|(slot, guess)| (slot.name.clone(), guess.name.clone(), slot.ty))
            .collect();
        for round in 1..self.skeleton.contexts {
            for (shared, guess, ty) in &guessed {
                let (low, high) = range(*ty);
                self.choices = self.choices.max(1);
                let _ = writeln!(out, "    {}", choose(0, low, high));
                let _ = writeln!(out, "    {shared}[{round}] = any_0; {guess}[{round}] = any_0; any_0 = 0;");
            }
        }
        out.push_str("    goto n0\n  };\n");
        for (number, node) in self.flat.nodes.iter().enumerate() {
            go_on(budget)?;
            let next = self.goto(&node.next);
            let mut choices = Vec::new();
            let inside = match &node.action {
                Action::Skip => next,
                Action::Begin => format!("k = 0; {next}"),
                Action::Switch(stop) => {
                    let last = self.skeleton.contexts - 1;
                    format!("if :: {next} :: k < {last} -> k++; goto n{number} :: goto n{stop} fi")
                }
                Action::Assume(expr) => {
                    let condition = self.expr(expr, &mut choices);
                    let reset = reset(&choices);
                    format!("if :: {condition} -> {reset}{next} :: else -> {reset}goto done fi")
                }
                Action::Require(expr, stop) => {
                    let condition = self.expr(expr, &mut choices);
                    let reset = reset(&choices);
                    format!(
                        "if :: {condition} -> {reset}{next} :: else -> {reset}failed = 1; goto n{stop} fi"
                    )
                }
                Action::Assign(assignments) => {
                    let assigned = self.assign(assignments, &mut choices);
                    format!("{assigned}{}{next}", reset(&choices))
                }
                Action::Check => {
                    let fits = (1..self.skeleton.contexts).flat_map(|round| {
                        let pairs = self.shared.iter().zip(&self.guesses);
                        pairs.map(move |(shared, guess)| {
                            format!("{}[{}] == {}[{round}]", shared.name, round - 1, guess.name)
                        })
                    });
                    let fits = fits.collect::<Vec<_>>().join(" && ");
                    let fits = if fits.is_empty() { "true".to_string() } else { fits };
                    format!("if :: {fits} -> {next} :: else -> goto done fi")
                }
                Action::Verdict => "assert(!failed); goto done".into(),
            };
            self.choices = self.choices.max(choices.len());
            let chosen: String = choices
                .iter()
                .enumerate()
                .map(|(number, (low, high))| choose(number, *low, *high) + " ")
                .collect();
            let _ = writeln!(out, "n{number}: atomic {{ {chosen}{inside} }};");
        }
        Ok(out)
    }

    fn goto(&self, next: &[usize]) -> String {
        match next {
            [] => "goto done".into(),
            [only] => format!("goto n{only}"),
            several => {
                let ways: String = several.iter().map(|target| format!(":: goto n{target} ")).collect();
                format!("if {ways}fi")
            }
        }
    }

    fn assign(&mut self, assignments: &[(Place, Expr)], choices: &mut Vec<(i32, i32)>) -> String {
        let kept: Vec<&(Place, Expr)> =
            assignments.iter().filter(|(place, _)| place.scope != Scope::Nowhere).collect();
        if let [(place, value)] = kept.as_slice() {
            let value = self.expr(value, choices);
            return format!("{} = {}; ", self.place(place), wrapped(&value, self.ty(place)));
        }
        self.temporaries = self.temporaries.max(kept.len());
        let mut text = String::new();
        for (number, (place, value)) in kept.iter().enumerate() {
            let value = self.expr(value, choices);
            let _ = write!(text, "t_{number} = {}; ", wrapped(&value, self.ty(place)));
        }
        for (number, (place, _)) in kept.iter().enumerate() {
            let _ = write!(text, "{} = t_{number}; t_{number} = 0; ", self.place(place));
        }
        text
    }

    /// Cut to the type of the place, or of the slot if that is narrower.
    fn ty(&self, place: &Place) -> Type {
        let slots = if place.scope == Scope::Local { &self.locals } else { &self.shared };
        let slot = slots[place.slot as usize].ty;
        if place.ty.bits <= slot.bits { place.ty } else { slot }
    }

    fn place(&self, place: &Place) -> String {
        match place.scope {
            Scope::Local => self.locals[place.slot as usize].name.clone(),
            _ => format!("{}[k]", self.shared[place.slot as usize].name),
        }
    }

    fn expr(&self, expr: &Expr, choices: &mut Vec<(i32, i32)>) -> String {
        match expr {
            Expr::Const(value) if *value < 0 => format!("(0 - {})", i64::from(*value).abs()),
            Expr::Const(value) => value.to_string(),
            Expr::Load(place) if place.scope == Scope::Nowhere => "0".into(),
            Expr::Load(place) => self.place(place),
            Expr::Unary(operator, inner) => {
                let sign = match operator {
                    UnaryOp::Not => "!",
                    UnaryOp::Negate => "0 - ",
                    UnaryOp::Complement => "~",
                };
                format!("({sign}{})", self.expr(inner, choices))
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left, choices), self.expr(right, choices));
                format!("({left} {} {right})", sign(*operator))
            }
            Expr::Conditional(condition, then, otherwise) => {
                let condition = self.expr(condition, choices);
                let (then, otherwise) = (self.expr(then, choices), self.expr(otherwise, choices));
                format!("({condition} -> {then} : {otherwise})")
            }
            Expr::Any { low, high } => {
                choices.push((*low, *high));
                format!("any_{}", choices.len() - 1)
            }
            // Refused before.
            _ => "0".into(),
        }
    }
}

fn sign(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

/// The values of a type.
fn range(ty: Type) -> (i32, i32) {
    match (ty.bits, ty.signed) {
        (32.., _) => (i32::MIN, i32::MAX),
        (bits, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (31, false) => (0, i32::MAX),
        (bits, false) => (0, (1 << bits) - 1),
    }
}

/// Any of these values; a few are written out.
fn choose(number: usize, low: i32, high: i32) -> String {
    match i64::from(high) - i64::from(low) {
        ..16 => {
            let ways: String = (low..=high).map(|value| format!(":: any_{number} = {value} ")).collect();
            format!("if {ways}fi;")
        }
        _ => format!("select (any_{number} : {low} .. {high});"),
    }
}

fn reset(choices: &[(i32, i32)]) -> String {
    (0..choices.len()).map(|number| format!("any_{number} = 0; ")).collect()
}

fn wrapped(value: &str, ty: Type) -> String {
    match (ty.bits, ty.signed) {
        (32.., _) => value.to_string(),
        (bits, false) => format!("({value} & {})", (1i64 << bits) - 1),
        (bits, true) => {
            let sign = 1i64 << (bits - 1);
            format!("((({value} & {}) ^ {sign}) - {sign})", (1i64 << bits) - 1)
        }
    }
}
