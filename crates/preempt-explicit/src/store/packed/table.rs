//! The table of packed keys: buckets of one or two cache lines, an entry being the key and what is known of the state.
//! One look-up touches one bucket, rarely the next.
//!
//! A table has sixteen shards that are of different sizes, so that they grow one after the other, each by rewriting itself:
//! the table never stands still for longer than a sixteenth of it takes. Several threads may use it at the same time ([`bucket`]
//! says how); growing needs the table alone.
#![allow(
    unsafe_code,
    reason = "buckets in memory of its own, and what is known of a state in single bytes of them"
)]

mod bucket;
mod growth;
mod known;
mod places;

use super::encoding::Key;
use super::pages::{LINE, Pages, Supply};
use crate::store::index;
pub use bucket::Format;
use bucket::{Bucket, Layout, Sought};
use growth::{AFTER_GROWTH, FULLEST};
pub use known::{FLAGS, Known};
#[cfg(feature = "native")]
pub use places::{Buckets, Places};
use std::sync::atomic::{AtomicU8, Ordering};

pub const SHARDS: usize = 16;

/// How many buckets a look-up goes through before it says that the shard is full. Where buckets have seven entries, of which five
/// in six are used, a million of them have rows of more than a hundred full ones.
const LONGEST: usize = 1 << 10;

#[derive(Debug)]
struct Shard {
    pages: Pages,
    buckets: u64,
    used: u64,
}

#[derive(Debug)]
pub struct Table {
    shards: Vec<Shard>,
    supply: Supply,
    layout: Layout,
    /// Do several threads use it?
    shared: bool,
}

/// What was known of a state that was met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meeting {
    pub is_new: bool,
    /// Was the process's bit set before?
    pub had_process: bool,
    pub flags: u8,
}

impl Table {
    /// `None` if there is no memory.
    pub fn new(format: Format, shared: bool) -> Option<Table> {
        Table::with_room(format, shared, 0)
    }

    fn with_room(format: Format, shared: bool, states: u64) -> Option<Table> {
        let layout = format.layout();
        let mut table = Table { shards: Vec::new(), supply: Supply::default(), layout, shared };
        for shard in 0..SHARDS {
            // Each is larger than the one before it by the same factor, all together by that of growing.
            let share = FULLEST as f64 / AFTER_GROWTH as f64;
            let room =
                (states / SHARDS as u64).max(60) as f64 * share.powf(shard as f64 / SHARDS as f64) * 1.3;
            let buckets = (room as u64).div_ceil(table.layout.entries as u64);
            let shard = table.empty(buckets, buckets)?;
            table.shards.push(shard);
        }
        Some(table)
    }

    /// With about so many buckets, and at least `least`.
    fn empty(&mut self, buckets: u64, least: u64) -> Option<Shard> {
        let bytes = |buckets: u64| usize::try_from(buckets).ok()?.checked_mul(self.layout.size);
        let pages = self.supply.take(bytes(buckets)?, bytes(least)?)?;
        Some(Shard {
            buckets: (pages.bytes() / self.layout.size).min(u32::MAX as usize) as u64,
            pages,
            used: 0,
        })
    }

    /// How many there are, as far as they were counted.
    pub fn states(&self) -> u64 {
        self.shards.iter().map(|shard| shard.used).sum()
    }

    /// Is anything known of states but that they were met?
    pub fn keeps_processes(&self) -> bool {
        self.layout.format.known > 0
    }

    pub fn set_shared(&mut self, shared: bool) {
        self.shared = shared;
    }

    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Every key.
    pub fn each_key(&self, mut visit: impl FnMut(Key)) {
        self.shards.iter().for_each(|shard| self.each(shard, |key, _| visit(key)));
    }

    #[inline]
    fn shard_of(hash: u64) -> usize {
        (hash >> 60) as usize
    }

    #[inline]
    fn home(shard: &Shard, hash: u64) -> usize {
        ((((hash << 4) >> 32) * shard.buckets) >> 32) as usize
    }

    /// Asks for the memory that a look-up needs. Where another thread may have had it last, it is asked for to be written: to find
    /// that out when it is locked takes as long as not to have asked.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let shard = &self.shards[Table::shard_of(hash)];
        // SAFETY: the bucket lies within the pages; that the memory is asked for changes nothing.
        unsafe {
            let start = shard.pages.start().add(Table::home(shard, hash) * self.layout.size);
            if self.shared {
                index::prefetch_to_write(&*start);
                if self.layout.size > LINE {
                    index::prefetch_to_write(&*start.add(LINE));
                }
                return;
            }
            index::prefetch(&*start);
            if self.layout.size > LINE {
                index::prefetch(&*start.add(LINE));
            }
        }
    }

    #[inline]
    fn bucket(&self, shard: &Shard, number: usize) -> Bucket<'_> {
        debug_assert!((number as u64) < shard.buckets);
        // SAFETY: the bucket lies within the pages of the shard, which are aligned and were zero at first; `shared` is said
        // wherever something is changed.
        unsafe { Bucket::new(shard.pages.start().add(number * self.layout.size), &self.layout) }
    }

    /// What is known of the state, and whether it is new; `None` if the shard must grow first.
    #[inline(always)]
    fn find(&self, key: &Key, hash: u64, adds: bool) -> Option<(*mut u8, bool)> {
        let shard = &self.shards[Table::shard_of(hash)];
        let sought = self.layout.sought(key, hash);
        // Nearly always it is where it belongs.
        let bucket = self.bucket(shard, Table::home(shard, hash));
        let count = bucket.count();
        match bucket.find(0, count, sought) {
            Some(entry) => Some((bucket.known(entry), false)),
            None => self.find_further(shard, (Table::home(shard, hash), count), sought, adds),
        }
    }

    /// It was not found among the first so many entries of its bucket, but that may be full, and others may be adding to it.
    #[inline(never)]
    fn find_further(
        &self,
        shard: &Shard,
        (mut at, mut seen): (usize, usize),
        sought: Sought,
        adds: bool,
    ) -> Option<(*mut u8, bool)> {
        for _ in 0..LONGEST {
            let bucket = self.bucket(shard, at);
            let count = bucket.count();
            if count < self.layout.entries && adds {
                if let Some((entry, is_new)) = bucket.add(seen, sought, self.shared) {
                    return Some((bucket.known(entry), is_new));
                }
            } else {
                if let Some(entry) = bucket.find(seen, count, sought) {
                    return Some((bucket.known(entry), false));
                }
                if count < self.layout.entries {
                    return None;
                }
            }
            (at, seen) = (if at + 1 == shard.buckets as usize { 0 } else { at + 1 }, 0);
        }
        None
    }

    /// Sets bits of what is known of a state, and says what was known before.
    ///
    /// # Safety
    /// It is a byte of what is known of a state.
    #[inline]
    unsafe fn set(&self, known: *mut u8, bits: u8) -> u8 {
        // SAFETY: bytes of this kind are used in no other way once others can see them.
        let known = unsafe { AtomicU8::from_ptr(known) };
        let before = known.load(Ordering::Relaxed);
        if before & bits == bits {
            return before;
        }
        if self.shared {
            return known.fetch_or(bits, Ordering::AcqRel);
        }
        known.store(before | bits, Ordering::Relaxed);
        before
    }

    /// Was the state met before? `None` if the table must grow first.
    #[inline]
    pub fn insert(&self, key: &Key, hash: u64) -> Option<bool> {
        self.find(key, hash, true).map(|(_, is_new)| is_new)
    }

    /// Meets a state, sets the bit of a process, if there is one, and these flags, and says what was known before. Of several
    /// threads that set the same bit at the same time, one is told that it was not set.
    #[inline(always)]
    pub fn meet(&self, key: &Key, hash: u64, process: Option<u8>, flags: u8) -> Option<Meeting> {
        let bit = process.map(|process| FLAGS + usize::from(process));
        let bit = bit.filter(|bit| bit / 8 < self.layout.format.known);
        let (known, is_new) = self.find(key, hash, true)?;
        let is_among = |before: u8, bit: usize| before & 1 << (bit % 8) != 0;
        // SAFETY: there are as many bytes as the processes need, of which there is at least one.
        let (flags, had_process) = unsafe {
            match bit {
                None => (self.set(known, flags), true),
                Some(bit @ 0..8) => {
                    let before = self.set(known, flags | 1 << bit);
                    (before, is_among(before, bit))
                }
                Some(bit) => {
                    let before = self.set(known.add(bit / 8), 1 << (bit % 8));
                    (self.set(known, flags), is_among(before, bit))
                }
            }
        };
        Some(Meeting { is_new, had_process, flags: flags & ((1 << FLAGS) - 1) })
    }

    /// What is known of a state, if it is there.
    pub fn known_of(&self, key: &Key, hash: u64) -> Option<Known> {
        let (known, _) = self.find(key, hash, false)?;
        let mut all = Known::NOTHING;
        for byte in 0..self.layout.format.known {
            // SAFETY: there are so many bytes, which are used in no other way once others can see them.
            all.add(byte, unsafe { AtomicU8::from_ptr(known.add(byte)) }.load(Ordering::Relaxed));
        }
        Some(all)
    }

    /// Sets flags and all processes of a state that is there, and says what was known before.
    #[inline]
    pub fn take_all(&self, key: &Key, hash: u64, flags: u8) -> Option<Known> {
        let (known, _) = self.find(key, hash, false)?;
        let mut before = Known::NOTHING;
        for byte in 0..self.layout.format.known {
            let bits = if byte == 0 { flags | !((1 << FLAGS) - 1) } else { u8::MAX };
            // SAFETY: there are so many bytes.
            before.add(byte, unsafe { self.set(known.add(byte), bits) });
        }
        Some(before)
    }

    /// So many states of each shard are new since this was said the last time.
    pub fn count(&mut self, new: &[u64; SHARDS]) {
        for (shard, new) in self.shards.iter_mut().zip(new) {
            shard.used += new;
        }
    }

    /// Which shard a state belongs to, for [`Table::count`].
    #[inline]
    pub fn shard(hash: u64) -> usize {
        Table::shard_of(hash)
    }

    pub fn bytes(&self) -> u64 {
        self.supply.bytes_of(self.shards.iter().map(|shard| &shard.pages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Crew;
    use crate::store::packed::encoding::hash_of;
    use std::collections::HashMap;

    /// Different numbers, spread over so many bytes.
    fn key(number: u64, bytes: usize) -> Key {
        let both = u128::from(number).wrapping_mul(0x1_0000_0001_0000_0000_0001_0001)
            & (u128::MAX >> (128 - 8 * bytes));
        [both as u64, (both >> 64) as u64]
    }

    /// Against a map, with every width of keys: what is known is found again, through growth and another packing.
    #[test]
    fn everything_is_found_again() {
        for bytes in 4..=16 {
            let format = Format { key: bytes, known: 2 };
            let mut table = Table::new(format, false).expect("there is memory");
            let mut known: HashMap<Key, (u8, u16)> = HashMap::new();
            for number in 0..6000u64 {
                let key = key(number % 4001, bytes);
                let (process, flag) = ((number % 11) as u8, u8::from(number % 3 == 0));
                let hash = hash_of(&key);
                let meeting = table.meet(&key, hash, Some(process), flag).expect("there is room");
                let before = known.get(&key).copied();
                assert_eq!(meeting.is_new, before.is_none());
                let (flags, processes) = before.unwrap_or_default();
                assert_eq!((meeting.flags, meeting.had_process), (flags, processes & 1 << process != 0));
                known.insert(key, (flags | flag, processes | 1 << process));
                let mut new = [0; SHARDS];
                new[Table::shard(hash)] += u64::from(meeting.is_new);
                table.count(&new);
                assert!(table.make_room(1, &mut Crew::new(1)));
            }
            let wider = Format { key: (bytes + 1).min(16), known: 5 };
            let table = table.repacked(wider, &mut Crew::new(2), &|key, _| *key).expect("there is memory");
            let mut count = 0;
            table.each_key(|key| count += usize::from(known.contains_key(&key)));
            assert_eq!(count, known.len());
            for (key, (flags, processes)) in &known {
                let found = table.take_all(key, hash_of(key), 2).expect("it is there");
                assert_eq!(found.flags(), *flags);
                assert!((0..11).all(|process| found.has(process) == (processes & 1 << process != 0)));
                let again = table.take_all(key, hash_of(key), 0).expect("it is there");
                assert!(again.flags() & 2 != 0 && (0..30).all(|process| again.has(process)));
            }
            assert!(table.take_all(&[u64::MAX, 1], 5, 0).is_none());
        }
    }

    /// Where there is room by the number of states, none is turned away, however full the buckets around its own are.
    #[test]
    fn where_there_is_room_every_state_finds_a_place() {
        let mut table = Table::new(Format { key: 14, known: 2 }, false).expect("there is memory");
        let mut number = 0u64;
        for _ in 0..600 {
            assert!(table.make_room(4096, &mut Crew::new(1)));
            let mut new = [0; SHARDS];
            for _ in 0..4096 {
                number += 1;
                let key = key(number, 14);
                let hash = hash_of(&key);
                assert_eq!(table.insert(&key, hash), Some(true), "{number}");
                new[Table::shard(hash)] += 1;
            }
            table.count(&new);
        }
    }

    /// Each thread moves its part of a shard: nothing is lost or there twice where the parts meet, and what is known goes with it.
    #[test]
    fn several_threads_move_everything() {
        const STATES: u64 = 300_000;
        let (mut crew, format) = (Crew::new(3), Format { key: 7, known: 2 });
        let mut table = Table::new(format, false).expect("there is memory");
        let of = |number: u64| ((number % 11) as u8, u8::from(number.is_multiple_of(3)));
        for number in 0..STATES {
            if number.is_multiple_of(4096) {
                assert!(table.make_room(4096, &mut crew));
            }
            let key = key(number, 7);
            let (hash, (process, flag)) = (hash_of(&key), of(number));
            assert!(table.meet(&key, hash, Some(process), flag).is_some_and(|met| met.is_new));
            let mut new = [0; SHARDS];
            new[Table::shard(hash)] = 1;
            table.count(&new);
        }
        let table = table.repacked(Format { key: 8, known: 2 }, &mut crew, &|key, _| *key);
        let table = table.expect("there is memory");
        let mut count = 0;
        table.each_key(|_| count += 1);
        assert_eq!((count, table.states()), (STATES, STATES));
        for number in 0..STATES {
            let (key, (process, flag)) = (key(number, 7), of(number));
            let known = table.take_all(&key, hash_of(&key), 0).expect("it is there");
            assert_eq!(known.flags(), flag);
            assert!((0..11).all(|other| known.has(other) == (other == usize::from(process))));
        }
    }

    #[test]
    fn every_state_is_new_to_one_thread() {
        let mut table = Table::new(Format { key: 6, known: 0 }, true).expect("there is memory");
        assert!(table.make_room(40_000, &mut Crew::new(2)));
        let new: u64 = std::thread::scope(|scope| {
            let meet = |table: &Table| {
                let insert = |number| {
                    let key = key(number, 6);
                    table.insert(&key, hash_of(&key)).expect("there is room")
                };
                (0..30_000).map(|number| u64::from(insert(number))).sum::<u64>()
            };
            let table = &table;
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(move || meet(table))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(new, 30_000);
    }

    /// Two threads meet every state with every process, another takes all processes of every state: each process of each state
    /// belongs to one of them.
    #[test]
    fn every_process_of_a_state_belongs_to_one_thread() {
        const STATES: u64 = 8_000;
        const PROCESSES: u8 = 11;
        let format = Format { key: 7, known: (FLAGS + usize::from(PROCESSES)).div_ceil(8) };
        let mut table = Table::new(format, true).expect("there is memory");
        assert!(table.make_room(2 * STATES, &mut Crew::new(3)));
        let each = |visit: &mut dyn FnMut(&Key, u64)| {
            for number in 0..STATES {
                let key = key(number, 7);
                visit(&key, hash_of(&key));
            }
        };
        let meet = |table: &Table, reversed: bool| {
            let (mut mine, mut new) = (0, 0);
            each(&mut |key, hash| {
                for process in 0..PROCESSES {
                    let process = if reversed { PROCESSES - 1 - process } else { process };
                    let met = table.meet(key, hash, Some(process), 1).expect("there is room");
                    mine += u64::from(!met.had_process);
                    new += u64::from(met.is_new);
                }
            });
            (mine, new)
        };
        let take = |table: &Table| {
            let mut mine = 0;
            each(&mut |key, hash| {
                if let Some(known) = table.take_all(key, hash, 2) {
                    mine += known.others(usize::from(PROCESSES)).count() as u64;
                }
            });
            mine
        };
        let table = &table;
        let (mine, new) = std::thread::scope(|scope| {
            let two = [false, true].map(|reversed| scope.spawn(move || meet(table, reversed)));
            let taken = take(table);
            two.into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .fold((taken, 0), |(mine, new), (its, its_new)| (mine + its, new + its_new))
        });
        assert_eq!((mine, new), (STATES * u64::from(PROCESSES), STATES));
        let mut known = HashMap::new();
        table.each_key(|key| *known.entry(key).or_insert(0) += 1);
        assert!(known.len() as u64 == STATES && known.values().all(|count| *count == 1));
    }

    /// A key can be told from its word and the rest, and the hash is the same either way.
    #[test]
    fn keys_are_told_from_their_parts() {
        use crate::store::packed::encoding::{hash_of_parts, key_of, word_of};
        for number in 0..3000u64 {
            for bytes in 4..=14 {
                let key = key(number, bytes);
                let rest = (u128::from(key[0]) | u128::from(key[1]) << 64) >> 32;
                let hash = hash_of(&key);
                assert_eq!(key_of(word_of(hash), rest), key);
                assert_eq!(hash_of_parts(word_of(hash), rest), hash);
            }
        }
    }
}
