//! `std::thread::scope`: threads that borrow from the frame that waits for them.

use crate::thread::{Builder, Packet, Thread, deliver, is_finished, join, start};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// As `std::thread::Scope`.
pub struct Scope<'scope, 'env: 'scope> {
    /// To be joined at the end of the scope.
    waiting: Mutex<Vec<Waiting>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

struct Waiting {
    thread: Thread,
    done: Packet<()>,
    /// Somebody has joined the thread, and was given its panic.
    noticed: Arc<AtomicBool>,
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// As `std::thread::scope`: returns when all threads of the scope have finished.
///
/// # Panics
/// If one of them has panicked and was not joined.
///
/// ```
/// use preempt::{sync::Mutex, thread};
///
/// preempt::check(|| {
///     let sum = Mutex::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| *sum.lock().unwrap() += 1);
///         scope.spawn(|| *sum.lock().unwrap() += 2);
///     });
///     assert_eq!(sum.into_inner().unwrap(), 3);
/// });
/// ```
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { waiting: Mutex::new(Vec::new()), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let mut unnoticed = false;
    while let Some(Waiting { thread, done, noticed }) = scope.next_to_join() {
        unnoticed |= join(&thread, &done).is_err() && !noticed.load(Ordering::Relaxed);
    }
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if unnoticed => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    fn next_to_join(&self) -> Option<Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// As `std::thread::Scope::spawn`.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.start(Builder::new(), f)
    }

    #[track_caller]
    fn start<F, T>(&'scope self, builder: Builder, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // The result goes through a packet of its own, so that only the body's lifetime has to be hidden.
        let packet: Packet<T> = Packet::default();
        let result = packet.clone();
        let body: Box<dyn FnOnce() + 'scope> = Box::new(move || deliver(&result, f));
        // SAFETY: `scope` does not return, normally or by a panic, before it has joined this thread; and when a run is
        // cut, neither is resumed again. So the body does not outlive what it borrows.
        #[allow(unsafe_code)]
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let (thread, done) = start(builder, body);
        let noticed = Arc::new(AtomicBool::new(false));
        let waiting = Waiting { thread: thread.clone(), done, noticed: Arc::clone(&noticed) };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(waiting);
        ScopedJoinHandle { thread, packet, noticed, scope: PhantomData }
    }
}

impl Builder {
    /// As `std::thread::Builder::spawn_scoped`. Never fails.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> std::io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.start(self, f))
    }
}

/// As `std::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    packet: Packet<T>,
    noticed: Arc<AtomicBool>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the end of the thread, and takes what it returned.
    ///
    /// # Errors
    /// With the panic of the thread, if it has panicked.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        let result = join(&self.thread, &self.packet);
        self.noticed.store(result.is_err(), Ordering::Relaxed);
        result
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// As [`crate::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(&self.thread)
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}
