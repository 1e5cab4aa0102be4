//! What several workers take from, in a round: whoever has nothing left waits for a share of what another one has.
//!
//! **When a round is over.** A worker that waits has nothing on its stack, and counts as hungry until a block is taken for it,
//! under the lock. So if all are hungry and nothing is here, nobody can bring anything: the level is done. If one leaves
//! because the round has brought enough ([`super::quota`]), or for whatever other reason ([`Feed::enter`]), those who wait leave, too.

use super::waiting::{Block, Waiting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So often it is looked whether there is something before others may use the core, and so often the core is kept ready.
const LOOKS: u32 = 64;
const KEPT_READY: u32 = 256;
/// Whoever has waited for so long sleeps between two looks: some searches have never enough for two.
const NAP: Duration = Duration::from_micros(50);

#[derive(Debug, Default)]
pub struct Feed {
    waiting: Mutex<Waiting>,
    /// Blocks that are here, for whoever looks without the lock.
    blocks: AtomicUsize,
    workers: usize,
    hungry: AtomicUsize,
    is_over: AtomicBool,
}

impl Feed {
    /// A round of so many workers begins.
    pub fn begin(&mut self, workers: usize) {
        self.workers = workers;
        *self.hungry.get_mut() = 0;
        *self.is_over.get_mut() = false;
        *self.blocks.get_mut() = self.get_mut().blocks();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block, as soon as there is one; `None` if the round is over.
    pub fn take(&self) -> Option<Block> {
        let mut is_hungry = false;
        for waited in 0.. {
            if self.blocks.load(Ordering::Relaxed) > 0 || !is_hungry || self.is_nobody_left() {
                let mut waiting = self.lock();
                let block = waiting.pop();
                self.blocks.store(waiting.blocks(), Ordering::Relaxed);
                if block.is_some() {
                    if is_hungry {
                        self.hungry.fetch_sub(1, Ordering::Relaxed);
                    }
                    return block;
                }
                if !is_hungry {
                    is_hungry = true;
                    self.hungry.fetch_add(1, Ordering::Relaxed);
                }
                // Under the lock nobody stops being hungry.
                if self.is_nobody_left() {
                    return None;
                }
            }
            for _ in 0..LOOKS {
                if self.is_over.load(Ordering::Relaxed) {
                    return None;
                }
                std::hint::spin_loop();
            }
            match waited < KEPT_READY {
                true => std::thread::yield_now(),
                false => std::thread::sleep(NAP),
            }
        }
        None
    }

    fn is_nobody_left(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) >= self.workers
    }

    /// Does somebody wait for something, and nothing is here?
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0 && self.blocks.load(Ordering::Relaxed) == 0
    }

    /// For whoever waits.
    pub fn give(&self, some: Waiting) {
        let mut waiting = self.lock();
        waiting.append(some);
        self.blocks.store(waiting.blocks(), Ordering::Relaxed);
    }

    /// A worker takes part until what it is given is dropped, in whatever way it ends: nobody waits for it then.
    pub fn enter(&self) -> Entered<'_> {
        Entered(self)
    }

    /// Between two rounds.
    pub fn get_mut(&mut self) -> &mut Waiting {
        self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Entered<'f>(&'f Feed);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiting::Who;
    use super::*;
    use crate::store::packed::{Keeps, PackedStore};

    fn some(store: &PackedStore, numbers: std::ops::Range<u64>) -> Waiting {
        let mut waiting = Waiting::default();
        numbers.for_each(|number| waiting.push(&store.encoding, &[number, 0], Who::Everybody));
        waiting
    }

    fn store() -> PackedStore {
        PackedStore::new(Keeps::Nothing).expect("there is memory")
    }

    /// One has something, and gives it away while it is asked for it. Nothing is lost, and all of them end.
    #[test]
    fn who_waits_is_given_something() {
        const WORKERS: u64 = 3;
        let store = &store();
        let mut feed = Feed::default();
        feed.begin(WORKERS as usize);
        let feed = &feed;
        let given: u64 = std::thread::scope(|scope| {
            let wait = || {
                let mut given = 0;
                while let Some(block) = feed.take() {
                    block.each(store, |_, _| given += 1);
                }
                given
            };
            let waiting: Vec<_> = (1..WORKERS).map(|_| scope.spawn(wait)).collect();
            for part in 0..10 {
                while !feed.is_asked() {
                    std::thread::yield_now();
                }
                feed.give(some(store, 10 * part..10 * part + 10));
            }
            wait() + waiting.into_iter().map(|thread| thread.join().expect("no panic")).sum::<u64>()
        });
        assert_eq!(given, 100);
    }

    /// Without this they would wait for ever.
    #[test]
    fn nobody_waits_for_one_that_has_left() {
        let mut feed = Feed::default();
        feed.begin(2);
        let feed = &feed;
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| feed.take().is_none());
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _entered = feed.enter();
                std::panic::resume_unwind(Box::new(()));
            }));
            assert!(panicked.is_err());
            assert!(waiting.join().expect("no panic"));
        });
    }
}
