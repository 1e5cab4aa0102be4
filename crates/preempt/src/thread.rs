//! `std::thread`, as far as programs under test need it.
//!
//! [`yield_now`] and [`crate::hint::spin_loop`] are steps like any other under the preemption bound: leaving a thread
//! that has yielded is a preemption. They are counted by the fair bound ([`crate::Checker::fair_bound`]).
//!
//! ```
//! use preempt::thread;
//!
//! preempt::check(|| {
//!     let main = thread::current();
//!     let child = thread::spawn(move || main.unpark());
//!     thread::park(); // Returns in every schedule: a token that comes early is kept.
//!     child.join().unwrap();
//! });
//! ```

#[doc(hidden)]
pub use crate::hooks::*;

use crate::runtime::context::{Context, set};
use crate::runtime::current::{active, try_with, with};
use crate::runtime::extra::ENDS;
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use preempt_stateless::{Need, ObjectId, Operation};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use crate::local::{AccessError, LocalKey};
pub use crate::scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, available_parallelism, panicking};

/// What a thread returned, or what it panicked with.
pub(crate) type Packet<T> = Arc<Mutex<Option<Result<T>>>>;

/// A yield takes so much virtual time.
const QUANTUM: Duration = Duration::from_millis(1);

/// As `std::thread::spawn`.
///
/// ```
/// preempt::check(|| {
///     let child = preempt::thread::spawn(|| 40 + 2);
///     assert_eq!(child.join().unwrap(), 42);
/// });
/// ```
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (thread, packet) = start(Builder::new(), f);
    JoinHandle { thread, packet }
}

/// As [`spawn`], for what is not `Send`: modelled threads share a thread of the operating system, and are switched only at
/// operations.
#[track_caller]
pub fn spawn_local<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let (thread, packet) = start(Builder::new(), f);
    JoinHandle { thread, packet }
}

/// Has the thread done its last step? Asking makes the ends of threads steps: the search begins again, if they were not.
#[track_caller]
pub(crate) fn is_finished(thread: &Thread) -> bool {
    let number = thread.number;
    let ended = with(|context| {
        context.wanted |= ENDS;
        context.end_of(number)
    });
    let operation = Operation::new(Opcode::IsFinished).reads(ended);
    let finished = operate(operation, "is_finished", None, |context| {
        let finished = context.object(ended, "end").gate != 0;
        context.note_text(|context| format!(" {}({number}) -> {finished}", context.thread_label(number)));
        finished
    });
    finished.unwrap_or(false)
}

/// Has the main thread ended? For statics that end with it.
#[doc(hidden)]
#[track_caller]
pub fn main_has_ended() -> bool {
    is_finished(&Thread { number: 0, name: None })
}

/// The running thread may be left waiting when all others have finished: that is no deadlock.
pub(crate) fn mark_as_daemon() {
    with(|context| context.me().daemon = true);
}

/// Runs the body of a thread and puts what it returns, or its panic, into the packet.
pub(crate) fn deliver<T>(packet: &Packet<T>, body: impl FnOnce() -> T) {
    let result = catch_unwind(AssertUnwindSafe(body));
    let panicked = result.is_err();
    *packet.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    if panicked {
        // The runtime has to see it too; the hook is not called again.
        resume_unwind(Box::new("passed on"));
    }
}

/// Registers a thread and hands its body to the runtime.
#[track_caller]
pub(crate) fn start<F, T>(builder: Builder, f: F) -> (Thread, Packet<T>)
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let Builder { name: label, stack } = builder;
    let packet: Packet<T> = Arc::new(Mutex::new(None));
    let result = Arc::clone(&packet);
    let body = move || deliver(&result, f);
    let name = label.clone();
    let number = operate(Operation::new(Opcode::Spawn).releasing(), "spawn", None, move |context| {
        let number = context.add_thread(Some(context.current), label);
        context.threads[number].stack = stack.unwrap_or(context.stack);
        context.spawned.push((number, Box::new(body)));
        context.note_text(|context| format!(" {}({number})", context.thread_label(number)));
        number
    });
    if let Some(number) = number
        && let Some((tell, parent)) = with(|context| context.on_spawn.map(|tell| (tell, context.current)))
    {
        tell(parent, number);
    }
    let number = number.unwrap_or(usize::MAX);
    (Thread { number, name }, packet)
}

/// Waits for the thread to finish, and takes what it returned.
#[track_caller]
pub(crate) fn join<T>(thread: &Thread, packet: &Packet<T>) -> Result<T> {
    let number = thread.number;
    let operation = Operation::new(Opcode::Join).needs(Need::Finished(number));
    operate(operation, "join", None, |context| {
        let ended = context.threads[number].clock.clone();
        context.me().clock.join(&ended);
        context.threads[number].handled = true;
        context.note_text(|context| {
            let panicked = if context.threads[number].panicked { " -> panicked" } else { "" };
            format!(" {}({number}){panicked}", context.thread_label(number))
        });
    });
    let taken = packet.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Nothing is there only if the thread could not wait: in a destructor, while it was panicking.
    taken.unwrap_or_else(|| Err(Box::new("the run was abandoned") as Box<dyn Any + Send>))
}

/// As `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    thread: Thread,
    packet: Packet<T>,
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread, and takes what it returned.
    ///
    /// # Errors
    /// With the panic of the thread, if it has panicked; then the panic counts as handled, and is no failure of the test.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        join(&self.thread, &self.packet)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Has the thread's function returned? In a test that asks, the end of a thread is a step like others.
    ///
    /// ```
    /// use preempt::{sync::Arc, sync::atomic::{AtomicBool, Ordering}, thread};
    ///
    /// preempt::check(|| {
    ///     let done = Arc::new(AtomicBool::new(false));
    ///     let other = Arc::clone(&done);
    ///     let child = thread::spawn(move || other.store(true, Ordering::Release));
    ///     while !child.is_finished() {
    ///         thread::yield_now();
    ///     }
    ///     assert!(done.load(Ordering::Acquire));
    /// });
    /// ```
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(&self.thread)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// As `std::thread::Thread`.
#[derive(Debug, Clone)]
pub struct Thread {
    pub(crate) number: usize,
    name: Option<String>,
}

/// As `std::thread::ThreadId`: unique within a run, and the same in equivalent runs.
#[derive(Debug, Clone, Copy)]
pub struct ThreadId {
    name: u64,
    /// In the order of creation, which is another in equivalent runs, and so does not count.
    pub(crate) number: usize,
}

impl PartialEq for ThreadId {
    fn eq(&self, other: &ThreadId) -> bool {
        self.name == other.name
    }
}

impl Eq for ThreadId {}

impl std::hash::Hash for ThreadId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// shuttle's identities are numbers, in the order of creation.
#[doc(hidden)]
impl From<ThreadId> for usize {
    fn from(id: ThreadId) -> usize {
        id.number
    }
}

#[doc(hidden)]
impl From<usize> for ThreadId {
    fn from(number: usize) -> ThreadId {
        let name = try_with(|context| context.threads.get(number).map(|thread| thread.name)).flatten();
        ThreadId { name: name.unwrap_or(0), number }
    }
}

impl Thread {
    /// Its identity, the same in equivalent runs.
    pub fn id(&self) -> ThreadId {
        let number = self.number;
        ThreadId { name: with(|context| context.threads[number].name), number }
    }

    /// The name that it was given.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Lets the thread's next `park` return, or the current one.
    #[track_caller]
    pub fn unpark(&self) {
        let token = token(self.number);
        operate_or_defer(
            Operation::new(Opcode::Unpark).writes(token).releasing(),
            "unpark",
            Some(token),
            move |context| {
                context.object(token, "park token").gate = 1;
                context.release(token);
            },
        );
    }
}

fn token(thread: usize) -> ObjectId {
    with(|context| context.token(thread))
}

/// As `std::thread::park`. It returns spuriously if that is to be explored ([`crate::Checker::spurious`]).
#[track_caller]
pub fn park() {
    let (me, weak) = with(|context| {
        let weak = context.may_be_spurious() || context.spurious_parks && context.me().spurious_steps == 0;
        (context.current, weak)
    });
    let token = token(me);
    let operation = Operation::new(Opcode::Park).writes(token).needs(set(token, 1)).may_be_spurious(weak);
    operate(operation, "park", Some(token), |context| take_token(context, token));
}

/// As `std::thread::park_timeout`: the time may always have passed.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    let token = token(with(|context| context.current));
    let operation = Operation::new(Opcode::Park).writes(token);
    let taken = operate(operation, "park_timeout", Some(token), |context| take_token(context, token));
    if taken == Some(false) {
        timed_out();
        with(|context| context.advance_time(duration));
    }
}

/// Without a token there is nothing to take, and nothing to learn from who gave it.
fn take_token(context: &mut Context, token: ObjectId) -> bool {
    let object = context.object(token, "park token");
    let taken = std::mem::take(&mut object.gate) != 0;
    if taken {
        context.acquire(token);
    }
    taken
}

/// A time-out is a yield: who waits for others again and again lets them run under the fair bound.
#[track_caller]
pub(crate) fn timed_out() {
    operate(Operation::new(Opcode::Yield).yielding(), "time out", None, |_| ());
}

/// As `std::thread::current`.
pub fn current() -> Thread {
    with(|context| {
        let number = context.current;
        let label = context.threads[number].label.clone();
        let main = (number == 0 && !context.unnamed_main).then(|| "main".to_string());
        Thread { number, name: label.or(main) }
    })
}

/// A step that does nothing and counts as a yield under the fair bound.
#[track_caller]
pub fn yield_now() {
    if active() {
        pass("yield", QUANTUM);
    } else {
        std::thread::yield_now();
    }
}

/// A yield after which the thread's virtual clock ([`crate::time`]) has gone on by so much.
#[track_caller]
pub fn sleep(duration: Duration) {
    if active() {
        pass("sleep", duration);
    } else {
        std::thread::sleep(duration);
    }
}

#[track_caller]
fn pass(verb: &'static str, time: Duration) {
    let operation = with(|context| context.yield_operation(verb == "sleep"));
    operate(operation, verb, None, |context| context.advance_time(time));
}

/// As `std::thread::Builder`.
#[derive(Debug, Default)]
pub struct Builder {
    pub(crate) name: Option<String>,
    /// The size of the stack.
    pub(crate) stack: Option<usize>,
}

impl Builder {
    /// Without a name, and with a stack of the usual size.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// A name, which reports show.
    #[must_use]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of the stack, in bytes.
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack = Some(size);
        self
    }

    /// As [`Builder::spawn`], for what is not `Send`; see [`spawn_local`].
    ///
    /// # Errors
    /// None: it never fails.
    #[track_caller]
    pub fn spawn_local<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let (thread, packet) = start(self, f);
        Ok(JoinHandle { thread, packet })
    }

    /// As `std::thread::Builder::spawn_unchecked`: the body may borrow.
    ///
    /// # Errors
    /// None: it never fails.
    ///
    /// # Safety
    /// What it borrows must live until the thread has been joined, in every run.
    #[track_caller]
    #[allow(unsafe_code)]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // The result goes through a packet of its own, so that only the body's lifetime has to be hidden.
        let packet: Packet<T> = Packet::default();
        let result = Arc::clone(&packet);
        let body: Box<dyn FnOnce() + '_> = Box::new(move || deliver(&result, f));
        // SAFETY: the caller promises that what it borrows lives for as long as it runs.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let (thread, _) = start(self, body);
        Ok(JoinHandle { thread, packet })
    }

    /// As [`spawn`], with these options.
    ///
    /// # Errors
    /// None: it never fails.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (thread, packet) = start(self, f);
        Ok(JoinHandle { thread, packet })
    }
}
