//! Following an atomic sequence, path by path, until everybody may run again: `search/stable.rs` of the model, on machine
//! code. A sequence may be long, or have no end: there is no recursion, the time is linear in its length, and the budget
//! is looked at.

use super::actor::Actor;
use super::layout::Layout;
use super::moves::{Moves, StepList, Timeout};
use super::program::Program;
use crate::budget::Every;
use crate::successors::Event;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// How often, in steps, the budget is looked at.
const LOOK_EVERY: u32 = 1024;

/// So many states of a sequence are compared one by one; those after them are found by their hashes.
const SCANNED: usize = 16;

/// Memory that is kept for the next sequence.
const KEPT_BYTES: u64 = 1 << 24;

/// No level.
const NONE: u32 = u32::MAX;

/// What is needed to follow sequences, one after the other.
#[derive(Debug)]
pub struct Sequence {
    /// The steps of every level on the current path, and the states that they lead to, level after level.
    found: StepList,
    levels: Vec<Level>,
    /// The last level whose state has this hash, from the level [`SCANNED`] on.
    by_hash: HashMap<u64, u32, foldhash::fast::FixedState>,
    hasher: foldhash::fast::FixedState,
    /// The state that is left, after its hidden variables.
    source: Vec<u8>,
    look: Every,
}

/// A state on the current path: the first one is stable, the others lie in the middle of the sequence.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// The first of its steps, and the next to be looked at.
    first: usize,
    next: usize,
    /// Where the states that they lead to begin.
    bytes: usize,
    /// Of the state, and the last level before this one with the same hash.
    hash: u64,
    same: u32,
}

/// A state in the middle of a sequence.
#[derive(Debug, Clone, Copy)]
struct Middle {
    holder: u8,
    start: usize,
    size: usize,
}

impl Sequence {
    pub fn new() -> Sequence {
        Sequence {
            found: StepList::default(),
            levels: Vec::new(),
            by_hash: HashMap::default(),
            hasher: foldhash::fast::FixedState::default(),
            source: Vec::new(),
            look: Every::new(LOOK_EVERY),
        }
    }

    /// Everything that a process can do from a stable state. Says whether it could move at all.
    #[allow(unsafe_code)]
    pub fn follow(
        &mut self,
        moves: &mut Moves<'_>,
        (state, hidden): (&[u8], &[u8]),
        process: usize,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> bool {
        let program = moves.program;
        self.forget();
        self.source.clear();
        self.source.extend_from_slice(hidden);
        self.source.extend_from_slice(state);
        // SAFETY: the source is this state after its hidden variables.
        unsafe { self.moves_from_source(moves, hidden.len(), process, Timeout::Evaluated) };
        let moved = !self.found.steps.is_empty();
        self.levels.push(Level { first: 0, next: 0, bytes: 0, hash: 0, same: NONE });
        while let Some(level) = self.levels.last_mut() {
            if level.next == self.found.steps.len() {
                self.leave();
                continue;
            }
            let step = &self.found.steps[level.next];
            level.next += 1;
            if self.look.is_due() && program.exhausted_with(self.bytes()).is_some() {
                break;
            }
            let step = (step.runs, step.violation, step.exclusive, step.start, step.size);
            let (runs, violation, exclusive, start, size) = step;
            let steps = self.levels.len() as u32;
            if let Some(kind) = violation {
                visit(Event::Violation { kind, steps });
            }
            if size == 0 {
                continue;
            }
            let Some(holder) = exclusive else {
                visit(Event::Arrival { state: &self.found.bytes[start..start + size], runs, steps });
                continue;
            };
            let middle = Middle { holder, start, size };
            let hash = self.hash(middle, hidden.len());
            // An atomic sequence that comes back to where it was never ends and leads nowhere else.
            if self.was_passed(middle, hidden.len(), hash) {
                continue;
            }
            let (first, bytes) = (self.found.steps.len(), self.found.bytes.len());
            self.source.clear();
            self.source.extend_from_slice(&self.found.bytes[start - hidden.len()..start + size]);
            // SAFETY: the source is the state in the middle after its hidden variables.
            unsafe { self.moves_from_source(moves, hidden.len(), holder.into(), Timeout::Never) };
            if self.found.steps.len() == first {
                visit(Event::Arrival { state: &self.source[hidden.len()..], runs, steps });
            } else {
                self.enter(Level { first, next: first, bytes, hash, same: NONE });
            }
        }
        moved
    }

    /// # Safety
    /// The source is a state of the program after its hidden variables.
    #[allow(unsafe_code)]
    unsafe fn moves_from_source(
        &mut self,
        moves: &mut Moves<'_>,
        hidden: usize,
        process: usize,
        timeout: Timeout,
    ) {
        let layout = layout_of(moves.program, &self.source[hidden..]);
        // SAFETY: the source is not changed until the moves are found, and it is not part of what is found.
        let actor = unsafe { Actor::new(self.source.as_mut_ptr().add(hidden), layout, process) };
        moves.moves(actor, timeout, &mut self.found);
    }

    fn enter(&mut self, level: Level) {
        let number = self.levels.len() as u32;
        let deep = number as usize >= SCANNED;
        let before = if deep { self.by_hash.insert(level.hash, number) } else { None };
        self.levels.push(Level { same: before.unwrap_or(NONE), ..level });
    }

    fn leave(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        self.found.steps.truncate(level.first);
        self.found.bytes.truncate(level.bytes);
        if self.levels.len() >= SCANNED {
            match level.same {
                NONE => self.by_hash.remove(&level.hash),
                before => self.by_hash.insert(level.hash, before),
            };
        }
    }

    fn hash(&self, middle: Middle, hidden: usize) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u8(middle.holder);
        hasher.write(&self.found.bytes[middle.start - hidden..middle.start + middle.size]);
        hasher.finish()
    }

    /// Is this state one of those that the path has passed?
    fn was_passed(&self, middle: Middle, hidden: usize, hash: u64) -> bool {
        let is_same = |level: usize| {
            let by = &self.found.steps[self.levels[level - 1].next - 1];
            by.exclusive == Some(middle.holder)
                && self.found.bytes[by.start - hidden..by.start + by.size]
                    == self.found.bytes[middle.start - hidden..middle.start + middle.size]
        };
        let scanned = 1..self.levels.len().min(SCANNED);
        if scanned.into_iter().any(|level| self.levels[level].hash == hash && is_same(level)) {
            return true;
        }
        if self.levels.len() <= SCANNED {
            return false;
        }
        let mut level = self.by_hash.get(&hash).copied().unwrap_or(NONE);
        while level != NONE && !is_same(level as usize) {
            level = self.levels[level as usize].same;
        }
        level != NONE
    }

    /// What the last sequence needed is not kept if it was much.
    fn forget(&mut self) {
        self.found.clear();
        self.levels.clear();
        self.by_hash.clear();
        if self.bytes() > KEPT_BYTES {
            (self.found, self.levels, self.by_hash) = Default::default();
        }
    }

    pub fn bytes(&self) -> u64 {
        let levels = self.levels.capacity() * size_of::<Level>() + self.by_hash.capacity() * 20;
        self.found.memory() + levels as u64
    }
}

/// Of a state.
pub fn layout_of<'p>(program: &'p Program, state: &[u8]) -> &'p Layout {
    program.layouts.of_state(state)
}
