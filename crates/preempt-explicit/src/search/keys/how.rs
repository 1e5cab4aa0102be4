//! How a state was reached, as far as it decides who is expanded there, and when: a few bytes, since every successor has them.

use super::remembered::Step;
use crate::store::packed::encoding::Key;

/// How a state was reached: the process running then, and what is to be known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct How {
    process: u8,
    bits: u8,
    /// So many, where they are counted; else one.
    steps: u32,
}

impl How {
    /// It is a step of the process. Without, it is an initial state.
    const STEP: u8 = 1 << 1;
    /// The process is one of the state's.
    pub const LIVES: u8 = 1 << 2;
    /// The exact reduction lets it go on alone; as in [`Step`].
    pub const ALONE: u8 = Step::ALONE;
    /// It may be left for free.
    pub const FREE: u8 = 1 << 3;

    /// Nobody runs, and to go on costs a switch.
    pub const GAVE_WAY: How = How { process: 0, bits: How::LIVES, steps: 1 };

    /// Nobody is to run there.
    pub const TOO_DEEP: How = How { process: 0, bits: How::ALONE, steps: 1 };

    pub const INITIAL: How = How { process: 0, bits: How::FREE, steps: 0 };

    #[inline]
    pub fn runs(process: u8, bits: u8, steps: u32) -> How {
        How { process, bits: How::STEP | bits, steps }
    }

    /// And it may be left for free.
    pub fn freely(self) -> How {
        How { bits: self.bits | How::FREE, ..self }
    }

    #[inline]
    pub fn steps(self) -> u32 {
        self.steps
    }

    /// Who is running.
    #[inline]
    pub fn process(self) -> Option<u8> {
        self.has(How::STEP).then_some(self.process)
    }

    #[inline]
    pub fn has(self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    /// The process's number, whether it lives or not.
    #[inline]
    pub fn number(self) -> u8 {
        self.process
    }

    /// Can it be a [`Step`]?
    #[inline]
    pub fn is_short(self) -> bool {
        self.steps <= Step::MOST_STEPS
    }

    /// The step between two keys that it was, if it is short.
    pub fn step(self, from: &Key, to: &Key) -> Step {
        Step::new(from, to, (self.process, self.steps), self.bits & How::ALONE)
    }
}
