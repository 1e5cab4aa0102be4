//! What is assigned: quantified assignments one by one, values that fit their places, and any value for what has none yet.

use super::Lowering;
use crate::ast::{Assignment, Expr, Statement, StatementKind};
use crate::scope::{Checked, Kind};
use preempt_model::{Expr as Value, Place as Slot, Scope as Where, Type, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Assignments that a quantifier makes.
const MOST_ASSIGNMENTS: usize = 1 << 12;

impl Lowering<'_> {
    /// Any value for what the first statements do not assign.
    pub(super) fn chosen(
        &mut self,
        undefined: &[(Where, &Variable)],
        body: &[Statement],
    ) -> Vec<(Slot, Value)> {
        let reported = self.names.diagnostics.len();
        let mut assigned: BTreeSet<(Where, u32)> = BTreeSet::new();
        let mut read: BTreeSet<(Where, u32)> = BTreeSet::new();
        'leading: for statement in body.iter().take_while(|statement| statement.label.is_none()) {
            let StatementKind::Assign(assignments) = &statement.kind else { break };
            let Ok(assignments) = self.assignments(assignments) else { break };
            for (place, value) in &assignments {
                let mut loads = |expr: &Value| {
                    if let Value::Load(place) = expr {
                        read.extend(place.range().map(|slot| (place.scope, slot)));
                    }
                };
                value.visit(&mut loads);
                if !place.indices.is_empty() {
                    break 'leading;
                }
            }
            for (place, _) in &assignments {
                if !read.contains(&(place.scope, place.slot)) {
                    assigned.insert((place.scope, place.slot));
                }
            }
        }
        // What is wrong there is said when the statements are.
        self.names.diagnostics.truncate(reported);
        let mut chosen = Vec::new();
        for (scope, variable) in undefined {
            for slot in variable.slot..variable.slot + variable.length.unwrap_or(1) {
                if !assigned.contains(&(*scope, slot)) {
                    let place = Slot { scope: *scope, slot, indices: Vec::new(), ty: variable.ty };
                    chosen.push((place, any(variable.ty)));
                }
            }
        }
        chosen
    }

    pub(super) fn assignments(&mut self, assignments: &[Assignment]) -> Checked<Vec<(Slot, Value)>> {
        let (mut all, mut targets) = (Vec::new(), BTreeSet::new());
        for assignment in assignments {
            let mut ways = vec![BTreeMap::new()];
            for quantifier in &assignment.quantifiers {
                let mut longer = Vec::new();
                for bound in &ways {
                    for number in self.names.range(quantifier, bound)? {
                        let mut bound: BTreeMap<String, i64> = bound.clone();
                        bound.insert(quantifier.name.text.clone(), number);
                        longer.push(bound);
                    }
                    if longer.len() > MOST_ASSIGNMENTS {
                        let message = format!("more than {MOST_ASSIGNMENTS} assignments");
                        let hint = "make the ranges smaller";
                        return Err(self.names.report(quantifier.name.span, message, hint));
                    }
                }
                ways = longer;
            }
            for bound in &ways {
                let (place, kind) = self.names.place(&assignment.place, bound)?;
                let value = match &assignment.value {
                    None => any(place.ty),
                    Some(value) => self.fitting(value, (place.ty, kind), bound)?,
                };
                if place.indices.is_empty() && !targets.insert((place.scope, place.slot)) {
                    let span = assignment.place.name.span;
                    return Err(self.names.report(
                        span,
                        "the same variable twice",
                        "it can have one value only",
                    ));
                }
                all.push((place, value));
            }
        }
        Ok(all)
    }

    /// A value for a place of this type: of its kind, and a constant within its bits.
    pub(super) fn fitting(
        &mut self,
        expr: &Expr,
        wanted: (Type, Kind),
        bound: &BTreeMap<String, i64>,
    ) -> Checked<Value> {
        let (value, kind) = self.names.value(expr, bound)?;
        let fits = match (wanted.1, kind) {
            (Kind::Bool, Kind::Bool) => true,
            (Kind::Bool, _) | (_, Kind::Bool) => false,
            (Kind::Enum(one), Kind::Enum(other)) => one == other,
            (Kind::Enum(_), Kind::Number) => false,
            (Kind::Number, _) => true,
        };
        if !fits {
            let message = match wanted.1 {
                Kind::Bool => "expected a truth value, found a number",
                Kind::Number => "expected a number, found a truth value",
                Kind::Enum(_) => "expected a value of the enumeration",
            };
            return Err(self.names.report(expr.span, message, "the two sides have different types"));
        }
        if let Value::Const(number) = value {
            let most = (1i64 << wanted.0.bits) - 1;
            if !(0..=most).contains(&i64::from(number)) {
                let bits = wanted.0.bits;
                let message = format!("{number} does not fit into {bits} bits");
                return Err(self.names.report(expr.span, message, &format!("the largest value is {most}")));
            }
        }
        Ok(value)
    }
}

/// Any value of a type.
fn any(ty: Type) -> Value {
    Value::Any { low: 0, high: ((1i64 << ty.bits) - 1) as i32 }
}
