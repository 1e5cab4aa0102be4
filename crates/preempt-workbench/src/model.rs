//! A model that was read, ready to be explored.

use crate::error::Error;
use preempt_core::{Budget, SourceMap};
use preempt_model::{Interpreter, Model, System, inline};
use preempt_promela::trail::StatementNumbers;
use std::borrow::Cow;

/// A model without errors.
#[derive(Debug, Clone)]
pub struct LoadedModel {
    /// As whoever asked has named it.
    pub file: String,
    /// The program as data.
    pub model: Model,
    /// The texts that it was read from, for places.
    pub sources: SourceMap,
    /// Spin's numbers of the statements, if the model is Promela.
    pub numbers: StatementNumbers,
}

impl LoadedModel {
    /// Fails if the initial values have no meaning. What takes long within a step looks at the budget.
    pub fn interpreter(&self, budget: &Budget) -> Result<Interpreter<'_>, Error> {
        self.interpreter_of(&self.model, budget)
    }

    /// The same for the model as one of its properties sees it ([`Check::model_of`](preempt_model::check::Check::model_of)).
    pub fn interpreter_of<'a>(&'a self, model: &'a Model, budget: &Budget) -> Result<Interpreter<'a>, Error> {
        let interpreter = Interpreter::new(model, &self.sources).map_err(|fault| {
            Error::refused(format!("in an initial value of `{}`: {}", self.file, fault.0))
        })?;
        interpreter.work_within(budget);
        Ok(interpreter)
    }

    /// Does it have procedures that are called?
    pub fn has_procedures(&self) -> bool {
        inline::has_procedures(&self.model)
    }

    /// Without procedures, for engines that list states one by one. Fails if a procedure calls itself: then there may
    /// be no end of states.
    pub fn without_procedures(&self, budget: &Budget) -> Result<Cow<'_, LoadedModel>, Error> {
        if !self.has_procedures() {
            return Ok(Cow::Borrowed(self));
        }
        let inlined = inline::inline_within(&self.model, budget);
        if let Some(reason) = budget.exhausted() {
            return Err(Error::Stopped(reason));
        }
        let model = inlined.map_err(|why| {
            Error::refused(format!("`{}` cannot be explored state by state: {why}", self.file))
                .hint("`preempt sequentialize` takes recursion; so does every engine that works with sets of states")
        })?;
        Ok(Cow::Owned(LoadedModel { model, ..self.clone() }))
    }
}
