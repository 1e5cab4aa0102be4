//! Backward by weight: the algorithm of Fig. 3 of Bingham and Hu 2005 (paper 004), with the optimisation of section 4.1, for
//! any nicely sliceable system.
//!
//! Sets of states of bounded weight are finite, so that the backward reachable ones among them can be computed by any
//! means; `slots` does it with decision diagrams for nets, and [`explicit`] one by one for everything that is well
//! structured. Weights grow until delta of them in a row bring nothing new: then the upward closure of what there is is
//! everything that leads to a target (Theorem 1), since a step takes at most delta of the weight away.
//!
//! The cost is that of the sets: diagrams of (n + delta) slots, where n is the last weight that brought something new. *Lifting*
//! begins each weight with what lies above the sets before it, instead of with the targets; without it most nets of Table 1
//! are out of reach, as they are without structural reduction before (`results/paper-004-nets.md`). On nets the basis of
//! smallest elements is faster almost everywhere; this engine can say that no run has fewer tokens.

pub mod explicit;
pub(crate) mod net;
pub(crate) mod slots;

/// What Fig. 3 needs of a nicely sliceable system (Definition 9), with sets of whatever kind.
pub trait Sliceable {
    /// Finite sets of states; those of one weight can be compared.
    type Set: Clone + PartialEq;
    /// Why a set could not be computed.
    type Error;

    /// The delta of Definition 8.
    fn deflation(&self) -> u64;

    /// The weight of the heaviest element in the basis of the targets.
    fn base_weight(&self) -> u64;

    /// The weight to begin with. Where no step changes the weight it may be that of the lightest target: then the first
    /// weight at which an initial state is met is the smallest there is.
    fn first_weight(&self) -> u64 {
        self.base_weight()
    }

    /// The targets of at most this weight.
    fn targets(&self, weight: u64) -> Result<Self::Set, Self::Error>;

    /// Lift (Definition 11): what is above a set of at most `weight - 1`, and of at most this weight.
    fn lift(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, Self::Error>;

    /// The states of at most this weight from which one step leads into the set.
    fn before(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, Self::Error>;

    /// The part of the set that lies below an initial state.
    fn initial(&self, set: &Self::Set, weight: u64) -> Result<Self::Set, Self::Error>;

    /// What is in one of the two sets.
    fn union(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Self::Error>;
    /// What is in the first set and not in the second.
    fn minus(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Self::Error>;
    /// Is nothing in the set?
    fn is_empty(&self, set: &Self::Set) -> bool;
}

/// A set in the order of its making: what is in it leads into earlier ones.
#[derive(Debug, Clone)]
pub struct Layer<S> {
    /// What was new.
    pub set: S,
    /// The weight at which it was.
    pub weight: u64,
    /// Its states lie above earlier ones; otherwise one step leads from each to an earlier one.
    pub lifted: bool,
}

/// How a search by weight ends.
#[derive(Debug, Clone)]
pub enum WeightOutcome<S> {
    /// Part of a set lies below initial states; the layers lead from there to the targets.
    Reached {
        /// What lies below initial states.
        part: S,
        /// The weight at which it was found.
        weight: u64,
        /// All sets, in the order of their making.
        layers: Vec<Layer<S>>,
    },
    /// The upward closure of this set, of at most this weight n, is everything that leads to a target.
    Converged {
        /// What was found up to the weight n.
        set: S,
        /// The last weight that brought something new.
        n: u64,
    },
}

/// Fig. 3; with `lifting`, lines 3' and 5' of section 4.1. `go_on` is called between operations with the
/// weight and the number of rounds so far, and may end the search.
pub fn by_weight<S: Sliceable>(
    system: &S,
    lifting: bool,
    go_on: &mut dyn FnMut(u64, u64) -> Result<(), S::Error>,
) -> Result<WeightOutcome<S::Set>, S::Error> {
    let (delta, base) = (system.deflation(), system.base_weight());
    let mut weight = system.first_weight();
    let mut n = base;
    let mut rounds = 0;
    let mut layers: Vec<Layer<S::Set>> = Vec::new();
    // Gamma of the weight before, and of n.
    let mut last: Option<S::Set> = None;
    let mut best: Option<S::Set> = None;
    while n.saturating_add(delta) >= weight {
        let lifted = last.as_ref().map(|last| system.lift(last, weight)).transpose()?;
        let start = match &lifted {
            Some(lifted) if lifting && weight > base => lifted.clone(),
            Some(lifted) if lifting => system.union(lifted, &system.targets(weight)?)?,
            _ => system.targets(weight)?,
        };
        layers.push(Layer { set: start.clone(), weight, lifted: true });
        let mut gamma = start.clone();
        let mut new = start;
        while !system.is_empty(&new) {
            rounds += 1;
            go_on(weight, rounds)?;
            new = system.minus(&system.before(&new, weight)?, &gamma)?;
            if !system.is_empty(&new) {
                gamma = system.union(&gamma, &new)?;
                layers.push(Layer { set: new.clone(), weight, lifted: false });
            }
        }
        let part = system.initial(&gamma, weight)?;
        if !system.is_empty(&part) {
            return Ok(WeightOutcome::Reached { part, weight, layers });
        }
        // Section 5.3: with lifting, Gamma contains what was lifted, and equality says the same as inclusion.
        let nothing_new = match &lifted {
            Some(lifted) if lifting => gamma == *lifted,
            Some(lifted) => system.is_empty(&system.minus(&gamma, lifted)?),
            None => false,
        };
        if !nothing_new || weight <= base {
            n = weight.max(base);
            best = Some(gamma.clone());
        }
        last = Some(gamma);
        weight += 1;
    }
    let set = match best {
        Some(set) => set,
        None => system.targets(base)?,
    };
    Ok(WeightOutcome::Converged { set, n })
}
