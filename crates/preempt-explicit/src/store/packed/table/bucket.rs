//! A bucket of the table: one or two lines of the cache, in which the entries lie part by part. First a word of four bytes for
//! each entry, then the rest of each key, then what is known of each state; the last byte has the number of entries and the lock.
//!
//! The words are compared all at once, and they are mixed from the whole key ([`word_of`]), so that nearly always
//! one of them is the same only if the entry is the one. What is compared in the end is the whole key.
//!
//! **Several threads.** An entry is written by whoever holds the lock and is there once the number says so; its key never
//! changes afterwards. So whoever looks for a state takes no lock, and writes nothing to the line if the state is there.
#![allow(unsafe_code, reason = "entries of any number of bytes in memory of the table's own")]

use crate::store::packed::encoding::{Key, hash_of_parts, key_of, word_of};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// In the last byte.
const LOCKED: u8 = 0x80;

/// Bytes of a word.
const WORD: usize = 4;

/// So many bytes are looked at when the rest of a key is compared, of which it is the last: that many lie before the first one's.
const BEFORE: usize = 16;

/// As many words as are compared at once, and one more than there are in a bucket.
const LANES: usize = 16;

/// How wide entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// At least four.
    pub key: usize,
    /// For the flags and one bit for each process; 0 where nothing but the states is kept.
    pub known: usize,
}

/// Where everything lies.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub format: Format,
    /// Its bytes.
    pub size: usize,
    pub entries: usize,
    /// Of a key without its word.
    rest: usize,
    rests: usize,
    knowns: usize,
    /// The last of sixteen bytes, as many as the rest of a key has.
    mask: [u64; 2],
}

impl Format {
    pub fn layout(self) -> Layout {
        let entry = self.key + self.known;
        let size = match entry {
            0..=7 => 64,
            8..=21 => 128,
            entry => (3 * entry + BEFORE).next_multiple_of(64),
        };
        let entries = ((size - 1) / entry).min(LANES - 1);
        let rest = self.key - WORD;
        let rests = (WORD * entries).max(BEFORE);
        let mask = if rest == 0 { 0 } else { u128::MAX << (128 - 8 * rest) };
        let mask = [mask as u64, (mask >> 64) as u64];
        Layout { format: self, size, entries, rest, rests, knowns: rests + rest * entries, mask }
    }
}

/// A key as it is looked for.
#[derive(Clone, Copy)]
pub struct Sought {
    word: u32,
    /// What follows the word, as the last of sixteen bytes.
    rest: [u64; 2],
}

/// A bucket in memory.
#[derive(Clone, Copy)]
pub struct Bucket<'t> {
    start: *mut u8,
    layout: &'t Layout,
}

/// A bucket that this thread alone may add to.
struct Held<'t> {
    head: &'t AtomicU8,
    count: u8,
    shared: bool,
}

impl Layout {
    #[inline]
    pub fn sought(&self, key: &Key, hash: u64) -> Sought {
        let rest = u128::from(key[0] >> 32 | key[1] << 32) | u128::from(key[1] >> 32) << 64;
        let rest = rest << (((BEFORE - self.rest) * 8) & 127);
        Sought { word: word_of(hash), rest: [rest as u64, (rest >> 64) as u64] }
    }

    /// The first bytes instead of the last.
    #[inline]
    fn moved_down(&self, rest: [u64; 2]) -> u128 {
        (u128::from(rest[0]) | u128::from(rest[1]) << 64) >> (((BEFORE - self.rest) * 8) & 127)
    }
}

impl<'t> Bucket<'t> {
    /// # Safety
    /// There are as many bytes as the layout says, aligned to a line of the cache, which were zero at first and are used as buckets
    /// only. If others use them at the same time, everybody says so (`shared`).
    #[inline]
    pub unsafe fn new(start: *mut u8, layout: &'t Layout) -> Bucket<'t> {
        Bucket { start, layout }
    }

    #[inline]
    fn head(self) -> &'t AtomicU8 {
        // SAFETY: the last byte, which is never used but as this atomic number.
        unsafe { AtomicU8::from_ptr(self.start.add(self.layout.size - 1)) }
    }

    /// How many entries there are; all of them can be looked at.
    #[inline]
    pub fn count(self) -> usize {
        usize::from(self.head().load(Ordering::Acquire) & !LOCKED)
    }

    #[inline]
    fn word(self, entry: usize) -> &'t AtomicU32 {
        // SAFETY: words are aligned, since the bucket is, and never used but as atomic numbers.
        unsafe { AtomicU32::from_ptr(self.start.add(WORD * entry).cast()) }
    }

    #[inline]
    fn rest(self, entry: usize) -> *mut u8 {
        // SAFETY: within the bucket.
        unsafe { self.start.add(self.layout.rests + self.layout.rest * entry) }
    }

    /// What is known of an entry's state, as many bytes as the format says.
    #[inline]
    pub fn known(self, entry: usize) -> *mut u8 {
        // SAFETY: within the bucket.
        unsafe { self.start.add(self.layout.knowns + self.layout.format.known * entry) }
    }

    /// For each entry a bit: has it this word? What is said of places without an entry means nothing.
    #[inline]
    fn same_words(self, word: u32) -> u32 {
        #[cfg(target_arch = "x86_64")]
        {
            let same: u32;
            // SAFETY: a bucket has at least 64 bytes and is aligned. Bytes that another thread is writing may be read, in the way in
            // which the processor reads them: nothing is concluded from those. (This is why it is not left to the compiler.)
            unsafe {
                std::arch::asm!(
                    "movd {sought}, {word:e}",
                    "pshufd {sought}, {sought}, 0",
                    "movdqa {a}, [{start}]",
                    "movdqa {b}, [{start} + 16]",
                    "movdqa {c}, [{start} + 32]",
                    "pcmpeqd {a}, {sought}",
                    "pcmpeqd {b}, {sought}",
                    "pcmpeqd {c}, {sought}",
                    "pcmpeqd {sought}, [{start} + 48]",
                    "packssdw {a}, {b}",
                    "packssdw {c}, {sought}",
                    "packsswb {a}, {c}",
                    "pmovmskb {same:e}, {a}",
                    start = in(reg) self.start,
                    word = in(reg) word,
                    same = lateout(reg) same,
                    sought = out(xmm_reg) _,
                    a = out(xmm_reg) _,
                    b = out(xmm_reg) _,
                    c = out(xmm_reg) _,
                    options(nostack, readonly, preserves_flags),
                );
            }
            same
        }
        #[cfg(not(target_arch = "x86_64"))]
        (0..self.layout.entries).fold(0, |same, entry| {
            same | u32::from(self.word(entry).load(Ordering::Relaxed) == word) << entry
        })
    }

    /// The sixteen bytes that end with the rest of an entry's key. What lies before that may be anything.
    #[inline]
    fn before_end(self, entry: usize) -> [u64; 2] {
        // SAFETY: within the bucket, since so many bytes lie before the first rest.
        let at = unsafe { self.start.add(self.layout.rests + self.layout.rest * (entry + 1) - BEFORE) };
        #[cfg(target_arch = "x86_64")]
        {
            let (first, last): (u64, u64);
            // SAFETY: as for the words: what another thread may be writing is not used.
            unsafe {
                std::arch::asm!(
                    "mov {first}, [{at}]",
                    "mov {last}, [{at} + 8]",
                    at = in(reg) at,
                    first = out(reg) first,
                    last = lateout(reg) last,
                    options(nostack, readonly, preserves_flags),
                );
            }
            [first, last]
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let mut bytes = [0; BEFORE];
            for (number, byte) in bytes.iter_mut().enumerate().skip(BEFORE - self.layout.rest) {
                // SAFETY: of an entry that is no longer written.
                *byte = unsafe { *at.add(number) };
            }
            let both = u128::from_le_bytes(bytes);
            [both as u64, (both >> 64) as u64]
        }
    }

    #[inline]
    fn has_rest(self, entry: usize, sought: Sought) -> bool {
        let (is, mask) = (self.before_end(entry), self.layout.mask);
        ((is[0] ^ sought.rest[0]) & mask[0]) | ((is[1] ^ sought.rest[1]) & mask[1]) == 0
    }

    /// The entry with this key, among the first `count` without the first `seen`.
    #[inline]
    pub fn find(self, seen: usize, count: usize, sought: Sought) -> Option<usize> {
        let mut same = self.same_words(sought.word) & ((1 << count) - (1 << seen));
        while same != 0 {
            let entry = same.trailing_zeros() as usize;
            if self.has_rest(entry, sought) {
                return Some(entry);
            }
            same &= same - 1;
        }
        None
    }

    #[inline]
    fn hold(self, shared: bool) -> Held<'t> {
        let head = self.head();
        loop {
            let count = head.load(Ordering::Relaxed);
            let is_held = !shared
                || count & LOCKED == 0
                    && head
                        .compare_exchange_weak(count, count | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok();
            if is_held {
                return Held { head, count, shared };
            }
            std::hint::spin_loop();
        }
    }

    /// Adds an entry of which nothing is known, unless it is there: which one it is, and whether it is new. The first `seen` have been
    /// looked at. `None` if there is no room.
    #[inline]
    pub fn add(self, seen: usize, sought: Sought, shared: bool) -> Option<(usize, bool)> {
        let held = self.hold(shared);
        let count = usize::from(held.count);
        if seen < count
            && let Some(entry) = self.find(seen, count, sought)
        {
            return Some((entry, false));
        }
        self.append(held, sought).map(|entry| (entry, true))
    }

    /// As [`Bucket::add`], where it is known not to be there.
    #[inline]
    pub fn add_new(self, sought: Sought, shared: bool) -> Option<usize> {
        self.append(self.hold(shared), sought)
    }

    #[inline]
    fn append(self, mut held: Held<'t>, sought: Sought) -> Option<usize> {
        let count = usize::from(held.count);
        if count >= self.layout.entries {
            return None;
        }
        let (at, bytes, known) = (self.rest(count), self.layout.rest, self.layout.format.known);
        let [first, last] = sought.rest;
        self.word(count).store(sought.word, Ordering::Relaxed);
        // SAFETY: the bucket is held, and there is room for one entry more; bytes need no alignment.
        unsafe {
            match bytes {
                0 => {}
                1 => *at = (last >> 56) as u8,
                2..=3 => {
                    at.cast::<u16>().write_unaligned((last >> (64 - 8 * bytes)) as u16);
                    at.add(bytes - 2).cast::<u16>().write_unaligned((last >> 48) as u16);
                }
                4..=7 => {
                    at.cast::<u32>().write_unaligned((last >> (64 - 8 * bytes)) as u32);
                    at.add(bytes - 4).cast::<u32>().write_unaligned((last >> 32) as u32);
                }
                _ => {
                    let rest = (u128::from(first) | u128::from(last) << 64) >> (128 - 8 * bytes);
                    at.cast::<u64>().write_unaligned(rest as u64);
                    at.add(bytes - 8).cast::<u64>().write_unaligned(last);
                }
            }
            match known {
                0 => {}
                1 => *self.known(count) = 0,
                _ => self.known(count).write_bytes(0, known),
            }
        }
        held.added();
        Some(count)
    }

    /// An entry's key without its word.
    #[inline]
    fn rest_of(self, entry: usize) -> [u64; 2] {
        let ([first, last], mask) = (self.before_end(entry), self.layout.mask);
        [first & mask[0], last & mask[1]]
    }

    /// The key of an entry.
    #[inline]
    pub fn key(self, entry: usize) -> Key {
        let Sought { word, rest } = self.entry(entry).0;
        key_of(word, self.layout.moved_down(rest))
    }

    /// An entry as it can be added to another bucket of the same layout, and the hash of its key.
    #[inline]
    pub fn entry(self, entry: usize) -> (Sought, u64) {
        let (word, rest) = (self.word(entry).load(Ordering::Relaxed), self.rest_of(entry));
        (Sought { word, rest }, hash_of_parts(word, self.layout.moved_down(rest)))
    }
}

impl Held<'_> {
    /// One entry more has been written.
    #[inline]
    fn added(&mut self) {
        self.count += 1;
        if !self.shared {
            self.head.store(self.count, Ordering::Relaxed);
        }
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.shared {
            self.head.store(self.count, Ordering::Release);
        }
    }
}
