//! From the items of a `.protocol` to a [`Protocol`]: declarations here, rules and patterns in `instances`, and what names
//! and expressions mean in `names`.

mod instances;
mod names;

use super::parser::{Ast, Item, Node, TypeAst};
use super::{Domain, Expr, Place, Protocol, Scope, ValueKind, Variable};
use crate::scan::{LARGEST, Name};
use names::{Context, Value};
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, Span};
use std::collections::HashMap;

/// Variables and instances of rules are refused beyond so many.
const MOST_VARIABLES: usize = 4096;
const MOST_INSTANCES: usize = 100_000;
/// What is done with a variable is done value by value.
const MOST_VALUES: u64 = 4096;

/// A declared variable or array.
#[derive(Debug, Clone, Copy)]
struct Declared {
    scope: Scope,
    /// Of the first element.
    first: usize,
    index: Option<Domain>,
    of: Domain,
}

struct Lowering<'a, 't> {
    protocol: Protocol,
    constants: HashMap<&'a str, (Value, Span)>,
    types: HashMap<&'a str, Domain>,
    variables: HashMap<&'a str, Declared>,
    /// For each name of a value the enumerations that have it.
    values: HashMap<&'a str, Vec<(usize, i64)>>,
    budget: &'t Budget,
    diagnostics: &'t mut Vec<Diagnostic>,
    hints: usize,
    instances: usize,
}

pub(super) fn lower<'a>(
    items: &[Item<'a>],
    definitions: &[(String, String)],
    budget: &Budget,
    diagnostics: &mut Vec<Diagnostic>,
) -> Protocol {
    let mut lowering = Lowering {
        protocol: Protocol::default(),
        constants: HashMap::new(),
        types: HashMap::new(),
        variables: HashMap::new(),
        values: HashMap::new(),
        budget,
        diagnostics,
        hints: 0,
        instances: 0,
    };
    lowering.definitions_exist(items, definitions);
    for item in items {
        lowering.declare(item, definitions);
    }
    lowering.sizes_fit(items);
    let mut counted = 0;
    for item in items {
        if budget.exhausted().is_some() || crate::too_many_mistakes(lowering.diagnostics, &mut counted) {
            break;
        }
        match item {
            Item::Rule(rule) => lowering.rule(rule),
            Item::Bad { name, parameters, patterns } => lowering.bad(*name, parameters, patterns),
            Item::Initially(condition) => {
                let none = HashMap::new();
                let context = Context { bare: Some(Scope::Mover), partner: false, parameters: &none };
                let condition = lowering.condition(condition, &context);
                lowering.initially(condition);
            }
            Item::Constant { .. } | Item::Type { .. } | Item::Variable { .. } => {}
        }
    }
    lowering.is_whole(items);
    lowering.protocol
}

impl<'a> Lowering<'a, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn error_with_hint(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message).hint(hint.into()));
    }

    /// Every definition from outside must be of a constant.
    fn definitions_exist(&mut self, items: &[Item<'a>], definitions: &[(String, String)]) {
        for (name, value) in definitions {
            let is_constant =
                items.iter().any(|item| matches!(item, Item::Constant { name: it, .. } if it.0 == name));
            if !is_constant {
                let message = format!("there is no constant `{name}` to define");
                self.diagnostics.push(Diagnostic::global_error(message));
            } else if value.parse::<i64>().map_or(true, |n| n.unsigned_abs() > LARGEST) {
                let message = format!("the constant `{name}` is defined as `{value}`, which is not a number");
                self.diagnostics.push(Diagnostic::global_error(message));
            }
        }
    }

    fn declare(&mut self, item: &Item<'a>, definitions: &[(String, String)]) {
        match item {
            Item::Constant { name, value } => {
                self.is_new(*name);
                let given = definitions.iter().rfind(|(it, _)| it == name.0);
                let value = match given.and_then(|(_, text)| text.parse().ok()) {
                    Some(number) => Some((ValueKind::Number, number)),
                    None => self.constant(value),
                };
                if let Some(value) = value {
                    self.constants.insert(name.0, (value, name.1));
                }
            }
            Item::Type { name, of } => {
                self.is_new(*name);
                // A mistake in it is not a mistake of whoever uses it.
                let some = Domain { kind: ValueKind::Number, low: 1, size: 1 };
                let domain = self.domain(of).unwrap_or(some);
                self.types.insert(name.0, domain);
            }
            Item::Variable { name, global, index, of, initial } => {
                self.is_new(*name);
                let index = match index {
                    Some(index) => match self.domain(index) {
                        Some(index) => Some(index),
                        None => return,
                    },
                    None => None,
                };
                let Some(of) = self.domain(of) else { return };
                self.variable(*name, *global, index, of, initial.as_ref());
            }
            Item::Initially(_) | Item::Rule(_) | Item::Bad { .. } => {}
        }
    }

    fn is_new(&mut self, (name, span): Name<'a>) {
        let taken = self.constants.contains_key(name)
            || self.types.contains_key(name)
            || self.variables.contains_key(name)
            || self.values.contains_key(name);
        if taken {
            self.error(span, format!("`{name}` is already something else"));
        }
    }

    fn variable(
        &mut self,
        (name, span): Name<'a>,
        global: bool,
        index: Option<Domain>,
        of: Domain,
        initial: Option<&Ast<'a>>,
    ) {
        let scope = if global { Scope::Global } else { Scope::Mover };
        if of.size > MOST_VALUES {
            return self.error(span, format!("a variable has at most {MOST_VALUES} values"));
        }
        let first = self.protocol.variables(scope).len();
        let count = index.map_or(1, |index| index.size);
        let room = MOST_VARIABLES.saturating_sub(self.protocol.globals.len() + self.protocol.locals.len());
        if count > room as u64 {
            return self.error(span, format!("there are more than {MOST_VARIABLES} variables"));
        }
        for element in 0..count {
            let block = index.map(|index| (index, element));
            let name = match index {
                Some(index) => {
                    let index_name = self.value_text(index.kind, index.low + element as i64);
                    format!("{name}[{index_name}]")
                }
                None => name.to_string(),
            };
            let variable = Variable { name, kind: of.kind, low: of.low, size: of.size, block };
            match global {
                true => self.protocol.globals.push(variable),
                false => self.protocol.locals.push(variable),
            }
        }
        self.variables.insert(name, Declared { scope, first, index, of });
        let Some(initial) = initial.filter(|it| !matches!(it.node, Node::Any)) else { return };
        let none = HashMap::new();
        let context = Context { bare: None, partner: false, parameters: &none };
        let Some((value, kind)) = self.expr(initial, &context, Some(of.kind)) else { return };
        let Expr::Value(value) = value else { return };
        if kind != of.kind {
            return self.error(initial.span, format!("this is no value of `{name}`"));
        }
        if !(of.low..of.low + of.size as i64).contains(&value) {
            return self.error(initial.span, format!("`{name}` cannot have this value"));
        }
        for variable in first..first + count as usize {
            let place = Place { scope, variable };
            self.initially(Some(Expr::equal(Expr::Read(place), Expr::Value(value))));
        }
    }

    fn initially(&mut self, condition: Option<Expr>) {
        let before = self.protocol.initially.take();
        self.protocol.initially = Some(Expr::all(before.into_iter().chain(condition)));
    }

    fn value_text(&self, kind: ValueKind, value: i64) -> String {
        let variable = Variable { name: String::new(), kind, low: 0, size: 1, block: None };
        self.protocol.value_name(&variable, value)
    }

    fn domain(&mut self, of: &TypeAst<'a>) -> Option<Domain> {
        match of {
            TypeAst::Bool => Some(Domain { kind: ValueKind::Bool, low: 0, size: 2 }),
            TypeAst::Range(low, high) => {
                let (low_kind, first) = self.constant(low)?;
                let (high_kind, last) = self.constant(high)?;
                let span = low.span.to(high.span);
                if (low_kind, high_kind) != (ValueKind::Number, ValueKind::Number) {
                    self.error(span, "a range is from a number to a number");
                    return None;
                }
                if last < first {
                    self.error(span, format!("the range from {first} to {last} is empty"));
                    return None;
                }
                let size = (last - first) as u64 + 1;
                if size > MOST_INSTANCES as u64 {
                    self.error(span, format!("a range has at most {MOST_INSTANCES} values"));
                    return None;
                }
                Some(Domain { kind: ValueKind::Number, low: first, size })
            }
            TypeAst::Names(names, span) => {
                let number = self.protocol.enumerations.len();
                for (at, (name, span)) in names.iter().enumerate() {
                    if names[..at].iter().any(|(before, _)| before == name) {
                        self.error(*span, format!("`{name}` is there twice"));
                    }
                    let taken = self.constants.contains_key(name)
                        || self.types.contains_key(name)
                        || self.variables.contains_key(name);
                    if taken {
                        self.error(*span, format!("`{name}` is already something else"));
                    }
                    self.values.entry(name).or_default().push((number, at as i64));
                }
                if names.len() as u64 > MOST_VALUES {
                    self.error(*span, format!("there are more than {MOST_VALUES} values"));
                    return None;
                }
                self.protocol.enumerations.push(names.iter().map(|(name, _)| name.to_string()).collect());
                Some(Domain { kind: ValueKind::Enumeration(number), low: 0, size: names.len() as u64 })
            }
            TypeAst::Named((name, span)) => {
                let known = self.types.get(name).copied();
                if known.is_none() {
                    let near = nearest(name, self.types.keys().copied()).map(str::to_string);
                    self.unknown(*span, format!("there is no type `{name}`"), near);
                }
                known
            }
        }
    }

    /// With what may have been meant, for the first mistakes.
    fn unknown(&mut self, span: Span, message: String, near: Option<String>) {
        self.hints += 1;
        match near.filter(|_| self.hints <= crate::MOST_HINTS) {
            Some(near) => self.error_with_hint(span, message, format!("did you mean `{near}`?")),
            None => self.error(span, message),
        }
    }

    /// States are numbers.
    fn sizes_fit(&mut self, items: &[Item<'a>]) {
        let local = self.protocol.local_states().is_none();
        if !local && self.protocol.global_states().is_some() {
            return;
        }
        let last = items.iter().rev().find_map(|item| match item {
            Item::Variable { name, global, .. } if *global != local => Some(name.1),
            _ => None,
        });
        if let Some(span) = last {
            let message = "with this variable there are more than 2^62 states";
            self.error_with_hint(span, message, "use fewer or smaller variables");
        }
    }

    /// What a protocol cannot do without.
    fn is_whole(&mut self, items: &[Item<'a>]) {
        if self.diagnostics.iter().any(Diagnostic::is_error) || self.budget.exhausted().is_some() {
            return;
        }
        if self.protocol.locals.is_empty() {
            let message = "a protocol has at least one local variable";
            self.diagnostics
                .push(Diagnostic::global_error(message).hint("write `local state : { idle, busy } = idle`"));
        }
        if !items.iter().any(|item| matches!(item, Item::Bad { .. })) {
            self.diagnostics.push(
                Diagnostic::global_error("nothing says what is bad")
                    .hint("write `bad two_owners: two with state = M`"),
            );
        }
    }
}
