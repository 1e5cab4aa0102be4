//! The table of packed keys: buckets of one or two cache lines, an entry being the key and what is known of the state.
//! One look-up touches one bucket, rarely the next.
//!
//! A table has sixteen shards that are of different sizes, so that they grow one after the other, each by rewriting itself:
//! the table never stands still for longer than a sixteenth of it takes. Where several threads use it, whoever looks into
//! a bucket holds its lock, a bit of its last byte; growing needs the table alone.
#![allow(unsafe_code, reason = "entries of any number of bytes in memory of its own")]

mod growth;

use super::encoding::Key;
use super::pages::{HUGE, Pages};
use growth::{AFTER_GROWTH, FULLEST};
use std::sync::atomic::{AtomicU8, Ordering};

pub const SHARDS: usize = 16;

/// Bits of what is known of a state, before those of its processes.
pub const FLAGS: usize = 3;

/// The last byte of a bucket: how many entries it has, and its lock.
const LOCKED: u8 = 0x80;

/// How many buckets a look-up goes through before it says that the shard is full.
const LONGEST: usize = 24;

/// How wide entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// At least four.
    pub key: usize,
    /// For the flags and one bit for each process; 0 where nothing but the states is kept.
    pub known: usize,
}

impl Format {
    fn entry(self) -> usize {
        self.key + self.known
    }

    fn bucket(self) -> usize {
        match self.entry() {
            0..=7 => 64,
            8..=21 => 128,
            entry => (3 * entry + 1).next_multiple_of(64),
        }
    }

    fn entries(self) -> usize {
        ((self.bucket() - 1) / self.entry()).min(usize::from(LOCKED - 1))
    }
}

#[derive(Debug)]
struct Shard {
    pages: Pages,
    buckets: u64,
    used: u64,
}

#[derive(Debug)]
pub struct Table {
    shards: Vec<Shard>,
    format: Format,
    /// Of the format.
    bucket: usize,
    entries: usize,
    /// Do several threads use it?
    shared: bool,
}

/// What was known of a state that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    pub is_new: bool,
    /// Was the process's bit set before?
    pub had_process: bool,
    pub flags: u8,
}

/// What is known of a state, flags first.
pub type Known = [u8; 40];

#[inline]
pub fn has(known: &Known, bit: usize) -> bool {
    known[bit / 8] & 1 << (bit % 8) != 0
}

/// A bucket that this thread alone looks at.
struct Held<'t> {
    start: *mut u8,
    head: &'t AtomicU8,
    count: usize,
    shared: bool,
}

impl Held<'_> {
    /// One entry more has been written.
    #[inline]
    fn added(&mut self) {
        self.count += 1;
        if !self.shared {
            self.head.store(self.count as u8, Ordering::Relaxed);
        }
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.shared {
            self.head.store(self.count as u8, Ordering::Release);
        }
    }
}

/// A key as it is compared: its first and its last bytes, which overlap.
#[derive(Clone, Copy)]
struct Ends {
    first: u64,
    last: u64,
}

impl Table {
    /// `None` if there is no memory.
    pub fn new(format: Format, shared: bool) -> Option<Table> {
        Table::with_room(format, shared, 0)
    }

    fn with_room(format: Format, shared: bool, states: u64) -> Option<Table> {
        let (bucket, entries) = (format.bucket(), format.entries());
        let mut table = Table { shards: Vec::new(), format, bucket, entries, shared };
        for shard in 0..SHARDS {
            // Each is larger than the one before it by the same factor, all together by that of growing.
            let share = FULLEST as f64 / AFTER_GROWTH as f64;
            let room =
                (states / SHARDS as u64).max(60) as f64 * share.powf(shard as f64 / SHARDS as f64) * 1.3;
            let buckets = (room as u64).div_ceil(entries as u64);
            table.shards.push(table.empty(buckets)?);
        }
        Some(table)
    }

    fn empty(&self, buckets: u64) -> Option<Shard> {
        let mut bytes = usize::try_from(buckets).ok()?.checked_mul(self.bucket)?;
        if bytes >= HUGE {
            bytes = bytes.next_multiple_of(HUGE);
        }
        let pages = Pages::new(bytes)?;
        Some(Shard { buckets: (pages.bytes() / self.bucket).min(u32::MAX as usize) as u64, pages, used: 0 })
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

    /// Asks for the memory that a look-up needs.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let shard = &self.shards[Table::shard_of(hash)];
        let at = Table::home(shard, hash) * self.bucket;
        // SAFETY: the bucket lies within the pages; that the memory is asked for changes nothing.
        unsafe {
            let start = shard.pages.start().add(at);
            crate::store::index::prefetch(&*start);
            if self.bucket > 64 {
                crate::store::index::prefetch(&*start.add(64));
            }
        }
    }

    #[inline]
    fn hold<'t>(&self, shard: &'t Shard, bucket: usize) -> Held<'t> {
        // SAFETY: the bucket lies within the pages of the shard. Its last byte is never used but as this atomic number.
        let (start, head) = unsafe {
            let start = shard.pages.start().add(bucket * self.bucket);
            (start, AtomicU8::from_ptr(start.add(self.bucket - 1)))
        };
        if !self.shared {
            return Held { start, head, count: usize::from(head.load(Ordering::Relaxed)), shared: false };
        }
        loop {
            let now = head.load(Ordering::Relaxed);
            if now & LOCKED == 0
                && head.compare_exchange_weak(now, now | LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return Held { start, head, count: usize::from(now), shared: true };
            }
            std::hint::spin_loop();
        }
    }

    /// A key's ends as they lie in an entry.
    #[inline]
    fn ends(&self, key: &Key) -> Ends {
        let bytes = self.format.key;
        match bytes {
            0..8 => Ends { first: key[0] & 0xFFFF_FFFF, last: (key[0] >> (8 * (bytes - 4))) & 0xFFFF_FFFF },
            8 => Ends { first: key[0], last: key[0] },
            _ => {
                let both = u128::from(key[0]) | u128::from(key[1]) << 64;
                Ends { first: key[0], last: (both >> (8 * (bytes - 8))) as u64 }
            }
        }
    }

    /// # Safety
    /// At `entry` there is an entry, and nobody else changes it.
    #[inline]
    unsafe fn ends_at(&self, entry: *const u8) -> Ends {
        let bytes = self.format.key;
        // SAFETY: a key has at least four bytes; bytes need no alignment.
        unsafe {
            if bytes < 8 {
                let first = entry.cast::<u32>().read_unaligned();
                let last = entry.add(bytes - 4).cast::<u32>().read_unaligned();
                return Ends { first: first.into(), last: last.into() };
            }
            let first = entry.cast::<u64>().read_unaligned();
            Ends { first, last: entry.add(bytes - 8).cast::<u64>().read_unaligned() }
        }
    }

    /// # Safety
    /// As for [`Table::ends_at`].
    #[inline]
    unsafe fn key_at(&self, entry: *const u8) -> Key {
        // SAFETY: as the caller promises.
        let Ends { first, last } = unsafe { self.ends_at(entry) };
        key_of(first, last, self.format.key)
    }

    /// # Safety
    /// There is room for an entry, and nobody else looks at it.
    #[inline]
    unsafe fn write(&self, entry: *mut u8, ends: Ends) {
        let bytes = self.format.key;
        // SAFETY: a key has at least four bytes; bytes need no alignment.
        unsafe {
            if bytes < 8 {
                entry.cast::<u32>().write_unaligned(ends.first as u32);
                entry.add(bytes - 4).cast::<u32>().write_unaligned(ends.last as u32);
            } else {
                entry.cast::<u64>().write_unaligned(ends.first);
                entry.add(bytes - 8).cast::<u64>().write_unaligned(ends.last);
            }
        }
    }

    /// The entry with this key, in a bucket that is held.
    ///
    /// # Safety
    /// The bucket has as many entries as it says.
    #[inline]
    unsafe fn entry_in(&self, held: &Held<'_>, ends: Ends) -> Option<*mut u8> {
        let (size, bytes) = (self.format.entry(), self.format.key);
        // SAFETY: so many entries lie there, one after the other, each with at least as many bytes as the key has; bytes need
        // no alignment.
        unsafe {
            let mut entry = held.start;
            let end = entry.add(held.count * size);
            if bytes < 8 {
                let (first, last) = (ends.first as u32, ends.last as u32);
                while entry < end {
                    let is_first = entry.cast::<u32>().read_unaligned() == first;
                    if is_first && entry.add(bytes - 4).cast::<u32>().read_unaligned() == last {
                        return Some(entry);
                    }
                    entry = entry.add(size);
                }
            } else {
                while entry < end {
                    let is_first = entry.cast::<u64>().read_unaligned() == ends.first;
                    if is_first && entry.add(bytes - 8).cast::<u64>().read_unaligned() == ends.last {
                        return Some(entry);
                    }
                    entry = entry.add(size);
                }
            }
        }
        None
    }

    /// Calls `visit` with the entry, and whether it is new; `None` if the shard must grow first.
    #[inline]
    fn find<R>(&self, key: &Key, hash: u64, adds: bool, visit: impl FnOnce(*mut u8, bool) -> R) -> Option<R> {
        let shard = &self.shards[Table::shard_of(hash)];
        let (ends, size) = (self.ends(key), self.format.entry());
        let mut at = Table::home(shard, hash);
        for _ in 0..LONGEST {
            let mut held = self.hold(shard, at);
            // SAFETY: the bucket is held, and has so many entries.
            if let Some(entry) = unsafe { self.entry_in(&held, ends) } {
                return Some(visit(entry, false));
            }
            if held.count < self.entries {
                if !adds {
                    return None;
                }
                // SAFETY: the bucket is held, and has room for one entry more.
                let entry = unsafe {
                    let entry = held.start.add(held.count * size);
                    self.write(entry, ends);
                    entry
                };
                held.added();
                return Some(visit(entry, true));
            }
            drop(held);
            at = if at + 1 == shard.buckets as usize { 0 } else { at + 1 };
        }
        None
    }

    /// Was the state met before? `None` if the table must grow first.
    #[inline]
    pub fn insert(&self, key: &Key, hash: u64) -> Option<bool> {
        self.find(key, hash, true, |_, is_new| is_new)
    }

    /// Meets a state, sets the bit of a process, if there is one, and these flags, and says what was known before.
    #[inline]
    pub fn meet(&self, key: &Key, hash: u64, process: Option<u8>, flags: u8) -> Option<Meeting> {
        let (width, bytes) = (self.format.key, self.format.known);
        let bit = process.map(|process| FLAGS + usize::from(process)).filter(|bit| bit / 8 < bytes);
        self.find(key, hash, true, |entry, is_new| {
            // SAFETY: the bucket is held, and behind the key there are as many bytes as the processes need.
            unsafe {
                let known = entry.add(width);
                let before = *known;
                *known |= flags;
                let had_process = bit.is_none_or(|bit| *known.add(bit / 8) & 1 << (bit % 8) != 0);
                if let Some(bit) = bit {
                    *known.add(bit / 8) |= 1 << (bit % 8);
                }
                Meeting { is_new, had_process, flags: before & ((1 << FLAGS) - 1) }
            }
        })
    }

    /// Sets flags and all processes of a state that is there, and says what was known before.
    #[inline]
    pub fn take_all(&self, key: &Key, hash: u64, flags: u8) -> Option<Known> {
        let (width, known) = (self.format.key, self.format.known);
        self.find(key, hash, false, |entry, _| {
            let mut before = [0; 40];
            // SAFETY: the bucket is held, and behind the key there are so many bytes.
            unsafe {
                let bytes = std::slice::from_raw_parts_mut(entry.add(width), known);
                before[..known].copy_from_slice(bytes);
                bytes.fill(0xFF);
                bytes[0] = (before[0] & ((1 << FLAGS) - 1)) | flags | !((1 << FLAGS) - 1);
            }
            before
        })
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
        self.shards.iter().map(|shard| shard.pages.bytes() as u64).sum()
    }
}

#[inline]
fn key_of(first: u64, last: u64, bytes: usize) -> Key {
    match bytes {
        0..8 => [first | last << (8 * (bytes - 4)), 0],
        8 => [first, 0],
        16 => [first, last],
        _ => [first, last >> (8 * (16 - bytes))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                assert!(table.make_room(1, 1));
            }
            let wider = Format { key: (bytes + 1).min(16), known: 5 };
            let table = table.repacked(wider, 2, &|key, _| *key).expect("there is memory");
            let mut count = 0;
            table.each_key(|key| count += usize::from(known.contains_key(&key)));
            assert_eq!(count, known.len());
            for (key, (flags, processes)) in &known {
                let found = table.take_all(key, hash_of(key), 2).expect("it is there");
                assert_eq!(found[0] & 7, *flags);
                assert!(
                    (0..11).all(|process| has(&found, FLAGS + process) == (processes & 1 << process != 0))
                );
                let again = table.take_all(key, hash_of(key), 0).expect("it is there");
                assert!(again[0] & 2 != 0 && (0..30).all(|process| has(&again, FLAGS + process)));
            }
            assert!(table.take_all(&[u64::MAX, 1], 5, 0).is_none());
        }
    }

    #[test]
    fn every_state_is_new_to_one_thread() {
        let mut table = Table::new(Format { key: 6, known: 0 }, true).expect("there is memory");
        assert!(table.make_room(40_000, 2));
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
}
