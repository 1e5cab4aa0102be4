//! Numbers for what is met again and again: shared states, frames, and stacks of frames.
//!
//! A stack is a frame on top of another stack, so that threads with deep stacks share what is below: to push or to pop costs
//! the same at any depth.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The hash of the Rust compiler: fast for small keys that nobody chooses to harm us.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fx(u64);

impl Hasher for Fx {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

pub(crate) type FxMap<K, V> = HashMap<K, V, BuildHasherDefault<Fx>>;

/// Words of numbers, each with a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    numbers: FxMap<Box<[i32]>, u32>,
    words: Vec<Box<[i32]>>,
    /// About how much memory it takes.
    pub bytes: u64,
}

impl Interner {
    pub fn number(&mut self, word: &[i32]) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.words.len() as u32;
        self.words.push(word.into());
        self.numbers.insert(word.into(), number);
        self.bytes += 2 * (4 * word.len() as u64 + 24) + 8;
        number
    }

    pub fn word(&self, number: u32) -> &[i32] {
        &self.words[number as usize]
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }
}

/// The thread has ended, or will never again do anything that somebody could notice.
pub(crate) const OVER: u32 = 0;
/// The thread has not been started.
pub(crate) const WAITING: u32 = 1;

/// Stacks of frames by their numbers: what a thread does after the present context is told by its stack.
#[derive(Debug)]
pub(crate) struct Stacks {
    numbers: FxMap<(u32, u32), u32>,
    /// Top frame, the stack below it (`OVER`: none), and how many frames there are.
    stacks: Vec<(u32, u32, u32)>,
}

impl Default for Stacks {
    fn default() -> Stacks {
        // the places of `OVER` and `WAITING`
        Stacks { numbers: FxMap::default(), stacks: vec![(u32::MAX, OVER, 0); 2] }
    }
}

impl Stacks {
    pub fn push(&mut self, below: u32, frame: u32) -> u32 {
        if let Some(number) = self.numbers.get(&(frame, below)) {
            return *number;
        }
        let number = self.stacks.len() as u32;
        self.stacks.push((frame, below, self.depth(below) + 1));
        self.numbers.insert((frame, below), number);
        number
    }

    pub fn top(&self, stack: u32) -> u32 {
        self.stacks[stack as usize].0
    }

    pub fn below(&self, stack: u32) -> u32 {
        self.stacks[stack as usize].1
    }

    pub fn depth(&self, stack: u32) -> u32 {
        self.stacks[stack as usize].2
    }

    pub fn len(&self) -> usize {
        self.stacks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_and_equal_stacks_have_one_number() {
        let mut interner = Interner::default();
        let (a, b) = (interner.number(&[1, 2]), interner.number(&[2, 1]));
        assert_ne!(a, b);
        assert_eq!((interner.number(&[1, 2]), interner.word(b), interner.len()), (a, &[2, 1][..], 2));
        let mut stacks = Stacks::default();
        let one = stacks.push(OVER, a);
        let two = stacks.push(one, b);
        assert_eq!((stacks.top(two), stacks.below(two), stacks.depth(two)), (b, one, 2));
        assert_eq!(stacks.push(one, b), two);
        assert_ne!(stacks.push(OVER, b), two);
    }
}
