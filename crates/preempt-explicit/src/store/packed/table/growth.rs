//! How the table grows, and how it is written anew when keys are packed in another way: shard after shard, each by all
//! threads, or several at a time, from the first bucket to the last.
#![allow(unsafe_code, reason = "entries of any number of bytes in memory of their own")]

use super::bucket::Sought;
use super::{Format, SHARDS, Shard, Table};
use crate::crew::Crew;
use crate::store::packed::encoding::{Key, hash_of};
use crate::store::packed::pages::Pages;
use std::ops::Range;

/// Of a hundred entries, at most so many are used; after growing it is about so many, and at most so many.
pub(super) const FULLEST: u64 = 80;
pub(super) const AFTER_GROWTH: u64 = 42;
const MOST_AFTER_GROWTH: u64 = 60;

/// Fewer entries are moved by one thread.
const WORTH_A_THREAD: u64 = 1 << 11;

impl Table {
    /// Makes room for so many states more, wherever they belong. Says whether there was memory.
    pub fn make_room(&mut self, more: u64, crew: &mut Crew) -> bool {
        let (entries, each) = (self.layout.entries as u64, more / SHARDS as u64 + more / 64 + 8);
        let is_full = |shard: &Shard| (shard.used + each) * 100 > shard.buckets * entries * FULLEST;
        let full: Vec<usize> = (0..SHARDS).filter(|number| is_full(&self.shards[*number])).collect();
        for number in full {
            let states = self.shards[number].used + each;
            let buckets = |most: u64| (states * 100).div_ceil(most * entries) + 1;
            let Some(empty) = self.empty(buckets(AFTER_GROWTH), buckets(MOST_AFTER_GROWTH)) else {
                return false;
            };
            self.shards[number] = self.rewritten(&self.shards[number], empty, crew);
        }
        true
    }

    /// Buckets are in the order of hashes, so that both are gone through from the first to the last, by each thread for its part.
    /// What belongs to no thread alone is left for the end.
    fn rewritten(&self, old: &Shard, mut shard: Shard, crew: &mut Crew) -> Shard {
        let threads = if old.used < WORTH_A_THREAD { 1 } else { crew.begin() };
        let each = (old.buckets as usize).div_ceil(threads).max(1);
        let parts: Vec<_> = (0..old.buckets as usize).step_by(each).collect();
        let cut = |bucket: usize| (bucket as u64 * shard.buckets / old.buckets) as usize;
        let move_part = |first: &usize| {
            let end = (first + each).min(old.buckets as usize);
            let (own, mut left) = (cut(*first)..cut(end), Vec::new());
            for number in *first..end {
                let bucket = self.bucket(old, number);
                for entry in 0..bucket.count() {
                    let (sought, hash) = bucket.entry(entry);
                    let home = Table::home(&shard, hash);
                    let among = home.max(own.start)..own.end;
                    if home < own.start || !self.append(&shard, among, sought, bucket.known(entry), false) {
                        left.push((number, entry));
                    }
                }
            }
            left
        };
        let left =
            if threads == 1 { parts.iter().map(move_part).collect() } else { crew.map(&parts, &move_part) };
        for (number, entry) in left.into_iter().flatten() {
            let bucket = self.bucket(old, number);
            let (sought, hash) = bucket.entry(entry);
            self.append_anywhere(&shard, hash, sought, bucket.known(entry), false);
        }
        shard.used = old.used;
        shard
    }

    /// Of what is not there yet, where there is room.
    #[inline]
    fn append_anywhere(&self, shard: &Shard, hash: u64, sought: Sought, known: *const u8, shared: bool) {
        let (home, end) = (Table::home(shard, hash), shard.buckets as usize);
        while !self.append(shard, home..end, sought, known, shared)
            && !self.append(shard, 0..home, sought, known, shared)
        {}
    }

    /// In the first of these buckets where there is room. False if there is none.
    #[inline]
    fn append(
        &self,
        shard: &Shard,
        among: Range<usize>,
        sought: Sought,
        known: *const u8,
        shared: bool,
    ) -> bool {
        for at in among {
            let bucket = self.bucket(shard, at);
            if let Some(entry) = bucket.add_new(sought, shared) {
                // SAFETY: so many bytes are known of an entry, and nobody looks at them before the table has grown.
                unsafe {
                    match self.layout.format.known {
                        0 => {}
                        1 => *bucket.known(entry) = *known,
                        length => std::ptr::copy_nonoverlapping(known, bucket.known(entry), length),
                    }
                }
                return true;
            }
        }
        false
    }

    /// Each key and what is known of its state, while nobody changes anything.
    #[inline]
    pub(super) fn each(&self, shard: &Shard, mut visit: impl FnMut(Key, &[u8])) {
        for number in 0..shard.buckets as usize {
            let bucket = self.bucket(shard, number);
            for entry in 0..bucket.count() {
                // SAFETY: so many bytes are known of an entry.
                let known =
                    unsafe { std::slice::from_raw_parts(bucket.known(entry), self.layout.format.known) };
                visit(bucket.key(entry), known);
            }
        }
    }

    /// The same states with keys that are packed in another way, so that everything lies elsewhere. `None` if there is no
    /// memory.
    pub fn repacked(
        mut self,
        format: Format,
        crew: &mut Crew,
        change: &(impl Fn(&Key, &mut Vec<u32>) -> Key + Sync),
    ) -> Option<Table> {
        let threads = if self.states() < WORTH_A_THREAD { 1 } else { crew.begin() };
        let mut made = Table::with_room(format, threads > 1, self.states())?;
        // A few at a time: what was rewritten is given back.
        let numbers: Vec<usize> = (0..SHARDS).collect();
        for some in numbers.chunks(threads) {
            let moved = |number: &usize| {
                let mut moving =
                    Moving { to: &made, waiting: Vec::new(), known: Vec::new(), moved: [0; SHARDS] };
                let mut scratch = Vec::new();
                self.each(&self.shards[*number], |key, known| {
                    moving.push(&change(&key, &mut scratch), known)
                });
                moving.flush();
                moving.moved
            };
            let moved: Vec<[u64; SHARDS]> = crew.map(some, &moved);
            moved.iter().for_each(|moved| made.count(moved));
            for number in some {
                let nothing = Pages::new(1)?;
                self.shards[*number] = Shard { pages: nothing, buckets: 0, used: 0 };
            }
        }
        made.shared = self.shared;
        Some(made)
    }
}

/// Entries on their way into another table: the memory for some is asked for before the first of them is written.
struct Moving<'t> {
    to: &'t Table,
    waiting: Vec<(u64, Key)>,
    /// What is known of them, one after the other.
    known: Vec<u8>,
    moved: [u64; SHARDS],
}

impl Moving<'_> {
    #[inline]
    fn push(&mut self, key: &Key, known: &[u8]) {
        let hash = hash_of(key);
        self.to.prefetch(hash);
        self.waiting.push((hash, *key));
        // There may be room for more processes than before, of which nothing is known.
        let length = self.to.layout.format.known;
        self.known.extend_from_slice(&known[..known.len().min(length)]);
        self.known.extend(std::iter::repeat_n(0, length.saturating_sub(known.len())));
        if self.waiting.len() == 64 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let each = self.to.layout.format.known;
        for (number, (hash, key)) in self.waiting.drain(..).enumerate() {
            let shard = Table::shard_of(hash);
            let (sought, known) = (self.to.layout.sought(&key, hash), &self.known[number * each..]);
            self.to.append_anywhere(&self.to.shards[shard], hash, sought, known.as_ptr(), self.to.shared);
            self.moved[shard] += 1;
        }
        self.known.clear();
    }
}
