//! What a search asks of a system whose states are byte vectors.
//!
//! There are three answers: machine code for a model (`native`), the same with an observer beside it (`product`), and
//! anything that implements [`System`](preempt_model::System) ([`crate::interned`]).
//!
//! The trait can be made into an object. Searches are generic over it all the same, and are compiled twice: once for
//! machine code, where a call that is not inlined is seen in the time, and once for `dyn Successors`, where the work behind
//! the call takes far longer than the call.

use crate::replay::{Ending, ReplayError, ReplayOptions, StatePath};
use crate::search::{Counterexample, ProcessSet};
use crate::store::packed::pieces::Part;
use preempt_core::{Budget, Property, PropertyKind};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::ops::Range;

/// What happens on the way from one stable state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A stable state after `steps` steps; `runs` is the process running then.
    Arrival { state: &'a [u8], runs: u8, steps: u32 },
    /// The last of `steps` steps violates something.
    Violation { kind: PropertyKind, steps: u32 },
}

/// A system whose states are byte vectors.
pub trait Successors {
    fn initial(&mut self) -> Vec<Vec<u8>>;

    fn process_count(&self, state: &[u8]) -> usize;

    /// Everything that a process can do until everybody may run again. Says whether it could move at all.
    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool;

    fn can_move(&mut self, state: &[u8], process: usize) -> bool;

    /// Does it have helpers, who may compute steps before they are asked for?
    fn is_helped(&self) -> bool {
        false
    }

    /// These states will be come to, in this order, and the steps of these processes asked for. Nothing but time depends on it.
    fn announce(&mut self, _some: &[(Vec<u8>, ProcessSet)]) {}

    /// From now on, what may take long looks at this budget. Once that is stopped, states are missing and what is found
    /// counts for nothing.
    fn work_within(&mut self, budget: &Budget);

    /// Is everybody where he may end?
    fn may_end(&self, state: &[u8]) -> bool;

    /// Can a state be a violation in itself?
    fn judges_states(&self) -> bool {
        false
    }

    /// What a state violates in itself, if anything.
    fn state_violation(&mut self, _state: &[u8]) -> Option<PropertyKind> {
        None
    }

    /// Does the process stand where the exact reduction lets it run on alone?
    fn runs_alone(&self, _state: &[u8], _process: usize) -> bool {
        false
    }

    /// The processes that the strong reduction tries here, in a depth-first search that tries everybody if all that these
    /// lead to are states on its path; `None` for everybody.
    fn persistent_on_path(&mut self, _state: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// States of one class have the same length and the same meaning of their bytes. Classes are numbered.
    fn class_of(&self, state: &[u8]) -> u32;

    /// The length of its states; `None` if there is no class with this number.
    fn class_size(&self, class: u32) -> Option<usize>;

    /// So many bytes at the beginning of a state say nothing but its class.
    fn header(&self) -> usize;

    /// Writes them.
    fn write_class(&self, class: u32, state: &mut [u8]);

    /// What a class is, in numbers that mean the same in every search of the same system; `None` if there are none.
    fn describe_class(&self, _class: u32) -> Option<Vec<u16>> {
        None
    }

    /// The class that was described so, in this or another search of the same system.
    fn class_described(&self, _description: &[u16]) -> Option<u32> {
        None
    }

    /// A number that stands for what the state means, the same in every search of the same system: byte vectors may have
    /// numbers in them that each search gives as it goes.
    fn fingerprint(&self, state: &[u8]) -> u64;

    /// The stretches of a state of this class that belong together, without the bytes that say the class.
    fn parts(&self, class: u32) -> Vec<Part> {
        let end = self.class_size(class).unwrap_or(0);
        vec![Part { start: self.header().min(end), end, meaning: 0 }]
    }

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
    fn error(&self) -> Option<crate::Unsupported> {
        None
    }
}

/// A system that knows its own definition: what a search finds is executed by it, and told in its words.
pub trait Replayable: Successors {
    /// A path that a search has found, executed by the system's definition.
    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> std::result::Result<Counterexample, ReplayError>;

    /// What is violated in a state, or in a step from it, in the definition's words; `None` if nothing is, or the budget
    /// has ended.
    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property>;
}

/// What decides the steps of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Of the state.
    pub stretches: Vec<Range<usize>>,
    /// And whether anybody can move without a timeout.
    pub asks_timeout: bool,
}

/// Where successors are written to.
pub trait Sink {
    /// The bytes of all successors, one after the other.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// From here to the end of the buffer it is a stable state, after so many steps; `runs` is the process running then.
    fn arrived(&mut self, start: usize, runs: u8, steps: u32);

    /// The last of so many steps violates something.
    fn violated(&mut self, kind: PropertyKind, steps: u32);
}

/// What can be asked without a call through an object, and by several threads.
pub trait Expander: Successors {
    /// As [`Successors::expand`], without a call for each event and with one copy of each state.
    fn expand_into(&mut self, state: &[u8], process: usize, sink: &mut impl Sink) -> bool;

    /// Where in the state the stretch begins that says where the process stands; the same in all states of the class.
    /// `None` if there is no such stretch.
    fn place_of(&self, _state: &[u8], _process: usize) -> Option<usize> {
        None
    }

    /// On which stretches of a state it depends what the process can do, with those that its steps may change: for
    /// every state of the class that has the same bytes in those stretches of which `is_known` is true. `None` if that
    /// cannot be said.
    fn decided_by(
        &mut self,
        _state: &[u8],
        _process: usize,
        _is_known: &dyn Fn(&Range<usize>) -> bool,
    ) -> Option<Decided> {
        None
    }

    /// The processes that the strong reduction tries here, in a search of any order; `None` for everybody.
    fn persistent(&mut self, _state: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Could the process move if there were no timeouts? Asked only where [`Decided::asks_timeout`].
    fn moves_without_timeout(&mut self, _state: &[u8], _process: usize) -> bool {
        false
    }
}

/// A system whose states several threads can search, each with a part of its own.
pub trait Parallel: Replayable {
    type Worker: Expander + Send;

    /// The same states and steps for another thread, if that is possible.
    fn worker(&self) -> Option<Self::Worker>;
}

fn no_checkpoints() -> Error {
    Error::new(ErrorKind::Unsupported, "only a model in machine code can be continued")
}
