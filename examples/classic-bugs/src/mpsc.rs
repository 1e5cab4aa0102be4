//! A queue for several producers and one consumer (Vyukov): a linked list whose head producers swap, and whose nodes are
//! linked afterwards.
//!
//! **The bug.** Two producers that both read the head before either stores its own node there link both nodes behind the same
//! one, and one message is lost. A swap reads and stores at once.

use crate::Variant;
use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicPtr, Ordering};
use std::ptr::null_mut;

#[derive(Debug)]
struct Node<T> {
    next: AtomicPtr<Node<T>>,
    message: UnsafeCell<Option<T>>,
}

/// The queue.
#[derive(Debug)]
pub struct Queue<T> {
    /// The node that was pushed last.
    head: AtomicPtr<Node<T>>,
    /// The node whose message was popped last; the consumer's.
    tail: UnsafeCell<*mut Node<T>>,
    variant: Variant,
}

// SAFETY: producers touch `head` and their own nodes, the one consumer `tail` and nodes that were linked; the messages go from
// thread to thread.
unsafe impl<T: Send> Send for Queue<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send> Sync for Queue<T> {}

fn node<T>(message: Option<T>) -> *mut Node<T> {
    let node = Node { next: AtomicPtr::new(null_mut()), message: UnsafeCell::new(message) };
    Box::into_raw(Box::new(node))
}

impl<T> Queue<T> {
    /// An empty one.
    pub fn new(variant: Variant) -> Queue<T> {
        let first = node(None);
        Queue { head: AtomicPtr::new(first), tail: UnsafeCell::new(first), variant }
    }

    /// Puts a message in. For everybody.
    pub fn push(&self, message: T) {
        let node = node(Some(message));
        let before = match self.variant {
            Variant::Mistaken => {
                let before = self.head.load(Ordering::Acquire);
                self.head.store(node, Ordering::Release);
                before
            }
            Variant::Mended => self.head.swap(node, Ordering::AcqRel),
        };
        // SAFETY: a node is freed only when the one behind it was popped, and this is the one that links it.
        unsafe { (*before).next.store(node, Ordering::Release) };
    }

    /// The oldest message that is linked, if there is one.
    ///
    /// # Safety
    /// There is one consumer: no two calls at a time.
    pub unsafe fn pop(&self) -> Option<T> {
        self.tail.with_mut(|tail| {
            // SAFETY: the tail is the consumer's, and its node lives until the next one is popped.
            unsafe {
                let next = (**tail).next.load(Ordering::Acquire);
                if next.is_null() {
                    return None;
                }
                let message = (*next).message.with_mut(|message| (*message).take());
                drop(Box::from_raw(*tail));
                *tail = next;
                message
            }
        })
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has the queue any more, so all nodes are linked, and each is freed once.
        unsafe {
            while self.pop().is_some() {}
            drop(Box::from_raw(*self.tail.get_mut()));
        }
    }
}
