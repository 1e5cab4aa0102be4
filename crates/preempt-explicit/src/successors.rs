//! What a search asks of a model whose states are byte vectors. There are two answers: machine code
//! ([`crate::native`]) and the reference interpreter ([`crate::interpreted`]).

use preempt_core::PropertyKind;
use preempt_model::interpreter::State;

/// What happens on the way from one stable state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A stable state after `steps` steps; `runs` is the process running then.
    Arrival { state: &'a [u8], runs: u8, steps: u32 },
    /// The last of `steps` steps violates something.
    Violation { kind: PropertyKind, steps: u32 },
}

/// A part of a state that is stored once, however many states it occurs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub start: u32,
    pub end: u32,
    /// Pieces of one table have the same length and the same meaning.
    pub table: u32,
}

pub trait Successors {
    fn initial(&mut self) -> Vec<u8>;

    fn process_count(&self, state: &[u8]) -> usize;

    /// Follows every way on for a process until everybody may run again. Says whether it could move at all.
    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool;

    fn can_move(&mut self, state: &[u8], process: usize) -> bool;

    /// Is everybody where he may end?
    fn may_end(&self, state: &[u8]) -> bool;

    /// The same state in the interpreter's terms.
    fn interpreted(&self, state: &[u8]) -> State;

    /// Which way of cutting a state into pieces is the state's; each has a number and a length.
    fn class_of(&self, state: &[u8]) -> u32;

    fn pieces(&mut self, class: u32) -> &[Piece];

    /// Writes what a class says by itself to the beginning of a state.
    fn write_class(&self, class: u32, state: &mut [u8]);

    /// Why what was computed cannot be trusted, if so.
    fn trouble(&self) -> Option<crate::Unsupported> {
        None
    }
}
