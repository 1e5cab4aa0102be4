//! What names and expressions mean: constants, parameters, variables of whoever is spoken of, and values of enumerations.
//! A value that several enumerations have is that of whatever it is compared with or assigned to.

use super::super::parser::{Ast, Node};
use super::super::{Domain, Expr, Place, Scope, ValueKind};
use super::{Declared, Lowering};
use preempt_core::Span;
use preempt_core::diagnostic::nearest;
use std::collections::HashMap;

/// A constant: what it is, and its value.
pub(super) type Value = (ValueKind, i64);

/// Where an expression stands.
pub(super) struct Context<'c, 'a> {
    /// Whose the local variables without an owner are; nobody's in a constant.
    pub bare: Option<Scope>,
    /// Is there a partner to speak of?
    pub partner: bool,
    pub parameters: &'c HashMap<&'a str, Value>,
}

impl<'a> Lowering<'a, '_> {
    /// An expression without variables.
    pub(super) fn constant(&mut self, ast: &Ast<'a>) -> Option<Value> {
        let none = HashMap::new();
        self.constant_with(ast, &none)
    }

    /// An expression without variables but with parameters.
    pub(super) fn constant_with(
        &mut self,
        ast: &Ast<'a>,
        parameters: &HashMap<&'a str, Value>,
    ) -> Option<Value> {
        let context = Context { bare: None, partner: false, parameters };
        match self.expr(ast, &context, None)? {
            (Expr::Value(value), kind) => Some((kind, value)),
            _ => {
                self.error(ast.span, "this is not a constant");
                None
            }
        }
    }

    /// An expression that is true or false.
    pub(super) fn condition(&mut self, ast: &Ast<'a>, context: &Context<'_, 'a>) -> Option<Expr> {
        let (expr, kind) = self.expr(ast, context, Some(ValueKind::Bool))?;
        if kind != ValueKind::Bool {
            self.error_with_hint(ast.span, "this is neither true nor false", "compare it, as in `x = 1`");
            return None;
        }
        Some(expr)
    }

    /// What is meant, and what kind of value it has. `expected` decides between values of the same name.
    pub(super) fn expr(
        &mut self,
        ast: &Ast<'a>,
        context: &Context<'_, 'a>,
        expected: Option<ValueKind>,
    ) -> Option<(Expr, ValueKind)> {
        match &ast.node {
            Node::Number(number) => Some((Expr::Value(*number), ValueKind::Number)),
            Node::Truth(truth) => Some((Expr::Value(i64::from(*truth)), ValueKind::Bool)),
            Node::Any => {
                self.error_with_hint(ast.span, "`any` is an initial value only", "use a parameter");
                None
            }
            Node::Name { owner, name, index } => {
                self.name(ast.span, *owner, name, index.as_deref(), context, expected)
            }
            Node::Not(inner) => Some((self.condition(inner, context)?.negated(), ValueKind::Bool)),
            Node::And(parts) => {
                let parts: Vec<Option<Expr>> =
                    parts.iter().map(|part| self.condition(part, context)).collect();
                Some((Expr::all(parts.into_iter().collect::<Option<Vec<_>>>()?), ValueKind::Bool))
            }
            Node::Or(parts) => {
                let parts: Vec<Option<Expr>> =
                    parts.iter().map(|part| self.condition(part, context)).collect();
                Some((Expr::any(parts.into_iter().collect::<Option<Vec<_>>>()?), ValueKind::Bool))
            }
            Node::Compare(sign, a, b) => {
                let expr = self.compare(ast.span, sign, a, b, context)?;
                Some((expr, ValueKind::Bool))
            }
            Node::In(value, values) => {
                let mut found = Vec::new();
                for one in values {
                    found.push(self.compare(one.span, "=", value, one, context)?);
                }
                Some((Expr::any(found), ValueKind::Bool))
            }
            Node::Between(value, low, high) => {
                let from = self.compare(low.span, ">=", value, low, context)?;
                let to = self.compare(high.span, "<=", value, high, context)?;
                Some((Expr::all([from, to]), ValueKind::Bool))
            }
            Node::Add(a, b) => {
                let (a, b) = (self.number(a, context)?, self.number(b, context)?);
                let sum = match (&a, &b) {
                    (Expr::Value(a), Expr::Value(b)) => Expr::Value(a.saturating_add(*b)),
                    _ => Expr::Sum(Box::new(a), Box::new(b)),
                };
                Some((sum, ValueKind::Number))
            }
            Node::Subtract(a, b) => {
                let (a, b) = (self.number(a, context)?, self.number(b, context)?);
                let difference = match (&a, &b) {
                    (Expr::Value(a), Expr::Value(b)) => Expr::Value(a.saturating_sub(*b)),
                    _ => Expr::Difference(Box::new(a), Box::new(b)),
                };
                Some((difference, ValueKind::Number))
            }
            Node::If(condition, a, b) => {
                let expected = expected.or_else(|| self.kind(a, context)).or_else(|| self.kind(b, context));
                let condition = self.condition(condition, context)?;
                let (then, kind) = self.expr(a, context, expected)?;
                let (otherwise, other) = self.expr(b, context, expected)?;
                if kind != other {
                    self.error(ast.span, "the two alternatives have different kinds of values");
                    return None;
                }
                Some((Expr::choice(condition, then, otherwise), kind))
            }
        }
    }

    fn number(&mut self, ast: &Ast<'a>, context: &Context<'_, 'a>) -> Option<Expr> {
        let (expr, kind) = self.expr(ast, context, Some(ValueKind::Number))?;
        if kind != ValueKind::Number {
            self.error(ast.span, "only numbers can be added, subtracted and put into an order");
            return None;
        }
        Some(expr)
    }

    fn compare(
        &mut self,
        span: Span,
        sign: &str,
        a: &Ast<'a>,
        b: &Ast<'a>,
        context: &Context<'_, 'a>,
    ) -> Option<Expr> {
        if sign == "=" || sign == "!=" {
            let expected = self.kind(a, context).or_else(|| self.kind(b, context));
            let (left, left_kind) = self.expr(a, context, expected)?;
            let (right, right_kind) = self.expr(b, context, expected)?;
            if left_kind != right_kind {
                self.error(span, "the two sides have different kinds of values");
                return None;
            }
            let equal = Expr::equal(left, right);
            return Some(if sign == "=" { equal } else { equal.negated() });
        }
        let (a, b) = (self.number(a, context)?, self.number(b, context)?);
        let less = |a: Expr, b: Expr| match (&a, &b) {
            (Expr::Value(a), Expr::Value(b)) => Expr::Value(i64::from(a < b)),
            _ => Expr::Less(Box::new(a), Box::new(b)),
        };
        Some(match sign {
            "<" => less(a, b),
            ">" => less(b, a),
            "<=" => less(b, a).negated(),
            _ => less(a, b).negated(),
        })
    }

    /// What kind of value it has, if that is clear without knowing what is expected.
    fn kind(&self, ast: &Ast<'a>, context: &Context<'_, 'a>) -> Option<ValueKind> {
        match &ast.node {
            Node::Number(_) | Node::Add(..) | Node::Subtract(..) => Some(ValueKind::Number),
            Node::Name { name, .. } => {
                let parameter = context.parameters.get(name).map(|(kind, _)| *kind);
                let constant = || self.constants.get(name).map(|((kind, _), _)| *kind);
                let variable = || self.variables.get(name).map(|declared| declared.of.kind);
                parameter.or_else(constant).or_else(variable)
            }
            Node::If(_, a, b) => self.kind(a, context).or_else(|| self.kind(b, context)),
            Node::Any => None,
            _ => Some(ValueKind::Bool),
        }
    }

    fn name(
        &mut self,
        span: Span,
        owner: Option<&str>,
        name: &'a str,
        index: Option<&Ast<'a>>,
        context: &Context<'_, 'a>,
        expected: Option<ValueKind>,
    ) -> Option<(Expr, ValueKind)> {
        if owner.is_none() && index.is_none() {
            if let Some((kind, value)) = context.parameters.get(name) {
                return Some((Expr::Value(*value), *kind));
            }
            if let Some(((kind, value), _)) = self.constants.get(name) {
                return Some((Expr::Value(*value), *kind));
            }
        }
        if let Some(declared) = self.variables.get(name).copied() {
            let (place, kind) = self.place(span, owner, name, declared, index, context)?;
            return Some((Expr::Read(place), kind));
        }
        let values = self.values.get(name).filter(|_| owner.is_none() && index.is_none());
        if let Some(values) = values {
            let wanted = values.iter().find(|(number, _)| expected == Some(ValueKind::Enumeration(*number)));
            match (wanted, values.as_slice()) {
                (Some((number, value)), _) | (None, [(number, value)]) => {
                    return Some((Expr::Value(*value), ValueKind::Enumeration(*number)));
                }
                _ => {
                    let message = format!("several types have a value `{name}`");
                    self.error_with_hint(
                        span,
                        message,
                        "compare it with a variable, or give the types one name",
                    );
                    return None;
                }
            }
        }
        let known = self.variables.keys().chain(self.constants.keys()).chain(self.values.keys());
        let known = known.chain(context.parameters.keys()).copied();
        let near = (self.hints < crate::MOST_HINTS).then(|| nearest(name, known)).flatten();
        let near = near.map(str::to_string);
        self.unknown(span, format!("there is no `{name}`"), near);
        None
    }

    /// The variable that is meant, and what its values are.
    pub(super) fn place(
        &mut self,
        span: Span,
        owner: Option<&str>,
        name: &str,
        declared: Declared,
        index: Option<&Ast<'a>>,
        context: &Context<'_, 'a>,
    ) -> Option<(Place, ValueKind)> {
        let Some(bare) = context.bare else {
            self.error(span, format!("`{name}` is a variable, and a constant is needed here"));
            return None;
        };
        let scope = match (declared.scope, owner) {
            (Scope::Global, None) => Scope::Global,
            (Scope::Global, Some(owner)) => {
                self.error(span, format!("`{name}` is global: it is nobody's, and not the {owner}'s"));
                return None;
            }
            (_, None) => bare,
            (_, Some("partner")) if !context.partner => {
                let hint = "a partner is who a `with` asks for";
                self.error_with_hint(span, "there is no partner to speak of here", hint);
                return None;
            }
            (_, Some("partner")) => Scope::Partner,
            (_, Some(_)) => Scope::Mover,
        };
        let offset = match (declared.index, index) {
            (None, None) => 0,
            (Some(domain), Some(index)) => self.element(index, domain, context)?,
            (Some(_), None) => {
                self.error(span, format!("`{name}` is an array: say which element, as in `{name}[k]`"));
                return None;
            }
            (None, Some(index)) => {
                self.error(index.span, format!("`{name}` is no array"));
                return None;
            }
        };
        let variable = declared.first + offset;
        Some((Place { scope, variable }, declared.of.kind))
    }

    fn element(&mut self, index: &Ast<'a>, domain: Domain, context: &Context<'_, 'a>) -> Option<usize> {
        let expr = self.expr(index, context, Some(domain.kind))?;
        let (Expr::Value(value), kind) = expr else {
            self.error_with_hint(
                index.span,
                "an index is a constant or a parameter",
                "make the rule one for each element, as in `rule read(k : Block)`",
            );
            return None;
        };
        if kind != domain.kind || !(domain.low..domain.low + domain.size as i64).contains(&value) {
            self.error(index.span, "there is no such element");
            return None;
        }
        usize::try_from(value - domain.low).ok()
    }
}
