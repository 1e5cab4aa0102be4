//! What the mirrors of std see of the current run. It lives in the OS thread that runs the test; every modelled
//! thread is a coroutine on that thread, so nothing here is ever touched by two at a time.
//!
//! **Invariant:** the context is borrowed only for a moment, never while a coroutine is resumed or suspended, and
//! never while code of the user runs.

use super::clock::Clock;
use super::failure::{Failed, StepRecord};
use super::place::Copy;
use super::word::Bytes;
use crate::local::Locals;
use corosensei::Yielder;
use preempt_stateless::executable::derive_name;
use preempt_stateless::{Move, Need, ObjectId, Operation};
use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A thread of the program under test.
pub(crate) struct Thread {
    /// Does not depend on the interleaving: made of the parent's name and how many it had spawned before.
    pub name: u64,
    pub label: Option<String>,
    pub pending: Option<Pending>,
    pub finished: bool,
    pub panicked: bool,
    /// Somebody joined it and was given its panic.
    pub handled: bool,
    /// It may wait for ever when everybody else has finished.
    pub left: bool,
    /// A destructor of one of its thread-local values has panicked: no join is given that.
    pub fatal: bool,
    children: u64,
    token: Option<ObjectId>,
    /// How many of its steps went their other way.
    pub varied: u32,
    /// Of its last operation.
    pub at: Option<Location_>,
    pub clock: Clock,
    /// What an acquire fence would make known, and what a release fence has promised (C++20, atomics.fences).
    pub acquirable: Clock,
    pub fenced: Clock,
    pub locals: Locals,
    /// The size of its stack.
    pub stack: usize,
    /// What destructors wanted to do while the thread was panicking.
    pub deferred: Vec<Deferred>,
    pub yielder: *const Yielder<(), ()>,
}

pub(crate) type Location_ = &'static Location<'static>;

/// An operation that a thread is about to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub operation: Operation,
    pub what: What,
    pub location: Location_,
}

/// How an operation is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct What {
    pub verb: &'static str,
    pub object: Option<ObjectId>,
}

/// An operation that has to wait until its thread is not panicking any more: coroutines must not be switched while
/// one of them unwinds, since the panic count belongs to the OS thread.
pub(crate) struct Deferred {
    pub pending: Pending,
    pub effect: Box<dyn FnOnce(&mut Context)>,
}

/// A lock, an atomic, a channel... as far as scheduling and happens-before are concerned. The data is elsewhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    pub kind: &'static str,
    /// Who has used it last.
    user: Option<usize>,
    pub gate: u128,
    pub clock: Clock,
    /// A second clock: what readers release to writers. Of an atomic: when each thread has last stored to it.
    pub readers: Clock,
    /// Of an atomic: when each thread has last loaded it.
    pub loads: Clock,
    pub holder: Option<usize>,
    /// Of a condition variable: who waits, and for each notification who may take it.
    pub waiting: u128,
    pub permits: Vec<u128>,
    /// Of a barrier: who has arrived so far.
    pub count: usize,
    /// Of an atomic.
    pub value: Bytes,
    /// Of an atomic: its accesses that are not atomic, if there were any.
    pub plain: Option<Box<super::race::Plain>>,
}

/// The objects of a run, in the order in which it used them first: their names are 1, 2, 3, ...
#[derive(Debug, Default)]
pub(crate) struct Objects(Vec<Object>);

impl Objects {
    pub const fn none() -> Objects {
        Objects(Vec::new())
    }

    #[inline]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.0.get((id.0 as usize).wrapping_sub(1))
    }

    pub fn get_mut(&mut self, id: ObjectId) -> &mut Object {
        &mut self.0[id.0 as usize - 1]
    }

    pub fn gate(&self, id: ObjectId) -> u128 {
        self.get(id).map_or(0, |object| object.gate)
    }
}

/// The current run.
pub(crate) struct Context {
    /// Different for every run of the process.
    pub run: u64,
    /// How often a thread's steps may go their other way.
    pub spurious: u32,
    /// The size of stacks, unless the thread asks for another.
    pub stack: usize,
    /// Does the step that is being done go its other way?
    pub varied: bool,
    /// Of statics, by their addresses.
    pub copies: HashMap<usize, Copy, foldhash::fast::FixedState>,
    /// The objects of statics that are atomics, by their addresses.
    pub static_words: HashMap<usize, ObjectId, foldhash::fast::FixedState>,
    pub threads: Vec<Thread>,
    pub objects: Objects,
    parts: HashMap<(ObjectId, u64), ObjectId, foldhash::fast::FixedState>,
    pub cells: super::race::Cells,
    pub living: super::living::Living,
    /// The thread that is running.
    pub current: usize,
    /// `thread::current` of the main thread has no name.
    pub nameless_main: bool,
    /// Spawned and not yet started, with their numbers.
    pub spawned: Vec<(usize, Box<dyn FnOnce()>)>,
    /// The run is over, and what its statics own is dropped: operations do nothing and return at once.
    pub cutting: bool,
    /// A thread has been trapped (see `trap.rs`): the run is over.
    pub doomed: bool,
    /// Two threads have used the same object.
    pub shared: bool,
    /// What went wrong, first things first.
    pub failed: Vec<Failed>,
    /// The run is a replay: panics are noted with where they came from.
    pub replay: bool,
    /// Of the run so far.
    pub steps: Option<Vec<StepRecord>>,
}

/// Where the context is. It is a `RefCell` that can be given back by force.
struct Place {
    busy: Cell<bool>,
    context: UnsafeCell<Option<Context>>,
}

/// The right to use the context; given back when it is dropped.
struct Borrowed {
    place: *const Place,
}

impl Borrowed {
    /// `None` if somebody else is using it, or the OS thread is at its end.
    ///
    /// What is done with the context does not happen inside of `LocalKey::with`: results would be copied on their way out of
    /// it, once for each layer, and every step of a run goes through here several times.
    #[inline]
    fn new() -> Option<Borrowed> {
        let place = CONTEXT.try_with(std::ptr::from_ref).ok()?;
        // SAFETY: the place belongs to this OS thread, which has not begun to destroy it.
        #[allow(unsafe_code)]
        let busy = unsafe { (*place).busy.replace(true) };
        (!busy).then_some(Borrowed { place })
    }

    #[inline]
    fn get(&mut self) -> &mut Option<Context> {
        // SAFETY: nobody else is using it: `busy` was not set, all uses go through here, and the place belongs to one OS
        // thread. It is destroyed at the end of that thread, which `self`, a value of its stack, does not outlive.
        #[allow(unsafe_code)]
        unsafe {
            &mut *(*self.place).context.get()
        }
    }
}

impl Drop for Borrowed {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `get`.
        #[allow(unsafe_code)]
        unsafe {
            (*self.place).busy.set(false);
        }
    }
}

thread_local! {
    /// Some step of the run may go another way.
    static OTHER_WAYS: Cell<bool> = const { Cell::new(false) };
    static CONTEXT: Place = const { Place { busy: Cell::new(false), context: UnsafeCell::new(None) } };
}

/// After code was abandoned that may have been using the context (an overflow of its stack), and is never resumed.
pub(crate) fn unlock() {
    CONTEXT.with(|place| place.busy.set(false));
}

/// The number of the last run that was begun.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl Context {
    pub fn new(record: bool, spurious: u32, stack: usize) -> Context {
        OTHER_WAYS.set(spurious > 0);
        Context {
            run: RUNS.fetch_add(1, Ordering::Relaxed) + 1,
            spurious,
            stack,
            varied: false,
            copies: HashMap::default(),
            static_words: HashMap::default(),
            threads: Vec::new(),
            objects: Objects::default(),
            parts: HashMap::default(),
            cells: super::race::Cells::default(),
            living: super::living::Living::default(),
            current: 0,
            nameless_main: false,
            spawned: Vec::new(),
            cutting: false,
            doomed: false,
            shared: false,
            failed: Vec::new(),
            replay: record,
            steps: Some(Vec::new()),
        }
    }

    /// Forgets a run that was cut, without running any code of the program's: see `Fibers::end_run`.
    pub fn abandon(mut self) {
        std::mem::forget(std::mem::take(&mut self.spawned));
        for thread in &mut self.threads {
            std::mem::forget(std::mem::take(&mut thread.deferred));
            std::mem::forget(std::mem::take(&mut thread.locals));
        }
    }

    pub fn add_thread(&mut self, parent: Option<usize>, label: Option<String>) -> usize {
        let number = self.threads.len();
        let (name, clock) = match parent {
            None => (1, Clock::default()),
            Some(parent) => {
                let parent = &mut self.threads[parent];
                parent.children += 1;
                (derive_name(parent.name, parent.children), parent.clock.clone())
            }
        };
        self.threads.push(Thread {
            name,
            label,
            pending: None,
            finished: false,
            panicked: false,
            handled: false,
            left: false,
            fatal: false,
            children: 0,
            token: None,
            varied: 0,
            at: None,
            clock,
            acquirable: Clock::default(),
            fenced: Clock::default(),
            locals: Locals::default(),
            stack: self.stack,
            deferred: Vec::new(),
            yielder: std::ptr::null(),
        });
        self.threads[number].clock.tick(number);
        number
    }

    pub fn thread_label(&self, thread: usize) -> String {
        match (&self.threads[thread].label, thread) {
            (Some(label), _) => label.clone(),
            (None, 0) => "main".into(),
            (None, _) => "thread".into(),
        }
    }

    pub fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// How many operations the running thread has done, as clocks count them.
    pub fn time(&self) -> u32 {
        self.threads[self.current].clock.get(self.current)
    }

    /// The name of an object that is used for the first time.
    pub fn fresh_object(&mut self) -> u64 {
        self.objects.0.push(Object::default());
        self.objects.0.len() as u64
    }

    /// The name of a part of an object: a round of a barrier, a rendezvous of a channel.
    pub fn part(&mut self, whole: ObjectId, number: u64) -> ObjectId {
        match self.parts.get(&(whole, number)) {
            Some(part) => *part,
            None => {
                let part = ObjectId(self.fresh_object());
                self.parts.insert((whole, number), part);
                part
            }
        }
    }

    /// The name of a thread's park token.
    pub fn token(&mut self, thread: usize) -> ObjectId {
        match self.threads[thread].token {
            Some(token) => token,
            None => {
                let token = ObjectId(self.fresh_object());
                *self.threads[thread].token.insert(token)
            }
        }
    }

    /// May a step of the running thread go its other way?
    pub fn may_vary(&self) -> bool {
        self.threads.get(self.current).is_some_and(|me| me.varied < self.spurious)
    }

    pub fn object(&mut self, id: ObjectId, kind: &'static str) -> &mut Object {
        let object = self.objects.get_mut(id);
        object.kind = kind;
        object
    }

    /// The running thread's virtual clock goes on.
    pub fn pass(&mut self, time: Duration) {
        let clock = &mut self.me().clock;
        clock.time = clock.time.saturating_add(time.as_nanos().try_into().unwrap_or(u64::MAX));
    }

    /// Everything that the object's releases made known is known to the running thread.
    pub fn acquire(&mut self, id: ObjectId) {
        let thread = &mut self.threads[self.current];
        if let Some(object) = self.objects.get(id) {
            thread.clock.join(&object.clock);
        }
    }

    /// The object will make known what the running thread knows.
    pub fn release(&mut self, id: ObjectId) {
        let thread = &self.threads[self.current];
        self.objects.get_mut(id).clock.join(&thread.clock);
    }

    /// Can the thread do its next operation, in this way?
    pub fn can_move(&self, step: Move) -> bool {
        if step.way != 0 {
            return self.other_ways(step.thread).contains(&step.way);
        }
        let finished = |other: usize| self.threads[other].finished;
        self.operation(step.thread).is_some_and(|next| next.enabled(|id| self.objects.gate(id), finished))
    }

    pub fn other_ways(&self, thread: usize) -> Range<u8> {
        let finished = |other: usize| self.threads[other].finished;
        self.operation(thread).map_or(1..1, |next| next.other_ways(|id| self.objects.gate(id), finished))
    }

    fn operation(&self, thread: usize) -> Option<&Operation> {
        Some(&self.threads.get(thread)?.pending.as_ref()?.operation)
    }

    /// The running thread does an operation. Its time goes on *after* the effect: what a release makes known ends with the
    /// release, and an access to a cell behind it is not part of that.
    pub fn perform<R>(&mut self, pending: &Pending, effect: impl FnOnce(&mut Context) -> R) -> R {
        let current = self.current;
        self.record(pending);
        let result = effect(self);
        self.threads[current].clock.tick(current);
        result
    }

    /// The running thread uses the object.
    pub fn used(&mut self, id: ObjectId) {
        let current = Some(self.current);
        let before = std::mem::replace(&mut self.objects.get_mut(id).user, current);
        self.shared |= before.is_some() && before != current;
    }

    fn record(&mut self, pending: &Pending) {
        let current = self.current;
        self.threads[current].varied += u32::from(self.varied);
        self.threads[current].at = Some(pending.location);
        for access in pending.operation.accesses() {
            self.used(access.object);
        }
        if let Some(steps) = &mut self.steps {
            let (What { verb, object }, location, varied) = (pending.what, pending.location, self.varied);
            steps.push(StepRecord { thread: current, verb, object, location, varied });
        }
    }
}

/// Replaces the context; returns the old one.
pub(crate) fn install(context: Option<Context>) -> Option<Context> {
    let mut over = Borrowed::new().and_then(|mut place| std::mem::replace(place.get(), context));
    over.iter_mut().for_each(super::word::keep);
    over
}

/// Uses the context for a moment, if there is one and nobody else is using it.
pub(crate) fn try_with<R>(use_it: impl FnOnce(&mut Context) -> R) -> Option<R> {
    let mut place = Borrowed::new()?;
    Some(use_it(place.get().as_mut()?))
}

/// Uses the context for a moment.
#[track_caller]
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Context) -> R) -> R {
    if let Some(mut place) = Borrowed::new()
        && let Some(context) = place.get()
    {
        return use_it(context);
    }
    outside()
}

#[cold]
#[track_caller]
pub(crate) fn outside() -> ! {
    panic!("a preempt type was used outside of preempt::check: there is no schedule to control here")
}

pub(crate) fn active() -> bool {
    try_with(|_| ()).is_some()
}

/// A step that may go another way is about to be announced, whatever the options say.
pub(crate) fn expect_other_ways() {
    OTHER_WAYS.set(true);
}

/// Can there be steps that go another way?
pub(crate) fn other_ways_expected() -> bool {
    OTHER_WAYS.get()
}

/// A need of an operation, in short.
pub(crate) fn clear(object: ObjectId, mask: u128) -> Need {
    Need::Clear { object, mask }
}

pub(crate) fn set(object: ObjectId, mask: u128) -> Need {
    Need::Set { object, mask }
}
