//! Fig. 3: a state is visited again when it is reached with fewer preemptions than ever before, or with as few but by
//! another process. Kept for each state: the lowest number, and the processes that came with it.
//!
//! Theorem 1 of the paper: everything that can be reached within the bound is visited, since what may follow a visit at no
//! higher cost depends on the state, the preemptions that are left, and who ran last. The price is that a state is visited up
//! to as many times as there are numbers of preemptions times processes.

use super::{RevisitRule, Visit};
use crate::search::depth_first::Admission;
use crate::store::StateNumber;
use std::collections::HashMap;

#[derive(Default)]
pub struct Revisits {
    known: HashMap<StateNumber, (u32, Vec<u8>)>,
}

impl RevisitRule for Revisits {
    /// For all (s, x, y) in S: x > b, or x = b and y is another process.
    fn admit(&mut self, state: StateNumber, visit: Visit) -> Admission {
        let (lowest, came) = self.known.entry(state).or_insert((u32::MAX, Vec::new()));
        let is_new = came.is_empty();
        if visit.preemptions < *lowest {
            (*lowest, *came) = (visit.preemptions, vec![visit.last]);
            return Admission { visits: true, is_new };
        }
        let visits = visit.preemptions == *lowest && !came.contains(&visit.last);
        if visits {
            came.push(visit.last);
        }
        Admission { visits, is_new }
    }

    /// The list of processes is an allocation of its own.
    fn bytes(&self) -> u64 {
        (self.known.capacity() * (size_of::<(StateNumber, (u32, Vec<u8>))>() + 32)) as u64
    }
}
