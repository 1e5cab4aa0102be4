//! The path of a depth-first search as whole states on a stack. What was visited is known again by fingerprints or by bits
//! ([`Known`]).

use super::path_store::{Admission, PathStore};
use crate::search::Variety;
use crate::search::holzmann_florian::Visit;
use crate::store::hash::StateHash;
use crate::store::known::{Known, Reach};
use crate::store::sketch::Sketch;
use crate::successors::Successors;
use std::collections::HashSet;

/// When is a state to be visited?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashedRule {
    /// If it never was.
    Once,
    /// If it never was with so few preemptions. When it is, a copy is stored for this and every higher number up to the
    /// bound, so that it matches then; who ran last is not stored. Section 3.2 of Holzmann and Florian (2011, paper 000).
    Replicated { bound: u32 },
}

pub struct HashedPathStore<'a, K> {
    known: K,
    rule: HashedRule,
    seed: u64,
    /// The states on the path and beside it.
    bytes: Vec<u8>,
    /// The states on the path, where that is asked for.
    on_path: Option<HashSet<StateHash>>,
    sketch: Option<&'a mut Sketch>,
}

/// Where a state lies on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    start: usize,
    end: usize,
}

/// Stands before the number of preemptions in what is known of a state.
const COPY: u64 = 1 << 32;

impl<'a, K: Known> HashedPathStore<'a, K> {
    /// `follows_path`: will it be asked what is on the path?
    pub fn new(known: K, rule: HashedRule, variety: Variety<'a>, follows_path: bool) -> Self {
        let on_path = follows_path.then(HashSet::new);
        HashedPathStore {
            known,
            rule,
            seed: variety.seed,
            bytes: Vec::new(),
            on_path,
            sketch: variety.sketch,
        }
    }

    fn hash(&self, state: Range) -> StateHash {
        StateHash::of(&self.bytes[state.start..state.end], self.seed)
    }
}

impl<K: Known> PathStore for HashedPathStore<'_, K> {
    type State = Range;

    fn keep<S: Successors + ?Sized>(&mut self, _: &S, state: &[u8]) -> Option<Range> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        Some(Range { start, end: self.bytes.len() })
    }

    fn admit<S: Successors + ?Sized>(&mut self, system: &S, state: Range, visit: Visit, _: u64) -> Admission {
        let hash = self.hash(state);
        let admission = match self.rule {
            HashedRule::Once => {
                let is_new = self.known.meet(hash, 0).1;
                Admission { visits: is_new, is_new }
            }
            HashedRule::Replicated { bound } => {
                let copy = |number: u32| hash.with(COPY + u64::from(number));
                // Whoever was visited at all has the highest of the copies.
                let is_new = self.known.meet(copy(bound), 0).1;
                let visits = match visit.preemptions < bound {
                    true => self.known.remember(copy(visit.preemptions)),
                    false => is_new,
                };
                if visits {
                    (visit.preemptions + 1..bound).for_each(|number| {
                        self.known.remember(copy(number));
                    });
                }
                Admission { visits, is_new }
            }
        };
        if let (true, Some(sketch)) = (admission.is_new, &mut self.sketch) {
            sketch.add(system.fingerprint(&self.bytes[state.start..state.end]));
        }
        admission
    }

    fn discard(&mut self, state: Range) {
        self.bytes.truncate(state.start);
    }

    fn enter(&mut self, state: Range) -> bool {
        if self.on_path.is_none() {
            return false;
        }
        let hash = self.hash(state);
        self.on_path.as_mut().is_some_and(|on_path| !on_path.insert(hash))
    }

    fn leave(&mut self, state: Range, was_on_path: bool) {
        if self.on_path.is_some() && !was_on_path {
            let hash = self.hash(state);
            self.on_path.as_mut().map(|on_path| on_path.remove(&hash));
        }
        self.bytes.truncate(state.start);
    }

    fn is_on_path(&self, state: Range) -> bool {
        self.on_path.as_ref().is_some_and(|on_path| on_path.contains(&self.hash(state)))
    }

    fn open<S: Successors + ?Sized>(&mut self, _: &S, state: Range) -> &[u8] {
        &self.bytes[state.start..state.end]
    }

    fn bytes(&self) -> u64 {
        self.known.bytes()
    }

    fn path_bytes(&self) -> u64 {
        let on_path = self.on_path.as_ref().map_or(0, HashSet::capacity);
        (self.bytes.capacity() + on_path * size_of::<(StateHash, u64)>()) as u64
    }

    fn reach(&self) -> Reach {
        self.known.reach()
    }
}
