//! The checker of certificates that are diagrams, for channel systems whose smallest states are too many to be listed. It shares
//! no code with the engine: it has diagrams of its own, its own bits for variables and messages, and makes of every rule a
//! function on them by itself.
//!
//! The certificate is a set A of states of at most n messages. Let W be n plus the most messages that a rule needs beside those of
//! the state that it leads above (Definition 8 of Bingham and Hu 2005, paper 004), and L what lies above A and has at most W. If L
//! has all bad states of at most W in it, no initial one, and whatever leads into it within W, then the
//! same is true of everything above A: a step that enters it from outside can be made with states of at most W (Theorem 1).

use super::{DiagramProof, Part};
use crate::protocol::checker::diagram::{Diagram, Diagrams, FALSE, TRUE};
use foldhash::{HashMap, HashMapExt};
use preempt_core::{Budget, StopReason};
use preempt_net::channels::{ChannelSystem, Condition, Rule, Value};

type Checked<T> = Result<T, StopReason>;
/// A number as the diagrams of its bits, the least significant first.
type Number = Vec<Diagram>;

struct Encoding<'s, 'b> {
    system: &'s ChannelSystem,
    diagrams: Diagrams<'b>,
    /// The level of the first bit of everything, and how far apart its bits are.
    levels: HashMap<Part, Vec<u32>>,
    slots: usize,
}

/// More slots than this are not looked at.
const MOST_SLOTS: u64 = 64;

pub(super) fn verify(
    system: &ChannelSystem,
    proof: &DiagramProof,
    budget: &Budget,
) -> Checked<Result<(), String>> {
    let needs = |rule: &Rule| (rule.send.len() as u64).max(u64::from(rule.receive.is_some()));
    let most = proof.weight + system.rules.iter().map(needs).max().unwrap_or(0);
    let heaviest =
        system.bad.iter().map(|bad| bad.words.iter().map(|(_, word)| word.len() as u64).sum::<u64>());
    if most > MOST_SLOTS || heaviest.max().unwrap_or(0) > most {
        return Ok(Err("the weight of the certificate is wrong".into()));
    }
    let mut encoding = Encoding::new(system, most as usize, budget);
    let Some(mut set) = encoding.load(proof)? else {
        return Ok(Err("the diagram cannot be read".into()));
    };
    let few = encoding.states(proof.weight as usize)?;
    set = encoding.diagrams.and(set, few)?;
    for weight in proof.weight as usize + 1..=most as usize {
        set = encoding.lifted(set, weight)?;
    }
    // Without a rule that needs more, nothing was lifted.
    if most == proof.weight && most > 0 {
        set = encoding.upward(set, most as usize)?;
    }
    let slots = most as usize;
    let all = encoding.states(slots)?;
    for number in 0..system.bad.len() {
        let bad = encoding.bad(number, slots)?;
        let bad = encoding.diagrams.and(bad, all)?;
        if !encoding.diagrams.implies(bad, set)? {
            return Ok(Err("a bad state is not in the set".into()));
        }
    }
    let mut initial = encoding.conditions(&system.initial, None)?;
    for channel in 0..system.channels.len() {
        if slots > 0 {
            let present = encoding.bit(Part::Present(channel, 0))?;
            initial = encoding.diagrams.choice(present, FALSE, initial)?;
        }
    }
    let initial = encoding.diagrams.and(initial, all)?;
    if encoding.diagrams.and(initial, set)? != FALSE {
        return Ok(Err("an initial state is in the set".into()));
    }
    for (number, rule) in system.rules.iter().enumerate() {
        let before = encoding.before(number, rule, set, slots)?;
        let before = encoding.diagrams.and(before, all)?;
        // Parameters are free: whatever they are, the state before is in the set.
        if !encoding.diagrams.implies(before, set)? {
            return Ok(Err(format!("`{}` enters the set", rule.name)));
        }
    }
    Ok(Ok(()))
}

fn width(size: u64) -> usize {
    let mut bits = 0;
    while size > 1 && (size - 1) >> bits > 0 {
        bits += 1;
    }
    bits
}

impl<'s, 'b> Encoding<'s, 'b> {
    /// What has few values stands above what has many; the bits of those with the same number of values take turns.
    fn new(system: &'s ChannelSystem, slots: usize, budget: &'b Budget) -> Encoding<'s, 'b> {
        let mut parts: Vec<(u64, Part)> = Vec::new();
        parts.extend(system.variables.iter().enumerate().map(|(at, (_, size))| (*size, Part::Variable(at))));
        for (rule, of) in system.rules.iter().enumerate() {
            parts.extend(
                of.parameters.iter().enumerate().map(|(at, size)| (*size, Part::Parameter(rule, at))),
            );
        }
        for slot in 0..slots {
            for (channel, (_, fields)) in system.channels.iter().enumerate() {
                parts.push((2, Part::Present(channel, slot)));
                let each = fields.iter().enumerate();
                parts.extend(each.map(|(field, size)| (*size, Part::Field(channel, slot, field))));
            }
        }
        let mut sizes: Vec<u64> = parts.iter().map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let (mut levels, mut next) = (HashMap::new(), 0);
        for size in sizes {
            for bit in (0..width(size)).rev() {
                for (_, part) in parts.iter().filter(|(of, _)| *of == size) {
                    let bits: &mut Vec<u32> = levels.entry(*part).or_insert_with(|| vec![0; width(size)]);
                    bits[bit] = next;
                    next += 1;
                }
            }
        }
        Encoding { system, diagrams: Diagrams::new(budget), levels, slots }
    }

    fn bits(&self, part: Part) -> &[u32] {
        self.levels.get(&part).map_or(&[], Vec::as_slice)
    }

    fn number(&mut self, part: Part) -> Checked<Number> {
        let levels = self.bits(part).to_vec();
        levels.into_iter().map(|level| self.diagrams.bit(level)).collect()
    }

    /// The one bit of something with two values.
    fn bit(&mut self, part: Part) -> Checked<Diagram> {
        Ok(self.number(part)?.first().copied().unwrap_or(FALSE))
    }

    /// The diagram of the certificate, over these bits. Nothing if it names something that is not there.
    fn load(&mut self, proof: &DiagramProof) -> Checked<Option<Diagram>> {
        let mut made: Vec<Diagram> = vec![FALSE, TRUE];
        for ((part, bit), low, high) in &proof.nodes {
            let slot = match part {
                Part::Present(_, slot) | Part::Field(_, slot, _) => *slot,
                Part::Variable(_) => 0,
                Part::Parameter(..) => return Ok(None),
            };
            let level = self.bits(*part).get(*bit).copied();
            let inside = slot < (proof.weight as usize).max(1) && slot < self.slots.max(1);
            let (Some(level), Some(low), Some(high), true) = (level, made.get(*low), made.get(*high), inside)
            else {
                return Ok(None);
            };
            let (low, high) = (*low, *high);
            let bit = self.diagrams.bit(level)?;
            let node = self.diagrams.choice(bit, high, low)?;
            made.push(node);
        }
        Ok(made.get(proof.root).copied())
    }

    fn equal(&mut self, left: &Number, right: &Number) -> Checked<Diagram> {
        let mut all = TRUE;
        for at in (0..left.len().max(right.len())).rev() {
            let (a, b) = (left.get(at).copied().unwrap_or(FALSE), right.get(at).copied().unwrap_or(FALSE));
            let contrary = self.diagrams.choice(b, FALSE, TRUE)?;
            let same = self.diagrams.choice(a, b, contrary)?;
            all = self.diagrams.and(all, same)?;
        }
        Ok(all)
    }

    fn value(&mut self, value: Value, rule: Option<usize>) -> Checked<Number> {
        let (part, flipped) = match value {
            Value::Constant(number) => {
                let bits = (0..u64::BITS).take_while(|bit| number >> bit > 0);
                return Ok(bits.map(|bit| if number >> bit & 1 == 1 { TRUE } else { FALSE }).collect());
            }
            Value::Variable(at, flipped) => (Part::Variable(at), flipped),
            Value::Parameter(at, flipped) => (Part::Parameter(rule.unwrap_or(0), at), flipped),
            Value::Received(at, flipped) => {
                let channel = rule.and_then(|rule| self.system.rules[rule].receive).unwrap_or(0);
                (Part::Field(channel, 0, at), flipped)
            }
        };
        let number = self.number(part)?;
        match flipped {
            true => number.into_iter().map(|bit| self.diagrams.choice(bit, FALSE, TRUE)).collect(),
            false => Ok(number),
        }
    }

    fn conditions(&mut self, all: &[Condition], rule: Option<usize>) -> Checked<Diagram> {
        let mut result = TRUE;
        for condition in all {
            let (left, right) = (self.value(condition.left, rule)?, self.value(condition.right, rule)?);
            let equal = self.equal(&left, &right)?;
            let holds = if condition.equal { equal } else { self.diagrams.choice(equal, FALSE, TRUE)? };
            result = self.diagrams.and(result, holds)?;
        }
        Ok(result)
    }

    /// A number is below its size.
    fn below(&mut self, part: Part, size: u64) -> Checked<Diagram> {
        let (mut result, most) = (TRUE, size - 1);
        for (at, bit) in self.number(part)?.into_iter().enumerate() {
            // From the least significant bit on: at most as large as what the bits so far allow.
            result = match most >> at & 1 {
                1 => self.diagrams.choice(bit, result, TRUE)?,
                _ => self.diagrams.choice(bit, FALSE, result)?,
            };
        }
        Ok(result)
    }

    fn parts(&self, channel: usize, slot: usize) -> Vec<Part> {
        (0..self.system.channels[channel].1.len()).map(|field| Part::Field(channel, slot, field)).collect()
    }

    /// What encodes a state of at most so many messages, with so many slots of each channel.
    fn states(&mut self, weight: usize) -> Checked<Diagram> {
        let mut all = TRUE;
        for (at, (_, size)) in self.system.variables.iter().enumerate() {
            let valid = self.below(Part::Variable(at), *size)?;
            all = self.diagrams.and(all, valid)?;
        }
        // fits[c]: of the slots that were looked at, at most c have a message.
        let mut fits = vec![TRUE; weight + 1];
        for channel in 0..self.system.channels.len() {
            for slot in 0..weight {
                self.diagrams.go_on()?;
                let present = self.bit(Part::Present(channel, slot))?;
                if slot > 0 {
                    let before = self.bit(Part::Present(channel, slot - 1))?;
                    let behind = self.diagrams.choice(present, before, TRUE)?;
                    all = self.diagrams.and(all, behind)?;
                }
                for (field, part) in self.parts(channel, slot).into_iter().enumerate() {
                    let valid = self.below(part, self.system.channels[channel].1[field])?;
                    let zero = self.number(part)?;
                    let zero = self.equal(&zero, &Vec::new())?;
                    let valid = self.diagrams.choice(present, valid, zero)?;
                    all = self.diagrams.and(all, valid)?;
                }
                let mut more = Vec::with_capacity(fits.len());
                for c in 0..fits.len() {
                    let with = if c == 0 { FALSE } else { fits[c - 1] };
                    more.push(self.diagrams.choice(present, with, fits[c])?);
                }
                fits = more;
            }
        }
        self.diagrams.and(all, fits[weight])
    }

    /// Into the functions: the channel without the message at a place.
    fn without(
        &mut self,
        channel: usize,
        at: usize,
        slots: usize,
        functions: &mut HashMap<u32, Diagram>,
    ) -> Checked<()> {
        for slot in at..slots {
            let mut moved = vec![(Part::Present(channel, slot), Part::Present(channel, slot + 1))];
            moved.extend(self.parts(channel, slot).into_iter().zip(self.parts(channel, slot + 1)));
            for (to, from) in moved {
                let from = if slot + 1 < slots { self.number(from)? } else { Vec::new() };
                for (bit, level) in self.bits(to).to_vec().into_iter().enumerate() {
                    functions.insert(level, from.get(bit).copied().unwrap_or(FALSE));
                }
            }
        }
        Ok(())
    }

    /// What has a message more than something in the set.
    fn above(&mut self, set: Diagram, slots: usize) -> Checked<Diagram> {
        let mut all = FALSE;
        for channel in 0..self.system.channels.len() {
            for at in 0..slots {
                let mut functions = HashMap::new();
                self.without(channel, at, slots, &mut functions)?;
                let fewer = self.diagrams.substituted(set, &functions)?;
                let present = self.bit(Part::Present(channel, at))?;
                let found = self.diagrams.and(present, fewer)?;
                all = self.diagrams.or(all, found)?;
            }
        }
        Ok(all)
    }

    /// With one slot more, and everything above that has no more messages than slots.
    fn lifted(&mut self, set: Diagram, weight: usize) -> Checked<Diagram> {
        let mut same = set;
        for channel in 0..self.system.channels.len() {
            let mut parts = self.parts(channel, weight - 1);
            parts.push(Part::Present(channel, weight - 1));
            for part in parts {
                let number = self.number(part)?;
                let zero = self.equal(&number, &Vec::new())?;
                same = self.diagrams.and(same, zero)?;
            }
        }
        self.upward(same, weight)
    }

    /// Everything above that has at most so many messages.
    fn upward(&mut self, set: Diagram, weight: usize) -> Checked<Diagram> {
        let states = self.states(weight)?;
        let mut same = set;
        loop {
            let above = self.above(same, weight)?;
            let above = self.diagrams.and(above, states)?;
            let both = self.diagrams.or(same, above)?;
            if both == same {
                return Ok(same);
            }
            same = both;
        }
    }

    fn bad(&mut self, number: usize, slots: usize) -> Checked<Diagram> {
        let bad = &self.system.bad[number];
        let mut all = self.conditions(&bad.conditions, None)?;
        for (channel, word) in &bad.words {
            // found[c]: of the word, c messages were met in the slots so far.
            let mut found = vec![FALSE; word.len() + 1];
            found[0] = TRUE;
            for slot in 0..slots {
                for at in (0..word.len()).rev() {
                    let mut here = self.bit(Part::Present(*channel, slot))?;
                    for (part, value) in self.parts(*channel, slot).into_iter().zip(&word[at]) {
                        let (field, value) = (self.number(part)?, self.value(*value, None)?);
                        let equal = self.equal(&field, &value)?;
                        here = self.diagrams.and(here, equal)?;
                    }
                    let next = self.diagrams.and(here, found[at])?;
                    found[at + 1] = self.diagrams.or(found[at + 1], next)?;
                }
            }
            all = self.diagrams.and(all, found[word.len()])?;
        }
        Ok(all)
    }

    /// From where the rule leads into the set; its parameters are free.
    fn before(&mut self, number: usize, rule: &Rule, set: Diagram, slots: usize) -> Checked<Diagram> {
        let mut fixed: HashMap<u32, Diagram> = HashMap::new();
        for (variable, value) in &rule.assign {
            let value = self.value(*value, Some(number))?;
            for (bit, level) in self.bits(Part::Variable(*variable)).to_vec().into_iter().enumerate() {
                fixed.insert(level, value.get(bit).copied().unwrap_or(FALSE));
            }
        }
        let mut guard = self.conditions(&rule.guard, Some(number))?;
        for (at, size) in rule.parameters.iter().enumerate() {
            let valid = self.below(Part::Parameter(number, at), *size)?;
            guard = self.diagrams.and(guard, valid)?;
        }
        if let Some(channel) = rule.receive {
            if slots == 0 {
                return Ok(FALSE);
            }
            let present = self.bit(Part::Present(channel, 0))?;
            guard = self.diagrams.and(guard, present)?;
            self.without(channel, 0, slots, &mut fixed)?;
        }
        let mut all = FALSE;
        for arrives in 0..1u32 << rule.send.len() {
            let mut functions = fixed.clone();
            for (at, (channel, message)) in rule.send.iter().enumerate() {
                if arrives >> at & 1 == 0 {
                    continue;
                }
                let mut last = TRUE;
                for slot in 0..slots {
                    let present = self.bit(Part::Present(*channel, slot))?;
                    // Behind the last message, if this is where that is.
                    let here = self.diagrams.choice(present, FALSE, last)?;
                    for level in self.bits(Part::Present(*channel, slot)).to_vec() {
                        let there = self.diagrams.or(present, here)?;
                        functions.insert(level, there);
                    }
                    for (part, value) in self.parts(*channel, slot).into_iter().zip(message) {
                        let (own, sent) = (self.number(part)?, self.value(*value, Some(number))?);
                        for (bit, level) in self.bits(part).to_vec().into_iter().enumerate() {
                            let sent = sent.get(bit).copied().unwrap_or(FALSE);
                            let after = self.diagrams.choice(here, sent, own[bit])?;
                            functions.insert(level, after);
                        }
                    }
                    last = present;
                }
            }
            let found = self.diagrams.substituted(set, &functions)?;
            all = self.diagrams.or(all, found)?;
        }
        self.diagrams.and(all, guard)
    }
}
