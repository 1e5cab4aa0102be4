//! The program under test as something that runs step by step: every modelled thread is a coroutine.
//!
//! Each coroutine is suspended at the operation that it will do next. A step resumes one of them: it does its
//! operation and the local code after it, up to its next operation or its end. So the next operations of all threads
//! are known at every point, which is what the algorithms need.

use super::context::{Context, install, other_ways_expected, try_with, with};
use super::failure::Failed;
use super::operate::catch_up;
use super::place::Copy;
use crate::local::{end_of_thread, take_all};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use preempt_stateless::{Executable, Flow, Move, ObjectId, Operation, RunEnd};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// Reserved for each stack; only what is touched uses memory.
const STACK: usize = 1 << 18;

/// A test and its current run.
pub(crate) struct Fibers {
    body: Arc<dyn Fn() + Send + Sync>,
    /// By number of the thread.
    fibers: Vec<Option<Fiber>>,
    /// Stacks to use again: a fresh one costs more than most runs.
    stacks: Vec<DefaultStack>,
    /// Are the steps of runs recorded?
    pub record: bool,
    /// Is what a run leaves behind a failure?
    pub check_leaks: bool,
    /// How often a thread's steps may go their other way.
    spurious: u32,
}

impl Fibers {
    pub fn new(body: Arc<dyn Fn() + Send + Sync>, spurious: u32) -> Fibers {
        super::hook::install();
        Fibers { body, fibers: Vec::new(), stacks: Vec::new(), record: false, check_leaks: false, spurious }
    }

    fn launch(&mut self, thread: usize, body: Box<dyn FnOnce()>) {
        let stack =
            self.stacks.pop().unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
        let fiber = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            with(|context| context.threads[thread].yielder = std::ptr::from_ref(yielder));
            let result = catch_unwind(AssertUnwindSafe(|| {
                body();
                // What was deferred in a panic that the body has caught itself.
                catch_up();
                end_of_thread();
            }));
            if let Err(payload) = result {
                if try_with(|context| context.cutting).unwrap_or(true) {
                    // Not a panic of the program: the coroutine is being unwound.
                    resume_unwind(payload);
                }
                with(|context| context.threads[thread].panicked = true);
                catch_up();
                end_of_thread();
            }
        });
        self.fibers.resize_with(self.fibers.len().max(thread + 1), || None);
        self.fibers[thread] = Some(fiber);
        self.resume(thread, false);
    }

    /// Runs the thread to its next operation or its end, and then those that it has spawned.
    fn resume(&mut self, thread: usize, varied: bool) {
        with(|context| {
            (context.current, context.varied) = (thread, varied);
            context.threads[thread].pending = None;
        });
        let Some(fiber) = &mut self.fibers[thread] else { return };
        if let CoroutineResult::Return(()) = fiber.resume(()) {
            with(|context| context.threads[thread].finished = true);
            if let Some(fiber) = self.fibers[thread].take() {
                self.stacks.push(fiber.into_stack());
            }
        }
        while let Some((child, body)) = with(|context| context.spawned.pop()) {
            self.launch(child, body);
        }
    }

    /// Ends the run, wherever it stands. Children go before their parents, whose frames scoped threads borrow.
    fn cut(&mut self) {
        if try_with(|context| context.cutting = true).is_none() {
            return;
        }
        for fiber in self.fibers.iter_mut().rev() {
            if let Some(mut fiber) = fiber.take() {
                fiber.force_unwind();
                self.stacks.push(fiber.into_stack());
            }
        }
        self.fibers.clear();
        drop(take_all());
        let copies = try_with(|context| std::mem::take(&mut context.copies)).unwrap_or_default();
        copies.into_values().for_each(Copy::discard);
        install(None);
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Executable for Fibers {
    fn start(&mut self) {
        self.cut();
        let mut context = Context::new(self.record, self.spurious);
        let main = context.add_thread(None, None);
        install(Some(context));
        let body = Arc::clone(&self.body);
        self.launch(main, Box::new(move || body()));
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

    fn other_ways(&self, thread: usize) -> Range<u8> {
        if other_ways_expected() { with(|context| context.other_ways(thread)) } else { 1..1 }
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
        self.resume(step.thread, step.way != 0);
        with(|context| {
            let race = context.failed.iter().any(|failed| matches!(failed, Failed::Race { .. }));
            match race || context.threads[0].panicked {
                true => Flow::Stop,
                false => Flow::Continue,
            }
        })
    }

    fn end(&mut self) -> RunEnd {
        with(|context| {
            // A panic of the main thread ends the run before others have finished: that is no deadlock.
            if !context.threads[0].panicked {
                context.conclude();
            }
        });
        if self.check_leaks {
            super::living::look_for_leaks();
        }
        with(|context| {
            if context.failures().is_empty() { RunEnd::Fine } else { RunEnd::Failed }
        })
    }
}
