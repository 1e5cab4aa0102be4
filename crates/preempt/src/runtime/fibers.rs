//! The program under test as something that runs step by step: every modelled thread is a coroutine.
//!
//! Each coroutine is suspended at the operation that it will do next. A step resumes one of them: it does its
//! operation and the local code after it, up to its next operation or its end. So the next operations of all threads
//! are known at every point, which is what the algorithms need.

use super::context::{Context, RunMemory};
use super::current::{choices_expected, install, try_with, unlock, with};
use super::extra::{begin_as_a_step, end_as_a_step};
use super::failure::{RunFailure, StepRecord};
use super::operate::run_deferred;
use super::tally::Tally;
use super::trap::{self, Trap};
use crate::local::end_of_thread;
use crate::scheduled::RandomNumbers;
use crate::supervise::Heartbeat;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use preempt_core::Rng;
use preempt_stateless::{Executable, Flow, Move, ObjectId, Operation, RunEnd};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// By their size, which is reserved; only what is touched uses memory.
type Stacks = HashMap<usize, Vec<DefaultStack>, foldhash::fast::FixedState>;

/// What the first complete run of a test has done.
pub(crate) type FirstRun = Arc<Mutex<Option<Vec<StepRecord>>>>;

/// Of searches that are over, for those to come: a fresh stack costs more than most runs.
static IDLE: Mutex<Option<Stacks>> = Mutex::new(None);

/// So many of each size are kept.
const IDLE_STACKS: usize = 16;

/// A test and its current run.
pub(crate) struct Fibers {
    body: Arc<dyn Fn() + Send + Sync>,
    /// By number of the thread.
    fibers: Vec<Option<Fiber>>,
    /// To use again.
    stacks: Stacks,
    /// The size of a stack, unless a thread says otherwise.
    stack: usize,
    /// Are panics recorded with where they came from?
    pub record: bool,
    /// Is what a run leaves behind a failure?
    pub check_leaks: bool,
    /// What the random numbers of a run begin with.
    pub random_seed: u64,
    /// Every run has another one: see [`crate::hooks::random_seed`].
    pub varies_random: bool,
    /// Where random numbers come from, if they are not made of that.
    pub numbers: Option<RandomNumbers>,
    /// The seed of the first complete run.
    pub first_seed: u64,
    /// What the run before has done.
    pub before: Vec<StepRecord>,
    /// What the first complete run has done, of all who run this test.
    first: FirstRun,
    /// It has done it.
    kept_first: bool,
    /// Memory for what the next one does.
    spare: Vec<StepRecord>,
    memory: RunMemory,
    /// What all runs have done; replays do not count.
    tally: Tally,
    /// From now on runs are those of the search again: they are not counted once more.
    pub repeats: bool,
    /// How many of a thread's steps may be spurious.
    max_spurious: u32,
    /// The extra steps (`extra.rs`) of all who run this test.
    extra: Arc<AtomicU8>,
    heartbeat: Arc<Heartbeat>,
}

impl Fibers {
    pub fn new(
        body: Arc<dyn Fn() + Send + Sync>,
        max_spurious: u32,
        extra: Arc<AtomicU8>,
        first: FirstRun,
        heartbeat: Arc<Heartbeat>,
    ) -> Fibers {
        super::hook::install();
        trap::install();
        let (stacks, stack) = (HashMap::default(), trap::default_size());
        Fibers {
            body,
            fibers: Vec::new(),
            stacks,
            stack,
            record: false,
            check_leaks: false,
            random_seed: 0,
            varies_random: false,
            numbers: None,
            first_seed: 0,
            before: Vec::new(),
            first,
            kept_first: false,
            spare: Vec::new(),
            memory: RunMemory::default(),
            tally: Tally::default(),
            repeats: false,
            max_spurious,
            extra,
            heartbeat,
        }
    }

    /// What the first complete run has done, if there was one.
    pub fn take_first_run(&self) -> Option<Vec<StepRecord>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn launch(&mut self, thread: usize, body: Box<dyn FnOnce()>) {
        let (size, label) =
            with(|context| (context.threads[thread].stack, context.threads[thread].label.clone()));
        let stack = self.stacks.get_mut(&size).and_then(Vec::pop).or_else(|| idle_stack(size));
        let stack = stack.unwrap_or_else(|| DefaultStack::new(size).expect("memory for a stack"));
        let fiber = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            with(|context| context.threads[thread].yielder = std::ptr::from_ref(yielder));
            // What was deferred in a panic that the body has caught itself comes before the end.
            let finished = catch_unwind(AssertUnwindSafe(|| {
                begin_as_a_step();
                body();
                run_deferred();
            }));
            if finished.is_err() {
                with(|context| context.threads[thread].panicked = true);
                run_deferred();
            }
            end_as_a_step();
            end_of_thread();
        });
        if let Some(label) = label {
            self.heartbeat.name(thread, label);
        }
        self.fibers.resize_with(self.fibers.len().max(thread + 1), || None);
        self.fibers[thread] = Some(fiber);
        self.resume(thread, false);
    }

    /// Runs the thread to its next operation or its end, and then those that it has spawned.
    fn resume(&mut self, thread: usize, spurious: bool) {
        let doing = with(|context| {
            (context.current, context.spurious) = (thread, spurious);
            let pending = &mut context.threads[thread].pending;
            let doing = pending.as_ref().map(|pending| (pending.label, pending.location));
            *pending = None;
            doing
        });
        let Some(fiber) = &mut self.fibers[thread] else { return };
        self.heartbeat.begin(thread, doing);
        let (result, trapped) = trap::guarded(fiber, |fiber| fiber.resume(()));
        self.heartbeat.end();
        if trapped.is_some() {
            unlock();
        }
        if let CoroutineResult::Return(()) = result {
            let size = with(|context| {
                let me = &mut context.threads[thread];
                me.finished = trapped.is_none();
                if trapped == Some(Trap::Overflow) {
                    context.failed.push(RunFailure::Overflow { thread, stack: me.stack, at: me.at });
                }
                context.doomed = trapped.is_some();
                context.threads[thread].stack
            });
            if let Some(fiber) = self.fibers[thread].take() {
                self.stacks.entry(size).or_default().push(fiber.into_stack());
            }
        }
        if trapped.is_some() {
            return;
        }
        while let Some((child, body)) = with(|context| context.spawned.pop()) {
            self.launch(child, body);
        }
    }

    /// Ends the run, wherever it stands.
    ///
    /// If all threads have finished, what is left of the run is what its statics own, which is dropped. Otherwise the run
    /// is *cut*, and none of the program's code runs any more: the states in which its destructors would run cannot
    /// occur. The stacks are used again as they are, so what the frames own on the heap is leaked, and so is
    /// what thread-local values, statics and deferred operations own. The search itself cuts few runs: those that fail,
    /// and those that a fair bound leaves without a way on.
    pub fn end_run(&mut self) {
        let Some(cut) = try_with(|context| {
            context.cutting = true;
            let steps = context.steps.take().unwrap_or_default();
            if !self.record && !self.repeats {
                self.tally.add_run(&steps, &context.threads);
            }
            self.spare = std::mem::replace(&mut self.before, steps);
            self.spare.clear();
            if context.shared {
                self.heartbeat.shared.store(true, Ordering::Relaxed);
            }
            context.threads.iter().any(|thread| !thread.finished)
        }) else {
            return;
        };
        for (thread, fiber) in self.fibers.drain(..).enumerate() {
            if let Some(mut fiber) = fiber {
                let size = with(|context| context.threads[thread].stack);
                // SAFETY: no thread of the run is resumed again, so nobody can reach what is on these stacks: scoped
                // threads, who borrow from their parents' frames, go with them. (Memory of the heap may point to a
                // stack, but it is leaked, and only code of the run would know of it.)
                #[allow(unsafe_code)]
                unsafe {
                    fiber.force_reset();
                }
                self.stacks.entry(size).or_default().push(fiber.into_stack());
            }
        }
        let copies = try_with(|context| std::mem::take(&mut context.static_copies)).unwrap_or_default();
        if cut {
            std::mem::forget(copies);
            if let Some(context) = install(None) {
                context.abandon();
            }
        } else {
            for copy in copies.into_values() {
                // A static's destructor never runs in std: what it does here is nobody's failure.
                drop(catch_unwind(AssertUnwindSafe(|| copy.discard())));
            }
            self.memory = install(None).map(Context::into_memory).unwrap_or_default();
        }
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        self.end_run();
        self.heartbeat.tallied(std::mem::take(&mut self.tally));
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = idle.get_or_insert_default();
        for (size, stacks) in self.stacks.drain() {
            let kept = idle.entry(size).or_default();
            kept.extend(stacks.into_iter().take(IDLE_STACKS.saturating_sub(kept.len())));
        }
    }
}

fn idle_stack(size: usize) -> Option<DefaultStack> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.as_mut()?.get_mut(&size)?.pop()
}

impl Executable for Fibers {
    fn start(&mut self) {
        self.end_run();
        self.heartbeat.start();
        let mut context =
            Context::new(self.record, self.max_spurious, self.stack, std::mem::take(&mut self.memory));
        context.steps = Some(std::mem::take(&mut self.spare));
        context.extra = self.extra.load(Ordering::Relaxed);
        if self.varies_random {
            self.random_seed = Rng::new(self.random_seed).word();
        }
        context.random_seed = self.random_seed;
        context.numbers = self.numbers.clone().map(|numbers| (numbers, 0));
        context.shared = self.heartbeat.shared.load(Ordering::Relaxed);
        let main = context.add_thread(None, None);
        install(Some(context));
        // A run that is cut leaks what its frames own: the test itself must not be among it.
        let body = Arc::as_ptr(&self.body);
        // SAFETY: `self` owns the test, and resumes the coroutine only while it does.
        #[allow(unsafe_code)]
        self.launch(main, Box::new(move || unsafe { (*body)() }));
    }

    fn threads(&self) -> usize {
        with(|context| context.threads.len())
    }

    fn name(&self, thread: usize) -> u64 {
        with(|context| context.threads[thread].name)
    }

    fn next(&self, thread: usize) -> Option<Operation> {
        with(|context| context.threads[thread].pending.map(|pending| pending.operation))
    }

    fn enabled(&self, thread: usize) -> bool {
        with(|context| context.can_move(thread.into()))
    }

    fn other_choices(&self, thread: usize) -> Range<u8> {
        if choices_expected() { with(|context| context.other_choices(thread)) } else { 1..1 }
    }

    fn add_moves(&self, moves: &mut Vec<Move>) {
        with(|context| {
            let threads = 0..context.threads.len();
            moves.extend(threads.clone().map(Move::from).filter(|step| context.can_move(*step)));
            if choices_expected() {
                let choices =
                    |thread| context.other_choices(thread).map(move |choice| Move { thread, choice });
                moves.extend(threads.flat_map(choices));
            }
        });
    }

    fn has_rival(&self, thread: usize) -> bool {
        with(|context| {
            (0..context.threads.len()).any(|other| other != thread && context.can_move(other.into()))
        })
    }

    fn stands_before(&self, step: Move, operation: &Operation) -> bool {
        with(|context| {
            let pending = context.threads.get(step.thread).and_then(|thread| thread.pending.as_ref());
            pending.is_some_and(|pending| pending.operation == *operation) && context.can_move(step)
        })
    }

    fn gate(&self, object: ObjectId) -> u128 {
        with(|context| context.objects.gate(object))
    }

    fn step(&mut self, step: Move) -> Flow {
        self.resume(step.thread, step.choice != 0);
        with(|context| {
            let race = context.failed.iter().any(|failed| matches!(failed, RunFailure::Race { .. }));
            if context.wanted & !context.extra != 0 {
                self.extra.fetch_or(context.wanted, Ordering::Relaxed);
            }
            // Under shuttle's rules no join can handle a panic.
            let fatal = context.stricter && context.threads[step.thread].panicked;
            match race || fatal || context.threads[0].panicked || context.doomed || context.is_over() {
                true => Flow::Stop,
                false => Flow::Continue,
            }
        })
    }

    fn counts_from(&self) -> usize {
        with(|context| context.counts_from)
    }

    fn gave_up(&self) -> bool {
        with(|context| context.extra) != self.extra.load(Ordering::Relaxed)
    }

    fn end(&mut self) -> RunEnd {
        with(|context| {
            // A panic of the main thread ends the run before others have finished: that is no deadlock.
            if !context.threads[0].panicked && !context.doomed {
                context.conclude();
            }
        });
        if !std::mem::replace(&mut self.kept_first, true) {
            self.first_seed = self.random_seed;
            let steps = with(|context| context.steps.clone());
            *self.first.lock().unwrap_or_else(PoisonError::into_inner) = steps;
        }
        if self.check_leaks {
            super::leaks::look_for_leaks();
        }
        with(|context| if context.failures().is_empty() { RunEnd::Fine } else { RunEnd::Failed })
    }
}
