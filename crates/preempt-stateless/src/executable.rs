//! What the algorithms need to know of a program: nothing but how to run it, step by step.

use std::fmt;
use std::ops::Range;

/// The name of an object (a lock, an atomic, a channel), the same whenever the same steps are repeated.
///
/// It tells objects apart within a run. Runs are compared by [`Stamp`]s, which have no names of objects in them, so
/// "the third object that this run has used" is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u64);

/// One object that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    pub object: ObjectId,
    /// Two accesses conflict if they touch the same object and one of them writes.
    pub write: bool,
}

/// What must hold for an operation to be enabled. It is data, not a question to the program, because paper 001's
/// `Mark` asks it of prefixes that no run has ever stood in.
///
/// An object's state as far as blocking is concerned is its *gate*, a word: writes set it, and reads may add to it
/// (the readers of a lock are independent of each other, and yet each of them keeps writers out). The gates of objects
/// that the first threads of a run stand before are asked for at its start; all others start at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// None of these bits of the gate is set: a mutex nobody holds.
    Clear { object: ObjectId, mask: u128 },
    /// One of these bits is set: a channel with a message.
    Set { object: ObjectId, mask: u128 },
    /// The thread has done its last step.
    Finished(usize),
}

impl Need {
    #[inline]
    fn is_met(&self, gate: &impl Fn(ObjectId) -> u128, finished: &impl Fn(usize) -> bool) -> bool {
        match *self {
            Need::Clear { object, mask } => gate(object) & mask == 0,
            Need::Set { object, mask } => gate(object) & mask != 0,
            Need::Finished(thread) => finished(thread),
        }
    }
}

/// A way on: a thread does its next operation, in the usual way (0) or another. Paper 001 assumes that the successor of a
/// state by a thread is unique, so which way it went is part of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    pub thread: usize,
    pub way: u8,
}

impl From<usize> for Move {
    fn from(thread: usize) -> Move {
        Move { thread, way: 0 }
    }
}

/// How else an operation can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ways {
    /// In the usual way only.
    One,
    /// In one other way (a weak exchange that fails, a wake-up without a notification), for which the last of the needs
    /// need not hold.
    Other,
    /// A choice: a byte of the gate, from this bit on, says in how many ways. If it is not 0, all needs are met.
    Counted { object: ObjectId, shift: u32 },
}

/// The next step of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operation {
    /// What kind of operation it is, for people and to notice that a program is not deterministic.
    pub code: u32,
    pub accesses: [Option<Access>; 3],
    /// All of them must hold.
    pub needs: [Option<Need>; 2],
    pub ways: Ways,
    /// Counts as a yield under the fair bound (paper 003, definition 1.9).
    pub yields: bool,
    /// May enable another thread (paper 003, definition 1.10: a release).
    pub releases: bool,
}

impl Operation {
    /// A step that touches nothing shared.
    #[inline]
    pub fn local(code: u32) -> Operation {
        Operation {
            code,
            accesses: [None; 3],
            needs: [None; 2],
            ways: Ways::One,
            yields: false,
            releases: false,
        }
    }

    #[must_use]
    #[inline]
    pub fn reads(self, object: ObjectId) -> Operation {
        self.access(Access { object, write: false })
    }

    #[must_use]
    #[inline]
    pub fn writes(self, object: ObjectId) -> Operation {
        self.access(Access { object, write: true })
    }

    #[inline]
    fn access(mut self, access: Access) -> Operation {
        let free =
            self.accesses.iter().position(Option::is_none).expect("at most three objects in one operation");
        self.accesses[free] = Some(access);
        self
    }

    #[must_use]
    #[inline]
    pub fn needs(mut self, need: Need) -> Operation {
        let free = self.needs.iter().position(Option::is_none).expect("at most two needs of one operation");
        self.needs[free] = Some(need);
        self
    }

    #[must_use]
    #[inline]
    pub fn varying(mut self, varies: bool) -> Operation {
        self.ways = if varies { Ways::Other } else { Ways::One };
        self
    }

    #[must_use]
    #[inline]
    pub fn choosing(mut self, object: ObjectId, shift: u32) -> Operation {
        self.ways = Ways::Counted { object, shift };
        self
    }

    #[must_use]
    #[inline]
    pub fn yielding(mut self) -> Operation {
        self.yields = true;
        self
    }

    #[must_use]
    #[inline]
    pub fn releasing(mut self) -> Operation {
        self.releases = true;
        self
    }

    pub fn accesses(&self) -> impl Iterator<Item = Access> + '_ {
        self.accesses.iter().flatten().copied()
    }

    /// Does the order of the two matter?
    #[inline]
    pub fn conflicts(&self, other: &Operation) -> bool {
        self.accesses().any(|a| other.accesses().any(|b| a.object == b.object && (a.write || b.write)))
    }

    /// Are all needs met, given the gates and who has finished?
    #[inline]
    pub fn enabled(&self, gate: impl Fn(ObjectId) -> u128, finished: impl Fn(usize) -> bool) -> bool {
        self.needs.iter().flatten().all(|need| need.is_met(&gate, &finished))
    }

    /// In which ways but the usual one can it go?
    #[inline]
    pub fn other_ways(&self, gate: impl Fn(ObjectId) -> u128, finished: impl Fn(usize) -> bool) -> Range<u8> {
        let number = match self.ways {
            Ways::One => 0,
            Ways::Other => {
                let count = self.needs.iter().flatten().count();
                let mut needs = self.needs.iter().flatten().take(count.saturating_sub(1));
                if needs.all(|need| need.is_met(&gate, &finished)) { 2 } else { 0 }
            }
            Ways::Counted { object, shift } => (gate(object) >> shift) as u8,
        };
        1..number.max(1)
    }
}

/// Does the run go on after a step?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// Something went wrong that ends the run here, whoever else could move.
    Stop,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    Fine,
    Failed,
}

/// Something that runs step by step. Threads are numbered in the order in which the run created them.
///
/// **Invariant:** what a thread does next depends only on the steps that happened before it (its own, and those that
/// its accesses see), never on the interleaving of the others. The algorithms notice a breach when they repeat a
/// prefix and find another operation, and report it.
pub trait Executable {
    /// Abandons the current run, if any, and stands before the first step of a new one.
    fn start(&mut self);

    /// How many threads exist so far.
    fn threads(&self) -> usize;

    /// A name for the thread that does not depend on the interleaving: two runs with the same happens-before graph
    /// must use the same names, or they count as different. "The second thread that this thread created" is such a
    /// name; "the second thread" is not.
    fn name(&self, thread: usize) -> u64;

    /// The thread's next operation, also if it is disabled; `None` once it has finished.
    fn next(&self, thread: usize) -> Option<Operation>;

    /// Can the thread do its next operation now, in the usual way?
    ///
    /// Other ways do not count here: a thread that could only wake up by itself is not preempted.
    fn enabled(&self, thread: usize) -> bool;

    /// In which other ways can the thread do its next operation now?
    fn other_ways(&self, thread: usize) -> Range<u8> {
        self.next(thread).map_or(1..1, |next| next.other_ways(|object| self.gate(object), |_| false))
    }

    /// Adds every way on to the list: the usual ones first, in the order of the threads.
    fn add_moves(&self, moves: &mut Vec<Move>) {
        let threads = 0..self.threads();
        moves.extend(threads.clone().filter(|&thread| self.enabled(thread)).map(Move::from));
        moves.extend(threads.flat_map(|thread| self.other_ways(thread).map(move |way| Move { thread, way })));
    }

    /// Can another thread than this one do its next operation now, in the usual way?
    fn has_rival(&self, thread: usize) -> bool {
        (0..self.threads()).any(|other| other != thread && self.enabled(other))
    }

    /// Can the thread do its next operation in this way?
    fn possible(&self, step: Move) -> bool {
        match step.way {
            0 => self.enabled(step.thread),
            way => self.other_ways(step.thread).contains(&way),
        }
    }

    /// Is this the thread's next operation, and possible in this way?
    fn stands_before(&self, step: Move, operation: &Operation) -> bool {
        step.thread < self.threads()
            && self.next(step.thread).as_ref() == Some(operation)
            && self.possible(step)
    }

    /// The object's gate now (see [`Need`]).
    fn gate(&self, object: ObjectId) -> u128;

    /// The thread does its next operation; it must be possible.
    fn step(&mut self, step: Move) -> Flow;

    /// Called when nobody can move, or after [`Flow::Stop`]: was this run a failure?
    fn end(&mut self) -> RunEnd;
}

/// 128 bits that stand for an action or a set of actions (paper 001, section 3.3). Sets are combined by exclusive or,
/// so that a step adds its action and going back removes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Stamp(pub u128);

impl Stamp {
    /// The stamp of the empty set.
    pub const EMPTY: Stamp = Stamp(0);

    #[must_use]
    pub fn toggle(self, action: Stamp) -> Stamp {
        Stamp(self.0 ^ action.0)
    }

    /// The action of thread `name` that is its `index`-th, goes this way, and for each of its accesses reads (false) or
    /// writes (true) this version of some object.
    ///
    /// The paper has the object and the number of the version. Here the version is the stamp of the write that made it,
    /// which says both, and the object is left out: what a thread touches follows from what happened before, and
    /// that is known. So objects need no names that are the same in all runs.
    pub fn action(name: u64, index: u32, way: u8, accesses: impl Iterator<Item = (bool, Stamp)>) -> Stamp {
        let mut mixer = Mixer::new(name, u64::from(index) << 8 | u64::from(way));
        for (write, Stamp(version)) in accesses {
            mixer.add(version as u64 ^ u64::from(write));
            mixer.add((version >> 64) as u64);
        }
        Stamp(mixer.finish())
    }

    /// The version of an object that an action makes with its `slot`-th access.
    #[must_use]
    pub fn version(self, slot: usize) -> Stamp {
        Stamp(self.0.rotate_left(8 * slot as u32 + 1))
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Two independent 64-bit lanes, each a multiply-and-fold of every word.
struct Mixer {
    low: u64,
    high: u64,
}

impl Mixer {
    fn new(a: u64, b: u64) -> Mixer {
        let mut mixer = Mixer { low: 0x243f_6a88_85a3_08d3, high: 0x1319_8a2e_0370_7344 };
        mixer.add(a);
        mixer.add(b);
        mixer
    }

    fn add(&mut self, word: u64) {
        self.low = fold(self.low ^ word, 0x9e37_79b9_7f4a_7c15);
        self.high = fold(self.high.rotate_left(23) ^ word, 0xd6e8_feb8_6659_fd93);
    }

    fn finish(&self) -> u128 {
        let low = fold(self.low ^ 0xa409_3822_299f_31d0, 0xff51_afd7_ed55_8ccd);
        let high = fold(self.high ^ 0x082e_fa98_ec4e_6c89, 0xc4ce_b9fe_1a85_ec53);
        u128::from(high) << 64 | u128::from(low)
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ (a >> 32)) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64) ^ a.rotate_left(17)
}

/// A name made of two others, such as "the n-th thread that this thread created".
pub fn derive_name(parent: u64, index: u64) -> u64 {
    let mixer = Mixer::new(parent, index ^ 0x5bd1_e995_0000_0000);
    mixer.finish() as u64 | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_conflict_on_a_common_object_that_one_writes() {
        let (a, b) = (ObjectId(1), ObjectId(2));
        let reads = Operation::local(0).reads(a);
        let writes = Operation::local(0).reads(b).writes(a);
        assert!(!reads.conflicts(&reads));
        assert!(reads.conflicts(&writes) && writes.conflicts(&reads));
        assert!(!Operation::local(0).writes(b).conflicts(&reads));
    }

    #[test]
    fn stamps_of_sets_do_not_depend_on_the_order() {
        let a = Stamp::action(1, 0, 0, [(true, Stamp::EMPTY)].into_iter());
        let b = Stamp::action(2, 0, 0, [(false, a.version(0))].into_iter());
        assert_ne!(a, b);
        assert_eq!(Stamp::EMPTY.toggle(a).toggle(b), Stamp::EMPTY.toggle(b).toggle(a));
        assert_eq!(Stamp::EMPTY.toggle(a).toggle(a), Stamp::EMPTY);
    }
}
