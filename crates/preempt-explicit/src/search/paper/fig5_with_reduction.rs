//! Fig. 5: context bounding with ample sets. A safe step of any process may be taken alone while the bound is not
//! reached; the switches to it and away from it are not counted (the credit of two), which is why each visit remembers
//! whether it came by a safe step. At the bound, and where a safe step would close a cycle on the path, there is no
//! reduction. The bound that is reported is thereby a lower bound on the preemptions of the runs considered.

use super::{Rules, Visit};
use crate::store::StateNumber;
use std::collections::HashMap;

#[derive(Default)]
pub struct WithReduction {
    /// The lowest number of preemptions, and who came with it, by a safe step or not.
    known: HashMap<StateNumber, (u32, Vec<(u8, bool)>)>,
}

impl Rules for WithReduction {
    /// Definition 9: for all (s, x, y, z) in S: x > k, or x = k and y is another process, or x = k and only this visit
    /// came by a safe step.
    fn admits(&mut self, state: StateNumber, visit: Visit) -> bool {
        let (lowest, came) = self.known.entry(state).or_insert((u32::MAX, Vec::new()));
        if visit.preemptions < *lowest {
            (*lowest, *came) = (visit.preemptions, vec![(visit.last, visit.safe)]);
            return true;
        }
        let knows_more = |(last, safe): &(u8, bool)| *last == visit.last && (*safe || !visit.safe);
        let admits = visit.preemptions == *lowest && !came.iter().any(knows_more);
        if admits {
            came.push((visit.last, visit.safe));
        }
        admits
    }

    /// The list of processes is an allocation of its own.
    fn bytes(&self) -> u64 {
        (self.known.capacity() * (size_of::<(StateNumber, (u32, Vec<(u8, bool)>))>() + 32)) as u64
    }

    fn reduces(&self) -> bool {
        true
    }
}
