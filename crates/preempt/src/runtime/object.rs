//! The objects of a run: locks, atomics, channels, ... as far as scheduling and happens-before are concerned. Their data is
//! elsewhere, but for atomics' (see `word.rs`).

use super::clock::Clock;
use super::race::Accesses;
use super::thread::CodeLocation;
use super::word::Bytes;
use preempt_stateless::ObjectId;

/// An object of the program under test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    /// For people: `mutex`, `atomic`, ...
    pub kind: &'static str,
    /// Of the mirror; empty if it has none.
    pub type_name: &'static str,
    /// Where it was made, if there is room in it to know that.
    pub made: Option<CodeLocation>,
    /// Who has used it last.
    pub(super) user: Option<usize>,
    /// Who is let through: see [`preempt_stateless::Need`].
    pub gate: u128,
    /// What its releases have made known.
    pub clock: Clock,
    /// A second clock: what readers release to writers. Of an atomic: when each thread has last stored to it.
    pub readers: Clock,
    /// Of an atomic: when each thread has last loaded it.
    pub loads: Clock,
    /// Of a lock.
    pub holder: Option<usize>,
    /// Of a condition variable: who waits, and for each notification who may take it.
    pub waiting: u128,
    pub permits: Vec<u128>,
    /// Of a barrier: who has arrived so far.
    pub count: usize,
    /// Of an atomic.
    pub value: Bytes,
    /// Of an atomic: its accesses that are not atomic, if there were any.
    pub plain: Option<Box<Accesses>>,
}

/// The objects of a run, in the order in which it used them first: their names are 1, 2, 3, ...
#[derive(Debug, Default)]
pub(crate) struct Objects(Vec<Object>);

impl Objects {
    pub const fn none() -> Objects {
        Objects(Vec::new())
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The name of one more.
    pub fn add(&mut self) -> ObjectId {
        self.0.push(Object::default());
        ObjectId(self.0.len() as u64)
    }

    #[inline]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.0.get((id.0 as usize).wrapping_sub(1))
    }

    pub fn get_mut(&mut self, id: ObjectId) -> &mut Object {
        &mut self.0[id.0 as usize - 1]
    }

    pub fn gate(&self, id: ObjectId) -> u128 {
        self.get(id).map_or(0, |object| object.gate)
    }
}
