//! A bounded queue for one producer and several consumers, without locks, and with a mistake.
//!
//! A consumer reads the item at `head` and then moves `head` on. If it does so with a plain store, two consumers can
//! take the same item. It takes one preemption, at the right place, to see it; a test that runs the threads freely
//! hardly ever does. `tests/queue.rs` finds that place.
//!
//! In a program of your own the types come from one module, so that only tests use preempt's:
//!
//! ```ignore
//! #[cfg(not(test))]
//! pub use std::{sync, thread};
//! #[cfg(test)]
//! pub use preempt::{sync, thread};
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use preempt::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 4;

/// How consumers take an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// With a plain store.
    Mistaken,
    /// Only if nobody else has.
    Mended,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    slots: [AtomicUsize; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
    take: Take,
}

impl Queue {
    /// An empty queue.
    pub const fn new(take: Take) -> Queue {
        let slots = [const { AtomicUsize::new(0) }; SIZE];
        Queue { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), take }
    }

    /// Puts an item in. There is one producer only, so nobody else moves `tail`.
    ///
    /// # Panics
    /// If the queue is full.
    pub fn push(&self, item: usize) {
        let tail = self.tail.load(Ordering::Relaxed);
        assert!(tail - self.head.load(Ordering::Acquire) < SIZE, "full");
        self.slots[tail % SIZE].store(item, Ordering::Relaxed);
        self.tail.store(tail + 1, Ordering::Release);
    }

    /// Takes the oldest item out, if there is one.
    pub fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            let item = self.slots[head % SIZE].load(Ordering::Relaxed);
            match self.take {
                // The mistake: another consumer may have taken the item since `head` was read.
                Take::Mistaken => self.head.store(head + 1, Ordering::Release),
                Take::Mended => {
                    let next = head + 1;
                    if self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire).is_err() {
                        continue;
                    }
                }
            }
            return Some(item);
        }
    }
}
