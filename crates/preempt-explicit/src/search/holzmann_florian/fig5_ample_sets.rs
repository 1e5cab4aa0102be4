//! Fig. 5: context bounding with ample sets. A safe step of any process may be taken alone while the bound is not
//! reached; the switches to it and away from it are not counted (the credit of two), which is why each visit remembers
//! whether it came by a safe step. At the bound, and where a safe step would close a cycle on the path, there is no
//! reduction (`depth_first/eager.rs` chooses the set).
//!
//! Theorem 2 of the paper: no error within the bound is missed. But the bound that is reported is thereby a lower bound on
//! the preemptions of the runs considered; the run that is shown is put into the cheapest order of its steps
//! (`replay/cheapest_order.rs`).

use super::{RevisitRule, Visit};
use crate::search::depth_first::Admission;
use crate::store::StateNumber;
use std::collections::HashMap;

#[derive(Default)]
pub struct RevisitsWithSafeSteps {
    /// The lowest number of preemptions, and who came with it, by a safe step or not.
    known: HashMap<StateNumber, (u32, Vec<(u8, bool)>)>,
}

impl RevisitRule for RevisitsWithSafeSteps {
    /// Definition 9: for all (s, x, y, z) in S: x > k, or x = k and y is another process, or x = k and only this visit
    /// came by a safe step.
    fn admit(&mut self, state: StateNumber, visit: Visit) -> Admission {
        let (lowest, came) = self.known.entry(state).or_insert((u32::MAX, Vec::new()));
        let is_new = came.is_empty();
        if visit.preemptions < *lowest {
            (*lowest, *came) = (visit.preemptions, vec![(visit.last, visit.safe)]);
            return Admission { visits: true, is_new };
        }
        let knows_more = |(last, safe): &(u8, bool)| *last == visit.last && (*safe || !visit.safe);
        let visits = visit.preemptions == *lowest && !came.iter().any(knows_more);
        if visits {
            came.push((visit.last, visit.safe));
        }
        Admission { visits, is_new }
    }

    /// The list of processes is an allocation of its own.
    fn bytes(&self) -> u64 {
        (self.known.capacity() * (size_of::<(StateNumber, (u32, Vec<(u8, bool)>))>() + 32)) as u64
    }
}
