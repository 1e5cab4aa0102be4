//! States one by one, for any well-structured system: slow, and what everything faster is compared with.

use super::Sliceable;
use foldhash::{HashSet, HashSetExt};
use preempt_net::WellStructured;
use std::convert::Infallible;

/// A well-structured system with a basis of its targets, and whether a state lies below an initial one.
pub struct Explicit<'s, W: WellStructured> {
    /// Its order, steps and weights.
    pub system: &'s W,
    /// The smallest states that must not be reached.
    pub targets: Vec<W::State>,
    /// Is there an initial state above this one?
    pub below_initial: &'s dyn Fn(&W::State) -> bool,
}

impl<W: WellStructured> std::fmt::Debug for Explicit<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explicit").field("targets", &self.targets.len()).finish()
    }
}

impl<W: WellStructured> Explicit<'_, W> {
    /// Everything above these states and of at most this weight.
    pub(crate) fn above(&self, states: impl IntoIterator<Item = W::State>, weight: u64) -> HashSet<W::State> {
        let mut open: Vec<W::State> = states.into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(state) = open.pop() {
            if self.system.weight(&state) <= weight && seen.insert(state.clone()) {
                open.extend(self.system.lift(&state));
            }
        }
        seen
    }
}

impl<W: WellStructured> Sliceable for Explicit<'_, W> {
    type Set = HashSet<W::State>;
    type Error = Infallible;

    fn deflation(&self) -> u64 {
        self.system.deflation().unwrap_or(0)
    }

    fn base_weight(&self) -> u64 {
        self.targets.iter().map(|target| self.system.weight(target)).max().unwrap_or(0)
    }

    fn targets(&self, weight: u64) -> Result<Self::Set, Infallible> {
        Ok(self.above(self.targets.iter().cloned(), weight))
    }

    fn lift(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, Infallible> {
        Ok(self.above(set.iter().cloned(), weight))
    }

    /// Above the predecessor basis of each state, those from which a step leads into the set itself.
    fn before(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, Infallible> {
        let mut found = HashSet::new();
        for rule in self.system.rules() {
            let smallest = set.iter().flat_map(|state| self.system.predecessor_basis(state, &rule));
            let candidates = self.above(smallest, weight);
            let leads =
                |state: &W::State| self.system.fire(state, &rule).iter().any(|after| set.contains(after));
            found.extend(candidates.into_iter().filter(leads));
        }
        Ok(found)
    }

    fn initial(&self, set: &Self::Set, _: u64) -> Result<Self::Set, Infallible> {
        Ok(set.iter().filter(|state| (self.below_initial)(state)).cloned().collect())
    }

    fn union(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Infallible> {
        Ok(a.union(b).cloned().collect())
    }

    fn minus(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Infallible> {
        Ok(a.difference(b).cloned().collect())
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }
}
