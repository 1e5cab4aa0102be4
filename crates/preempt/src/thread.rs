//! `std::thread`, as far as programs under test need it.
//!
//! [`yield_now`] and [`crate::hint::spin_loop`] are steps like any other under the preemption bound: leaving a thread
//! that has yielded is a preemption. They are counted by the fair bound ([`crate::Checker::fair_bound`]).

use crate::runtime::context::{Context, active, set, with};
use crate::runtime::operate::{operate, operate_later};
use preempt_stateless::{Need, ObjectId, Operation};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::local::{AccessError, LocalKey};
pub use crate::scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, available_parallelism, panicking};

/// What a thread returned, or what it panicked with.
pub(crate) type Packet<T> = Arc<Mutex<Option<Result<T>>>>;

const SPAWN: u32 = 1;
const JOIN: u32 = 2;
const PARK: u32 = 3;
const UNPARK: u32 = 4;
const YIELD: u32 = 5;

/// As `std::thread::spawn`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (thread, packet) = start(Builder::new(), f);
    JoinHandle { thread, packet }
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
    let body = move || {
        match catch_unwind(AssertUnwindSafe(f)) {
            Err(payload) => {
                *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(Err(payload));
                // The runtime has to see it too; the hook is not called again.
                resume_unwind(Box::new("passed on"));
            }
            Ok(value) => *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(value)),
        }
    };
    let name = label.clone();
    let number = operate(Operation::local(SPAWN).releasing(), "spawn", None, move |context| {
        let number = context.add_thread(Some(context.current), label);
        context.threads[number].stack = stack.unwrap_or(context.stack);
        context.spawned.push((number, Box::new(body)));
        number
    });
    let number = number.unwrap_or(usize::MAX);
    (Thread { number, name }, packet)
}

/// Waits for the thread to finish, and takes what it returned.
#[track_caller]
pub(crate) fn join<T>(thread: &Thread, packet: &Packet<T>) -> Result<T> {
    let number = thread.number;
    let operation = Operation::local(JOIN).needs(Need::Finished(number));
    operate(operation, "join", None, |context| {
        let ended = context.threads[number].clock.clone();
        context.me().clock.join(&ended);
        context.threads[number].handled = true;
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
    /// `Err` if the thread has panicked; then the panic counts as handled, and is no failure of the test.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        join(&self.thread, &self.packet)
    }

    pub fn thread(&self) -> &Thread {
        &self.thread
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

/// As `std::thread::ThreadId`: unique within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(u64);

impl Thread {
    pub fn id(&self) -> ThreadId {
        ThreadId(with(|context| context.threads[self.number].name))
    }

    pub fn name(&self) -> Option<&str> {
        if self.number == 0 { Some("main") } else { self.name.as_deref() }
    }

    /// Lets the thread's next `park` return, or the current one.
    #[track_caller]
    pub fn unpark(&self) {
        let token = token(self.number);
        operate_later(
            Operation::local(UNPARK).writes(token).releasing(),
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

/// As `std::thread::park`. It returns for no reason if that is to be explored ([`crate::Checker::spurious`]).
#[track_caller]
pub fn park() {
    let (me, weak) = with(|context| (context.current, context.may_vary()));
    let token = token(me);
    let operation = Operation::local(PARK).writes(token).needs(set(token, 1)).varying(weak);
    operate(operation, "park", Some(token), |context| take_token(context, token));
}

/// As `std::thread::park_timeout`: the time may always have passed.
#[track_caller]
pub fn park_timeout(_: std::time::Duration) {
    let token = token(with(|context| context.current));
    let operation = Operation::local(PARK).writes(token);
    let taken = operate(operation, "park_timeout", Some(token), |context| take_token(context, token));
    if taken == Some(false) {
        timed_out();
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
    operate(Operation::local(YIELD).yielding(), "time out", None, |_| ());
}

/// As `std::thread::current`.
pub fn current() -> Thread {
    with(|context| Thread { number: context.current, name: context.threads[context.current].label.clone() })
}

/// A step that does nothing and counts as a yield under the fair bound.
#[track_caller]
pub fn yield_now() {
    if active() {
        operate(Operation::local(YIELD).yielding(), "yield", None, |_| ());
    } else {
        std::thread::yield_now();
    }
}

/// Time is not modelled: sleeping is a yield.
#[track_caller]
pub fn sleep(_: std::time::Duration) {
    yield_now();
}

/// As `std::thread::Builder`.
#[derive(Debug, Default)]
pub struct Builder {
    pub(crate) name: Option<String>,
    /// The size of the stack.
    pub(crate) stack: Option<usize>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder::default()
    }

    #[must_use]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack = Some(size);
        self
    }

    /// Never fails.
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
