//! What was known of a state when it was taken: some flags, and which of its processes had been expanded.

/// Bits of what is known of a state, before those of its processes.
pub const FLAGS: usize = 3;

/// There is room for so many words of bits: 255 processes.
const WORDS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known([u64; WORDS]);

impl Known {
    pub const NOTHING: Known = Known([0; WORDS]);
    pub const EVERYTHING: Known = Known([u64::MAX; WORDS]);

    /// Adds a byte, as it stands beside the key.
    #[inline]
    pub(super) fn add(&mut self, at: usize, byte: u8) {
        self.0[at / 8 % WORDS] |= u64::from(byte) << (8 * (at % 8));
    }

    /// The process was expanded.
    #[inline]
    pub fn set(&mut self, process: usize) {
        let bit = FLAGS + process;
        self.0[bit / 64 % WORDS] |= 1 << (bit % 64);
    }

    #[inline]
    pub fn flags(&self) -> u8 {
        self.0[0] as u8 & ((1 << FLAGS) - 1)
    }

    /// Was the process expanded?
    #[inline]
    pub fn has(&self, process: usize) -> bool {
        let bit = FLAGS + process;
        self.0[bit / 64 % WORDS] & 1 << (bit % 64) != 0
    }

    /// Those of the first so many processes that were not expanded, one after the other.
    #[inline]
    pub fn others(&self, count: usize) -> Others<'_> {
        let end = FLAGS + count;
        Others { known: self, word: 0, open: !self.0[0] & below(end) & !((1 << FLAGS) - 1), end }
    }
}

/// The first so many bits of a word.
#[inline]
fn below(end: usize) -> u64 {
    if end < 64 { (1 << end) - 1 } else { u64::MAX }
}

pub struct Others<'k> {
    known: &'k Known,
    word: usize,
    /// Of this word, what is left.
    open: u64,
    end: usize,
}

impl Iterator for Others<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.open == 0 {
            self.word += 1;
            let first = 64 * self.word;
            if first >= self.end {
                return None;
            }
            self.open = !self.known.0.get(self.word)? & below(self.end - first);
        }
        let bit = self.open.trailing_zeros() as usize;
        self.open &= self.open - 1;
        Some(64 * self.word + bit - FLAGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_those_who_were_not_expanded() {
        for count in [0, 1, 5, 60, 61, 62, 64, 124, 125, 126, 200, 255] {
            let mut known = Known::NOTHING;
            (0..(FLAGS + 255usize).div_ceil(8)).for_each(|at| known.add(at, (at * 89 + count) as u8));
            let expected: Vec<usize> = (0..count).filter(|process| !known.has(*process)).collect();
            assert_eq!(known.others(count).collect::<Vec<_>>(), expected);
            assert!(count < 60 || !expected.is_empty());
            assert_eq!(Known::NOTHING.others(count).count(), count);
            assert_eq!(Known::EVERYTHING.others(count).count(), 0);
        }
        assert_eq!(Known::EVERYTHING.flags(), 7);
    }
}
