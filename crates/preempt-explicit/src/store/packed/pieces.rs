//! What states are made of: pieces of at most eight bytes that never cross from one variable scope, channel or process to
//! the next, so that each takes few values. A piece's values are numbered ([`Words`]); pieces that mean the same, in
//! whatever class of states, share their numbers.

use super::words::Words;
use crate::successors::Successors;
use std::collections::HashMap;
use std::ops::Range;

/// A stretch of a state that belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub start: usize,
    pub end: usize,
    /// What it means, where the place alone does not say so.
    pub meaning: u32,
}

/// A piece of the states of one class.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// From here eight bytes are read, of which these are the piece's.
    at: u32,
    shift: u32,
    mask: u64,
    offset: u32,
    length: u32,
    /// Which numbers.
    pub kind: u32,
}

impl Leaf {
    #[inline]
    pub fn read(&self, state: &[u8]) -> u64 {
        let at = self.at as usize;
        match state.get(at..at + 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
            Some(bytes) => (u64::from_le_bytes(bytes) >> self.shift) & self.mask,
            None => self.read_short(state),
        }
    }

    /// Of a state that has less than eight bytes.
    #[cold]
    fn read_short(&self, state: &[u8]) -> u64 {
        short(state.get(self.offset as usize..(self.offset + self.length) as usize).unwrap_or(&[]))
    }

    /// Just these bytes: a wider write would have to wait for what was written beside them.
    #[inline]
    pub fn write(&self, state: &mut [u8], word: u64) {
        let (start, length) = (self.offset as usize, self.length as usize);
        let Some(place) = state.get_mut(start..start + length) else { return };
        match length {
            1 => place[0] = word as u8,
            2 | 3 => {
                place[..2].copy_from_slice(&(word as u16).to_le_bytes());
                place[length - 2..].copy_from_slice(&((word >> (8 * (length - 2))) as u16).to_le_bytes());
            }
            4..=7 => {
                place[..4].copy_from_slice(&(word as u32).to_le_bytes());
                place[length - 4..].copy_from_slice(&((word >> (8 * (length - 4))) as u32).to_le_bytes());
            }
            8 => place.copy_from_slice(&word.to_le_bytes()),
            // A piece has one to eight bytes.
            _ => {}
        }
    }
}

/// The states of one class.
#[derive(Debug)]
pub struct ClassPieces {
    pub leaves: Vec<Leaf>,
    /// For every byte of a state: the leaf that has it, if one does.
    leaf_with: Vec<u32>,
    /// A state of which nothing but the class is written.
    blank: Vec<u8>,
}

impl ClassPieces {
    /// Calls `visit` with every leaf that is another one in another state of the class, by its number, and with what it holds
    /// there. False as soon as it says so.
    #[inline]
    pub fn each_changed(
        &self,
        before: &[u8],
        state: &[u8],
        mut visit: impl FnMut(usize, &Leaf, u64) -> bool,
    ) -> bool {
        // Everything before this byte is done.
        let mut done = 0;
        let mut changed = |start: usize, mut differs: u64| {
            differs &= after(done.max(start) - start);
            while differs != 0 {
                let byte = start + differs.trailing_zeros() as usize / 8;
                done = byte + 1;
                let number = self.leaf_with.get(byte).map_or(usize::MAX, |number| *number as usize);
                if let Some(leaf) = self.leaves.get(number) {
                    if !visit(number, leaf, leaf.read(state)) {
                        return false;
                    }
                    done = (leaf.offset + leaf.length) as usize;
                }
                differs &= after(done - start);
            }
            true
        };
        let ((now, rest), (then, other)) = (state.as_chunks::<8>(), before.as_chunks::<8>());
        for (block, (now, then)) in now.iter().zip(then).enumerate() {
            let differs = u64::from_le_bytes(*now) ^ u64::from_le_bytes(*then);
            if differs != 0 && !changed(8 * block, differs) {
                return false;
            }
        }
        rest == other || changed(8 * now.len(), short(rest) ^ short(other))
    }
}

/// The bits of all bytes of a block but the first so many.
#[inline]
fn after(bytes: usize) -> u64 {
    if bytes < 8 { u64::MAX << (8 * bytes) } else { 0 }
}

/// Less than eight bytes as a number.
fn short(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl ClassPieces {
    /// A state of which nothing but the class is written.
    pub fn blank(&self) -> &[u8] {
        &self.blank
    }

    /// The piece that begins here.
    pub fn leaf_at(&self, offset: usize) -> Option<usize> {
        self.leaves.iter().position(|leaf| leaf.offset as usize == offset)
    }

    /// How long a piece is.
    pub fn length_of(&self, leaf: usize) -> usize {
        self.leaves[leaf].length as usize
    }

    /// The pieces of which something lies in one of these stretches.
    pub fn leaves_in(&self, stretches: &[Range<usize>]) -> impl Iterator<Item = usize> {
        let is_in = |leaf: &Leaf| {
            let (start, end) = (leaf.offset as usize, (leaf.offset + leaf.length) as usize);
            stretches.iter().any(|stretch| stretch.start < end && start < stretch.end)
        };
        self.leaves.iter().enumerate().filter(move |(_, leaf)| is_in(leaf)).map(|(at, _)| at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Leaf { offset: usize, length: usize, meaning: u32 },
    Pair(u32, u32),
}

/// All classes that were met, and the numbers of what their states hold.
#[derive(Debug, Default)]
pub struct Pieces {
    words: Vec<Words>,
    kinds: HashMap<Kind, u32>,
    classes: Vec<ClassPieces>,
    /// By the class's number: which of them it is.
    order: Vec<Option<u32>>,
}

impl Pieces {
    /// Makes the class of a state known, if it is not. `None` if there is no such class.
    pub fn meet<S: Successors + ?Sized>(&mut self, system: &S, class: u32) -> Option<()> {
        if self.known(class).is_some() {
            return Some(());
        }
        let mut blank = vec![0; system.class_size(class)?];
        system.write_class(class, &mut blank);
        self.add(class, blank, &system.parts(class));
        Some(())
    }

    /// Adds a class with these parts; of `blank`, nothing but the class is written.
    pub fn add(&mut self, class: u32, blank: Vec<u8>, parts: &[Part]) {
        let (mut leaves, mut leaf_with) = (Vec::new(), vec![u32::MAX; blank.len()]);
        for part in parts {
            let mut start = part.start;
            while start < part.end {
                let length = (part.end - start).min(8);
                let kind = self.kind(Kind::Leaf { offset: start, length, meaning: part.meaning });
                let at = start.min(blank.len().saturating_sub(8));
                leaf_with[start..start + length].fill(leaves.len() as u32);
                leaves.push(Leaf {
                    at: at as u32,
                    shift: 8 * (start - at) as u32,
                    mask: u64::MAX >> (64 - 8 * length),
                    offset: start as u32,
                    length: length as u32,
                    kind,
                });
                start += length;
            }
        }
        if self.order.len() <= class as usize {
            self.order.resize(class as usize + 1, None);
        }
        self.order[class as usize] = Some(self.classes.len() as u32);
        self.classes.push(ClassPieces { leaves, leaf_with, blank });
    }

    fn kind(&mut self, kind: Kind) -> u32 {
        let next = self.words.len() as u32;
        let number = *self.kinds.entry(kind).or_insert(next);
        if number == next {
            let bytes = match kind {
                Kind::Leaf { length, .. } => length,
                Kind::Pair(..) => 8,
            };
            self.words.push(Words::new(bytes));
        }
        number
    }

    /// The numbers of pairs of these.
    pub fn pair(&mut self, left: u32, right: u32) -> u32 {
        self.kind(Kind::Pair(left, right))
    }

    /// Which of the classes that were met it is.
    #[inline]
    pub fn known(&self, class: u32) -> Option<u32> {
        self.order.get(class as usize).copied().flatten()
    }

    pub fn classes(&self) -> &[ClassPieces] {
        &self.classes
    }

    #[inline]
    pub fn words(&self, kind: u32) -> &Words {
        &self.words[kind as usize]
    }

    pub fn kinds(&self) -> usize {
        self.words.len()
    }

    pub fn tidy(&mut self) {
        self.words.iter_mut().for_each(Words::tidy);
    }

    /// The state of a class whose pieces have these numbers.
    pub fn open(&self, class: u32, numbers: &[u32], state: &mut Vec<u8>) {
        let class = &self.classes[class as usize];
        state.clear();
        state.extend_from_slice(&class.blank);
        for (leaf, number) in class.leaves.iter().zip(numbers) {
            leaf.write(state, self.words(leaf.kind).word(*number));
        }
    }

    pub fn bytes(&self) -> u64 {
        let words: u64 = self.words.iter().map(Words::bytes).sum();
        let of_class =
            |class: &ClassPieces| class.leaves.capacity() * size_of::<Leaf>() + 5 * class.blank.capacity();
        let classes: usize = self.classes.iter().map(of_class).sum();
        let kinds = self.kinds.capacity() * 8 / 7 * (size_of::<(Kind, u32)>() + 1);
        words + (classes + kinds + 8 * self.order.capacity()) as u64
    }
}

/// States for tests.
#[cfg(test)]
pub mod sample {
    use super::Part;

    /// Pieces of these lengths after two bytes, every fourth of which never changes.
    const LENGTHS: [usize; 14] = [1, 2, 4, 1, 8, 1, 3, 5, 8, 8, 2, 6, 7, 5];

    pub fn parts() -> Vec<Part> {
        let mut end = 2;
        let part = |length: &usize| {
            end += length;
            Part { start: end - length, end, meaning: 0 }
        };
        LENGTHS.iter().map(part).collect()
    }

    pub fn state_of(number: u64) -> Vec<u8> {
        let mut state = vec![0; 2];
        for (part, length) in LENGTHS.iter().enumerate() {
            let value = number.wrapping_mul(0x9E37_79B9 + 2 * part as u64).rotate_right(7);
            let is_fixed = part % 4 == 3;
            let bytes = if is_fixed { [7; 8] } else { value.to_le_bytes() };
            state.extend_from_slice(&bytes[..*length]);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sample::{parts, state_of};

    /// Pieces within a block of eight bytes, across two, and in the rest of a state.
    #[test]
    fn what_has_changed_is_found() {
        let mut pieces = Pieces::default();
        let parts = parts();
        pieces.add(0, vec![0; parts.last().map_or(0, |part| part.end)], &parts);
        let class = &pieces.classes()[0];
        let before = state_of(1);
        for number in 2..5000 {
            // Some parts of another state, by the bits of the number.
            let (other, mut state) = (state_of(number), before.clone());
            for (_, part) in parts.iter().enumerate().filter(|(part, _)| number >> (part % 12) & 1 != 0) {
                state[part.start..part.end].copy_from_slice(&other[part.start..part.end]);
            }
            let differs = |at: &usize| class.leaves[*at].read(&state) != class.leaves[*at].read(&before);
            let expected: Vec<_> = (0..class.leaves.len()).filter(differs).collect();
            let mut found = Vec::new();
            assert!(class.each_changed(&before, &state, |at, leaf, word| {
                assert_eq!(word, leaf.read(&state));
                found.push(at);
                true
            }));
            assert_eq!(found, expected);
            assert!(expected.is_empty() || !class.each_changed(&before, &state, |_, _, _| false));
        }
    }
}
