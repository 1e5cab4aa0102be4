//! A sequence lock: a writer makes the number odd, writes, and makes it even again; a reader reads between two looks at the
//! number, and again if the number has changed.
//!
//! **The bug.** It is not enough that the number is even afterwards: a whole write may have come in between. It must be the
//! number that the reader began with.

use crate::Variant;
use preempt::hint::spin_loop;
use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Two numbers that belong together.
#[derive(Debug)]
pub struct SeqLock {
    sequence: AtomicUsize,
    first: AtomicUsize,
    second: AtomicUsize,
    variant: Variant,
}

impl SeqLock {
    /// With two numbers.
    pub fn new((first, second): (usize, usize), variant: Variant) -> SeqLock {
        let (first, second) = (AtomicUsize::new(first), AtomicUsize::new(second));
        SeqLock { sequence: AtomicUsize::new(0), first, second, variant }
    }

    /// Changes both. There is one writer only.
    pub fn write(&self, first: usize, second: usize) {
        let sequence = self.sequence.load(SeqCst);
        self.sequence.store(sequence + 1, SeqCst);
        self.first.store(first, SeqCst);
        self.second.store(second, SeqCst);
        self.sequence.store(sequence + 2, SeqCst);
    }

    /// Both, as one write has left them.
    pub fn read(&self) -> (usize, usize) {
        loop {
            let before = self.sequence.load(SeqCst);
            if before.is_multiple_of(2) {
                let both = (self.first.load(SeqCst), self.second.load(SeqCst));
                let after = self.sequence.load(SeqCst);
                let undisturbed = match self.variant {
                    Variant::Mistaken => after.is_multiple_of(2),
                    Variant::Mended => after == before,
                };
                if undisturbed {
                    return both;
                }
            }
            spin_loop();
        }
    }
}
