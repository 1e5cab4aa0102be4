//! The one generator of pseudo-random numbers: SplitMix64 (Steele, Lea and Flood 2014).
//!
//! Eight bytes of state, any seed is a good one, and a seed gives the same numbers on every machine, so that a seed names
//! a random program, walk or order in a report. It is good enough to choose processes and to shuffle; it is not for
//! secrets. `below` takes the remainder: with the small numbers that are drawn here the bias is beyond measuring.

/// A seeded sequence of pseudo-random numbers.
///
/// ```
/// use preempt_core::Rng;
///
/// let (mut one, mut other) = (Rng::new(7), Rng::new(7));
/// assert_eq!(one.word(), other.word());
/// assert!(one.below(6) < 6);
/// ```
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The sequence that the seed names.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// Less than `n`; 0 if that is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.below_u64(n as u64) as usize
    }

    /// Less than `n`; 0 if that is 0.
    pub fn below_u64(&mut self, n: u64) -> u64 {
        self.word() % n.max(1)
    }

    /// True in one of `cases` cases.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, cases: usize) -> bool {
        self.below(100) < cases
    }

    /// Puts the list into a random order, every order as likely as any other (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    /// As the reference implementation has it: seeds in reports mean the same for ever.
    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut rng = Rng::new(1_234_567);
        let words = [6457827717110365317, 3203168211198807973, 9817491932198370423];
        assert_eq!([rng.word(), rng.word(), rng.word()], words);
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut list: Vec<u32> = (0..100).collect();
        Rng::new(3).shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
