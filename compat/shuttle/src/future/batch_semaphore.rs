//! shuttle's semaphore, which several permits are taken from at once, by threads and by tasks.
//!
//! It is made of a mutex and wakers. So who takes permits knows everything that was released before, not only what its own
//! permits come from.

use preempt::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

/// Who comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fairness {
    /// Who has waited longest.
    StrictlyFair,
    /// Anybody.
    Unfair,
}

/// Why there are no permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few, or somebody else comes first.
    NoPermits,
}

/// The semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

/// Somebody waits.
#[derive(Debug)]
struct Waiting {
    /// Of its [`Acquire`].
    key: u64,
    permits: usize,
    waker: Waker,
}

/// **Invariant:** a fair semaphore has too few permits for the first who waits; nobody waits at one that is closed.
#[derive(Debug)]
struct State {
    permits: usize,
    closed: bool,
    /// In the order of their coming.
    waiting: VecDeque<Waiting>,
    /// Who has been given permits, and has not been told yet.
    granted: Vec<u64>,
    next_key: u64,
}

impl State {
    /// Takes permits, unless somebody comes first.
    fn take(&mut self, permits: usize, fairness: Fairness) -> Result<(), TryAcquireError> {
        if self.closed {
            return Err(TryAcquireError::Closed);
        }
        let first = fairness == Fairness::Unfair || self.waiting.is_empty();
        self.permits =
            self.permits.checked_sub(permits).filter(|_| first).ok_or(TryAcquireError::NoPermits)?;
        Ok(())
    }

    /// There may be permits for who waits: gives them, or lets all try for whom there are enough. They are to be woken.
    fn serve(&mut self, fairness: Fairness) -> Vec<Waker> {
        if fairness == Fairness::Unfair {
            let served = self.waiting.iter().filter(|waiting| waiting.permits <= self.permits);
            return served.map(|waiting| waiting.waker.clone()).collect();
        }
        let mut woken = Vec::new();
        while let Some(first) = self.waiting.pop_front_if(|first| first.permits <= self.permits) {
            self.permits -= first.permits;
            self.granted.push(first.key);
            woken.push(first.waker);
        }
        woken
    }
}

/// A semaphore.
///
/// ```
/// use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
/// use shuttle::sync::Arc;
///
/// shuttle::check_dfs(
///     || {
///         let semaphore = Arc::new(BatchSemaphore::new(1, Fairness::StrictlyFair));
///         let other = Arc::clone(&semaphore);
///         let child = shuttle::thread::spawn(move || other.release(1));
///         semaphore.acquire_blocking(2).unwrap();
///         assert_eq!(semaphore.available_permits(), 0);
///         child.join().unwrap();
///     },
///     None,
/// );
/// ```
#[derive(Debug)]
pub struct BatchSemaphore {
    state: Mutex<State>,
    fairness: Fairness,
}

impl BatchSemaphore {
    /// With so many permits.
    #[track_caller]
    pub fn new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        BatchSemaphore::const_new(num_permits, fairness)
    }

    /// With so many permits, for a static.
    #[track_caller]
    pub const fn const_new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        let state = State {
            permits: num_permits,
            closed: false,
            waiting: VecDeque::new(),
            granted: Vec::new(),
            next_key: 0,
        };
        BatchSemaphore { state: Mutex::new(state), fairness }
    }

    #[track_caller]
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.state().permits
    }

    /// Nobody gets permits any more, and who waits is told so.
    #[track_caller]
    pub fn close(&self) {
        let waiting = {
            let mut state = self.state();
            state.closed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|waiting| waiting.waker.wake());
    }

    /// Was it closed?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Takes permits, if they are there.
    ///
    /// # Errors
    /// If they are not.
    #[track_caller]
    pub fn try_acquire(&self, num_permits: usize) -> Result<(), TryAcquireError> {
        self.state().take(num_permits, self.fairness)
    }

    /// Takes permits, as a future.
    pub fn acquire(&self, num_permits: usize) -> Acquire<'_> {
        Acquire { semaphore: self, permits: num_permits, key: None }
    }

    /// Takes permits, and waits for them.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_blocking(&self, num_permits: usize) -> Result<(), AcquireError> {
        preempt::future::block_on(self.acquire(num_permits))
    }

    /// So many more.
    #[track_caller]
    pub fn release(&self, num_permits: usize) {
        let woken = {
            let mut state = self.state();
            state.permits += num_permits;
            state.serve(self.fairness)
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Default for BatchSemaphore {
    /// A fair one without permits.
    #[track_caller]
    fn default() -> BatchSemaphore {
        BatchSemaphore::new(0, Fairness::StrictlyFair)
    }
}

/// Permits, as a future. One that is dropped before it is ready leaves its place, or gives back what it was given.
#[derive(Debug)]
pub struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    permits: usize,
    /// While it waits.
    key: Option<u64>,
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (semaphore, permits) = (self.semaphore, self.permits);
        let mut state = semaphore.state();
        let state = &mut *state;
        let place = state.waiting.iter().position(|waiting| Some(waiting.key) == self.key);
        if let Some(granted) = state.granted.iter().position(|granted| Some(*granted) == self.key) {
            state.granted.swap_remove(granted);
            self.key = None;
            return Poll::Ready(Ok(()));
        }
        // Who waits at a fair one is given permits by those who release them.
        let taken = match (place, semaphore.fairness) {
            (Some(_), Fairness::StrictlyFair) => Err(TryAcquireError::NoPermits),
            _ => state.take(permits, semaphore.fairness),
        };
        match (taken, place) {
            (Err(TryAcquireError::NoPermits), Some(place)) => {
                // Who polls now is to be woken, whoever it was before.
                state.waiting[place].waker.clone_from(context.waker());
                Poll::Pending
            }
            (Err(TryAcquireError::NoPermits), None) => {
                let key = state.next_key;
                state.next_key += 1;
                state.waiting.push_back(Waiting { key, permits, waker: context.waker().clone() });
                self.key = Some(key);
                Poll::Pending
            }
            (done, place) => {
                place.map(|place| state.waiting.remove(place));
                self.key = None;
                Poll::Ready(done.map_err(|_| AcquireError(())))
            }
        }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // A panic ends the run: nobody needs the place any more.
        let Some(key) = self.key.filter(|_| !std::thread::panicking()) else { return };
        let woken = {
            let mut state = self.semaphore.state();
            if let Some(granted) = state.granted.iter().position(|granted| *granted == key) {
                state.granted.swap_remove(granted);
                state.permits += self.permits;
            }
            state.waiting.retain(|waiting| waiting.key != key);
            state.serve(self.semaphore.fairness)
        };
        woken.into_iter().for_each(Waker::wake);
    }
}
