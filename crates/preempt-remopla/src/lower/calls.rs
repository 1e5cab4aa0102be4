//! Calls, threads that are started, and what comes back: arguments that fit parameters, results that fit their places.

use super::flow::Flow;
use crate::ast::{Declaration, Expr, Name, Place};
use crate::scope::{Checked, Kind};
use preempt_core::Span;
use preempt_model::{BinaryOp, CodeId, Expr as Value, Place as Slot, Type};
use std::collections::BTreeMap;

impl Flow<'_, '_> {
    pub(super) fn returned(&mut self, value: Option<&Expr>, span: Span) -> Checked<Vec<Value>> {
        match (value, self.returns) {
            (None, None) => Ok(Vec::new()),
            (Some(value), Some((ty, kind))) => {
                let returned = self.lowering.fitting(value, (ty, kind), &BTreeMap::new())?;
                let mask = Value::Const(((1i64 << ty.bits) - 1) as i32);
                Ok(vec![match (&returned, kind) {
                    (Value::Const(_), _) | (_, Kind::Bool) => returned,
                    _ => Value::binary(BinaryOp::BitAnd, returned, mask),
                }])
            }
            (Some(value), None) => {
                let message = "a value is returned, and the module is `void`";
                Err(self.lowering.names.report(value.span, message, "leave out the value"))
            }
            (None, Some(_)) => {
                Err(self.lowering.names.report(span, "a value is missing", "the module returns one"))
            }
        }
    }

    /// The code and the arguments of a call or of a thread.
    #[expect(clippy::type_complexity, reason = "a code, its arguments, and what it returns")]
    pub(super) fn called(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        thread: bool,
    ) -> Checked<(CodeId, Vec<Value>, Option<(Type, Kind)>)> {
        let number = self.lowering.module(name)?;
        let program = self.lowering.program;
        let module = &program.modules[number];
        let parameters: &[Declaration] = &module.parameters;
        if parameters.len() != arguments.len() {
            let (wanted, given) = (parameters.len(), arguments.len());
            let message = format!("`{}` takes {wanted} arguments, and not {given}", name.text);
            return Err(self.lowering.names.report(name.span, message, "one for each parameter"));
        }
        let mut args = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let names = &mut self.lowering.names;
            let wanted = names.ty(&parameter.ty, parameter.bits.as_ref(), parameter.name.span)?;
            args.push(self.lowering.fitting(argument, wanted, &BTreeMap::new())?);
        }
        let returns = match &module.returns {
            None => None,
            Some((ty, bits)) => Some(self.lowering.names.ty(ty, bits.as_ref(), module.name.span)?),
        };
        Ok((self.lowering.code_of(number, thread), args, returns))
    }

    pub(super) fn target(
        &mut self,
        target: Option<&Place>,
        returns: Option<(Type, Kind)>,
        module: &Name,
    ) -> Checked<Vec<Slot>> {
        let Some(target) = target else { return Ok(Vec::new()) };
        let (place, kind) = self.lowering.names.place(target, &BTreeMap::new())?;
        match returns {
            Some((_, returned)) if returned == kind => Ok(vec![place]),
            Some(_) => {
                let message = format!("`{}` returns a value of another type", module.text);
                Err(self.lowering.names.report(target.name.span, message, "use a variable of that type"))
            }
            None => {
                let message = format!("`{}` returns nothing", module.text);
                Err(self.lowering.names.report(module.span, message, "call it without `x =`"))
            }
        }
    }
}
