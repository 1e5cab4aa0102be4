//! From Cubicle's transitions to rules. The first process of a transition is the mover, the second the partner; an update of all
//! processes is an effect on these two and a reaction of the others. A transition of no process is one of any process, who then
//! is one of "all".

use super::super::{Bad, Effect, Expr, Pattern, Place, Protocol, Reaction, Rule, Scope, ValueKind, Variable};
use super::parser::{Formula, Item, Literal, Term, Transition, Update};
use crate::scan::Name;
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};
use std::collections::HashMap;

/// What a name of a process stands for.
type Cast<'a> = [(&'a str, Scope)];

#[derive(Clone, Copy)]
struct Declared {
    scope: Scope,
    number: usize,
    kind: ValueKind,
}

struct Lowering<'a, 't> {
    protocol: Protocol,
    types: HashMap<&'a str, (ValueKind, u64)>,
    variables: HashMap<&'a str, Declared>,
    values: HashMap<&'a str, (ValueKind, i64)>,
    diagnostics: &'t mut Vec<Diagnostic>,
}

pub(super) fn lower<'a>(items: &[Item<'a>], diagnostics: &mut Vec<Diagnostic>) -> Protocol {
    let mut lowering = Lowering {
        protocol: Protocol::default(),
        types: HashMap::from([("bool", (ValueKind::Bool, 2))]),
        variables: HashMap::new(),
        values: HashMap::from([("True", (ValueKind::Bool, 1)), ("False", (ValueKind::Bool, 0))]),
        diagnostics,
    };
    items.iter().for_each(|item| lowering.declare(item));
    let mut counted = 0;
    for item in items {
        if crate::too_many_mistakes(lowering.diagnostics, &mut counted) {
            break;
        }
        match item {
            Item::Init { parameters, formula } => lowering.init(parameters, formula),
            Item::Unsafe { parameters, formula, span } => lowering.bad(parameters, formula, *span),
            Item::Transition(transition) => {
                let rule = lowering.rule(transition);
                lowering.protocol.rules.extend(rule);
            }
            Item::Type { .. } | Item::Variable { .. } | Item::Array { .. } => {}
        }
    }
    let whole = !lowering.diagnostics.iter().any(Diagnostic::is_error);
    if whole && (lowering.protocol.locals.is_empty() || lowering.protocol.properties.is_empty()) {
        let message = "a protocol has an array over the processes, and something unsafe";
        lowering.diagnostics.push(Diagnostic::global_error(message));
    }
    let states = (lowering.protocol.local_states(), lowering.protocol.global_states());
    if whole && (states.0.is_none() || states.1.is_none()) {
        lowering.diagnostics.push(Diagnostic::global_error("there are more than 2^62 states"));
    }
    lowering.protocol
}

/// Several `unsafe` are one property.
const PROPERTY: &str = "unsafe";

impl<'a> Lowering<'a, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>, hint: Option<&str>) {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }

    fn declare(&mut self, item: &Item<'a>) {
        let (name, of, scope) = match item {
            Item::Type { name, values } => {
                let kind = ValueKind::Enumeration(self.protocol.enumerations.len());
                for (at, (value, span)) in values.iter().enumerate() {
                    if self.values.insert(value, (kind, at as i64)).is_some() {
                        self.error(*span, format!("`{value}` is there twice"), None);
                    }
                }
                self.protocol.enumerations.push(values.iter().map(|(it, _)| it.to_string()).collect());
                if self.types.insert(name.0, (kind, values.len() as u64)).is_some() {
                    self.error(name.1, format!("there are two types `{}`", name.0), None);
                }
                return;
            }
            Item::Variable { name, of } => (name, of, Scope::Global),
            Item::Array { name, of } => (name, of, Scope::Mover),
            Item::Init { .. } | Item::Unsafe { .. } | Item::Transition(_) => return,
        };
        let Some((kind, size)) = self.types.get(of.0).copied() else {
            let outside = "that is outside of the class of protocols that is read";
            let (message, hint) = match of.0 {
                "proc" => (
                    format!("variables of type `proc`: {outside}"),
                    Some("an array of Booleans over the processes can say which one is meant"),
                ),
                "int" | "real" => (format!("variables of type `{}`: {outside}", of.0), None),
                other => (format!("there is no type `{other}`"), None),
            };
            return self.error(of.1, message, hint);
        };
        let number = self.protocol.variables(scope).len();
        if self.variables.insert(name.0, Declared { scope, number, kind }).is_some() || number >= 4096 {
            self.error(name.1, format!("there are two variables `{}`, or too many", name.0), None);
        }
        let variable = Variable { name: name.0.to_string(), kind, low: 0, size, block: None };
        match scope {
            Scope::Global => self.protocol.globals.push(variable),
            _ => self.protocol.locals.push(variable),
        }
    }

    fn init(&mut self, parameters: &[Name<'a>], formula: &Formula<'a>) {
        let cast: Vec<(&str, Scope)> = match parameters {
            [] => Vec::new(),
            [(name, _)] => vec![(name, Scope::Mover)],
            [_, (_, span), ..] => {
                let message = "initial states that relate two processes: that is outside of the class of protocols that is read";
                return self.error(*span, message, None);
            }
        };
        if let Some(expr) = self.formula(formula, &cast) {
            let before = self.protocol.initially.take();
            self.protocol.initially = Some(Expr::all(before.into_iter().chain([expr])));
        }
    }

    fn bad(&mut self, parameters: &[Name<'a>], formula: &Formula<'a>, span: Span) {
        for conjunction in formula {
            let mut pattern =
                Pattern { global: Expr::TRUE, processes: vec![Expr::TRUE; parameters.len().max(1)] };
            for literal in conjunction {
                let named: Vec<usize> = (0..parameters.len())
                    .filter(|at| {
                        let name = parameters[*at].0;
                        [literal.left, literal.right].iter().any(|term| {
                            term.index.is_some_and(|index| index.0 == name) || term.name.0 == name
                        })
                    })
                    .collect();
                let cast: Vec<(&str, Scope)> =
                    parameters.iter().map(|(name, _)| (*name, Scope::Mover)).collect();
                let place = match named[..] {
                    [] => &mut pattern.global,
                    [at] => &mut pattern.processes[at],
                    _ if literal.left.index.is_none() && literal.right.index.is_none() => {
                        // Different names are different processes.
                        if literal.equal {
                            pattern.global = Expr::FALSE;
                        }
                        continue;
                    }
                    _ => {
                        let message = "a relation between two processes: that is outside of the class of protocols that is read";
                        self.error(literal.span, message, Some("write one `unsafe` for each value"));
                        return;
                    }
                };
                let before = std::mem::replace(place, Expr::TRUE);
                let Some(expr) = self.literal(literal, &cast) else { return };
                *place = Expr::all([before, expr]);
            }
            match self.protocol.properties.iter_mut().find(|it| it.name == PROPERTY) {
                Some(bad) => bad.patterns.push(pattern),
                None => self.protocol.properties.push(Bad {
                    name: PROPERTY.to_string(),
                    span: Some(span),
                    patterns: vec![pattern],
                }),
            }
        }
    }

    fn rule(&mut self, transition: &Transition<'a>) -> Option<Rule> {
        let scopes = [Scope::Mover, Scope::Partner];
        if let Some((_, span)) = transition.parameters.get(2) {
            let message =
                "transitions of three processes: that is outside of the class of protocols that is read";
            self.error(*span, message, None);
            return None;
        }
        let cast: Vec<(&str, Scope)> = transition.parameters.iter().map(|it| it.0).zip(scopes).collect();
        let participants = cast.len();
        let (mut when, mut with) = (Vec::new(), Vec::new());
        for literal in &transition.requires {
            let expr = self.literal(literal, &cast)?;
            let about_partner = expr.places().iter().any(|place| place.scope == Scope::Partner);
            if about_partner { with.push(expr) } else { when.push(expr) }
        }
        let mut guard = Vec::new();
        for (process, formula) in &transition.all_others {
            let mut with_other = cast.clone();
            with_other.push((process.0, Scope::Other));
            guard.push(self.formula(formula, &with_other)?);
            if participants == 0 {
                when.push(self.formula(formula, &[(process.0, Scope::Mover)])?);
            }
        }
        let (mut effects, mut reaction) = (Vec::new(), Vec::new());
        for update in &transition.updates {
            self.update(update, &cast, &mut effects, &mut reaction)?;
        }
        let others = match reaction.is_empty() {
            true => Vec::new(),
            false => vec![Reaction { condition: Expr::TRUE, effects: reaction }],
        };
        Some(Rule {
            name: transition.name.0.to_string(),
            span: Some(transition.span),
            when: Expr::all(when),
            with: (participants == 2).then(|| Expr::all(with)),
            all_others: (!guard.is_empty()).then(|| Expr::all(guard)),
            effects,
            others,
        })
    }

    fn update(
        &mut self,
        update: &Update<'a>,
        cast: &Cast<'a>,
        effects: &mut Vec<Effect>,
        reaction: &mut Vec<Effect>,
    ) -> Option<()> {
        let (name, span) = update.target.name;
        let Some(declared) = self.variables.get(name).copied() else {
            self.error(span, format!("there is no variable `{name}`"), None);
            return None;
        };
        let index = update.target.index;
        // Whose variable gets a value: that of one process, or those of all.
        let scopes: Vec<(Scope, Option<&'a str>)> = match (declared.scope, index) {
            (Scope::Global, None) => vec![(Scope::Global, None)],
            (Scope::Mover, Some((process, _))) => match cast.iter().find(|(it, _)| *it == process) {
                Some((_, scope)) => vec![(*scope, None)],
                None => {
                    let mut all: Vec<(Scope, Option<&'a str>)> =
                        cast.iter().map(|(_, scope)| (*scope, Some(process))).collect();
                    if all.is_empty() {
                        all.push((Scope::Mover, Some(process)));
                    }
                    all.push((Scope::Other, Some(process)));
                    all
                }
            },
            _ => {
                self.error(span, format!("`{name}` is used with and without an index"), None);
                return None;
            }
        };
        for (scope, every) in scopes {
            let place = Place { scope, variable: declared.number };
            let mut cast = cast.to_vec();
            cast.extend(every.map(|process| (process, scope)));
            // Where no case applies it stays as it is.
            let mut value = Expr::Read(place);
            for (condition, then) in update.cases.iter().rev() {
                let conditions: Option<Vec<Expr>> =
                    condition.iter().map(|literal| self.literal(literal, &cast)).collect();
                let then = self.term(then, &cast)?;
                if then.1 != declared.kind {
                    self.error(span, format!("`{name}` has another type"), None);
                    return None;
                }
                value = Expr::choice(Expr::all(conditions?), then.0, value);
            }
            if value == Expr::Read(place) {
                continue;
            }
            let to = if scope == Scope::Other { &mut *reaction } else { &mut *effects };
            if to.iter().any(|it| it.place == place) {
                self.error(span, format!("`{name}` gets two values at once"), None);
                return None;
            }
            to.push(Effect { place, value });
        }
        Some(())
    }

    fn formula(&mut self, formula: &Formula<'a>, cast: &Cast<'a>) -> Option<Expr> {
        let mut any = Vec::new();
        for conjunction in formula {
            let all: Option<Vec<Expr>> =
                conjunction.iter().map(|literal| self.literal(literal, cast)).collect();
            any.push(Expr::all(all?));
        }
        Some(Expr::any(any))
    }

    fn literal(&mut self, literal: &Literal<'a>, cast: &Cast<'a>) -> Option<Expr> {
        let process = |term: &Term<'a>| {
            term.index.is_none().then(|| cast.iter().rfind(|(name, _)| *name == term.name.0)).flatten()
        };
        let equal = match (process(&literal.left), process(&literal.right)) {
            // Names of different processes; a name for all of them is the one that is spoken of.
            (Some((_, a)), Some((_, b))) => Expr::Value(i64::from(a == b)),
            (None, None) => {
                let (left, kind) = self.term(&literal.left, cast)?;
                let (right, other) = self.term(&literal.right, cast)?;
                if kind != other {
                    self.error(literal.span, "the two sides have different types", None);
                    return None;
                }
                Expr::equal(left, right)
            }
            _ => {
                self.error(literal.span, "a process is compared with what is none", None);
                return None;
            }
        };
        Some(if literal.equal { equal } else { equal.negated() })
    }

    fn term(&mut self, term: &Term<'a>, cast: &Cast<'a>) -> Option<(Expr, ValueKind)> {
        let (name, span) = term.name;
        if let Some(declared) = self.variables.get(name).copied() {
            let scope = match (declared.scope, term.index) {
                (Scope::Global, None) => Scope::Global,
                (Scope::Mover, Some((process, at))) => match cast.iter().rfind(|(it, _)| *it == process) {
                    Some((_, scope)) => *scope,
                    None => {
                        self.error(at, format!("there is no process `{process}`"), None);
                        return None;
                    }
                },
                _ => {
                    self.error(span, format!("`{name}` is used with and without an index"), None);
                    return None;
                }
            };
            return Some((Expr::read(scope, declared.number), declared.kind));
        }
        if let Some((kind, value)) = self.values.get(name).filter(|_| term.index.is_none()) {
            return Some((Expr::Value(*value), *kind));
        }
        let known = self.variables.keys().chain(self.values.keys()).copied();
        let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
        self.error(span, format!("there is no `{name}`"), near.as_deref());
        None
    }
}
