//! One run of a model, step by step: whoever drives it chooses.

use crate::error::Error;
use crate::model::LoadedModel;
use crate::replay::may_count_claim;
use preempt_core::{Budget, Change, Property, Trace, Value};
use preempt_model::interpreter::{Action, State};
use preempt_model::system::Description;
use preempt_model::{Interpreter, Model, System, search};
use preempt_report::Recorded;
use std::borrow::Cow;

/// A step that can be made now: who, and which of its moves.
pub type Choice = (usize, Action);

/// A run as far as it has come.
#[derive(Debug)]
pub struct Simulation<'a> {
    interpreter: Interpreter<'a>,
    /// Before each step, and after the last.
    states: Vec<State>,
    steps: Vec<Choice>,
}

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The last step violates a property.
    Violation(Property),
    /// Nobody can move, and not everybody may end there.
    Deadlock(Property),
    /// Nobody can move, and everybody is where it may end.
    Finished,
}

/// The steps of a stored run, and the model that they are of.
#[derive(Debug)]
pub struct Guide<'a> {
    /// The model by itself, or while a claim watches.
    pub model: Cow<'a, Model>,
    /// To be taken one after the other.
    pub steps: Vec<Choice>,
}

impl<'a> Guide<'a> {
    /// Finds the steps of a stored run in the model; or says where it does not fit.
    pub fn of(loaded: &'a LoadedModel, recorded: &Recorded, budget: &Budget) -> Result<Guide<'a>, Error> {
        let mut first = None;
        for counts_claim in may_count_claim(recorded) {
            let model = loaded.model.counting_claim(*counts_claim);
            let found = search::recognise(&loaded.interpreter_of(&model, budget)?, &recorded.trace);
            if let Some(reason) = budget.exhausted() {
                return Err(Error::Stopped(reason));
            }
            match found {
                Ok(found) => return Ok(Guide { steps: found.steps, model }),
                Err(misfit) => first = first.or(Some(misfit)),
            }
        }
        Err(Error::refused(first.map_or("the counterexample is empty".into(), |misfit| {
            let (step, reason) = (misfit.step + 1, misfit.reason);
            format!("the counterexample does not fit the model at step {step}: {reason}")
        })))
    }
}

impl<'a> Simulation<'a> {
    /// A run of the model, which is that of the input or of a [`Guide`].
    pub fn begin(
        loaded: &'a LoadedModel,
        model: &'a Model,
        budget: &Budget,
    ) -> Result<Simulation<'a>, Error> {
        let interpreter = loaded.interpreter_of(model, budget)?;
        let initial = interpreter.initial_states().into_iter().next();
        let state = initial.ok_or_else(|| Error::refused("there is no initial state"))?;
        Ok(Simulation { interpreter, states: vec![state], steps: Vec::new() })
    }

    /// How many steps were made.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// Everything that anybody can do; a process that blocks in an atomic sequence lets the others go on.
    pub fn choices(&mut self) -> Vec<Choice> {
        if let Some(holder) = self.interpreter.exclusive(self.state()) {
            let own = self.moves(holder);
            if !own.is_empty() {
                return own;
            }
            let released = self.interpreter.release(self.state());
            self.states.pop();
            self.states.push(released);
        }
        (0..self.interpreter.process_count(self.state())).flat_map(|process| self.moves(process)).collect()
    }

    fn moves(&self, process: usize) -> Vec<Choice> {
        let successors = self.interpreter.successors(self.state(), process);
        successors.into_iter().map(|it| (process, it.action)).collect()
    }

    /// Makes a step; says so if the run ends with it.
    pub fn take(&mut self, (process, action): Choice) -> Option<RunEnd> {
        let before = self.state().clone();
        let before = match self.interpreter.exclusive(&before) {
            Some(holder) if holder != process => self.interpreter.release(&before),
            _ => before,
        };
        let successors = self.interpreter.successors(&before, process);
        let successor = successors.into_iter().find(|it| it.action == action)?;
        self.steps.push((process, action));
        self.states.push(successor.state.unwrap_or(before));
        successor.violation.map(|it| RunEnd::Violation(it.into()))
    }

    /// Takes the last step back; false if there is none.
    pub fn undo(&mut self) -> bool {
        if self.steps.pop().is_none() {
            return false;
        }
        self.states.pop();
        true
    }

    /// What it is if nobody can move.
    pub fn rest(&self) -> RunEnd {
        match self.interpreter.may_end(self.state()) {
            true => RunEnd::Finished,
            false => RunEnd::Deadlock(search::deadlock(&self.interpreter, self.state())),
        }
    }

    /// Who would move, and what it would do.
    pub fn describe(&self, (process, action): &Choice) -> (String, Description) {
        let name = self.interpreter.process_name(self.state(), *process);
        (name, self.interpreter.describe(self.state(), *process, action))
    }

    /// The variables that there are now.
    pub fn variables(&self) -> Vec<Change> {
        let mut variables = self.interpreter.variables(self.state());
        variables.retain(|it| it.value != Value::Gone);
        variables
    }

    /// The whole run, replayed.
    pub fn trace(&self) -> Result<Trace, Error> {
        search::replay(&self.interpreter, &self.states[0], &self.steps, false)
            .map(|replayed| replayed.trace)
            .map_err(|misfit| Error::refused(format!("internal error: {misfit:?}")))
    }
}
