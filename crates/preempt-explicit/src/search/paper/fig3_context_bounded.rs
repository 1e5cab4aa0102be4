//! Fig. 3: a state is visited again when it is reached with fewer preemptions than ever before, or with as few but by
//! another process. Kept for each state: the lowest number, and the processes that came with it.

use super::{Rules, Visit};
use crate::store::StateNumber;
use std::collections::HashMap;

#[derive(Default)]
pub struct ContextBounded {
    known: HashMap<StateNumber, (u32, Vec<u8>)>,
}

impl Rules for ContextBounded {
    /// For all (s, x, y) in S: x > b, or x = b and y is another process.
    fn admits(&mut self, state: StateNumber, visit: Visit) -> bool {
        let (lowest, came) = self.known.entry(state).or_insert((u32::MAX, Vec::new()));
        if visit.preemptions < *lowest {
            (*lowest, *came) = (visit.preemptions, vec![visit.last]);
            return true;
        }
        let admits = visit.preemptions == *lowest && !came.contains(&visit.last);
        if admits {
            came.push(visit.last);
        }
        admits
    }

    /// The list of processes is an allocation of its own.
    fn bytes(&self) -> u64 {
        (self.known.capacity() * (size_of::<(StateNumber, (u32, Vec<u8>))>() + 32)) as u64
    }
}
