//! What a depth-first search keeps: the states on its path and those that wait beside it, and what it knows of those that
//! it visited. There are two ways: by numbers in the exact store ([`super::exact`]), or as whole states on a stack, known
//! again by their hashes ([`super::hashed`]).

use crate::search::holzmann_florian::Visit;
use crate::store::known::Reach;
use crate::successors::Successors;

/// Is a visit to be made?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    pub visits: bool,
    /// The state was never visited before.
    pub is_new: bool,
}

/// States are kept in the order of a stack: what is kept last is discarded or left first.
pub trait PathStore {
    /// A state that is kept.
    type State: Copy;

    /// Keeps an initial state, or a successor of the state that was opened last; `None` if there is no more room.
    fn keep<S: Successors + ?Sized>(&mut self, system: &S, state: &[u8]) -> Option<Self::State>;

    /// The revisit rule: is the state to be visited in this way, after so many steps? If so, it is remembered.
    fn admit<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        state: Self::State,
        visit: Visit,
        steps: u64,
    ) -> Admission;

    /// It is not visited.
    fn discard(&mut self, state: Self::State);

    /// It is now the last state of the path. Was it on the path already?
    fn enter(&mut self, state: Self::State) -> bool;

    /// It was the last state of the path; `was_on_path` is what [`PathStore::enter`] said.
    fn leave(&mut self, state: Self::State, was_on_path: bool);

    fn is_on_path(&self, state: Self::State) -> bool;

    fn open<S: Successors + ?Sized>(&mut self, system: &S, state: Self::State) -> &[u8];

    /// Of what is known about the states that were visited.
    fn bytes(&self) -> u64;

    /// Of the states on the path and beside it.
    fn path_bytes(&self) -> u64;

    fn reach(&self) -> Reach;
}
