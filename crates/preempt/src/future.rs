//! Futures in modelled threads: [`block_on`], tasks, and wakers whose wake is a step.
//!
//! ```
//! use preempt::future::{block_on, spawn};
//!
//! preempt::check(|| {
//!     let task = spawn(async { 6 * 7 });
//!     assert_eq!(block_on(task), Ok(42));
//! });
//! ```

use crate::runtime::current::try_with;
use crate::sync::{Mutex, Notify};
use crate::thread;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};

/// The waker of a thread that polls.
struct Alarm(Notify);

impl Wake for Alarm {
    #[track_caller]
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Polls the future in this thread until it is ready. Between polls the thread waits for its waker; it polls spuriously if
/// that is to be explored ([`crate::Checker::spurious`]).
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    poll_until_ready(future, Notify::new(), |_| false).expect("nobody gives it up")
}

/// As [`block_on`], and runs with one spurious poll are always explored, as loom does.
#[track_caller]
pub fn block_on_with_spurious_poll<F: Future>(future: F) -> F::Output {
    poll_until_ready(future, Notify::with_spurious_wakeup(), |_| false).expect("nobody gives it up")
}

#[track_caller]
fn poll_until_ready<F: Future>(
    future: F,
    notify: Notify,
    given_up: impl Fn(&Waker) -> bool,
) -> Option<F::Output> {
    let alarm = Arc::new(Alarm(notify));
    let waker = Waker::from(Arc::clone(&alarm));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    while !given_up(&waker) {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        alarm.0.wait();
    }
    None
}

/// Lets other threads run: pending once, and woken at once.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        thread::yield_now();
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What a task and its handles share.
struct Task<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    result: Option<Result<T, JoinError>>,
    finished: bool,
    aborted: bool,
    /// Of who waits for the result.
    joiner: Option<Waker>,
    /// Of the task itself.
    waker: Option<Waker>,
}

impl<T> Task<T> {
    #[track_caller]
    fn change<R>(&self, f: impl FnOnce(&mut State<T>) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[track_caller]
    fn finish(&self, result: Result<T, JoinError>) {
        let joiner = self.change(|state| {
            (state.result, state.finished, state.waker) = (Some(result), true, None);
            state.joiner.take()
        });
        joiner.into_iter().for_each(Waker::wake);
    }
}

/// Handles to a task without its type.
trait Abort {
    fn abort(&self);
    fn is_finished(&self) -> bool;
}

impl<T> Abort for Task<T> {
    #[track_caller]
    fn abort(&self) {
        let waker = self.change(|state| {
            state.aborted = true;
            state.waker.take()
        });
        waker.into_iter().for_each(Waker::wake);
    }

    #[track_caller]
    fn is_finished(&self) -> bool {
        self.change(|state| state.finished)
    }
}

/// A task: a modelled thread of its own that polls the future. Unlike a thread it may be left waiting when everybody else
/// has finished, and that is no deadlock.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_local(future)
}

/// As [`spawn`], for futures that are not `Send`: modelled threads share a thread of the operating system.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let state = State { result: None, finished: false, aborted: false, joiner: None, waker: None };
    let task = Arc::new(Task { state: Mutex::new(state) });
    let mine = Arc::clone(&task);
    let handle = thread::spawn_local(move || {
        thread::mark_as_daemon();
        // In one step, or an abort could come in between and find nobody to wake.
        let given_up = |waker: &Waker| {
            mine.change(|state| {
                state.waker = Some(waker.clone());
                state.aborted
            })
        };
        let output = poll_until_ready(future, Notify::new(), given_up);
        mine.finish(output.ok_or(JoinError::Cancelled));
    });
    let thread = handle.thread();
    JoinHandle { task, number: thread.number, thread: thread.id() }
}

/// The result of a task, as a future. A handle that is dropped leaves the task running.
pub struct JoinHandle<T> {
    task: Arc<Task<T>>,
    number: usize,
    thread: thread::ThreadId,
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        try_with(|context| {
            context.threads[self.number].detached = true;
            // Whether the task or the test ends first matters then.
            if context.stricter && !context.threads[self.number].finished {
                context.wanted |= crate::runtime::extra::ENDS;
            }
        });
    }
}

/// Of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskId(thread::ThreadId);

impl<T: 'static> JoinHandle<T> {
    /// The task stops where it waits next.
    #[track_caller]
    pub fn abort(&self) {
        Abort::abort(&*self.task);
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        Abort::is_finished(&*self.task)
    }

    /// To abort the task from elsewhere.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: Arc::clone(&self.task) as Arc<dyn Abort>, thread: self.thread }
    }

    /// Of the task.
    pub fn id(&self) -> TaskId {
        TaskId(self.thread)
    }
}

// SAFETY: modelled threads share one thread of the operating system, and the result is behind a modelled mutex.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: as for `Send`.
#[allow(unsafe_code)]
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.task.change(|state| match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.joiner = Some(context.waker().clone());
                Poll::Pending
            }
        })
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Aborts a task.
#[derive(Clone)]
pub struct AbortHandle {
    task: Arc<dyn Abort>,
    thread: thread::ThreadId,
}

// SAFETY: as for `JoinHandle`; only flags and wakers are reached.
#[allow(unsafe_code)]
unsafe impl Send for AbortHandle {}
// SAFETY: as for `Send`.
#[allow(unsafe_code)]
unsafe impl Sync for AbortHandle {}

impl AbortHandle {
    /// The task stops where it waits next.
    #[track_caller]
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Of the task.
    pub fn id(&self) -> TaskId {
        TaskId(self.thread)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinError {
    /// The task was aborted.
    Cancelled,
}

impl JoinError {
    /// Was the task aborted?
    pub fn is_cancelled(&self) -> bool {
        *self == JoinError::Cancelled
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was aborted")
    }
}

impl std::error::Error for JoinError {}

/// loom's model of tokio's `AtomicWaker`: a waker that one task registers and others take.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Nothing is registered.
    pub const fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// Registers the waker. If another thread is taking one just now, wakes at once instead.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        match self.waker.try_lock() {
            Ok(mut registered) => *registered = Some(waker),
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner() = Some(waker),
            Err(TryLockError::WouldBlock) => {
                waker.wake();
                thread::yield_now();
            }
        }
    }

    /// As [`AtomicWaker::register`].
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes what is registered.
    #[track_caller]
    pub fn wake(&self) {
        self.take_waker().into_iter().for_each(Waker::wake);
    }

    /// Takes what is registered.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
