//! What a model exercises: which commands, expressions, types and options of a model occur in it. A campaign is only as
//! good as what it meets, so it counts, and a test fails on what was never met.
//!
//! The kinds are listed by the same `match` that tells them apart: a new variant does not compile until it is counted
//! here, and from then on it must be met.

use crate::command::{Command, Pattern};
use crate::expr::{Expr, Place, Scope};
use crate::program::{Code, Init, Location, Model};
use crate::property::Ltl;
use crate::types::Type;
use kinds::{
    CODES, COMMANDS, EXPRESSIONS, FORMULAS, INITS, OPTIONS, PATTERNS, SCOPES, SIZES, VALUE_KINDS, code_kind,
    command_kind, expression_kind, formula_kind, init_kind, pattern_kind, scope_kind, size_kind, value_kind,
};
use std::collections::BTreeMap;

/// How many programs have each feature.
pub type Census = BTreeMap<&'static str, u64>;

/// A function that names the kind of something, and the list of all names that it can give.
#[macro_export]
macro_rules! kinds {
    ($vis:vis $list:ident, $name:ident, $type:ty, { $($pattern:pat => $text:literal,)* }) => {
        $vis const $list: &[&str] = &[$($text),*];
        $vis fn $name(it: &$type) -> &'static str {
            match it { $($pattern => $text,)* }
        }
    };
}

mod kinds;

/// Every feature that a model can have.
pub fn features() -> Vec<&'static str> {
    let lists =
        [COMMANDS, EXPRESSIONS, PATTERNS, SCOPES, VALUE_KINDS, SIZES, CODES, INITS, FORMULAS, OPTIONS];
    lists.concat()
}

/// Adds the features of one model, each once.
pub fn count(model: &Model, census: &mut Census) {
    let mut met = Met { model, features: Vec::new() };
    met.model();
    met.features.sort_unstable();
    met.features.dedup();
    for feature in met.features {
        *census.entry(feature).or_default() += 1;
    }
}

struct Met<'m> {
    model: &'m Model,
    features: Vec<&'static str>,
}

impl Met<'_> {
    fn note(&mut self, is: bool, feature: &'static str) {
        if is {
            self.features.push(feature);
        }
    }

    fn model(&mut self) {
        // Whoever adds a field to a model has to say here what can be different about it.
        let Model {
            globals,
            global_slots: _,
            hidden,
            hidden_slots: _,
            init,
            templates,
            symbols: _,
            codes,
            start,
            remembers_last,
            has_priorities,
            claims,
            formulas,
            trace_assertion,
            exclusives,
            // A matter of the question: liveness asks with it, safety without.
            counts_claim: _,
            marks: _,
        } = self.model;
        for variable in globals.iter().chain(hidden) {
            self.ty(variable.ty);
        }
        for init in init {
            self.init(init);
        }
        for template in templates {
            self.note(template.capacity == 0, "channel of capacity 0");
            self.note(template.capacity == 1, "channel of capacity 1");
            self.note(template.capacity > 1, "channel of more");
            self.note(template.fields.len() == 1, "message of 1 field");
            self.note(template.fields.len() > 1, "message of more fields");
            template.fields.iter().for_each(|ty| self.ty(*ty));
        }
        for code in codes {
            self.code(code);
        }
        let twice =
            start.iter().enumerate().any(|(at, it)| start[..at].iter().any(|other| other.code == it.code));
        self.note(twice, "several processes of one code");
        self.note(*remembers_last, "remembers the last process");
        let is_watched = !claims.is_empty() || !formulas.is_empty();
        self.note(is_watched && self.model.processes_count(), "a process that feels a claim");
        self.note(*has_priorities, "priorities");
        self.note(!claims.is_empty(), "never claim");
        self.note(claims.len() + formulas.len() > 1, "several claims or formulas");
        for formula in formulas {
            self.formula(&formula.formula);
        }
        if let Some(assertion) = trace_assertion {
            self.note(!assertion.negated, "trace");
            self.note(assertion.negated, "notrace");
        }
        for exclusive in exclusives {
            self.note(exclusive.receive, "exclusive receive");
            self.note(!exclusive.receive, "exclusive send");
            self.expression(&exclusive.channel);
        }
    }

    fn code(&mut self, code: &Code) {
        let Code {
            name: _,
            kind,
            parameters,
            variables,
            slots: _,
            init,
            locations,
            entry: _,
            provided,
            deterministic,
            labels: _,
            span: _,
        } = code;
        self.features.push(code_kind(kind));
        self.note(!parameters.is_empty(), "process with parameters");
        self.note(init.iter().any(|it| matches!(it, Init::Channel { .. })), "process with its own channel");
        self.note(*deterministic, "process deterministic");
        self.note(provided.is_some(), "process provided");
        provided.iter().for_each(|expr| self.expression(expr));
        parameters.iter().for_each(|ty| self.ty(*ty));
        variables.iter().for_each(|variable| self.ty(variable.ty));
        init.iter().for_each(|init| self.init(init));
        for location in locations {
            let Location { number: _, edges, end, progress, accept } = location;
            self.note(*end, "location end");
            self.note(*progress, "location progress");
            self.note(*accept, "location accept");
            for edge in edges {
                self.note(edge.atomic, "edge atomic");
                self.note(edge.escape.is_some(), "edge of an escape");
                self.command(&edge.command);
            }
        }
    }

    fn ty(&mut self, ty: Type) {
        self.features.push(size_kind(&ty));
        self.features.push(value_kind(&ty.kind));
    }

    fn init(&mut self, init: &Init) {
        self.features.push(init_kind(init));
        if let Init::Set { value, ty, .. } = init {
            self.ty(*ty);
            self.expression(value);
        }
    }

    fn command(&mut self, command: &Command) {
        self.features.push(command_kind(command));
        match command {
            Command::Deterministic(block) => {
                let choice = block.nodes.iter().any(|edges| edges.len() > 1);
                self.note(choice, "call of a d_step with a choice");
                for command in block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref()) {
                    self.command(command);
                }
            }
            Command::Assign(list) => {
                self.note(list.len() > 1, "command assign several");
                list.iter().for_each(|(place, _)| self.place(place));
            }
            Command::Receive { pattern, .. } => pattern.iter().for_each(|part| self.pattern(part)),
            Command::Run { result: Some((place, _)), .. } => self.place(place),
            Command::Call { results, .. } => results.iter().for_each(|place| self.place(place)),
            _ => {}
        }
        let mut inside = Vec::new();
        command.visit(&mut |expr| inside.push(expr.clone()));
        inside.iter().for_each(|expr| self.one_expression(expr));
    }

    fn pattern(&mut self, pattern: &Pattern) {
        self.features.push(pattern_kind(pattern));
        if let Pattern::Bind(place) = pattern {
            self.place(place);
        }
    }

    fn expression(&mut self, expr: &Expr) {
        let mut inside = Vec::new();
        expr.visit(&mut |expr| inside.push(expr.clone()));
        inside.iter().for_each(|expr| self.one_expression(expr));
    }

    fn one_expression(&mut self, expr: &Expr) {
        self.features.push(expression_kind(expr));
        match expr {
            Expr::Load(place) => self.place(place),
            Expr::Remote { place, .. } => self.place(place),
            Expr::Poll { channel, pattern, .. } => {
                let fields = self.fields_of(channel);
                self.note(fields.is_some_and(|fields| pattern.len() < fields), "poll with fewer fields");
                pattern.iter().for_each(|part| self.pattern(part));
            }
            _ => {}
        }
    }

    /// How many fields a channel's messages have, where it is a global variable that is made at the beginning.
    fn fields_of(&self, channel: &Expr) -> Option<usize> {
        let Expr::Load(place) = channel else { return None };
        let made = |init: &Init| match init {
            Init::Channel { slot, template, .. } => (*slot == place.slot).then_some(*template),
            Init::Set { .. } => None,
        };
        let template = self.model.init.iter().find_map(made).filter(|_| place.scope == Scope::Global)?;
        Some(self.model.template(template).fields.len())
    }

    fn place(&mut self, place: &Place) {
        self.features.push(scope_kind(&place.scope));
        self.ty(place.ty);
        for index in &place.indices {
            let constant = matches!(index.value, Expr::Const(_));
            self.note(constant, "array indexed by a constant");
            self.note(!constant, "array indexed by a variable");
            self.note(index.stride > 1, "record in an array");
        }
    }

    fn formula(&mut self, formula: &Ltl) {
        self.features.push(formula_kind(formula));
        match formula {
            Ltl::Atom(expr) => self.expression(expr),
            Ltl::Not(one) | Ltl::Next(one) | Ltl::Always(one) | Ltl::Eventually(one) => self.formula(one),
            Ltl::And(one, two)
            | Ltl::Or(one, two)
            | Ltl::Implies(one, two)
            | Ltl::Equivalent(one, two)
            | Ltl::Until(one, two)
            | Ltl::Release(one, two)
            | Ltl::WeakUntil(one, two) => {
                self.formula(one);
                self.formula(two);
            }
        }
    }
}
