//! Numbers for words of 64 bits, given as they are met, by several threads at once. A word is what a piece of a state
//! holds, or the numbers of two pieces that are kept together.
//!
//! A slot has the number and half of the word mixed with the other half, so that nearly always one slot is looked at, and what
//! it leads to only if it is the one; words of at most four bytes are told by the slot alone.
//!
//! Looking a word up takes no lock: slots and words are written before the number that leads to them is published, and
//! never change afterwards. Only whoever adds a word takes the lock. When the slots are too few, twice as many are made
//! beside them; the old ones stay until [`Words::tidy`], since others may be looking at them.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Words of the first segment; each further one has twice as many.
const FIRST: usize = 16;
const SEGMENTS: usize = 28;

/// One less than this many words can be numbered.
const MOST: u32 = 1 << 31;

#[derive(Debug)]
pub struct Words {
    /// Of numbers plus one below the [`tag_of`] their words, 0 is free; the last one made is used.
    tables: [OnceLock<Box<[AtomicU64]>>; SEGMENTS],
    current: AtomicUsize,
    segments: [OnceLock<Box<[AtomicU64]>>; SEGMENTS],
    count: AtomicU32,
    adding: Mutex<()>,
    /// Has no word more than four bytes?
    is_narrow: bool,
}

impl Words {
    /// For words of at most so many bytes.
    pub fn new(bytes: usize) -> Words {
        Words {
            is_narrow: bytes <= 4,
            tables: Default::default(),
            current: AtomicUsize::new(0),
            segments: Default::default(),
            count: AtomicU32::new(0),
            adding: Mutex::new(()),
        }
    }
}

/// Four bytes that depend on the whole word; of a word of at most four bytes, these.
#[inline]
fn tag_of(word: u64) -> u32 {
    word as u32 ^ ((word >> 32) as u32).wrapping_mul(0x9E37_79B1)
}

#[inline]
fn hash_of(word: u64) -> usize {
    let product = u128::from(word ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03;
    (product as u64 ^ (product >> 64) as u64) as usize
}

/// Segment and place of a number.
#[inline]
fn place_of(number: u32) -> (usize, usize) {
    let shifted = number as usize + FIRST;
    let bit = shifted.ilog2();
    ((bit - FIRST.ilog2()) as usize, shifted - (1 << bit))
}

fn free_slots(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

impl Words {
    /// `None` if there are more than can be numbered.
    #[inline]
    pub fn number(&self, word: u64) -> Option<u32> {
        if let Some(slots) = self.tables[self.current.load(Ordering::Acquire)].get()
            && let Ok(number) = self.look_for(slots, word)
        {
            return Some(number);
        }
        self.add(word)
    }

    /// The word's number, or the free slot where it belongs.
    #[inline]
    fn look_for(&self, slots: &[AtomicU64], word: u64) -> Result<u32, usize> {
        let (mask, tag) = (slots.len() - 1, tag_of(word));
        let mut at = hash_of(word) & mask;
        loop {
            let found = slots[at].load(Ordering::Acquire);
            let number = (found as u32).wrapping_sub(1);
            if found == 0 {
                return Err(at);
            }
            if (found >> 32) as u32 == tag && (self.is_narrow || self.word(number) == word) {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn add(&self, word: u64) -> Option<u32> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.count.load(Ordering::Relaxed);
        let mut current = self.current.load(Ordering::Relaxed);
        let mut slots = self.tables[current].get_or_init(|| free_slots(2 * FIRST));
        if (number as usize + 1) * 4 > slots.len() * 3 {
            let larger = free_slots(2 * slots.len());
            for found in slots.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|found| *found != 0) {
                put(&larger, hash_of(self.word(found as u32 - 1)), found);
            }
            current += 1;
            slots = self.tables.get(current)?.get_or_init(|| larger);
            self.current.store(current, Ordering::Release);
        }
        let at = match self.look_for(slots, word) {
            // Somebody was faster.
            Ok(number) => return Some(number),
            Err(at) => at,
        };
        if number >= MOST {
            return None;
        }
        let (segment, place) = place_of(number);
        let words = self.segments.get(segment)?;
        let words = words.get_or_init(|| (0..FIRST << segment).map(|_| AtomicU64::new(0)).collect());
        words[place].store(word, Ordering::Relaxed);
        self.count.store(number + 1, Ordering::Release);
        slots[at].store(u64::from(tag_of(word)) << 32 | u64::from(number + 1), Ordering::Release);
        Some(number)
    }

    /// What the number stands for; 0 if nothing does.
    #[inline]
    pub fn word(&self, number: u32) -> u64 {
        let (segment, place) = place_of(number);
        match self.segments.get(segment).and_then(OnceLock::get) {
            Some(words) => words[place].load(Ordering::Relaxed),
            None => 0,
        }
    }

    pub fn len(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Gives back what nobody can be looking at any more.
    pub fn tidy(&mut self) {
        let current = *self.current.get_mut();
        for table in &mut self.tables[..current] {
            table.take();
        }
    }

    pub fn bytes(&self) -> u64 {
        let slots: usize = self.tables.iter().filter_map(OnceLock::get).map(|table| 8 * table.len()).sum();
        let words: usize = self.segments.iter().filter_map(OnceLock::get).map(|words| 8 * words.len()).sum();
        (slots + words + size_of::<Words>()) as u64
    }
}

fn put(slots: &[AtomicU64], hash: usize, found: u64) {
    let mask = slots.len() - 1;
    let mut at = hash & mask;
    while slots[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    slots[at].store(found, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_are_given_once_whoever_asks() {
        given_once(4, |i| i.wrapping_mul(0x1234_5678_9ABC_DEF1) % 50_021);
        // Many with the same tag.
        given_once(8, |i| {
            let high = i % 50_021;
            high << 32 | u64::from((high as u32).wrapping_mul(0x9E37_79B1) ^ (i % 3) as u32)
        });
    }

    fn given_once(bytes: usize, word: impl Fn(u64) -> u64 + Copy + Send + Sync) {
        let words = Words::new(bytes);
        let by_thread: Vec<Vec<(u64, u32)>> = std::thread::scope(|scope| {
            let ask = |thread: u64| {
                let words = &words;
                move || {
                    let each = (0..60_000).map(|i| word(i * 3 + thread * 1000));
                    each.map(|word| (word, words.number(word).expect("there is room"))).collect()
                }
            };
            let threads: Vec<_> = (0..3).map(|thread| scope.spawn(ask(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let mut met = HashSet::new();
        for (word, number) in by_thread.into_iter().flatten() {
            assert_eq!(words.word(number), word);
            met.insert(word);
        }
        assert_eq!(words.len() as usize, met.len());
        let mut words = words;
        words.tidy();
        assert!(met.iter().all(|word| words.word(words.number(*word).expect("there is room")) == *word));
    }
}
