//! What all threads together may do in a round.

use preempt_core::Limits;
use std::sync::atomic::{AtomicU64, Ordering};

/// New states of a round, and expansions and transitions of each thread.
pub const LEAST_NEW: u64 = 1 << 10;
const MOST_NEW: u64 = 1 << 16;
const MOST_WORK: u64 = 1 << 18;

/// Less work than this is not worth telling the others.
const LITTLE: u64 = 64;

/// How many states may be new in the next round, after so many, of which there may be no more than the limits say.
pub fn most_new(states: u64, limits: &Limits) -> u64 {
    let most = (states / 8).clamp(LEAST_NEW, MOST_NEW);
    limits.states.map_or(most, |limit| most.min(limit.saturating_sub(states).saturating_add(1)))
}

/// What all threads together may do in a round, so that none has to wait long for the others.
#[derive(Debug)]
pub struct Quota {
    new: AtomicU64,
    work: AtomicU64,
    most_new: u64,
    most_work: u64,
}

impl Quota {
    pub fn new(most_new: u64, threads: usize) -> Quota {
        let most_work = MOST_WORK * threads as u64;
        Quota { new: AtomicU64::new(0), work: AtomicU64::new(0), most_new, most_work }
    }

    /// So many states were new, and so much was done. Says whether that is enough. What is little is added up first.
    #[inline]
    pub fn is_used_up(&self, new: &mut u64, work: &mut u64) -> bool {
        if *work < LITTLE && *new < self.most_new / LITTLE {
            return false;
        }
        let (new, work) = (std::mem::take(new), std::mem::take(work));
        let new = self.new.fetch_add(new, Ordering::Relaxed) + new;
        let work = self.work.fetch_add(work, Ordering::Relaxed) + work;
        new >= self.most_new || work >= self.most_work
    }
}
