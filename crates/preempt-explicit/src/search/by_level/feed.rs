//! What several workers take from, in a round: whoever has nothing left waits for a share of what another one has.
//!
//! **When a round is over.** A worker that waits has nothing on its stack, and counts as hungry until a block is taken for it,
//! under the lock. So if all are hungry and nothing is here, nobody can bring anything: the level is done. If one leaves
//! because the round has brought enough ([`super::quota`]), those who wait leave, too.

use super::waiting::{Block, Waiting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So often it is looked whether there is something before others may use the core.
const LOOKS: u32 = 64;

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
        loop {
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
            std::thread::yield_now();
        }
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

    /// A worker leaves: the round has brought enough.
    pub fn leave(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Between two rounds.
    pub fn get_mut(&mut self) -> &mut Waiting {
        self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
