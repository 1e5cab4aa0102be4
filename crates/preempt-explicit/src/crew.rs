//! Threads that work together in rounds. The one that runs the search has a part in each; the others stay between two rounds and look
//! out for the next one for a while before they sleep: to start or to wake a thread can take as long as a round.
#![allow(unsafe_code, reason = "what is done in a round borrows, and the threads outlive the round")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// So often it is looked whether there is something to do before others may use the core, and so often the core is kept ready.
const LOOKS: u32 = 64;
const KEPT_READY: u32 = 512;

/// What each thread does in a round, by its number.
type Work<'w> = &'w (dyn Fn(usize) + Sync);

pub struct Crew {
    threads: usize,
    others: Vec<JoinHandle<()>>,
    board: Arc<Board>,
}

#[derive(Default)]
struct Board {
    /// How many rounds have begun, for whoever looks without the lock.
    begun: AtomicU64,
    /// Of the others, those who are not done with the round.
    left: AtomicUsize,
    orders: Mutex<Orders>,
    /// A round has begun, or everything is over.
    news: Condvar,
    /// Nobody is left.
    done: Condvar,
}

#[derive(Default)]
struct Orders {
    round: u64,
    /// `None` between two rounds, and when everything is over.
    work: Option<Work<'static>>,
    panic: Option<Box<dyn Any + Send>>,
    /// Does the search sleep until the others are done, and how many of the others sleep?
    search_sleeps: bool,
    sleeping: usize,
}

impl Crew {
    /// So many threads with this one. The others begin with the first round.
    pub fn new(threads: usize) -> Crew {
        Crew { threads: threads.max(1), others: Vec::new(), board: Arc::default() }
    }

    /// How many there are. They are fewer than were asked for if the system gives no more.
    pub fn begin(&mut self) -> usize {
        for number in self.others.len() + 1..self.threads {
            let board = Arc::clone(&self.board);
            match Builder::new().spawn(move || board.work_as(number)) {
                Ok(thread) => self.others.push(thread),
                Err(_) => self.threads = number,
            }
        }
        self.threads
    }

    /// A round in which each thread works on one of these, the first on the first. If there are more of them than threads, some
    /// have to wait.
    pub fn each<T: Send>(&mut self, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        let items: Vec<_> = items.map(|item| Mutex::new(Some(item))).collect();
        let threads = self.begin();
        self.round(&|number| {
            for item in items.iter().skip(number).step_by(threads) {
                let item = item.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(item) = item {
                    work(item);
                }
            }
        });
    }

    /// As [`Crew::each`], or by this thread alone if there is only one to do it.
    pub fn each_of<T: Send>(
        &mut self,
        threads: usize,
        items: impl Iterator<Item = T>,
        work: impl Fn(T) + Sync,
    ) {
        match threads {
            1 => items.for_each(work),
            _ => self.each(items, work),
        }
    }

    /// What comes of each, in their order. Each thread has a share of them, one after the other.
    pub fn map<T: Sync, R: Send>(&mut self, items: &[T], work: &(impl Fn(&T) -> R + Sync)) -> Vec<R> {
        if self.threads == 1 || items.len() <= 1 {
            return items.iter().map(work).collect();
        }
        let share = items.len().div_ceil(self.begin());
        let mut shares: Vec<_> = items.chunks(share).map(|items| (items, Vec::new())).collect();
        self.each(shares.iter_mut(), |(items, made)| made.extend(items.iter().map(work)));
        shares.into_iter().flat_map(|(_, made)| made).collect()
    }

    fn round(&mut self, work: Work<'_>) {
        // SAFETY: nobody has it any more when `_round` is dropped, before which nothing of what it borrows can end.
        let work_of_all = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let round = Round(&self.board);
        self.board.begin_round(work_of_all, self.others.len());
        work(0);
        drop(round);
        if let Some(panic) = self.board.orders().panic.take() {
            resume_unwind(panic);
        }
    }
}

/// Ends when all others are done, also if this thread panics.
struct Round<'b>(&'b Board);

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.0.wait_for_others();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.board.begin_round(None, 0);
        for thread in self.others.drain(..) {
            // It has caught what it did not expect.
            let _ = thread.join();
        }
    }
}

impl Board {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_round(&self, work: impl Into<Option<Work<'static>>>, others: usize) {
        let mut orders = self.orders();
        self.left.store(others, Ordering::Relaxed);
        orders.round += 1;
        orders.work = work.into();
        self.begun.store(orders.round, Ordering::Release);
        if orders.sleeping > 0 {
            self.news.notify_all();
        }
    }

    fn wait_for_others(&self) {
        if !looks_until(|| self.left.load(Ordering::Acquire) == 0) {
            let mut orders = self.orders();
            while self.left.load(Ordering::Acquire) > 0 {
                orders.search_sleeps = true;
                orders = self.done.wait(orders).unwrap_or_else(PoisonError::into_inner);
            }
            orders.search_sleeps = false;
        }
        self.orders().work = None;
    }

    /// One of the others, with this number.
    fn work_as(&self, number: usize) {
        let mut seen = 0;
        loop {
            looks_until(|| self.begun.load(Ordering::Acquire) != seen);
            let mut orders = self.orders();
            while orders.round == seen {
                orders.sleeping += 1;
                orders = self.news.wait(orders).unwrap_or_else(PoisonError::into_inner);
                orders.sleeping -= 1;
            }
            seen = orders.round;
            let Some(work) = orders.work else { return };
            drop(orders);
            let result = catch_unwind(AssertUnwindSafe(|| work(number)));
            if let Err(panic) = result {
                self.orders().panic = Some(panic);
            }
            if self.left.fetch_sub(1, Ordering::AcqRel) == 1 && self.orders().search_sleeps {
                self.done.notify_one();
            }
        }
    }
}

/// Waits with the core kept ready. False if it was not so for so long that it is better to sleep.
pub fn looks_until(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..KEPT_READY {
        for _ in 0..LOOKS {
            if is_so() {
                return true;
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// In rounds that follow at once, and in rounds before which everybody has gone to sleep.
    #[test]
    fn everybody_works_in_every_round() {
        for threads in 1..=4 {
            let mut crew = Crew::new(threads);
            let mut counts = vec![0; threads];
            for round in 0..300 {
                if round % 100 == 99 {
                    std::thread::sleep(Duration::from_millis(20));
                }
                crew.each(counts.iter_mut(), |count| *count += 1);
            }
            assert_eq!(counts, vec![300; threads]);
            let squares = crew.map(&(0..1000u64).collect::<Vec<_>>(), &|number| number * number);
            assert!(squares.into_iter().eq((0..1000).map(|number| number * number)));
            assert!(crew.map(&[], &|number: &u8| *number).is_empty());
        }
    }

    /// Whoever works longest, the search goes on when all are done.
    #[test]
    fn a_round_ends_with_the_last() {
        let mut crew = Crew::new(3);
        for slow in 0..3 {
            let done = AtomicUsize::new(0);
            crew.each(0..3, |number| {
                if number == slow {
                    std::thread::sleep(Duration::from_millis(20));
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), 3);
        }
    }

    /// A panic in one thread is one of the search, after the round, and the others go on.
    #[test]
    fn panics_are_passed_on() {
        let mut crew = Crew::new(3);
        for who in 0..3 {
            let done = AtomicUsize::new(0);
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                crew.each(0..3, |number| {
                    if number == who {
                        resume_unwind(Box::new(number));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }));
            let number = panicked.expect_err("it panicked").downcast::<i32>().expect("its number");
            assert_eq!((*number, done.into_inner()), (who, 2));
        }
        let mut after = [0; 3];
        crew.each(after.iter_mut(), |count| *count += 1);
        assert_eq!(after, [1; 3]);
    }
}
