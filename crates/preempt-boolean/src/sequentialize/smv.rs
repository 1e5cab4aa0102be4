//! The sequential program in the language of NuSMV: a transition system whose invariant fails if and only if the concurrent
//! program does within the contexts. For programs without recursion.
//!
//! The place in the program is a variable `pc`; each node of [`flat`](super::flat) says what the next values are. Values that are chosen
//! are inputs. A variable of one bit is a `boolean`, a wider one a word of its width; numbers are computed as words of 32 bits, as
//! the definition of the model does it. An assumption that does not hold leads to a place that is never left.

use super::flat::{Action, Flat, flat};
use super::go_on;
use super::skeleton::Skeleton;
use super::slots::{Names, Slot};
use preempt_core::{Budget, Diagnostic};
use preempt_model::{BinaryOp, Expr, Place, Scope, Type, UnaryOp};
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn program(skeleton: &Skeleton, budget: &Budget) -> Result<String, Diagnostic> {
    let flat = flat(skeleton, budget)?;
    let mut names = Names::default();
    let shared = skeleton.shared.iter().map(|(slot, _)| named("s", slot, &mut names)).collect();
    let locals = flat.locals.iter().map(|slot| named("l", slot, &mut names)).collect();
    let mut writer =
        Writer { skeleton, flat: &flat, shared, locals, changes: BTreeMap::new(), choices: Vec::new() };
    writer.nodes(budget)?;
    Ok(writer.text())
}

fn named(prefix: &str, slot: &Slot, names: &mut Names) -> Slot {
    Slot { name: names.unique(&format!("{prefix}_{}", slot.name)), ty: slot.ty }
}

struct Writer<'s> {
    skeleton: &'s Skeleton,
    flat: &'s Flat,
    shared: Vec<Slot>,
    locals: Vec<Slot>,
    /// For each variable the cases of its next value: condition and value.
    changes: BTreeMap<String, Vec<(String, String)>>,
    /// The most of each kind that a step chooses: the type of the input.
    choices: Vec<(i32, i32)>,
}

/// An expression of NuSMV is a truth value or a word.
enum Term {
    Truth(String),
    Word(String),
}

impl Term {
    fn truth(self) -> String {
        match self {
            Term::Truth(text) => text,
            Term::Word(text) => format!("({text} != 0sd32_0)"),
        }
    }

    fn word(self) -> String {
        match self {
            Term::Truth(text) => format!("({text} ? 0sd32_1 : 0sd32_0)"),
            Term::Word(text) => text,
        }
    }
}

impl Writer<'_> {
    /// The place of who has broken an assumption: behind the last node.
    fn blocked(&self) -> usize {
        self.flat.nodes.len()
    }

    fn nodes(&mut self, budget: &Budget) -> Result<(), Diagnostic> {
        let flat = self.flat;
        for (number, node) in flat.nodes.iter().enumerate() {
            go_on(budget)?;
            let here = format!("pc = {number}");
            let next = match node.next.as_slice() {
                [] => number.to_string(),
                [only] => only.to_string(),
                several => {
                    let ways: Vec<String> = several.iter().map(usize::to_string).collect();
                    format!("{{{}}}", ways.join(", "))
                }
            };
            let mut chosen = 0;
            match &node.action {
                Action::Skip | Action::Verdict => self.change("pc", here, next),
                Action::Begin => {
                    self.change("k", here.clone(), "0".into());
                    self.change("pc", here, next);
                }
                Action::Switch(stop) => {
                    let last = self.skeleton.contexts - 1;
                    let later = (0..=last).map(|k| {
                        let rounds: Vec<String> = (k..=last).map(|round| round.to_string()).collect();
                        (format!("{here} & k = {k}"), format!("{{{}}}", rounds.join(", ")))
                    });
                    for (when, rounds) in later.collect::<Vec<_>>() {
                        self.change("k", when, rounds);
                    }
                    let ways = next.trim_matches(['{', '}']).to_string();
                    self.change("pc", here, format!("{{{ways}, {stop}}}"));
                }
                Action::Assume(expr) => {
                    let condition = self.term(expr, &mut chosen).truth();
                    self.change("pc", format!("{here} & {condition}"), next);
                    self.change("pc", here, self.blocked().to_string());
                }
                Action::Require(expr, stop) => {
                    let condition = self.term(expr, &mut chosen).truth();
                    self.change("pc", format!("{here} & {condition}"), next);
                    // The input is the same in both: it is one step.
                    self.change("failed", format!("{here} & !{condition}"), "TRUE".into());
                    self.change("pc", here, stop.to_string());
                }
                Action::Assign(assignments) => {
                    for (place, value) in assignments.iter().filter(|it| it.0.scope != Scope::Nowhere) {
                        let value = self.term(value, &mut chosen);
                        self.assign(place, value, &here);
                    }
                    self.change("pc", here, next);
                }
                Action::Check => {
                    let fits = (1..self.skeleton.contexts).flat_map(|round| {
                        self.shared
                            .iter()
                            .map(move |slot| format!("{0}_{1} = g_{0}_{round}", slot.name, round - 1))
                    });
                    let fits = fits.collect::<Vec<_>>().join(" & ");
                    if !fits.is_empty() {
                        self.change("pc", format!("{here} & !({fits})"), self.blocked().to_string());
                    }
                    self.change("pc", here, next);
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, variable: &str, when: String, value: String) {
        self.changes.entry(variable.to_string()).or_default().push((when, value));
    }

    fn assign(&mut self, place: &Place, value: Term, here: &str) {
        let slots = if place.scope == Scope::Local { &self.locals } else { &self.shared };
        let slot = slots[place.slot as usize].clone();
        let ty = if place.ty.bits <= slot.ty.bits { place.ty } else { slot.ty };
        let value = stored(value, ty, slot.ty);
        match place.scope {
            Scope::Local => self.change(&slot.name, here.to_string(), value),
            _ => {
                for round in 0..self.skeleton.contexts {
                    let name = format!("{}_{round}", slot.name);
                    self.change(&name, format!("{here} & k = {round}"), value.clone());
                }
            }
        }
    }

    fn load(&self, place: &Place) -> Term {
        let one = |name: &str, ty: Type| match ty.bits {
            1 if !ty.signed => Term::Truth(name.to_string()),
            32.. => Term::Word(format!("signed({name})")),
            bits if ty.signed => Term::Word(format!("extend(signed({name}), {})", 32 - bits)),
            bits => Term::Word(format!("signed(extend({name}, {}))", 32 - bits)),
        };
        if place.scope == Scope::Local {
            let slot = &self.locals[place.slot as usize];
            return one(&slot.name, slot.ty);
        }
        let slot = &self.shared[place.slot as usize];
        let last = self.skeleton.contexts - 1;
        let mut text = String::new();
        let mut truth = false;
        for round in 0..=last {
            let copy = match one(&format!("{}_{round}", slot.name), slot.ty) {
                Term::Truth(copy) => {
                    truth = true;
                    copy
                }
                Term::Word(copy) => copy,
            };
            let _ = match round == last {
                true => write!(text, "{copy}{}", ")".repeat(last)),
                false => write!(text, "(k = {round} ? {copy} : "),
            };
        }
        if truth { Term::Truth(text) } else { Term::Word(text) }
    }

    fn term(&mut self, expr: &Expr, chosen: &mut usize) -> Term {
        match expr {
            Expr::Const(value) => Term::Word(number(*value)),
            Expr::Load(place) if place.scope == Scope::Nowhere => Term::Word(number(0)),
            Expr::Load(place) => self.load(place),
            Expr::Unary(UnaryOp::Not, inner) => Term::Truth(format!("!{}", self.term(inner, chosen).truth())),
            Expr::Unary(UnaryOp::Negate, inner) => {
                Term::Word(format!("(- {})", self.term(inner, chosen).word()))
            }
            Expr::Unary(UnaryOp::Complement, inner) => {
                Term::Word(format!("(! {})", self.term(inner, chosen).word()))
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, chosen), self.term(right, chosen));
                binary(*operator, left, right)
            }
            Expr::Conditional(condition, then, otherwise) => {
                let condition = self.term(condition, chosen).truth();
                let (then, otherwise) = (self.term(then, chosen).word(), self.term(otherwise, chosen).word());
                Term::Word(format!("({condition} ? {then} : {otherwise})"))
            }
            Expr::Any { low, high } => {
                let name = format!("any_{}_{}_{chosen}", low.unsigned_abs(), high.unsigned_abs());
                *chosen += 1;
                let index = *chosen - 1;
                let same = |known: &(i32, i32)| *known == (*low, *high);
                let count = self.choices.iter().filter(|known| same(known)).count();
                if count <= index {
                    self.choices.resize(self.choices.len() + index + 1 - count, (*low, *high));
                }
                match (low, high) {
                    (0, 1) => Term::Truth(name),
                    _ => Term::Word(name),
                }
            }
            // Refused before.
            _ => Term::Word(number(0)),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let contexts = self.skeleton.contexts;
        let _ = writeln!(
            out,
            "-- Threads take turns, each for at most {contexts} contexts. The shared variables have a copy for each"
        );
        let _ =
            writeln!(out, "-- round (s_..._0 and so on), and what that was guessed to begin with (g_...).");
        let _ = writeln!(
            out,
            "MODULE main\nVAR\n  pc : 0..{};\n  k : 0..{};\n  failed : boolean;",
            self.blocked(),
            contexts.max(2) - 1
        );
        let copies = || {
            let rounds = 0..contexts;
            rounds.flat_map(|round| {
                self.shared.iter().map(move |slot| (format!("{}_{round}", slot.name), slot.ty))
            })
        };
        for (name, ty) in copies().chain(self.locals.iter().map(|slot| (slot.name.clone(), slot.ty))) {
            let _ = writeln!(out, "  {name} : {};", sort(ty));
        }
        if contexts > 1 {
            out.push_str("FROZENVAR\n");
            for round in 1..contexts {
                for slot in &self.shared {
                    let _ = writeln!(out, "  g_{}_{round} : {};", slot.name, sort(slot.ty));
                }
            }
        }
        let mut inputs: BTreeMap<String, (i32, i32)> = BTreeMap::new();
        for (number, &(low, high)) in self.choices.iter().enumerate() {
            let before = self.choices[..=number].iter().filter(|known| **known == (low, high)).count();
            inputs.insert(
                format!("any_{}_{}_{}", low.unsigned_abs(), high.unsigned_abs(), before - 1),
                (low, high),
            );
        }
        if !inputs.is_empty() {
            out.push_str("IVAR\n");
            for (name, range) in &inputs {
                let sort = if *range == (0, 1) { "boolean" } else { "signed word[32]" };
                let _ = writeln!(out, "  {name} : {sort};");
            }
            for (name, (low, high)) in inputs.iter().filter(|(_, range)| **range != (0, 1)) {
                let _ = writeln!(out, "TRANS {} <= {name} & {name} <= {}", number(*low), number(*high));
            }
        }
        out.push_str("ASSIGN\n  init(pc) := 0;\n  init(k) := 0;\n  init(failed) := FALSE;\n");
        for (slot, (_, value)) in self.shared.iter().zip(&self.skeleton.shared) {
            let _ = writeln!(out, "  init({}_0) := {};", slot.name, constant(*value, slot.ty));
            for round in 1..contexts {
                let _ = writeln!(out, "  init({0}_{round}) := g_{0}_{round};", slot.name);
            }
        }
        for slot in &self.locals {
            let _ = writeln!(out, "  init({}) := {};", slot.name, constant(0, slot.ty));
        }
        let unchanged =
            copies().map(|(name, _)| name).chain(self.locals.iter().map(|slot| slot.name.clone()));
        for name in ["pc", "k", "failed"].map(String::from).into_iter().chain(unchanged) {
            let _ = writeln!(out, "  next({name}) := case");
            for (when, value) in self.changes.get(&name).map_or(&[][..], Vec::as_slice) {
                let _ = writeln!(out, "    {when} : {value};");
            }
            let _ = writeln!(out, "    TRUE : {name};\n  esac;");
        }
        let _ = writeln!(out, "INVARSPEC !(pc = {} & failed)", self.flat.nodes.len() - 1);
        out
    }
}

fn sort(ty: Type) -> String {
    match (ty.bits, ty.signed) {
        (1, false) => "boolean".into(),
        (bits, _) => format!("unsigned word[{bits}]"),
    }
}

fn number(value: i32) -> String {
    match value {
        i32::MIN => "(-0sd32_2147483647 - 0sd32_1)".into(),
        value if value < 0 => format!("(-0sd32_{})", value.unsigned_abs()),
        value => format!("0sd32_{value}"),
    }
}

/// A first value of a variable.
fn constant(value: i32, ty: Type) -> String {
    match (ty.bits, ty.signed) {
        (1, false) => if value & 1 == 1 { "TRUE" } else { "FALSE" }.into(),
        (bits, _) => {
            let mask = if bits >= 32 { u32::MAX } else { (1u32 << bits) - 1 };
            format!("0ud{bits}_{}", value as u32 & mask)
        }
    }
}

/// What a variable holds after the value was assigned to a place of type `ty`.
fn stored(value: Term, ty: Type, slot: Type) -> String {
    if slot.bits == 1 && !slot.signed {
        return match value {
            Term::Truth(text) => text,
            Term::Word(text) => format!("(unsigned({text})[0:0] = 0ud1_1)"),
        };
    }
    let word = value.word();
    let low = if ty.bits >= 32 {
        format!("unsigned({word})")
    } else {
        format!("unsigned({word})[{}:0]", ty.bits - 1)
    };
    match slot.bits.saturating_sub(ty.bits) {
        0 => low,
        more if ty.signed => format!("unsigned(extend(signed({low}), {more}))"),
        more => format!("extend({low}, {more})"),
    }
}

fn binary(operator: BinaryOp, left: Term, right: Term) -> Term {
    let word = |sign: &str, left: Term, right: Term| {
        Term::Word(format!("({} {sign} {})", left.word(), right.word()))
    };
    let compare = |sign: &str, left: Term, right: Term| {
        Term::Truth(format!("({} {sign} {})", left.word(), right.word()))
    };
    match operator {
        BinaryOp::And => Term::Truth(format!("({} & {})", left.truth(), right.truth())),
        BinaryOp::Or => Term::Truth(format!("({} | {})", left.truth(), right.truth())),
        BinaryOp::Eq | BinaryOp::Ne => {
            let sign = if operator == BinaryOp::Eq { "=" } else { "!=" };
            match (left, right) {
                (Term::Truth(left), Term::Truth(right)) => Term::Truth(format!("({left} {sign} {right})")),
                (left, right) => compare(sign, left, right),
            }
        }
        BinaryOp::Lt => compare("<", left, right),
        BinaryOp::Le => compare("<=", left, right),
        BinaryOp::Gt => compare(">", left, right),
        BinaryOp::Ge => compare(">=", left, right),
        BinaryOp::Add => word("+", left, right),
        BinaryOp::Sub => word("-", left, right),
        BinaryOp::Mul => word("*", left, right),
        BinaryOp::BitAnd => word("&", left, right),
        BinaryOp::BitXor => word("xor", left, right),
        BinaryOp::BitOr => word("|", left, right),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            let sign = if operator == BinaryOp::ShiftLeft { "<<" } else { ">>" };
            let distance = format!("(unsigned({}) & 0ud32_31)", right.word());
            Term::Word(format!("({} {sign} {distance})", left.word()))
        }
        // Refused before.
        BinaryOp::Div | BinaryOp::Rem => Term::Word(number(0)),
    }
}
