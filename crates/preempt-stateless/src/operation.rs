//! Operations as data: what a step touches, what it needs to be enabled, and what its thread can choose.
//!
//! The algorithms decide by these alone which steps commute and who is enabled in which prefix, so a description must not
//! promise too much: two operations without a common object must commute whatever the program is.

use std::ops::Range;

/// The name of an object (a lock, an atomic, a channel), the same whenever the same steps are repeated.
///
/// It tells objects apart within a run. Runs are compared by [`crate::Stamp`]s, which have no names of objects in them, so
/// "the third object that this run has used" is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u64);

/// One object that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which object.
    pub object: ObjectId,
    /// Does it change the object? Two accesses conflict if they touch the same object and one of them writes.
    pub write: bool,
}

/// What must hold for an operation to be enabled. It is data, not a question to the program, because `Mark` of Musuvathi
/// and Qadeer 2007 (paper 001) needs to know it of prefixes that no run has ever stood in.
///
/// An object's state as far as blocking is concerned is its *gate*, a word: writes set it, and reads may add to it
/// (the readers of a lock are independent of each other, and yet each of them keeps writers out). The gates of objects
/// that the first threads of a run stand before are read at its start; all others start at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// None of these bits of the gate is set: a mutex nobody holds.
    Clear {
        /// Whose gate.
        object: ObjectId,
        /// Which bits.
        mask: u128,
    },
    /// One of these bits is set: a channel with a message.
    Set {
        /// Whose gate.
        object: ObjectId,
        /// Which bits.
        mask: u128,
    },
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

/// What a thread can choose when it does an operation. Choice 0 is the usual one, and there is always that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choices {
    /// Nothing.
    One,
    /// Whether something happens for no reason (a weak exchange fails, a wait ends without a notification), for which the
    /// last of the needs need not hold.
    Spurious,
    /// One of so many as a byte of a gate says. If it is not 0, all needs are met.
    Counted {
        /// Whose gate.
        object: ObjectId,
        /// The byte begins with this bit.
        shift: u32,
    },
}

/// The next step of a thread.
#[allow(clippy::derived_hash_with_manual_eq, reason = "what is equal has equal fields")]
#[derive(Debug, Clone, Copy, Eq, Hash)]
pub struct Operation {
    /// What kind of operation it is, for people and to notice that a program is not deterministic.
    pub code: u32,
    /// The objects that it touches.
    pub accesses: [Option<Access>; 3],
    /// All of them must hold.
    pub needs: [Option<Need>; 2],
    /// What its thread can choose.
    pub choices: Choices,
    /// Counts as a yield under the fair bound (paper 003, definition 1.9).
    pub yields: bool,
    /// May enable another thread (paper 003, definition 1.10: a release).
    pub releases: bool,
}

/// As derived, but without calls: whenever a step is repeated it is compared with what it was.
impl PartialEq for Operation {
    #[inline]
    fn eq(&self, other: &Operation) -> bool {
        let Operation { code, accesses: [a, b, c], needs: [d, e], choices, yields, releases } = self;
        (*code, *yields, *releases) == (other.code, other.yields, other.releases)
            && *a == other.accesses[0]
            && *b == other.accesses[1]
            && *c == other.accesses[2]
            && *d == other.needs[0]
            && *e == other.needs[1]
            && *choices == other.choices
    }
}

impl Operation {
    /// An operation of this kind that touches nothing shared, needs nothing and leaves no choice.
    #[inline]
    pub fn new(code: impl Into<u32>) -> Operation {
        Operation {
            code: code.into(),
            accesses: [None; 3],
            needs: [None; 2],
            choices: Choices::One,
            yields: false,
            releases: false,
        }
    }

    /// It also reads the object.
    ///
    /// # Panics
    /// If it touches three objects already.
    #[must_use]
    #[inline]
    pub fn reads(self, object: ObjectId) -> Operation {
        self.access(Access { object, write: false })
    }

    /// It also writes the object.
    ///
    /// # Panics
    /// If it touches three objects already.
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

    /// It is enabled only if this holds, too.
    ///
    /// # Panics
    /// If it has two needs already.
    #[must_use]
    #[inline]
    pub fn needs(mut self, need: Need) -> Operation {
        let free = self.needs.iter().position(Option::is_none).expect("at most two needs of one operation");
        self.needs[free] = Some(need);
        self
    }

    /// It may also happen spuriously: see [`Choices::Spurious`].
    #[must_use]
    #[inline]
    pub fn may_be_spurious(mut self, spurious: bool) -> Operation {
        self.choices = if spurious { Choices::Spurious } else { Choices::One };
        self
    }

    /// It has as many choices as a byte of the object's gate says: see [`Choices::Counted`].
    #[must_use]
    #[inline]
    pub fn choosing(mut self, object: ObjectId, shift: u32) -> Operation {
        self.choices = Choices::Counted { object, shift };
        self
    }

    /// It counts as a yield.
    #[must_use]
    #[inline]
    pub fn yielding(mut self) -> Operation {
        self.yields = true;
        self
    }

    /// It counts as a release.
    #[must_use]
    #[inline]
    pub fn releasing(mut self) -> Operation {
        self.releases = true;
        self
    }

    /// The objects that it touches.
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

    /// Which choices are there besides the usual one, given the gates and who has finished?
    #[inline]
    pub fn other_choices(
        &self,
        gate: impl Fn(ObjectId) -> u128,
        finished: impl Fn(usize) -> bool,
    ) -> Range<u8> {
        let number = match self.choices {
            Choices::One => 0,
            Choices::Spurious => {
                let count = self.needs.iter().flatten().count();
                let mut needs = self.needs.iter().flatten().take(count.saturating_sub(1));
                if needs.all(|need| need.is_met(&gate, &finished)) { 2 } else { 0 }
            }
            Choices::Counted { object, shift } => (gate(object) >> shift) as u8,
        };
        1..number.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_conflict_on_a_common_object_that_one_writes() {
        let (a, b) = (ObjectId(1), ObjectId(2));
        let new = || Operation::new(0_u32);
        let reads = new().reads(a);
        let writes = new().reads(b).writes(a);
        assert!(!reads.conflicts(&reads));
        assert!(reads.conflicts(&writes) && writes.conflicts(&reads));
        assert!(!new().writes(b).conflicts(&reads));
    }
}
