//! Stamps: 128 bits that identify an action, or a set of actions, in all runs (Musuvathi and Qadeer 2007, paper 001, section
//! 3.3).
//!
//! Sets are combined by exclusive or, so a step adds its action and going back removes it, each in constant time. Two
//! different sets have the same stamp with a probability of about 2^-128 (the stamps of actions are mixed, not proved to be
//! independent); only there could a search miss a graph.

use std::fmt;

/// 128 bits that stand for an action or a set of actions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Stamp(pub u128);

impl Stamp {
    /// The stamp of the empty set.
    pub const EMPTY: Stamp = Stamp(0);

    /// The stamp of the set with the action, or without it if it was in it.
    #[must_use]
    pub fn toggle(self, action: Stamp) -> Stamp {
        Stamp(self.0 ^ action.0)
    }

    /// The action of thread `name` that is its `index`-th, was done by this choice, and for each of its accesses reads (false) or
    /// writes (true) this version of some object.
    ///
    /// The paper has the object and the number of the version. Here the version is the stamp of the write that made it,
    /// which says both, and the object is left out: what a thread touches follows from what happened before, and
    /// that is known. So objects need no names that are the same in all runs.
    pub fn action(name: u64, index: u32, choice: u8, accesses: impl Iterator<Item = (bool, Stamp)>) -> Stamp {
        let mut mixer = Mixer::new(name, u64::from(index) << 8 | u64::from(choice));
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
    fn stamps_of_sets_do_not_depend_on_the_order() {
        let a = Stamp::action(1, 0, 0, [(true, Stamp::EMPTY)].into_iter());
        let b = Stamp::action(2, 0, 0, [(false, a.version(0))].into_iter());
        assert_ne!(a, b);
        assert_eq!(Stamp::EMPTY.toggle(a).toggle(b), Stamp::EMPTY.toggle(b).toggle(a));
        assert_eq!(Stamp::EMPTY.toggle(a).toggle(a), Stamp::EMPTY);
    }
}
