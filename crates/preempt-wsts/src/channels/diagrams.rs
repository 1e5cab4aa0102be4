//! Lossy channel systems by weight: the sets of Fig. 3 of Bingham and Hu 2005 (paper 004) as decision diagrams over the bits of
//! variables and messages.
//!
//! Of each channel there are as many slots as the weight, filled from the head: a slot has a bit that says whether a message is
//! there, and its fields, which are zero if none is. A rule is a function from states to states, so that what leads into a set is
//! the set with functions in the place of its bits; there is no transition relation. At full weight a message that is sent is
//! lost at once, which is a step too and keeps the weights small.
//!
//! Everything that has the same number of values is interleaved bit by bit, few values first: data that is only copied and
//! compared then costs nodes in proportion to its bits, and not to its values (Table 3).

use super::{DiagramProof, Part};
use crate::weight::Sliceable;
use preempt_bdd::{Bdd, Cube, Full, Layout, Renaming, Space, TableOptions, Variable};
use preempt_core::Budget;
use preempt_net::WellStructured;
use preempt_net::channels::{Bad, ChannelSystem, Condition, Rule, State, Value};
use std::collections::BTreeMap;

/// Weights up to that of the bad states and so many more.
const ROOM: u64 = 24;

pub(crate) struct Slices<'s> {
    system: &'s ChannelSystem,
    pub(crate) space: Space,
    control: Vec<Variable>,
    /// For each channel and slot: is a message there, and its fields.
    slots: Vec<Vec<Slot>>,
    parameters: Vec<Vec<Variable>>,
    base: u64,
}

#[derive(Clone)]
struct Slot {
    present: Variable,
    fields: Vec<Variable>,
}

/// A number as its bits, the least significant first.
type Bits = Vec<Bdd>;

/// Which variable: the size of its domain, and the number of its copy among those of that size.
type DomainCopy = (u64, u32);

impl<'s> Slices<'s> {
    pub(crate) fn new(
        system: &'s ChannelSystem,
        table: TableOptions,
        budget: &Budget,
    ) -> Result<Slices<'s>, Full> {
        let base = base_weight(system);
        let count = usize::try_from(base + ROOM).map_err(|_| Full)?;
        // How many copies there are of each size, and which one somebody has.
        let mut copies: BTreeMap<u64, u32> = BTreeMap::new();
        let mut place = |size: u64| {
            let next = copies.entry(size).or_insert(0);
            *next += 1;
            (size, *next - 1)
        };
        let control: Vec<DomainCopy> = system.variables.iter().map(|(_, size)| place(*size)).collect();
        let parameters: Vec<Vec<DomainCopy>> = system
            .rules
            .iter()
            .map(|rule| rule.parameters.iter().map(|size| place(*size)).collect())
            .collect();
        let mut slots: Vec<Vec<(DomainCopy, Vec<DomainCopy>)>> = vec![Vec::new(); system.channels.len()];
        for _ in 0..count {
            for ((_, fields), slots) in system.channels.iter().zip(&mut slots) {
                slots.push((place(2), fields.iter().map(|size| place(*size)).collect()));
            }
        }
        let mut layout = Layout::new().within(budget);
        let first: BTreeMap<u64, Variable> =
            copies.iter().map(|(size, count)| (*size, layout.add(*size, *count))).collect();
        let variable = |(size, copy): &DomainCopy| first[size].copy(*copy);
        let slot = |(present, fields): &(DomainCopy, Vec<DomainCopy>)| Slot {
            present: variable(present),
            fields: fields.iter().map(variable).collect(),
        };
        let space = layout.build(table)?;
        Ok(Slices {
            system,
            space,
            control: control.iter().map(variable).collect(),
            slots: slots.iter().map(|slots| slots.iter().map(slot).collect()).collect(),
            parameters: parameters.iter().map(|of| of.iter().map(variable).collect()).collect(),
            base,
        })
    }

    fn of_channel(&self, channel: usize, weight: u64) -> Result<&[Slot], Full> {
        self.slots[channel].get(..usize::try_from(weight).map_err(|_| Full)?).ok_or(Full)
    }

    fn bits(&self, variable: Variable) -> Bits {
        self.space.bits(variable)
    }

    fn constant(&self, number: u64, width: usize) -> Bits {
        (0..width).map(|bit| self.space.constant(number >> bit & 1 == 1)).collect()
    }

    /// A value of a rule, before the step. The message is in the first slot of the channel that is received from.
    fn value(&self, value: Value, rule: Option<usize>) -> Result<Bits, Full> {
        let flip = |bits: Bits, flipped: bool| -> Result<Bits, Full> {
            if flipped { bits.iter().map(Bdd::not).collect() } else { Ok(bits) }
        };
        match value {
            Value::Constant(number) => Ok(self.constant(number, width_of(number))),
            Value::Variable(at, flipped) => flip(self.bits(self.control[at]), flipped),
            Value::Parameter(at, flipped) => {
                flip(self.bits(rule.map(|rule| self.parameters[rule][at]).ok_or(Full)?), flipped)
            }
            Value::Received(at, flipped) => {
                let channel = rule.and_then(|rule| self.system.rules[rule].receive).ok_or(Full)?;
                flip(self.bits(self.slots[channel][0].fields[at]), flipped)
            }
        }
    }

    fn equal(&self, left: &Bits, right: &Bits) -> Result<Bdd, Full> {
        let mut result = self.space.yes();
        for at in 0..left.len().max(right.len()) {
            let no = self.space.no();
            let (a, b) = (left.get(at).unwrap_or(&no), right.get(at).unwrap_or(&no));
            result = result.and(&a.iff(b)?)?;
        }
        Ok(result)
    }

    fn condition(&self, condition: &Condition, rule: Option<usize>) -> Result<Bdd, Full> {
        let equal = self.equal(&self.value(condition.left, rule)?, &self.value(condition.right, rule)?)?;
        if condition.equal { Ok(equal) } else { equal.not() }
    }

    fn conditions(&self, all: &[Condition], rule: Option<usize>) -> Result<Bdd, Full> {
        all.iter()
            .try_fold(self.space.yes(), |so_far, condition| so_far.and(&self.condition(condition, rule)?))
    }

    /// What is a state of at most this weight.
    fn universe(&self, weight: u64) -> Result<Bdd, Full> {
        let mut all = self.space.yes();
        for variable in &self.control {
            all = all.and(&self.space.domain(*variable)?)?;
        }
        let mut limits: Vec<Bdd> = vec![self.space.yes(); weight as usize + 1];
        for channel in 0..self.slots.len() {
            let slots = self.of_channel(channel, weight)?;
            for (at, slot) in slots.iter().enumerate() {
                self.space.go_on()?;
                let present = self.space.equals(slot.present, 1)?;
                let mut zero = self.space.yes();
                for field in &slot.fields {
                    all = all.and(&self.space.domain(*field)?)?;
                    zero = zero.and(&self.space.equals(*field, 0)?)?;
                }
                all = all.and(&present.or(&zero)?)?;
                if at > 0 {
                    all = all.and(&present.implies(&self.space.equals(slots[at - 1].present, 1)?)?)?;
                }
                // At most c of the slots so far, for each c.
                let fewer = |c: usize| if c == 0 { self.space.no() } else { limits[c - 1].clone() };
                limits = (0..limits.len())
                    .map(|c| present.ite(&fewer(c), &limits[c]))
                    .collect::<Result<_, _>>()?;
            }
        }
        all.and(&limits[weight as usize])
    }

    fn present(&self, slot: &Slot) -> Result<Bdd, Full> {
        self.space.equals(slot.present, 1)
    }

    /// The bits of a slot become other functions.
    fn becomes(&self, slot: &Slot, present: Bdd, fields: Vec<Bits>, pairs: &mut Vec<(u32, Bdd)>) {
        pairs.extend(self.space.levels(slot.present).iter().map(|level| (*level, present.clone())));
        for (field, bits) in slot.fields.iter().zip(fields) {
            pairs.extend(self.space.levels(*field).iter().copied().zip(bits));
        }
    }

    /// The channel without the message at a place.
    fn without(&self, slots: &[Slot], at: usize, pairs: &mut Vec<(u32, Bdd)>) {
        for (number, slot) in slots.iter().enumerate().skip(at) {
            match slots.get(number + 1) {
                Some(next) => {
                    let fields = next.fields.iter().map(|field| self.bits(*field)).collect();
                    self.becomes(slot, self.bits(next.present)[0].clone(), fields, pairs);
                }
                None => {
                    let width = |field: &Variable| self.constant(0, self.space.levels(*field).len());
                    self.becomes(slot, self.space.no(), slot.fields.iter().map(width).collect(), pairs);
                }
            }
        }
    }

    /// The channel with a message behind its last one; a full one stays as it is.
    fn appended(&self, slots: &[Slot], message: &[Bits], pairs: &mut Vec<(u32, Bdd)>) -> Result<(), Full> {
        let mut before = self.space.yes();
        for slot in slots {
            self.space.go_on()?;
            let present = self.present(slot)?;
            let mut fields = Vec::new();
            for (field, sent) in slot.fields.iter().zip(message) {
                let mut bits = Vec::new();
                for (at, own) in self.bits(*field).iter().enumerate() {
                    let sent = sent.get(at).cloned().unwrap_or_else(|| self.space.no());
                    bits.push(present.ite(own, &before.and(&sent)?)?);
                }
                fields.push(bits);
            }
            self.becomes(slot, before.clone(), fields, pairs);
            before = present;
        }
        Ok(())
    }

    /// The states of at most this weight from which the rule leads into the set.
    fn before_by(&self, number: usize, rule: &Rule, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let mut fixed: Vec<(u32, Bdd)> = Vec::new();
        for (variable, value) in &rule.assign {
            let bits = self.value(*value, Some(number))?;
            for (at, level) in self.space.levels(self.control[*variable]).iter().enumerate() {
                fixed.push((*level, bits.get(at).cloned().unwrap_or_else(|| self.space.no())));
            }
        }
        let mut guard = self.space.yes();
        if let Some(channel) = rule.receive {
            let slots = self.of_channel(channel, weight)?;
            let Some(first) = slots.first() else { return Ok(self.space.no()) };
            guard = self.present(first)?;
            self.without(slots, 0, &mut fixed);
        }
        guard = guard.and(&self.conditions(&rule.guard, Some(number))?)?;
        // Each message that is sent arrives, or is lost at once.
        let mut all = self.space.no();
        for arrives in 0..1u32 << rule.send.len() {
            let mut pairs = fixed.clone();
            for (at, (channel, message)) in rule.send.iter().enumerate() {
                if arrives >> at & 1 == 1 {
                    let message: Vec<Bits> = message
                        .iter()
                        .map(|value| self.value(*value, Some(number)))
                        .collect::<Result<_, _>>()?;
                    self.appended(self.of_channel(*channel, weight)?, &message, &mut pairs)?;
                }
            }
            self.space.go_on()?;
            all = all.or(&set.rename(&self.space.substitution(pairs))?)?;
        }
        all = all.and(&guard)?;
        if !self.parameters[number].is_empty() {
            for parameter in &self.parameters[number] {
                all = all.and(&self.space.domain(*parameter)?)?;
            }
            all = all.exists(&self.cube(&self.parameters[number])?)?;
        }
        Ok(all)
    }

    fn cube(&self, variables: &[Variable]) -> Result<Cube, Full> {
        self.space.cube(variables.iter().copied())
    }

    /// The messages stand in the channel in this order.
    fn has(&self, bad: &Bad, weight: u64) -> Result<Bdd, Full> {
        let mut all = self.conditions(&bad.conditions, None)?;
        for (channel, word) in &bad.words {
            let slots = self.of_channel(*channel, weight)?;
            // From the last slot on: the rest of the word from each letter on stands behind here.
            let mut rest: Vec<Bdd> = vec![self.space.no(); word.len() + 1];
            rest[word.len()] = self.space.yes();
            for slot in slots.iter().rev() {
                self.space.go_on()?;
                for (at, message) in word.iter().enumerate() {
                    let mut here = self.present(slot)?;
                    for (field, value) in slot.fields.iter().zip(message) {
                        here = here.and(&self.equal(&self.bits(*field), &self.value(*value, None)?)?)?;
                    }
                    // The letters behind this one are still about the slots behind this one.
                    rest[at] = rest[at].or(&here.and(&rest[at + 1])?)?;
                }
            }
            all = all.and(&rest[0])?;
        }
        Ok(all)
    }

    /// The states of which one message less is in the set.
    fn above(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let mut all = self.space.no();
        for channel in 0..self.slots.len() {
            let slots = self.of_channel(channel, weight)?;
            for (at, slot) in slots.iter().enumerate() {
                self.space.go_on()?;
                let mut pairs = Vec::new();
                self.without(slots, at, &mut pairs);
                let fewer: Renaming = self.space.substitution(pairs);
                all = all.or(&set.rename(&fewer)?.and(&self.present(slot)?)?)?;
            }
        }
        Ok(all)
    }

    /// Everything above the set and of at most this weight. At the border of a weight a set need not be closed: what leads into it
    /// by sending has no room for one message more.
    fn closed(&self, set: Bdd, weight: u64) -> Result<Bdd, Full> {
        let universe = self.universe(weight)?;
        let mut closed = set;
        loop {
            let more = closed.or(&self.above(&closed, weight)?.and(&universe)?)?;
            if more == closed {
                return Ok(closed);
            }
            closed = more;
        }
    }

    fn values(&self, state: &State, weight: u64) -> Option<Vec<(Variable, u64)>> {
        let mut values: Vec<(Variable, u64)> =
            self.control.iter().copied().zip(state.control.iter().copied()).collect();
        for (slots, word) in self.slots.iter().zip(&state.words) {
            if word.len() as u64 > weight {
                return None;
            }
            for (at, slot) in slots.iter().take(weight as usize).enumerate() {
                let message = word.get(at);
                values.push((slot.present, u64::from(message.is_some())));
                for (number, field) in slot.fields.iter().enumerate() {
                    values.push((*field, message.map_or(0, |message| message[number])));
                }
            }
        }
        Some(values)
    }

    /// Is the state in a set of at most this weight?
    pub(crate) fn contains(&self, set: &Bdd, weight: u64, state: &State) -> Result<bool, Full> {
        self.space.go_on()?;
        let Some(values) = self.values(state, weight) else { return Ok(false) };
        Ok(!self.space.point(&values)?.and(set)?.is_false())
    }

    /// One state of the set.
    pub(crate) fn pick(&self, set: &Bdd, weight: u64) -> Option<State> {
        let mut variables = self.control.clone();
        for slots in &self.slots {
            for slot in slots.iter().take(weight as usize) {
                variables.push(slot.present);
                variables.extend(&slot.fields);
            }
        }
        let values = self.space.pick(set, &variables)?;
        let (control, mut rest) = values.split_at(self.control.len());
        let mut words = Vec::new();
        for slots in &self.slots {
            let mut word = Vec::new();
            for slot in slots.iter().take(weight as usize) {
                let (own, behind) = rest.split_at(1 + slot.fields.len());
                rest = behind;
                if own[0] == 1 {
                    word.push(own[1..].to_vec());
                }
            }
            words.push(word);
        }
        Some(State { control: control.to_vec(), words })
    }

    /// The smallest states of the set, one after the other; nothing if there are more than `most`.
    pub(crate) fn minimal(&self, set: &Bdd, weight: u64, most: usize) -> Result<Option<Vec<State>>, Full> {
        let closed = self.closed(set.clone(), weight)?;
        let mut rest = closed.minus(&self.above(&closed, weight)?)?;
        let mut found = Vec::new();
        while let Some(state) = self.pick(&rest, weight) {
            self.space.go_on()?;
            if found.len() == most {
                return Ok(None);
            }
            let values = self.values(&state, weight).unwrap_or_default();
            rest = rest.minus(&self.space.point(&values)?)?;
            found.push(state);
        }
        Ok(Some(found))
    }

    /// The set as a certificate: every bit by what it is a bit of.
    pub(crate) fn proof(&self, set: &Bdd, weight: u64) -> Result<DiagramProof, Full> {
        let mut names: BTreeMap<u32, (Part, usize)> = BTreeMap::new();
        let mut name = |variable: Variable, part: Part| {
            names.extend(
                self.space.levels(variable).iter().enumerate().map(|(bit, level)| (*level, (part, bit))),
            );
        };
        self.control.iter().enumerate().for_each(|(at, variable)| name(*variable, Part::Variable(at)));
        for (channel, slots) in self.slots.iter().enumerate() {
            for (at, slot) in slots.iter().take(weight as usize).enumerate() {
                name(slot.present, Part::Present(channel, at));
                let fields = slot.fields.iter().enumerate();
                fields.for_each(|(field, variable)| name(*variable, Part::Field(channel, at, field)));
            }
        }
        let listing = self.space.listing(set)?;
        let node =
            |(level, low, high): &(u32, usize, usize)| Ok((*names.get(level).ok_or(Full)?, *low, *high));
        let nodes = listing.nodes.iter().map(node).collect::<Result<Vec<_>, Full>>()?;
        Ok(DiagramProof { weight, nodes, root: listing.root })
    }

    /// How many bits a state of this weight has.
    pub(crate) fn height(&self, weight: u64) -> u64 {
        let width = |variable: &Variable| self.space.levels(*variable).len() as u64;
        let slot = |slots: &Vec<Slot>| {
            slots.first().map_or(0, |slot| 1 + slot.fields.iter().map(width).sum::<u64>())
        };
        self.control.iter().map(width).sum::<u64>() + weight * self.slots.iter().map(slot).sum::<u64>()
    }
}

/// Bits enough for a number.
fn width_of(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

fn base_weight(system: &ChannelSystem) -> u64 {
    let weight = |bad: &Bad| bad.words.iter().map(|(_, word)| word.len() as u64).sum();
    system.bad.iter().map(weight).max().unwrap_or(0)
}

impl Sliceable for Slices<'_> {
    type Set = Bdd;
    type Error = Full;

    fn deflation(&self) -> u64 {
        self.system.deflation().unwrap_or(0)
    }

    fn base_weight(&self) -> u64 {
        self.base
    }

    fn targets(&self, weight: u64) -> Result<Bdd, Full> {
        let mut all = self.space.no();
        for bad in &self.system.bad {
            all = all.or(&self.has(bad, weight)?)?;
        }
        all.and(&self.universe(weight)?)
    }

    /// A slot more, with nothing in it; and then more messages, anywhere.
    fn lift(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let mut same = set.clone();
        for channel in 0..self.slots.len() {
            if let Some(slot) = self.of_channel(channel, weight)?.last() {
                same = same.and(&self.space.equals(slot.present, 0)?)?;
                for field in &slot.fields {
                    same = same.and(&self.space.equals(*field, 0)?)?;
                }
            }
        }
        self.closed(same, weight)
    }

    fn before(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let mut all = self.space.no();
        for (number, rule) in self.system.rules.iter().enumerate() {
            all = all.or(&self.before_by(number, rule, set, weight)?)?;
        }
        all.and(&self.universe(weight)?)
    }

    fn initial(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let mut part = set.and(&self.conditions(&self.system.initial, None)?)?;
        for channel in 0..self.slots.len() {
            if let Some(first) = self.of_channel(channel, weight)?.first() {
                part = part.and(&self.space.equals(first.present, 0)?)?;
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
