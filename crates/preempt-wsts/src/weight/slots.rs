//! Markings as tuples (Bingham and Hu 2005, paper 004, section 5.1): a slot for each token holds the token's place, or nothing. A set of markings of at
//! most weight i is a decision diagram over i slots.
//!
//! Tokens have no identity, so all sets here are *symmetric*: with a tuple they contain all its permutations. A firing
//! therefore need only be described for tokens in the first slots; the result is made symmetric again by moving those
//! slots through all others, one neighbour at a time.

use super::Sliceable;
use preempt_bdd::{Bdd, Cube, Full, Layout, Renaming, Space, TableOptions, Variable};
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem, Transition, WellStructured};
use std::cell::RefCell;
use std::collections::HashMap;

pub(crate) struct Slots<'p> {
    problem: &'p Problem,
    open: &'p [usize],
    pub(crate) space: Space,
    slots: Vec<Variable>,
    /// What a slot holds: 0 for nothing, and else the place's position here plus one.
    places: Vec<Place>,
    code: Vec<u64>,
    /// Exchanges a slot with the next one.
    exchange: Vec<Renaming>,
    deflation: u64,
    /// Transfers and resets on slots, by transition and by the first and last slot they apply to.
    moved: RefCell<HashMap<(usize, usize, usize), Renaming>>,
}

/// Weights up to the heaviest target and so much more.
const ROOM: u64 = 200;
/// Most nets need little, and a large cache is not for nothing. A small one is left when the diagrams outgrow it, long
/// before its table is full.
pub(crate) const TABLES: [(TableOptions, usize); 2] = [
    (TableOptions { nodes: 1 << 20, cache: 1 << 14 }, 1 << 14),
    (TableOptions { nodes: 1 << 23, cache: 1 << 20 }, usize::MAX),
];

impl<'p> Slots<'p> {
    /// `used` says which places have a token or an arc at all.
    pub(crate) fn new(
        problem: &'p Problem,
        open: &'p [usize],
        used: &[bool],
        table: TableOptions,
        budget: &Budget,
    ) -> Result<Slots<'p>, Full> {
        let mut layout = Layout::new().within(budget);
        let places: Vec<Place> =
            (0..problem.net.places.len() as Place).filter(|place| used[*place as usize]).collect();
        let mut code = vec![0; problem.net.places.len()];
        (1..).zip(&places).for_each(|(number, place)| code[*place as usize] = number);
        let base = open.iter().map(|target| problem.targets[*target].weight()).max().unwrap_or(0);
        let count = usize::try_from(base.saturating_add(ROOM)).map_err(|_| Full)?.min(4096);
        let slots: Vec<Variable> = (0..count).map(|_| layout.add(places.len() as u64 + 1, 1)).collect();
        let space = layout.build(table)?;
        let exchange =
            slots.windows(2).map(|pair| space.renaming([(pair[0], pair[1]), (pair[1], pair[0])])).collect();
        let deflation = problem.net.deflation().unwrap_or(0);
        let moved = RefCell::default();
        Ok(Slots { problem, open, space, slots, places, code, exchange, deflation, moved })
    }

    /// The bits of a slot.
    pub(crate) fn bits(&self) -> usize {
        self.slots.first().map_or(0, |slot| self.space.levels(*slot).len())
    }

    pub(crate) fn local_states(&self) -> usize {
        self.places.len() + 1
    }

    fn slots_for(&self, weight: u64) -> Result<&[Variable], Full> {
        self.slots.get(..usize::try_from(weight).map_err(|_| Full)?).ok_or(Full)
    }

    /// The codes of the tokens, one after the other, and nothing behind them.
    fn tuple(&self, marking: &Marking, length: usize) -> Option<Vec<u64>> {
        let mut codes = Vec::with_capacity(length);
        for (place, n) in marking.iter() {
            if n > (length - codes.len()) as u64 {
                return None;
            }
            codes.resize(codes.len() + n as usize, self.code[place as usize]);
        }
        codes.resize(length, 0);
        Some(codes)
    }

    fn point(&self, slots: &[Variable], codes: &[u64]) -> Result<Bdd, Full> {
        let values: Vec<(Variable, u64)> = slots.iter().copied().zip(codes.iter().copied()).rev().collect();
        self.space.point(&values)
    }

    fn cube(&self, slots: &[Variable]) -> Result<Cube, Full> {
        self.space.cube(slots.iter().copied())
    }

    /// Is the marking in a set of at most this weight?
    pub(crate) fn contains(&self, set: &Bdd, weight: u64, marking: &Marking) -> Result<bool, Full> {
        self.space.go_on()?;
        let slots = self.slots_for(weight)?;
        match self.tuple(marking, slots.len()) {
            Some(codes) => Ok(!self.point(slots, &codes)?.and(set)?.is_false()),
            None => Ok(false),
        }
    }

    /// One marking of the set.
    pub(crate) fn pick(&self, set: &Bdd, weight: u64) -> Option<Marking> {
        let codes = self.space.pick(set, self.slots.get(..weight as usize)?)?;
        Some(self.marking(&codes))
    }

    fn marking(&self, codes: &[u64]) -> Marking {
        codes.iter().filter(|code| **code > 0).map(|code| (self.places[*code as usize - 1], 1)).collect()
    }

    /// A set that is symmetric but for the first `special` slots, made symmetric in all of them.
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

    /// Nothing in a slot can be anything: closed upward within the weight.
    fn filled(&self, set: Bdd, slots: &[Variable]) -> Result<Bdd, Full> {
        let mut set = set;
        for slot in slots {
            self.space.go_on()?;
            let without = set.and_exists(&self.space.equals(*slot, 0)?, &self.cube(&[*slot])?)?;
            set = set.or(&without.and(&self.space.domain(*slot)?)?)?;
        }
        Ok(set)
    }

    /// The tuples that a transition with its tokens in the first slots leads into the set.
    fn before_by(
        &self,
        number: usize,
        transition: &Transition,
        set: &Bdd,
        slots: &[Variable],
    ) -> Result<Option<Bdd>, Full> {
        let special = special(transition);
        if special > slots.len() {
            return Ok(None);
        }
        let (first, rest) = slots.split_at(special);
        let codes = |marking: &Marking| self.tuple(marking, special).ok_or(Full);
        let after = self.point(first, &codes(&transition.produce)?)?;
        let mut others = set.and_exists(&after, &self.cube(first)?)?;
        if !transition.moves.is_empty() && !rest.is_empty() && !others.is_false() {
            let key = (number, special, slots.len());
            if !self.moved.borrow().contains_key(&key) {
                let renaming = self.moves(transition, rest)?;
                self.moved.borrow_mut().insert(key, renaming);
            }
            if let Some(renaming) = self.moved.borrow().get(&key) {
                others = others.rename(renaming)?;
                for slot in rest {
                    self.space.go_on()?;
                    others = others.and(&self.space.domain(*slot)?)?;
                }
            }
        }
        Ok(Some(others.and(&self.point(first, &codes(&transition.consume)?)?)?))
    }

    /// Each bit of a slot after the moves as a function of the slot before.
    fn moves(&self, transition: &Transition, slots: &[Variable]) -> Result<Renaming, Full> {
        let mut pairs = Vec::new();
        for slot in slots {
            self.space.go_on()?;
            for (bit, level) in self.space.levels(*slot).to_vec().into_iter().enumerate() {
                let mut function = self.space.bits(*slot)[bit].clone();
                for moved in &transition.moves {
                    let from = self.space.equals(*slot, self.code[moved.from as usize])?;
                    let to = moved.to.first().map_or(0, |to| self.code[*to as usize]);
                    let value = self.space.constant(to >> bit & 1 == 1);
                    function = from.ite(&value, &function)?;
                }
                pairs.push((level, function));
            }
        }
        Ok(self.space.substitution(pairs))
    }

    /// The part of a set with at most so many tokens on the place.
    fn at_most(&self, set: &Bdd, place: Place, most: u64, slots: &[Variable]) -> Result<Bdd, Full> {
        let code = self.code[place as usize];
        // From the last slot on: at most c of them hold the place, for each c.
        let mut limits: Vec<Bdd> = vec![self.space.yes(); most as usize + 1];
        for slot in slots.iter().rev() {
            self.space.go_on()?;
            let here = self.space.equals(*slot, code)?;
            let mut next = Vec::with_capacity(limits.len());
            for (c, limit) in limits.iter().enumerate() {
                let fewer = if c == 0 { self.space.no() } else { limits[c - 1].clone() };
                next.push(here.ite(&fewer, limit)?);
            }
            limits = next;
        }
        match limits.last() {
            Some(limit) => set.and(limit),
            None => Ok(set.clone()),
        }
    }

    /// The smallest markings of the set's upward closure, as far as they are wanted.
    pub(crate) fn minimal(&self, set: &Bdd, weight: u64) -> Result<Vec<Marking>, Full> {
        let slots = self.slots_for(weight)?.to_vec();
        let closed = self.filled(set.clone(), &slots)?;
        let mut larger = self.space.no();
        for slot in &slots {
            self.space.go_on()?;
            let nothing = self.space.equals(*slot, 0)?;
            let without = closed.and_exists(&nothing, &self.cube(&[*slot])?)?;
            larger = larger.or(&without.and(&nothing.not()?)?)?;
        }
        let mut smallest = closed.minus(&larger)?;
        // Of all permutations the one in descending order.
        for pair in slots.windows(2) {
            self.space.go_on()?;
            smallest = smallest.and(&self.descending(pair[0], pair[1])?)?;
        }
        let mut found = Vec::new();
        self.each(&smallest, &slots, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    /// The first slot's code is not smaller than the second's.
    fn descending(&self, first: Variable, second: Variable) -> Result<Bdd, Full> {
        let mut result = self.space.yes();
        for (a, b) in self.space.bits(first).iter().zip(self.space.bits(second)) {
            // Bits from the least significant one: the last difference decides.
            result = a.iff(&b)?.ite(&result, a)?;
        }
        Ok(result)
    }

    fn each(
        &self,
        set: &Bdd,
        slots: &[Variable],
        codes: &mut Vec<u64>,
        found: &mut Vec<Marking>,
    ) -> Result<(), Full> {
        if set.is_false() {
            return Ok(());
        }
        let Some((slot, rest)) = slots.split_first() else {
            found.push(self.marking(codes));
            return Ok(());
        };
        self.space.go_on()?;
        let cube = self.cube(&[*slot])?;
        let most = codes.last().copied().unwrap_or(self.places.len() as u64);
        for code in 0..=most {
            let part = set.and_exists(&self.space.equals(*slot, code)?, &cube)?;
            codes.push(code);
            self.each(&part, rest, codes, found)?;
            codes.pop();
        }
        Ok(())
    }
}

/// How many slots a firing touches.
fn special(transition: &Transition) -> usize {
    transition.consume.weight().max(transition.produce.weight()) as usize
}

impl Sliceable for Slots<'_> {
    type Set = Bdd;
    type Error = Full;

    fn deflation(&self) -> u64 {
        self.deflation
    }

    fn base_weight(&self) -> u64 {
        self.open.iter().map(|target| self.problem.targets[*target].weight()).max().unwrap_or(0)
    }

    fn targets(&self, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots_for(weight)?;
        let mut all = self.space.no();
        for target in self.open.iter().map(|target| &self.problem.targets[*target]) {
            if let Some(codes) = self.tuple(target, slots.len()) {
                let special = target.weight() as usize;
                all = all.or(&self.symmetric(self.point(slots, &codes)?, special, slots.len())?)?;
            }
        }
        self.filled(all, slots)
    }

    /// A slot more, with nothing in it and anywhere; and then anything where nothing was.
    fn lift(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots_for(weight)?;
        let Some(last) = slots.last() else { return Ok(set.clone()) };
        let mut moving = set.and(&self.space.equals(*last, 0)?)?;
        let mut all = moving.clone();
        for exchange in self.exchange[..slots.len() - 1].iter().rev() {
            self.space.go_on()?;
            moving = moving.rename(exchange)?;
            all = all.or(&moving)?;
        }
        self.filled(all, slots)
    }

    fn before(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots_for(weight)?;
        let mut all = self.space.no();
        for (number, transition) in self.problem.net.transitions.iter().enumerate() {
            self.space.go_on()?;
            if let Some(before) = self.before_by(number, transition, set, slots)? {
                all = all.or(&before)?;
            }
        }
        let touched = self.problem.net.transitions.iter().map(special).filter(|n| *n <= slots.len());
        self.symmetric(all, touched.max().unwrap_or(0), slots.len())
    }

    fn initial(&self, set: &Bdd, weight: u64) -> Result<Bdd, Full> {
        let slots = self.slots_for(weight)?;
        let mut part = set.clone();
        // First the places that are empty at first, all at once.
        let high = |place: Place| self.problem.range(place).high;
        let possible: Vec<u64> =
            (1..).zip(&self.places).filter(|(_, p)| high(**p) != Some(0)).map(|(c, _)| c).collect();
        for slot in slots.iter().rev() {
            self.space.go_on()?;
            part = part.and(&self.space.one_of(*slot, possible.iter().copied().chain([0]))?)?;
        }
        for place in &self.places {
            match high(*place) {
                Some(most) if most > 0 && most < weight && !part.is_false() => {
                    part = self.at_most(&part, *place, most, slots)?;
                }
                _ => {}
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
