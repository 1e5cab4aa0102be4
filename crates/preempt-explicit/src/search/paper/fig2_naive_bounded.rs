//! Fig. 2: a depth-first search that visits a state only once, and only within the bound. It cannot guarantee what it
//! seems to: a state that was first reached at the bound is not visited again when it is reached more cheaply, so errors
//! within the bound are missed (Fig. 6 shows how).

use super::{Rules, Visit};
use crate::store::StateNumber;
use std::collections::HashSet;

#[derive(Default)]
pub struct NaiveBounded {
    visited: HashSet<StateNumber>,
}

impl Rules for NaiveBounded {
    fn admits(&mut self, state: StateNumber, _: Visit) -> bool {
        self.visited.insert(state)
    }

    fn bytes(&self) -> u64 {
        (self.visited.capacity() * 6) as u64
    }

    /// The figure takes all successors alike.
    fn goes_on_first(&self) -> bool {
        false
    }
}
