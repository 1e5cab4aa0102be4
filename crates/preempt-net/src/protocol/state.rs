//! What a protocol does, by the definition: states with named processes, steps, runs and their replay. Guards over the others
//! are exact here. Whatever is fast is tested against this.
//!
//! The global part and a process are numbers each: the positions of their values in a mixed radix, the first variable fastest.

use super::{Bad, Effect, Expr, Pattern, Place, Protocol, Rule, Scope, Variable};

/// The global part and the processes, each with its name: its position.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProtocolState {
    /// The global part, as a number.
    pub global: u64,
    /// Every process, as a number.
    pub processes: Vec<u64>,
}

/// A rule with those who take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProtocolStep {
    /// By its position.
    pub rule: usize,
    /// Who moves.
    pub mover: usize,
    /// Who moves with it, in a rendez-vous.
    pub partner: Option<usize>,
}

/// A state and the steps from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolRun {
    /// Where it begins.
    pub initial: ProtocolState,
    /// In their order.
    pub steps: Vec<ProtocolStep>,
}

/// The values of variables, from a number.
pub fn unpacked(variables: &[Variable], number: u64) -> Vec<i64> {
    let mut rest = number;
    let value = |variable: &Variable| {
        let value = variable.low + (rest % variable.size) as i64;
        rest /= variable.size;
        value
    };
    variables.iter().map(value).collect()
}

/// The number for the values of variables.
pub fn packed(variables: &[Variable], values: &[i64]) -> u64 {
    let digit = |number: u64, (variable, value): (&Variable, &i64)| {
        number * variable.size + (*value - variable.low) as u64
    };
    variables.iter().zip(values).rev().fold(0, digit)
}

/// The values that a rule can speak of.
#[derive(Debug, Clone, Copy)]
pub struct View<'v> {
    /// Of the global part.
    pub global: &'v [i64],
    /// Of the mover.
    pub mover: &'v [i64],
    /// Of the partner; empty if there is none.
    pub partner: &'v [i64],
    /// Of one of the others; empty if nobody is spoken of.
    pub other: &'v [i64],
}

impl View<'_> {
    /// The value at a place.
    pub fn read(&self, place: Place) -> i64 {
        let values = match place.scope {
            Scope::Global => self.global,
            Scope::Mover => self.mover,
            Scope::Partner => self.partner,
            Scope::Other => self.other,
        };
        values.get(place.variable).copied().unwrap_or(0)
    }

    /// Does the condition hold here?
    pub fn holds(&self, condition: &Expr) -> bool {
        condition.holds(&|place| self.read(place))
    }

    /// The values of a scope after those effects that are on it.
    pub fn after(&self, effects: &[Effect], scope: Scope, before: &[i64]) -> Vec<i64> {
        let mut after = before.to_vec();
        for effect in effects.iter().filter(|effect| effect.place.scope == scope) {
            after[effect.place.variable] = effect.value.eval(&|place| self.read(place));
        }
        after
    }

    /// What becomes of the other.
    pub fn reaction(&self, rule: &Rule) -> Vec<i64> {
        match rule.others.iter().find(|reaction| self.holds(&reaction.condition)) {
            Some(reaction) => self.after(&reaction.effects, Scope::Other, self.other),
            None => self.other.to_vec(),
        }
    }
}

impl Protocol {
    /// The values of the global part.
    pub fn global_values(&self, number: u64) -> Vec<i64> {
        unpacked(&self.globals, number)
    }

    /// The values of a process.
    pub fn local_values(&self, number: u64) -> Vec<i64> {
        unpacked(&self.locals, number)
    }

    /// The variables of a process with their values, as in `state = M, dirty = true`.
    pub fn process_text(&self, process: u64) -> String {
        self.assigned(&self.locals, process)
    }

    /// The global variables with their values.
    pub fn global_text(&self, global: u64) -> String {
        self.assigned(&self.globals, global)
    }

    fn assigned(&self, variables: &[Variable], number: u64) -> String {
        let values = unpacked(variables, number);
        let one = |(variable, value): (&Variable, i64)| {
            format!("{} = {}", variable.name, self.value_name(variable, value))
        };
        variables.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
    }

    /// May a process be like this at first, with this global part?
    pub fn may_begin(&self, global: &[i64], process: &[i64]) -> bool {
        let view = View { global, mover: process, partner: &[], other: &[] };
        self.initially.as_ref().is_none_or(|condition| view.holds(condition))
    }

    /// Is it an initial state? There is at least one process.
    pub fn is_initial(&self, state: &ProtocolState) -> bool {
        let global = self.global_values(state.global);
        let begins = |process: &u64| self.may_begin(&global, &self.local_values(*process));
        !state.processes.is_empty() && state.processes.iter().all(begins)
    }

    /// The state after a step; nothing if it cannot be made.
    pub fn fire(&self, state: &ProtocolState, step: ProtocolStep) -> Option<ProtocolState> {
        let rule = self.rules.get(step.rule)?;
        let global = self.global_values(state.global);
        let mover = self.local_values(*state.processes.get(step.mover)?);
        let partner = match (rule.with.is_some(), step.partner) {
            (true, Some(partner)) if partner != step.mover => {
                self.local_values(*state.processes.get(partner)?)
            }
            (false, None) => Vec::new(),
            _ => return None,
        };
        let view = View { global: &global, mover: &mover, partner: &partner, other: &[] };
        if !view.holds(&rule.when) || !rule.with.as_ref().is_none_or(|with| view.holds(with)) {
            return None;
        }
        let mut processes = state.processes.clone();
        for (number, process) in processes.iter_mut().enumerate() {
            *process = if number == step.mover {
                packed(&self.locals, &view.after(&rule.effects, Scope::Mover, &mover))
            } else if Some(number) == step.partner {
                packed(&self.locals, &view.after(&rule.effects, Scope::Partner, &partner))
            } else {
                let other = self.local_values(*process);
                let view = View { other: &other, ..view };
                if !rule.all_others.as_ref().is_none_or(|guard| view.holds(guard)) {
                    return None;
                }
                packed(&self.locals, &view.reaction(rule))
            };
        }
        let global = packed(&self.globals, &view.after(&rule.effects, Scope::Global, &global));
        Some(ProtocolState { global, processes })
    }

    /// Every step that a rule can make in a state, with where it leads.
    pub fn steps_of(&self, state: &ProtocolState, rule: usize) -> Vec<(ProtocolStep, ProtocolState)> {
        let count = state.processes.len();
        let in_pairs = self.rules.get(rule).is_some_and(|rule| rule.with.is_some());
        let mut found = Vec::new();
        for mover in 0..count {
            let partners: Vec<Option<usize>> = match in_pairs {
                true => (0..count).filter(|it| *it != mover).map(Some).collect(),
                false => vec![None],
            };
            for partner in partners {
                let step = ProtocolStep { rule, mover, partner };
                found.extend(self.fire(state, step).map(|after| (step, after)));
            }
        }
        found
    }

    /// The states of a run, the first one included; or the number of the step that cannot be made.
    pub fn replay(&self, run: &ProtocolRun) -> Result<Vec<ProtocolState>, usize> {
        let mut states = vec![run.initial.clone()];
        for (number, step) in run.steps.iter().enumerate() {
            let after = self.fire(&states[number], *step).ok_or(number)?;
            states.push(after);
        }
        Ok(states)
    }

    /// Does the run begin initially, can it be made, and does it end in a bad state?
    pub fn is_counterexample(&self, run: &ProtocolRun, bad: &Bad) -> bool {
        let last = |states: Vec<ProtocolState>| states.last().is_some_and(|it| self.is_bad(it, bad));
        self.is_initial(&run.initial) && self.replay(run).is_ok_and(last)
    }

    /// Does one of the patterns match?
    pub fn is_bad(&self, state: &ProtocolState, bad: &Bad) -> bool {
        bad.patterns.iter().any(|pattern| self.matches(state, pattern))
    }

    /// Are there different processes for all parts of the pattern? By augmenting paths, as many as there are parts.
    fn matches(&self, state: &ProtocolState, pattern: &Pattern) -> bool {
        let global = self.global_values(state.global);
        let view = View { global: &global, mover: &[], partner: &[], other: &[] };
        if !view.holds(&pattern.global) || pattern.processes.len() > state.processes.len() {
            return false;
        }
        let fits: Vec<Vec<bool>> = pattern
            .processes
            .iter()
            .map(|part| {
                let fit = |process: &u64| View { mover: &self.local_values(*process), ..view }.holds(part);
                state.processes.iter().map(fit).collect()
            })
            .collect();
        let mut taken: Vec<Option<usize>> = vec![None; state.processes.len()];
        (0..fits.len()).all(|part| augment(part, &fits, &mut taken, &mut vec![false; state.processes.len()]))
    }
}

/// Finds a process for the part, if need be by giving other parts other processes.
fn augment(part: usize, fits: &[Vec<bool>], taken: &mut Vec<Option<usize>>, tried: &mut Vec<bool>) -> bool {
    for process in 0..taken.len() {
        if !fits[part][process] || std::mem::replace(&mut tried[process], true) {
            continue;
        }
        let free = match taken[process] {
            None => true,
            Some(other) => augment(other, fits, taken, tried),
        };
        if free {
            taken[process] = Some(part);
            return true;
        }
    }
    false
}
