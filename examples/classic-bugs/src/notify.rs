//! A flag that a task waits for: the smallest piece of an asynchronous runtime.
//!
//! **The bug.** The future looks at the flag, finds it down, and registers its waker. If the flag goes up in between, there is
//! no waker to wake, and the task sleeps for ever. So the waker comes first, and the look (or another one) after it.

use crate::Variant;
use preempt::sync::Mutex;
use preempt::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// The flag.
#[derive(Debug)]
pub struct Flag {
    up: AtomicBool,
    waker: Mutex<Option<Waker>>,
    variant: Variant,
}

impl Flag {
    /// It is down.
    pub fn new(variant: Variant) -> Flag {
        Flag { up: AtomicBool::new(false), waker: Mutex::new(None), variant }
    }

    /// Puts it up, and wakes who waits for that.
    pub fn raise(&self) {
        self.up.store(true, SeqCst);
        let waker = self.waker.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Returns when it is up.
    pub async fn wait(&self) {
        poll_fn(|context| self.poll(context)).await;
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.up.load(SeqCst) {
            return Poll::Ready(());
        }
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        match self.variant {
            Variant::Mistaken => Poll::Pending,
            // Once more: it may have gone up before the waker was there.
            Variant::Mended if self.up.load(SeqCst) => Poll::Ready(()),
            Variant::Mended => Poll::Pending,
        }
    }
}
