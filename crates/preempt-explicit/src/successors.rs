//! What a search asks of a system whose states are byte vectors. There are two answers for a model: machine code
//! ([`crate::native`], with an observer [`crate::watched`]) and whatever defines the system ([`crate::interned`]).

use preempt_core::{Budget, PropertyKind};
use preempt_model::System;
use std::io::{Error, ErrorKind, Read, Result, Write};

/// What happens on the way from one stable state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A stable state after `steps` steps; `runs` is the process running then.
    Arrival { state: &'a [u8], runs: u8, steps: u32 },
    /// The last of `steps` steps violates something.
    Violation { kind: PropertyKind, steps: u32 },
}

pub trait Successors {
    /// What defines these states and steps: it describes runs and executes them again.
    type Reference: System;

    fn reference(&self) -> &Self::Reference;

    /// The same state in its definition's terms.
    fn state_of(&self, state: &[u8]) -> <Self::Reference as System>::State;

    fn initial(&mut self) -> Vec<Vec<u8>>;

    fn process_count(&self, state: &[u8]) -> usize;

    /// Follows every way on for a process until everybody may run again. Says whether it could move at all.
    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool;

    fn can_move(&mut self, state: &[u8], process: usize) -> bool;

    /// From now on, what may take long looks at this budget. Once that is stopped, states are missing and what is found
    /// counts for nothing.
    fn work_within(&mut self, budget: &Budget);

    /// Is everybody where he may end?
    fn may_end(&self, state: &[u8]) -> bool;

    /// Can a state be wrong in itself?
    const JUDGES_STATES: bool;

    /// What is wrong with the state itself, if something is.
    fn state_violation(&mut self, _state: &[u8]) -> Option<PropertyKind> {
        None
    }

    /// Does the process stand where the exact reduction lets it run on alone?
    fn runs_alone(&self, _state: &[u8], _process: usize) -> bool {
        false
    }

    /// The processes that the strong reduction tries here; `None` for everybody.
    fn persistent(&mut self, _state: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The same for a depth-first search that tries everybody if all that these lead to are states on its path.
    fn persistent_on_path(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.persistent(state)
    }

    /// States of one class have the same length and the same meaning of their bytes. Classes are numbered.
    fn class_of(&self, state: &[u8]) -> u32;

    /// The length of its states; `None` if there is no class with this number.
    fn class_size(&self, class: u32) -> Option<usize>;

    /// So many bytes at the beginning of a state say nothing but its class.
    const HEADER: usize;

    /// Writes them.
    fn write_class(&self, class: u32, state: &mut [u8]);

    /// A number that is different for another system.
    fn identity(&self) -> u64 {
        0
    }

    /// Writes what is needed to understand stored states, for [`Successors::restore`].
    fn save(&self, _: &mut dyn Write) -> Result<()> {
        Err(no_checkpoints())
    }

    fn restore(&mut self, _: &mut dyn Read) -> Result<()> {
        Err(no_checkpoints())
    }

    /// Could this be a state, as far as computing its successors relies on it? Asked of what was restored.
    fn is_possible(&self, _state: &[u8]) -> bool {
        true
    }

    /// Memory used for states outside the store.
    fn bytes(&self) -> u64 {
        0
    }

    /// Why what was computed cannot be trusted, if so.
    fn trouble(&self) -> Option<crate::Unsupported> {
        None
    }
}

/// For several searches, one after the other.
impl<S: Successors> Successors for &mut S {
    type Reference = S::Reference;
    const JUDGES_STATES: bool = S::JUDGES_STATES;
    const HEADER: usize = S::HEADER;

    fn reference(&self) -> &S::Reference {
        (**self).reference()
    }

    fn state_of(&self, state: &[u8]) -> <S::Reference as System>::State {
        (**self).state_of(state)
    }

    fn initial(&mut self) -> Vec<Vec<u8>> {
        (**self).initial()
    }

    fn process_count(&self, state: &[u8]) -> usize {
        (**self).process_count(state)
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        (**self).expand(state, process, visit)
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        (**self).can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        (**self).work_within(budget);
    }

    fn may_end(&self, state: &[u8]) -> bool {
        (**self).may_end(state)
    }

    fn state_violation(&mut self, state: &[u8]) -> Option<PropertyKind> {
        (**self).state_violation(state)
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        (**self).runs_alone(state, process)
    }

    fn persistent(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        (**self).persistent(state)
    }

    fn persistent_on_path(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        (**self).persistent_on_path(state)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        (**self).class_of(state)
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        (**self).class_size(class)
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        (**self).write_class(class, state);
    }

    fn identity(&self) -> u64 {
        (**self).identity()
    }

    fn save(&self, out: &mut dyn Write) -> Result<()> {
        (**self).save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> Result<()> {
        (**self).restore(input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        (**self).is_possible(state)
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn trouble(&self) -> Option<crate::Unsupported> {
        (**self).trouble()
    }
}

fn no_checkpoints() -> Error {
    Error::new(ErrorKind::Unsupported, "only a model in machine code can be continued")
}
