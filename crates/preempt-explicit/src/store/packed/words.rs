//! Numbers for words of 64 bits, given as they are met, by several threads at once. A word is what a piece of a state
//! holds, or the numbers of two pieces that are kept together.
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
    /// Of numbers plus one, 0 is free; the last one made is used.
    tables: [OnceLock<Box<[AtomicU32]>>; SEGMENTS],
    current: AtomicUsize,
    segments: [OnceLock<Box<[AtomicU64]>>; SEGMENTS],
    count: AtomicU32,
    adding: Mutex<()>,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            tables: Default::default(),
            current: AtomicUsize::new(0),
            segments: Default::default(),
            count: AtomicU32::new(0),
            adding: Mutex::new(()),
        }
    }
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

fn free_slots(count: usize) -> Box<[AtomicU32]> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

impl Words {
    /// `None` if there are more than can be numbered.
    #[inline]
    pub fn number(&self, word: u64) -> Option<u32> {
        if let Some(slots) = self.tables[self.current.load(Ordering::Acquire)].get() {
            let mask = slots.len() - 1;
            let mut at = hash_of(word) & mask;
            loop {
                match slots[at].load(Ordering::Acquire) {
                    0 => break,
                    found if self.word(found - 1) == word => return Some(found - 1),
                    _ => at = (at + 1) & mask,
                }
            }
        }
        self.add(word)
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
                put(&larger, hash_of(self.word(found - 1)), found);
            }
            current += 1;
            slots = self.tables.get(current)?.get_or_init(|| larger);
            self.current.store(current, Ordering::Release);
        }
        let mask = slots.len() - 1;
        let mut at = hash_of(word) & mask;
        loop {
            match slots[at].load(Ordering::Relaxed) {
                0 => break,
                // Somebody was faster.
                found if self.word(found - 1) == word => return Some(found - 1),
                _ => at = (at + 1) & mask,
            }
        }
        if number >= MOST {
            return None;
        }
        let (segment, place) = place_of(number);
        let words = self.segments.get(segment)?;
        let words = words.get_or_init(|| (0..FIRST << segment).map(|_| AtomicU64::new(0)).collect());
        words[place].store(word, Ordering::Relaxed);
        self.count.store(number + 1, Ordering::Release);
        slots[at].store(number + 1, Ordering::Release);
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
        let slots: usize = self.tables.iter().filter_map(OnceLock::get).map(|table| 4 * table.len()).sum();
        let words: usize = self.segments.iter().filter_map(OnceLock::get).map(|words| 8 * words.len()).sum();
        (slots + words + size_of::<Words>()) as u64
    }
}

fn put(slots: &[AtomicU32], hash: usize, number: u32) {
    let mask = slots.len() - 1;
    let mut at = hash & mask;
    while slots[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    slots[at].store(number, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_are_given_once_whoever_asks() {
        let words = Words::default();
        let word = |i: u64| i.wrapping_mul(0x1234_5678_9ABC_DEF1) % 50_021;
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
