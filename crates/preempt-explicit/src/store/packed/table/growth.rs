//! How the table grows, and how it is written anew when keys are packed in another way: shard after shard, each by all
//! threads, or several at a time, from the first bucket to the last.
#![allow(unsafe_code, reason = "entries of any number of bytes in memory of their own")]

use super::bucket::Sought;
use super::{Format, SHARDS, Shard, Table};
use crate::store::packed::encoding::{Key, hash_of};
use crate::store::packed::pages::Pages;

/// Of a hundred entries, at most so many are used; after growing it is about so many, and at most so many.
pub(super) const FULLEST: u64 = 80;
pub(super) const AFTER_GROWTH: u64 = 42;
const MOST_AFTER_GROWTH: u64 = 60;

/// Fewer entries are moved by one thread.
const WORTH_A_THREAD: u64 = 1 << 13;

impl Table {
    /// Makes room for so many states more, wherever they belong. Says whether there was memory.
    pub fn make_room(&mut self, more: u64, threads: usize) -> bool {
        let (entries, each) = (self.layout.entries as u64, more / SHARDS as u64 + more / 64 + 8);
        let is_full = |shard: &Shard| (shard.used + each) * 100 > shard.buckets * entries * FULLEST;
        let full: Vec<usize> = (0..SHARDS).filter(|number| is_full(&self.shards[*number])).collect();
        for number in full {
            let states = self.shards[number].used + each;
            let buckets = |most: u64| (states * 100).div_ceil(most * entries) + 1;
            let Some(empty) = self.empty(buckets(AFTER_GROWTH), buckets(MOST_AFTER_GROWTH)) else {
                return false;
            };
            self.shards[number] = self.rewritten(&self.shards[number], empty, threads);
        }
        true
    }

    /// Buckets are in the order of hashes, so that both are gone through from the first to the last, by each thread for its part.
    fn rewritten(&self, old: &Shard, mut shard: Shard, threads: usize) -> Shard {
        let threads = if old.used < WORTH_A_THREAD { 1 } else { threads.max(1) };
        let each = (old.buckets as usize).div_ceil(threads).max(1);
        let parts: Vec<_> = (0..old.buckets as usize).step_by(each).collect();
        let move_part = |first: &usize| {
            for number in *first..(first + each).min(old.buckets as usize) {
                let bucket = self.bucket(old, number);
                for entry in 0..bucket.count() {
                    let (sought, hash) = bucket.entry(entry);
                    self.append(&shard, hash, sought, bucket.known(entry), threads > 1);
                }
            }
        };
        in_parallel(&parts, threads, &move_part);
        shard.used = old.used;
        shard
    }

    /// Of what is not there yet, where there is room.
    #[inline]
    fn append(&self, shard: &Shard, hash: u64, sought: Sought, known: *const u8, shared: bool) {
        let mut at = Table::home(shard, hash);
        loop {
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
                return;
            }
            at = if at + 1 == shard.buckets as usize { 0 } else { at + 1 };
        }
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
        threads: usize,
        change: &(impl Fn(&Key, &mut Vec<u32>) -> Key + Sync),
    ) -> Option<Table> {
        let mut made = Table::with_room(format, threads > 1, self.states())?;
        // A few at a time: what was rewritten is given back.
        let numbers: Vec<usize> = (0..SHARDS).collect();
        for some in numbers.chunks(threads.max(1)) {
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
            let moved: Vec<[u64; SHARDS]> = in_parallel(some, threads, &moved);
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
            self.to.append(&self.to.shards[shard], hash, sought, known.as_ptr(), self.to.shared);
            self.moved[shard] += 1;
        }
        self.known.clear();
    }
}

/// One after the other with one thread; with several, this one has a share too.
fn in_parallel<T: Sync, R: Send>(items: &[T], threads: usize, work: &(impl Fn(&T) -> R + Sync)) -> Vec<R> {
    if threads <= 1 || items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let (own, others) = items.split_at(items.len().div_ceil(threads));
    let share = others.len().div_ceil(threads - 1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = others
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>()))
            .collect();
        let mut made: Vec<R> = own.iter().map(work).collect();
        for part in parts {
            made.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    })
}
