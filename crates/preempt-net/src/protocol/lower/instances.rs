//! Rules and patterns, one for all values of their parameters; and that no effect leaves the range of its variable.

use super::super::parser::{Ast, EffectAst, Part, RuleAst, TypeAst};
use super::super::{Bad, Domain, Effect, Expr, Pattern, Place, Reaction, Rule, Scope};
use super::names::{Context, Value};
use super::{Lowering, MOST_INSTANCES};
use crate::scan::Name;
use preempt_core::Span;
use std::collections::HashMap;

/// A pattern of more processes is refused.
const MOST_PROCESSES: i64 = 64;
/// The values of the variables in one effect are looked at one by one, up to so many.
const MOST_CASES: u64 = 1 << 16;

type Parameters<'a> = Vec<(Name<'a>, TypeAst<'a>)>;

impl<'a> Lowering<'a, '_> {
    pub(super) fn rule(&mut self, rule: &RuleAst<'a>) {
        let mistakes = self.diagnostics.len();
        self.each_instance(&rule.parameters, |lowering, parameters, suffix| {
            if let Some(instance) = lowering.instance(rule, parameters, suffix) {
                lowering.protocol.rules.push(instance);
            }
            // What is wrong with one instance is wrong with most.
            lowering.diagnostics.len() == mistakes
        });
    }

    pub(super) fn bad(
        &mut self,
        (name, span): Name<'a>,
        parameters: &Parameters<'a>,
        patterns: &[Vec<Part<'a>>],
    ) {
        if self.protocol.properties.iter().any(|bad| bad.name == name) {
            self.error_with_hint(span, format!("`{name}` is there twice"), "join the patterns by `|`");
        }
        let mut bad = Bad { name: name.to_string(), span: Some(span), patterns: Vec::new() };
        let mistakes = self.diagnostics.len();
        self.each_instance(parameters, |lowering, parameters, _| {
            for parts in patterns {
                bad.patterns.extend(lowering.pattern(parts, parameters));
            }
            lowering.diagnostics.len() == mistakes
        });
        self.protocol.properties.push(bad);
    }

    /// For all values of the parameters, as long as it is told to go on.
    fn each_instance(
        &mut self,
        parameters: &Parameters<'a>,
        mut each: impl FnMut(&mut Self, &HashMap<&'a str, Value>, &str) -> bool,
    ) {
        let mut domains: Vec<(&'a str, Domain)> = Vec::new();
        for ((name, span), of) in parameters {
            if domains.iter().any(|(before, _)| before == name) {
                self.error(*span, format!("there are two parameters `{name}`"));
            }
            if self.variables.contains_key(name) {
                self.error(*span, format!("`{name}` is a variable"));
            }
            let Some(domain) = self.domain(of) else { return };
            domains.push((name, domain));
        }
        let count = domains.iter().fold(1u64, |count, (_, domain)| count.saturating_mul(domain.size));
        if count.saturating_add(self.instances as u64) > MOST_INSTANCES as u64 {
            let span = parameters.first().map(|((_, span), _)| *span);
            if let Some(span) = span {
                self.error(span, format!("there are more than {MOST_INSTANCES} instances of rules"));
            }
            return;
        }
        self.instances += count as usize;
        for number in 0..count {
            if self.budget.exhausted().is_some() {
                return;
            }
            let (mut rest, mut values, mut names) = (number, HashMap::new(), Vec::new());
            for (name, domain) in &domains {
                let value = domain.low + (rest % domain.size) as i64;
                rest /= domain.size;
                values.insert(*name, (domain.kind, value));
                names.push(self.value_text(domain.kind, value));
            }
            let suffix = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
            if !each(self, &values, &suffix) {
                return;
            }
        }
    }

    fn instance(
        &mut self,
        rule: &RuleAst<'a>,
        parameters: &HashMap<&'a str, Value>,
        suffix: &str,
    ) -> Option<Rule> {
        let partner = rule.with.is_some();
        let alone = Context { bare: Some(Scope::Mover), partner: false, parameters };
        let context = |scope: Scope| Context { bare: Some(scope), partner, parameters };
        let (mover, other) = (context(Scope::Mover), context(Scope::Other));
        let conditions = |lowering: &mut Self, parts: &[Ast<'a>], context: &Context<'_, 'a>| {
            let parts: Vec<Option<Expr>> = parts.iter().map(|it| lowering.condition(it, context)).collect();
            parts.into_iter().collect::<Option<Vec<Expr>>>().map(Expr::all)
        };
        let when = conditions(self, &rule.when, &alone)?;
        let with = match &rule.with {
            Some(with) => Some(self.condition(with, &context(Scope::Partner))?),
            None => None,
        };
        let all_others = match rule.all_others.is_empty() {
            true => None,
            false => Some(conditions(self, &rule.all_others, &other)?),
        };
        let enabled: Vec<Expr> = [Some(when.clone()), with.clone()].into_iter().flatten().collect();
        let mut effects = self.effects(&rule.mover, &mover, &enabled)?;
        if let (false, Some(first)) = (partner, rule.partner.first()) {
            let hint = "say whom: `with state = I`";
            self.error_with_hint(first.name.1, "this rule has no partner", hint);
            return None;
        }
        effects.extend(self.effects(&rule.partner, &context(Scope::Partner), &enabled)?);
        let mut others: Vec<Reaction> = Vec::new();
        for (condition, reaction) in &rule.others {
            let condition = match condition {
                Some(condition) => self.condition(condition, &other)?,
                None => Expr::TRUE,
            };
            let mut known = enabled.clone();
            known.push(condition.clone());
            known.extend(others.iter().map(|before| before.condition.clone().negated()));
            let effects = self.effects(reaction, &other, &known)?;
            others.push(Reaction { condition, effects });
        }
        let name = format!("{}{suffix}", rule.name.0);
        // What holds of everybody is no guard.
        let all_others = all_others.filter(|guard| *guard != Expr::TRUE);
        Some(Rule { name, span: Some(rule.span), when, with, all_others, effects, others })
    }

    fn effects(
        &mut self,
        effects: &[EffectAst<'a>],
        context: &Context<'_, 'a>,
        known: &[Expr],
    ) -> Option<Vec<Effect>> {
        let mut found: Vec<Effect> = Vec::new();
        for effect in effects {
            let (name, span) = effect.name;
            let Some(declared) = self.variables.get(name).copied() else {
                let near = preempt_core::diagnostic::nearest(name, self.variables.keys().copied());
                let near = near.map(str::to_string);
                self.unknown(span, format!("there is no variable `{name}`"), near);
                return None;
            };
            let (place, kind) = self.place(span, None, name, declared, effect.index.as_ref(), context)?;
            if place.scope == Scope::Global && context.bare != Some(Scope::Mover) {
                let hint = "the mover changes it: put it behind the first `do`";
                self.error_with_hint(span, format!("`{name}` is global"), hint);
                return None;
            }
            let (value, value_kind) = self.expr(&effect.value, context, Some(kind))?;
            if value_kind != kind {
                self.error(effect.value.span, format!("`{name}` has another kind of values"));
                return None;
            }
            if found.iter().any(|before| before.place == place) {
                self.error(span, format!("`{name}` gets two values at once"));
                return None;
            }
            self.stays_in_range(effect.value.span, place, &value, known)?;
            found.push(Effect { place, value });
        }
        Some(found)
    }

    /// The value is one of the variable's wherever the conditions that are known may hold.
    fn stays_in_range(&mut self, span: Span, place: Place, value: &Expr, known: &[Expr]) -> Option<()> {
        let variable = self.protocol.variable(place).clone();
        let places = value.places();
        let sizes: Vec<(i64, u64)> =
            places.iter().map(|it| self.protocol.variable(*it)).map(|it| (it.low, it.size)).collect();
        if let Expr::Read(read) = value {
            let read = self.protocol.variable(*read);
            if read.low >= variable.low && read.low + read.size as i64 <= variable.low + variable.size as i64
            {
                return Some(());
            }
        }
        let cases = sizes.iter().fold(1u64, |cases, (_, size)| cases.saturating_mul(*size));
        if cases > MOST_CASES {
            self.error(span, "this depends on too many values");
            return None;
        }
        for case in 0..cases {
            if case % 1024 == 1023 && self.budget.exhausted().is_some() {
                return None;
            }
            let (mut rest, mut values) = (case, Vec::with_capacity(places.len()));
            for (low, size) in &sizes {
                values.push(low + (rest % size) as i64);
                rest /= size;
            }
            let of = |place: Place| places.iter().position(|it| *it == place).map(|at| values[at]);
            if known.iter().any(|condition| condition.eval_partly(&of) == Some(0)) {
                continue;
            }
            let result = value.eval(&|place| of(place).unwrap_or(0));
            if result < variable.low || result >= variable.low + variable.size as i64 {
                let result = self.protocol.value_name(&variable, result);
                let message =
                    format!("`{}` may become {result}, which is not one of its values", variable.name);
                self.error_with_hint(
                    span,
                    message,
                    "restrict the rule by a `when`, or use `if c then a else b`",
                );
                return None;
            }
        }
        Some(())
    }

    fn pattern(&mut self, parts: &[Part<'a>], parameters: &HashMap<&'a str, Value>) -> Option<Pattern> {
        let process = Context { bare: Some(Scope::Mover), partner: false, parameters };
        let mut pattern = Pattern { global: Expr::TRUE, processes: Vec::new() };
        for part in parts {
            match part {
                Part::Global(condition) => {
                    let expr = self.condition(condition, &process)?;
                    if expr.places().iter().any(|place| place.scope != Scope::Global) {
                        let hint = "what a process has is asked by `one with ...`";
                        self.error_with_hint(condition.span, "this is not about the global part alone", hint);
                        return None;
                    }
                    pattern.global = Expr::all([pattern.global, expr]);
                }
                Part::Processes(count, span, condition) => {
                    if !(1..=MOST_PROCESSES).contains(count)
                        || pattern.processes.len() as i64 + count > MOST_PROCESSES
                    {
                        self.error(*span, format!("a pattern has between 1 and {MOST_PROCESSES} processes"));
                        return None;
                    }
                    let expr = self.condition(condition, &process)?;
                    pattern.processes.extend((0..*count).map(|_| expr.clone()));
                }
            }
        }
        // There is always a process.
        if pattern.processes.is_empty() {
            pattern.processes.push(Expr::TRUE);
        }
        Some(pattern)
    }
}
