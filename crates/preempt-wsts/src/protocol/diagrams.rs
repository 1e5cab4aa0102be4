//! Sets of states of a protocol with exactly i processes as decision diagrams *over the local variables* (Bingham and Hu 2005,
//! paper 004, section 5.1): the global part and i slots, each with the variables of a process. No step changes the number
//! of processes, so that the sets of one weight need no empty slots.
//!
//! Every step is a function of the state before and of who moves. So the states before a set are found by *substitution*: each
//! bit that a rule writes is replaced by the function that it gets, which costs a pass over the diagram. There is no
//! transition relation, and no matrix over the product of the variables.
//!
//! Processes have no names, so all sets are symmetric in their slots: a rule is described for a mover in the first slot and a
//! partner in the second, and the result is made symmetric by moving these slots through all others, one neighbour at a time.
//!
//! Order of the variables: the global part, then slot by slot; or, for arrays over blocks, block by block and in it slot by
//! slot. "On some block" is a disjunction over blocks, and linear in their number in the second order only.

use super::symbolic::{Slots, Symbols};
use crate::weight::Sliceable;
use preempt_bdd::{Bdd, Full, Renaming, Space, TableOptions, Variable};
use preempt_core::Budget;
use preempt_net::protocol::state::{packed, unpacked};
use preempt_net::protocol::{Bad, Effect, Place, Protocol, ProtocolState, Rule, Scope};
use std::cell::RefCell;
use std::collections::HashMap;

/// In which order the variables of the slots stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlotOrder {
    /// All variables of a process together.
    Slots,
    /// All processes' variables of a block together; as `Slots` where there are no blocks.
    #[default]
    Blocks,
}

/// The sets of one protocol.
pub(crate) struct Diagrams<'p> {
    protocol: &'p Protocol,
    bad: &'p Bad,
    pub(crate) space: Space,
    symbols: Symbols<'p>,
    /// Exchanges a slot with the next one.
    exchange: Vec<Renaming>,
    /// What a rule does, and the condition for it: by rule and weight.
    firings: RefCell<HashMap<(usize, usize), (Renaming, Bdd)>>,
    /// The sizes of the sets Gamma, by weight.
    pub(crate) sizes: RefCell<Vec<(u64, usize)>>,
}

/// So many slots more than the largest pattern has processes.
const ROOM: usize = 24;

impl<'p> Diagrams<'p> {
    pub(crate) fn new(
        protocol: &'p Protocol,
        bad: &'p Bad,
        order: SlotOrder,
        table: TableOptions,
        budget: &Budget,
    ) -> Result<Diagrams<'p>, Full> {
        let base = bad.patterns.iter().map(|pattern| pattern.processes.len()).max().unwrap_or(0);
        let (space, slots) = Slots::build(protocol, base + ROOM, order, table, budget)?;
        let exchange = (1..slots.slots.len())
            .map(|slot| {
                let pairs = slots.slots[slot - 1].iter().zip(&slots.slots[slot]);
                space.renaming(pairs.flat_map(|(a, b)| [(*a, *b), (*b, *a)]))
            })
            .collect();
        let (firings, sizes) = (RefCell::default(), RefCell::default());
        Ok(Diagrams { protocol, bad, space, symbols: Symbols { protocol, slots }, exchange, firings, sizes })
    }

    /// How many Boolean variables sets of this weight have.
    pub(crate) fn height(&self, weight: u64) -> u64 {
        let bits = |variables: &[Variable]| {
            variables.iter().map(|it| self.space.levels(*it).len() as u64).sum::<u64>()
        };
        let slots = &self.symbols.slots;
        bits(&slots.globals) + weight * slots.slots.first().map_or(0, |slot| bits(slot))
    }

    fn slots(&self, weight: u64) -> Result<&[Vec<Variable>], Full> {
        self.symbols.slots.slots.get(..usize::try_from(weight).map_err(|_| Full)?).ok_or(Full)
    }

    /// Only values that there are, of the global part and of so many slots.
    fn within(&self, set: Bdd, slots: &[Vec<Variable>]) -> Result<Bdd, Full> {
        let mut set = set;
        for variable in slots.iter().rev().flatten().chain(&self.symbols.slots.globals) {
            if !self.space.size(*variable).is_power_of_two() {
                self.space.go_on()?;
                set = set.and(&self.space.domain(*variable)?)?;
            }
        }
        Ok(set)
    }

    /// A set that is symmetric but for the first slots, made symmetric in all of them.
    fn symmetric(&self, set: Bdd, special: usize, slots: usize) -> Result<Bdd, Full> {
        let mut set = set;
        for first in (0..special.min(slots)).rev() {
            let mut moving = set.clone();
            for exchange in &self.exchange[first..slots.max(1) - 1] {
                self.space.go_on()?;
                moving = moving.rename(exchange)?;
                set = set.or(&moving)?;
            }
        }
        Ok(set)
    }

    /// The bits that a rule writes, as functions of the state before, and where it applies.
    fn firing(&self, rule: &Rule, slots: usize) -> Result<(Renaming, Bdd), Full> {
        let partner = rule.with.is_some().then_some(1);
        let at = self.symbols.at(Some(0), partner, None);
        let mut enabled = self.symbols.truth(&self.space, &rule.when, &at)?;
        if let Some(with) = &rule.with {
            enabled = enabled.and(&self.symbols.truth(&self.space, with, &at)?)?;
        }
        let mut pairs = Vec::new();
        for effect in &rule.effects {
            let bits =
                self.symbols.bits(&self.space, &effect.value, self.protocol.variable(effect.place), &at)?;
            pairs.extend(self.space.levels(at.variable(effect.place)).iter().copied().zip(bits));
        }
        let first_other = 1 + usize::from(partner.is_some());
        for slot in first_other..slots {
            self.space.go_on()?;
            pairs.extend(self.reaction(rule, self.symbols.at(Some(0), partner, Some(slot)))?);
        }
        Ok((self.space.substitution(pairs), enabled))
    }

    /// The bits of one of the others after the step.
    fn reaction(&self, rule: &Rule, at: super::symbolic::At<'_>) -> Result<Vec<(u32, Bdd)>, Full> {
        let effects = |rule: &Rule| -> Vec<Place> {
            let all = rule.others.iter().flat_map(|it| &it.effects);
            let mut places: Vec<Place> = all.map(|it: &Effect| it.place).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let mut pairs = Vec::new();
        for place in effects(rule) {
            let variable = at.variable(place);
            let mut bits = self.space.bits(variable);
            // The first reaction that applies wins.
            for reaction in rule.others.iter().rev() {
                let condition = self.symbols.truth(&self.space, &reaction.condition, &at)?;
                let value = match reaction.effects.iter().find(|it| it.place == place) {
                    Some(it) => {
                        self.symbols.bits(&self.space, &it.value, self.protocol.variable(place), &at)?
                    }
                    None => self.space.bits(variable),
                };
                for (bit, value) in bits.iter_mut().zip(value) {
                    *bit = condition.ite(&value, bit)?;
                }
            }
            pairs.extend(self.space.levels(variable).iter().copied().zip(bits));
        }
        Ok(pairs)
    }

    /// The states before a step by the rule, with the mover in the first slot and the partner in the second.
    fn before_by(&self, number: usize, set: &Bdd, slots: usize) -> Result<Option<Bdd>, Full> {
        let rule = &self.protocol.rules[number];
        if rule.participants() as usize > slots {
            return Ok(None);
        }
        // Without reactions the number of slots does not matter.
        let key = (number, if rule.others.is_empty() { 0 } else { slots });
        if !self.firings.borrow().contains_key(&key) {
            let firing = self.firing(rule, slots)?;
            self.firings.borrow_mut().insert(key, firing);
        }
        match self.firings.borrow().get(&key) {
            Some((substitution, enabled)) => Ok(Some(set.rename(substitution)?.and(enabled)?)),
            None => Ok(None),
        }
    }

    /// One state of the set.
    pub(crate) fn pick(&self, set: &Bdd, weight: u64) -> Option<ProtocolState> {
        let slots = self.slots(weight).ok()?;
        let all: Vec<Variable> =
            self.symbols.slots.globals.iter().chain(slots.iter().flatten()).copied().collect();
        let codes = self.space.pick(set, &all)?;
        let (global, locals) = codes.split_at(self.protocol.globals.len());
        let number = |variables: &[preempt_net::protocol::Variable], codes: &[u64]| {
            let values: Vec<i64> =
                variables.iter().zip(codes).map(|(it, code)| it.low + *code as i64).collect();
            packed(variables, &values)
        };
        let processes = locals
            .chunks(self.protocol.locals.len().max(1))
            .map(|codes| number(&self.protocol.locals, codes))
            .collect();
        Some(ProtocolState { global: number(&self.protocol.globals, global), processes })
    }

    /// Is the state in a set of its weight?
    pub(crate) fn contains(&self, set: &Bdd, state: &ProtocolState) -> Result<bool, Full> {
        self.space.go_on()?;
        let slots = self.slots(state.processes.len() as u64)?;
        let mut point = Vec::new();
        let mut add = |variables: &[preempt_net::protocol::Variable], at: &[Variable], number: u64| {
            for ((variable, at), value) in variables.iter().zip(at).zip(unpacked(variables, number)) {
                point.push((*at, (value - variable.low) as u64));
            }
        };
        add(&self.protocol.globals, &self.symbols.slots.globals, state.global);
        for (slot, process) in slots.iter().zip(&state.processes) {
            add(&self.protocol.locals, slot, *process);
        }
        Ok(!self.space.point(&point)?.and(set)?.is_false())
    }

    /// The levels of the bits of a set of this weight, in the order of the diagram.
    pub(crate) fn order(&self, weight: u64) -> Result<Vec<(u32, Place, usize, usize)>, Full> {
        let mut order = Vec::new();
        let mut add = |scope: Scope, slot: usize, variables: &[Variable]| {
            for (variable, at) in variables.iter().enumerate() {
                for (bit, level) in self.space.levels(*at).iter().enumerate() {
                    order.push((*level, Place { scope, variable }, slot, bit));
                }
            }
        };
        add(Scope::Global, 0, &self.symbols.slots.globals);
        for (number, slot) in self.slots(weight)?.iter().enumerate() {
            add(Scope::Mover, number, slot);
        }
        order.sort_unstable();
        Ok(order)
    }
}

impl Sliceable for Diagrams<'_> {
    type Set = Bdd;
    type Error = Full;

    fn deflation(&self) -> u64 {
        self.protocol.deflation()
    }

    fn base_weight(&self) -> u64 {
        self.bad.patterns.iter().map(|pattern| pattern.processes.len() as u64).max().unwrap_or(0)
    }

    fn first_weight(&self) -> u64 {
        self.bad.patterns.iter().map(|pattern| pattern.processes.len() as u64).min().unwrap_or(0)
    }

    /// Of exactly this weight.
    fn targets(&self, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots(weight)?;
        let mut all = self.space.no();
        for pattern in &self.bad.patterns {
            let count = pattern.processes.len();
            if count > slots.len() {
                continue;
            }
            let nobody = self.symbols.at(None, None, None);
            let mut set = self.symbols.truth(&self.space, &pattern.global, &nobody)?;
            for (slot, part) in pattern.processes.iter().enumerate() {
                self.space.go_on()?;
                let at = self.symbols.at(Some(slot), None, None);
                set = set.and(&self.symbols.truth(&self.space, part, &at)?)?;
            }
            all = all.or(&self.symmetric(set, count, slots.len())?)?;
        }
        self.within(all, slots)
    }

    /// Anything in one of the slots.
    fn lift(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots(weight)?;
        let mut moving = set.clone();
        let mut all = set.clone();
        for exchange in self.exchange[..slots.len().max(1) - 1].iter().rev() {
            self.space.go_on()?;
            moving = moving.rename(exchange)?;
            all = all.or(&moving)?;
        }
        self.within(all, slots)
    }

    fn before(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots(weight)?;
        let mut by_participants = [self.space.no(), self.space.no()];
        for (number, rule) in self.protocol.rules.iter().enumerate() {
            self.space.go_on()?;
            if let Some(before) = self.before_by(number, set, slots.len())? {
                let all = &mut by_participants[usize::from(rule.with.is_some())];
                *all = all.or(&before)?;
            }
        }
        let [alone, pairs] = by_participants;
        let pairs = match pairs.is_false() {
            true => pairs,
            false => self.symmetric(pairs, 2, slots.len())?,
        };
        let all = self.symmetric(alone, 1, slots.len())?.or(&pairs)?;
        self.within(all, slots)
    }

    fn initial(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        self.sizes.borrow_mut().push((weight, set.nodes()));
        let mut part = set.clone();
        for slot in (0..self.slots(weight)?.len()).rev() {
            self.space.go_on()?;
            if let Some(condition) = &self.protocol.initially {
                let at = self.symbols.at(Some(slot), None, None);
                part = part.and(&self.symbols.truth(&self.space, condition, &at)?)?;
            }
        }
        Ok(part)
    }

    fn union(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, Full> {
        a.or(b)
    }

    fn minus(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, Full> {
        a.minus(b)
    }

    fn is_empty(&self, set: &Bdd) -> bool {
        set.is_false()
    }
}
