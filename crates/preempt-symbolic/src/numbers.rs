//! Shared states by their numbers.
//!
//! The search tree of Lal and Reps 2009 (paper 002), Fig. 7, has 66 shared bits and 217 shared states. As bits they are carried
//! 3K + 2 times through every relation; as numbers, 8 bits say the same. Explicit rounds find the states ([`preempt_rounds::scout`]),
//! and a step becomes a relation between numbers: every shared bit is a function of the number, so that commands are
//! translated as ever, and only what is written goes back to a number.
//!
//! The states need not be all. Where a step leads to one without a number, it is noted which (`Outside`), and the driver
//! begins again with it. A round without such a step is exact; what was derived before is true in any case. So no answer
//! rests on what rounds have found.

use crate::error::Result;
use crate::relation::{Condition, Product};
use crate::value::Valuation;
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Space, Variable};
use preempt_model::Type;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// With more states than this, numbers without a structure make large diagrams.
const MOST_STATES: usize = 1 << 10;

/// How many states are few enough to be counted, so that numbers have at most a third of the bits.
pub(crate) fn few(types: &[Type]) -> usize {
    let bits: usize = types.iter().map(|ty| usize::from(ty.bits)).sum();
    MOST_STATES.min(1 << (bits / 3).min(31))
}

/// A shared state: the bits of each slot as a number.
pub(crate) type Slots = Vec<u64>;

/// Shared states in an order, which is their numbering.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    states: Vec<Slots>,
}

impl Numbering {
    /// None if there are too many.
    pub fn of(states: BTreeSet<Slots>) -> Option<Numbering> {
        (states.len() <= MOST_STATES).then(|| Numbering { states: states.into_iter().collect() })
    }

    /// With these, too.
    pub fn with(&self, more: &BTreeSet<Slots>) -> Option<Numbering> {
        Numbering::of(self.states.iter().chain(more).cloned().collect())
    }

    pub fn bits(&self) -> u8 {
        preempt_bdd::space::bits(self.states.len() as u64).max(1) as u8
    }

    pub fn number(&self, state: &[u64]) -> Option<u64> {
        self.states.binary_search_by(|known| known.as_slice().cmp(state)).ok().map(|number| number as u64)
    }

    pub fn state(&self, number: u64) -> Option<&[u64]> {
        self.states.get(number as usize).map(Vec::as_slice)
    }
}

/// A numbering in the diagrams.
pub(crate) struct Numbered {
    pub numbering: Arc<Numbering>,
    now: Variable,
    next: Variable,
    /// For each slot its bits, as functions of the number now and of the next one.
    now_bits: Vec<Vec<Bdd>>,
    next_bits: Vec<Vec<Bdd>>,
    /// A shared state slot by slot, for those that have no number.
    slots: Vec<Variable>,
    /// Pairs of states that agree but in these slots.
    same_but: RefCell<BTreeMap<Vec<usize>, Bdd>>,
    met: RefCell<BTreeSet<Slots>>,
}

impl Numbered {
    /// `now` and `next`: the number before and after a step in the first context.
    pub fn new(
        space: &Space,
        numbering: Arc<Numbering>,
        (now, next): (Variable, Variable),
        slots: Vec<Variable>,
    ) -> Result<Numbered> {
        let now_bits = slot_bits(space, &numbering, now, &slots)?;
        let next_bits = slot_bits(space, &numbering, next, &slots)?;
        let (same_but, met) = (RefCell::default(), RefCell::default());
        Ok(Numbered { numbering, now, next, now_bits, next_bits, slots, same_but, met })
    }

    pub fn now(&self) -> &[Vec<Bdd>] {
        &self.now_bits
    }

    /// Conditions on the numbers before and after a step that writes these slots.
    pub fn step(&self, space: &Space, after: &Valuation, written: &[usize]) -> Result<Vec<Bdd>> {
        let mut parts = vec![self.same_but(space, written)?];
        for &slot in written {
            for (next, value) in self.next_bits[slot].iter().zip(&after.shared[slot]) {
                space.go_on()?;
                parts.push(next.iff(value)?);
            }
        }
        Ok(parts)
    }

    fn same_but(&self, space: &Space, written: &[usize]) -> Result<Bdd> {
        if let Some(known) = self.same_but.borrow().get(written) {
            return Ok(known.clone());
        }
        let mut groups: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        for (number, state) in self.numbering.states.iter().enumerate() {
            let kept = state.iter().enumerate().filter(|(slot, _)| !written.contains(slot));
            groups.entry(kept.map(|(_, value)| *value).collect()).or_default().push(number as u64);
        }
        let mut pairs = space.no();
        for group in groups.into_values() {
            let now = space.one_of(self.now, group.iter().copied())?;
            pairs = pairs.or(&now.and(&space.one_of(self.next, group)?)?)?;
        }
        self.same_but.borrow_mut().insert(written.to_vec(), pairs.clone());
        Ok(pairs)
    }

    /// Where a step of these `parts` is taken and leads to a state without a number; none if it never does.
    pub fn outside(&self, vars: &Vars, parts: &[Bdd], after: &Valuation) -> Result<Option<Outside>> {
        let Some((taken, rest)) = parts.split_first() else { return Ok(None) };
        let inside = taken.through(&vars.space.partition(rest, [self.next])?)?;
        let lost = taken.minus(&inside)?;
        if lost.is_false() {
            return Ok(None);
        }
        let mut to = vec![lost.clone()];
        for (slot, value) in self.slots.iter().zip(&after.shared) {
            for (own, bit) in vars.space.bits(*slot).iter().zip(value) {
                to.push(own.iff(bit)?);
            }
        }
        let from = Condition::new(lost.exists(&vars.all_choices)?);
        Ok(Some(Outside { from, to: Product::new(vars, to)? }))
    }

    /// The states without a number that were met.
    pub fn met(&self) -> BTreeSet<Slots> {
        self.met.borrow().clone()
    }
}

/// A step to shared states without a number.
pub(crate) struct Outside {
    from: Condition,
    /// From the state before to the slots of the state after.
    to: Product,
}

impl Outside {
    /// Notes the states that the step leads to from this set in context `k`.
    pub fn note(&self, vars: &Vars, set: &Bdd, k: usize) -> Result<()> {
        let Some(numbered) = &vars.numbered else { return Ok(()) };
        let lost = set.and(&self.from.at(vars, k)?)?;
        if lost.is_false() || numbered.met.borrow().len() > MOST_STATES {
            return Ok(());
        }
        let others = (0..vars.contexts).flat_map(|i| [Copy::Start(i), Copy::Now(i)]);
        let others = others.filter(|copy| *copy != Copy::Now(k)).chain([Copy::Entry]);
        let here = lost.exists(&vars.shared_cube(others)?)?.exists(&vars.own_params)?;
        let state = vars.all_shared(Copy::Now(k)).chain(vars.locals().iter().copied());
        let forgotten = state.chain(vars.results().iter().copied());
        let mut met = here.through(&vars.space.partition(&self.to.at(vars, k)?, forgotten)?)?;
        while let Some(state) = vars.space.pick(&met, &numbered.slots) {
            vars.space.go_on()?;
            let point: Vec<_> = numbered.slots.iter().copied().zip(state.iter().copied()).collect();
            met = met.minus(&vars.space.point(&point)?)?;
            let mut known = numbered.met.borrow_mut();
            known.insert(state);
            if known.len() > MOST_STATES {
                break;
            }
        }
        Ok(())
    }
}

fn slot_bits(
    space: &Space,
    numbering: &Numbering,
    variable: Variable,
    slots: &[Variable],
) -> Result<Vec<Vec<Bdd>>> {
    let bit = |slot: usize, bit: usize| -> Result<Bdd> {
        let set = numbering.states.iter().enumerate().filter(|(_, state)| state[slot] >> bit & 1 == 1);
        Ok(space.one_of(variable, set.map(|(number, _)| number as u64).collect::<Vec<_>>())?)
    };
    let slots = slots.iter().enumerate();
    slots.map(|(slot, own)| (0..space.levels(*own).len()).map(|at| bit(slot, at)).collect()).collect()
}
