//! A bounded queue for one producer and several consumers, without locks, and with a mistake.
//!
//! A consumer reads the item at `head` and then moves `head` on. If it does so with a plain store, two consumers can
//! take the same item. It takes one preemption, at the right place, to see it; a test that runs the threads freely
//! hardly ever does. `preempt` finds that place, shows it, and says how to run it again.
//!
//! cargo run -p preempt --example lock_free_queue

use preempt::sync::Arc;
use preempt::sync::atomic::{AtomicUsize, Ordering};
use preempt::{Checker, thread};

const SIZE: usize = 4;

struct Queue {
    slots: [AtomicUsize; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
    /// How consumers take an item.
    mended: bool,
}

impl Queue {
    fn new(mended: bool) -> Queue {
        let slots = std::array::from_fn(|_| AtomicUsize::new(0));
        Queue { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), mended }
    }

    /// There is one producer only, so nobody else moves `tail`.
    fn push(&self, item: usize) {
        let tail = self.tail.load(Ordering::Relaxed);
        assert!(tail - self.head.load(Ordering::Acquire) < SIZE, "full");
        self.slots[tail % SIZE].store(item, Ordering::Relaxed);
        self.tail.store(tail + 1, Ordering::Release);
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            let item = self.slots[head % SIZE].load(Ordering::Relaxed);
            if !self.mended {
                // The mistake: another consumer may have taken the item since `head` was read.
                self.head.store(head + 1, Ordering::Release);
                return Some(item);
            }
            // Mended: take it only if nobody else has.
            if self.head.compare_exchange(head, head + 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Some(item);
            }
        }
    }
}

/// One producer has pushed two items; two consumers take one each.
fn test(mended: bool) {
    let queue = Arc::new(Queue::new(mended));
    queue.push(1);
    queue.push(2);
    let other = Arc::clone(&queue);
    let consumer = thread::spawn(move || other.pop());
    let mine = queue.pop();
    let theirs = consumer.join().unwrap();
    assert_ne!(mine, theirs, "both consumers took the same item");
}

fn main() {
    let report = Checker::new().run(|| test(false));
    println!("With the mistake:\n\n{report}\n");
    let failure = report.failure.expect("the mistake is found");
    assert_eq!(failure.preemptions, 1);

    let again = Checker::new().replay(&failure.schedule).run(|| test(false));
    assert!(again.failure.is_some(), "the schedule fails every time");

    let report = Checker::new().run(|| test(true));
    println!("Mended: {report}");
    assert!(report.failure.is_none() && report.exhaustive);
}
