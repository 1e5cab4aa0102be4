//! A work-stealing deque (Chase and Lev 2005), with room for a few items: its owner pushes and pops at the bottom, others steal
//! at the top.
//!
//! **The bug.** Owner and thieves meet only at the last item. The owner must win it by the same exchange of `top` that a thief
//! does; a plain store lets both have it.

use crate::Variant;
use preempt::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};

const SIZE: usize = 4;

/// The deque. Its items are numbers.
#[derive(Debug)]
pub struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    slots: [AtomicUsize; SIZE],
    variant: Variant,
}

impl Deque {
    /// An empty one.
    pub fn new(variant: Variant) -> Deque {
        let slots = std::array::from_fn(|_| AtomicUsize::new(0));
        Deque { top: AtomicIsize::new(0), bottom: AtomicIsize::new(0), slots, variant }
    }

    fn slot(&self, number: isize) -> &AtomicUsize {
        &self.slots[number as usize % SIZE]
    }

    /// Puts an item in. For the owner only.
    pub fn push(&self, item: usize) {
        let bottom = self.bottom.load(SeqCst);
        assert!(bottom - self.top.load(SeqCst) < SIZE as isize, "full");
        self.slot(bottom).store(item, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    /// Takes the newest item. For the owner only.
    pub fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst) - 1;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top < bottom {
            return Some(self.slot(bottom).load(SeqCst));
        }
        // The last item, or none: `bottom` ends where `top` does.
        let mut item = (top == bottom).then(|| self.slot(bottom).load(SeqCst));
        if item.is_some() {
            match self.variant {
                Variant::Mistaken => self.top.store(top + 1, SeqCst),
                Variant::Mended => {
                    if self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_err() {
                        item = None;
                    }
                }
            }
        }
        self.bottom.store(bottom + 1, SeqCst);
        item
    }

    /// Takes the oldest item. For everybody.
    pub fn steal(&self) -> Option<usize> {
        loop {
            let top = self.top.load(SeqCst);
            if top >= self.bottom.load(SeqCst) {
                return None;
            }
            let item = self.slot(top).load(SeqCst);
            if self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok() {
                return Some(item);
            }
        }
    }
}
