//! A lossy channel system as a well-structured one.
//!
//! Losing a message leads to a smaller state, so that no step of that kind enters an upward-closed set; the rules alone have
//! predecessors. Before a state is one with the message that was received at the head of its channel, and without the message
//! that was sent, if that is the last one there: if it is not, it was lost at once.

use super::{ChannelSystem, Rule, Scope, State, product, subword};
use crate::wsts::WellStructured;

/// A rule with the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// By its number.
    pub rule: usize,
    /// One for each.
    pub parameters: Vec<u64>,
}

/// More steps, or more ways to make one, are not listed.
pub(super) const MOST: usize = 1 << 20;

impl ChannelSystem {
    /// Why the states of one weight are too many to be listed, if they are.
    pub fn too_large_to_list(&self) -> Option<&'static str> {
        let sizes = |list: &[u64]| list.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
        let variables: Vec<u64> = self.variables.iter().map(|(_, size)| *size).collect();
        let large = |rule: &Rule| {
            let free: Vec<u64> =
                rule.assign.iter().map(|(variable, _)| self.variables[*variable].1).collect();
            let parameters = sizes(&rule.parameters).unwrap_or(u64::MAX);
            parameters.saturating_mul(sizes(&free).unwrap_or(u64::MAX)) > MOST as u64
        };
        let controls = sizes(&variables).unwrap_or(u64::MAX);
        (controls > 100_000 || self.rules.iter().any(large))
            .then_some("its variables have too many values to be listed")
    }

    /// The smallest bad states.
    pub fn bad_basis(&self) -> Vec<State> {
        let mut basis = Vec::new();
        for control in self.controls(MOST).unwrap_or_default() {
            let scope = Scope { control: &control, parameters: &[], received: &[] };
            for bad in &self.bad {
                if !bad.conditions.iter().all(|condition| condition.holds(scope)) {
                    continue;
                }
                let mut words = vec![Vec::new(); self.channels.len()];
                for (channel, word) in &bad.words {
                    words[*channel] = word
                        .iter()
                        .map(|message| message.iter().map(|value| value.of(scope)).collect())
                        .collect();
                }
                basis.push(State { control: control.clone(), words });
            }
        }
        basis
    }

    /// Does one of the initial states lie above?
    pub fn below_initial(&self, state: &State) -> bool {
        self.is_initial(state)
    }
}

impl WellStructured for ChannelSystem {
    type State = State;
    type Rule = Step;

    fn below(&self, small: &State, large: &State) -> bool {
        small.control == large.control && small.words.iter().zip(&large.words).all(|(a, b)| subword(a, b))
    }

    fn weight(&self, state: &State) -> u64 {
        state.words.iter().map(|word| word.len() as u64).sum()
    }

    fn rules(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (rule, of) in self.rules.iter().enumerate() {
            let all = product(&of.parameters, MOST).unwrap_or_default();
            steps.extend(all.into_iter().map(|parameters| Step { rule, parameters }));
        }
        steps
    }

    /// What was sent is there, or was lost at once.
    fn fire(&self, state: &State, rule: &Step) -> Vec<State> {
        let Some(after) = ChannelSystem::fire(self, state, rule) else { return Vec::new() };
        let mut all = vec![after];
        for (channel, _) in &self.rules[rule.rule].send {
            let lost = all.iter().map(|state| {
                let mut lost = state.clone();
                lost.words[*channel].pop();
                lost
            });
            let lost: Vec<State> = lost.collect();
            all.extend(lost);
        }
        all
    }

    fn predecessor_basis(&self, state: &State, step: &Step) -> Vec<State> {
        let rule = &self.rules[step.rule];
        let fields: &[u64] = rule.receive.map_or(&[], |channel| &self.channels[channel].1);
        // What was there before is free where it was overwritten, and so is what was received, unless it is what is there now.
        let overwritten: Vec<usize> = rule.assign.iter().map(|(variable, _)| *variable).collect();
        let mut sizes: Vec<u64> = overwritten.iter().map(|variable| self.variables[*variable].1).collect();
        let known = |field: usize| {
            rule.assign.iter().find_map(|(variable, value)| match value {
                super::Value::Received(at, false) if *at == field => Some(state.control[*variable]),
                _ => None,
            })
        };
        let free: Vec<usize> = (0..fields.len()).filter(|field| known(*field).is_none()).collect();
        sizes.extend(free.iter().map(|field| fields[*field]));
        let mut found = Vec::new();
        let base: Vec<u64> = (0..fields.len()).map(|field| known(field).unwrap_or(0)).collect();
        if base.iter().zip(fields).any(|(value, size)| value >= size) {
            return found;
        }
        for choice in product(&sizes, MOST).unwrap_or_default() {
            let (before, taken) = choice.split_at(overwritten.len());
            let mut control = state.control.clone();
            overwritten.iter().zip(before).for_each(|(variable, value)| control[*variable] = *value);
            let mut received = base.clone();
            free.iter().zip(taken).for_each(|(field, value)| received[*field] = *value);
            let scope = Scope { control: &control, parameters: &step.parameters, received: &received };
            let leads = rule.guard.iter().all(|condition| condition.holds(scope))
                && rule.assign.iter().all(|(variable, value)| value.of(scope) == state.control[*variable]);
            if !leads {
                continue;
            }
            let mut words = state.words.clone();
            for (channel, message) in &rule.send {
                let sent: Vec<u64> = message.iter().map(|value| value.of(scope)).collect();
                if words[*channel].last() == Some(&sent) {
                    words[*channel].pop();
                }
            }
            if let Some(channel) = rule.receive {
                words[channel].insert(0, received.clone());
            }
            found.push(State { control, words });
        }
        found
    }

    fn lift(&self, state: &State) -> Vec<State> {
        let mut above = Vec::new();
        for (channel, (_, fields)) in self.channels.iter().enumerate() {
            for message in product(fields, MOST).unwrap_or_default() {
                for at in 0..=state.words[channel].len() {
                    let mut more = state.clone();
                    more.words[channel].insert(at, message.clone());
                    above.push(more);
                }
            }
        }
        above
    }

    /// A message that is received was there before, and one that is sent is there afterwards: one more either way. A rule that
    /// does both or sends several needs as many.
    fn deflation(&self) -> Option<u64> {
        let of = |rule: &Rule| (rule.send.len() as u64).max(u64::from(rule.receive.is_some()));
        Some(self.rules.iter().map(of).max().unwrap_or(0))
    }

    fn respects_weight(&self) -> bool {
        false
    }
}
