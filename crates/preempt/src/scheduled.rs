//! Searches in which the user's own code chooses who moves.
//!
//! A search has an OS thread of its own (see `supervise`), and a scheduler need not be `Send`: so it stays with the thread that
//! calls for the search, which waits anyway and answers questions meanwhile. A panic of the scheduler's is one of that thread, and
//! ends the search.

use crate::checker::Checker;
use crate::hooks::clock_of;
use crate::report::CheckReport;
use crate::runtime::current::with;
use crate::runtime::word::{hand_over, last_run};
use crate::thread::ThreadId;
use preempt_stateless::Move;
use preempt_stateless::chosen::Chooser;
use std::fmt;
use std::panic::{Location, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// A strategy of one's own: chooses who moves at every step, run after run ([`Checker::run_scheduled_by`]).
///
/// Threads are numbered in the order in which a run creates them; the main thread is 0. The beginning of any other thread is
/// a step.
pub trait Scheduler {
    /// A run is to begin; false: there shall be none any more.
    fn begin_run(&mut self) -> bool;

    /// Who moves next? `enabled` are those who can, at least one, in the order of their numbers. `last` has moved last; `yields`
    /// says whether it is about to yield, and would rather let others come first. `None`: the run is given up where it stands.
    fn choose(&mut self, enabled: &[EnabledThread], last: usize, yields: bool) -> Option<usize>;

    /// The next random number, for a test that asks for one by way of another package.
    #[doc(hidden)]
    fn random_number(&mut self) -> u64 {
        0
    }
}

/// A thread that can move.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnabledThread {
    /// In the order of creation.
    pub number: usize,
    /// The name that it was given.
    pub name: Option<String>,
    /// How many operations of each thread happen before where it stands, by number of the thread.
    pub clock: Vec<u32>,
}

impl Checker {
    /// As [`Checker::run`], with runs that the scheduler chooses, until it wants no more or a limit is reached. That proves nothing, and
    /// is inconclusive if nothing fails. The strategy does not count, and the first run is not repeated.
    ///
    /// ```
    /// use preempt::sync::{Arc, Mutex};
    /// use preempt::{Checker, EnabledThread, Scheduler, thread};
    ///
    /// /// So many runs in which whoever was created last comes first.
    /// struct YoungestFirst(usize);
    ///
    /// impl Scheduler for YoungestFirst {
    ///     fn begin_run(&mut self) -> bool {
    ///         self.0 = self.0.wrapping_sub(1);
    ///         self.0 != usize::MAX
    ///     }
    ///     fn choose(&mut self, enabled: &[EnabledThread], _: usize, _: bool) -> Option<usize> {
    ///         enabled.last().map(|thread| thread.number)
    ///     }
    /// }
    ///
    /// let test = || {
    ///     let last = Arc::new(Mutex::new("nobody"));
    ///     let other = Arc::clone(&last);
    ///     let child = thread::spawn(move || *other.lock().unwrap() = "child");
    ///     *last.lock().unwrap() = "main";
    ///     child.join().unwrap();
    ///     assert_eq!(*last.lock().unwrap(), "main");
    /// };
    /// let report = Checker::new().run_scheduled_by(&mut YoungestFirst(3), test);
    /// assert_eq!((report.executions, report.failure.is_none()), (3, true));
    /// ```
    ///
    /// # Panics
    /// As [`Checker::run`]; if the scheduler panics, or chooses a thread that cannot move.
    #[track_caller]
    pub fn run_scheduled_by<F>(&self, scheduler: &mut dyn Scheduler, test: F) -> CheckReport
    where
        F: Fn() + Send + Sync + 'static,
    {
        let at = Location::caller();
        let name = std::thread::current().name().map(str::to_string);
        let builder = name.into_iter().fold(std::thread::Builder::new(), std::thread::Builder::name);
        std::thread::scope(|scope| {
            // Dropped when the scheduler panics: the search hears of it, and ends.
            let (to, questions) = channel();
            let search = builder.spawn_scoped(scope, move || {
                let _end = EndOfQuestions(to.clone());
                let link = SchedulerLink { to, numbers: Arc::default() };
                let report = self.run_at(at, Some(link), Arc::new(test));
                (report, last_run())
            });
            let search = search.expect("a thread for the search");
            while let Ok(Some(question)) = questions.recv() {
                question(scheduler);
            }
            match search.join() {
                Ok((report, past)) => {
                    hand_over(past);
                    report
                }
                Err(payload) => resume_unwind(payload),
            }
        })
    }
}

type Question = Box<dyn FnOnce(&mut dyn Scheduler) + Send>;

/// Says that there are no more questions. (That nobody holds the channel any more would not do: a run that was cut leaks what
/// it has.)
struct EndOfQuestions(Sender<Option<Question>>);

impl Drop for EndOfQuestions {
    fn drop(&mut self) {
        // If nobody listens any more, the scheduler has panicked.
        drop(self.0.send(None));
    }
}

/// Leads to the scheduler, from the search and from the runs.
#[derive(Clone)]
pub(crate) struct SchedulerLink {
    to: Sender<Option<Question>>,
    /// The random numbers of the current run.
    numbers: Arc<Mutex<Vec<u64>>>,
}

impl fmt::Debug for SchedulerLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerLink").finish_non_exhaustive()
    }
}

impl SchedulerLink {
    /// Waits for the answer; `None` if the scheduler has panicked.
    fn ask<R: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Scheduler) -> R + Send + 'static,
    ) -> Option<R> {
        let (tell, answer) = channel();
        let question = move |scheduler: &mut dyn Scheduler| drop(tell.send(question(scheduler)));
        self.to.send(Some(Box::new(question))).ok()?;
        answer.recv().ok()
    }

    /// The random numbers of the last run.
    pub fn numbers(&self) -> Vec<u64> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Where the random numbers of a run come from.
#[derive(Debug, Clone)]
pub(crate) enum RandomNumbers {
    /// The scheduler is asked.
    Asked(SchedulerLink),
    /// They are known: the run is a replay.
    Given(Arc<[u64]>),
}

impl RandomNumbers {
    /// The one with this index, asked for in the order of the indices.
    pub fn get(&self, index: usize) -> u64 {
        let RandomNumbers::Asked(link) = self else { return self.given(index) };
        let number = link.ask(|scheduler| scheduler.random_number()).unwrap_or(0);
        link.numbers.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        number
    }

    /// The one with this index, if it is known, or 0.
    pub fn given(&self, index: usize) -> u64 {
        match self {
            RandomNumbers::Asked(_) => 0,
            RandomNumbers::Given(numbers) => numbers.get(index).copied().unwrap_or(0),
        }
    }
}

/// Asks the scheduler for every step.
#[derive(Debug)]
pub(crate) struct ChosenRuns {
    link: SchedulerLink,
    last: usize,
}

impl ChosenRuns {
    pub fn new(link: SchedulerLink) -> ChosenRuns {
        ChosenRuns { link, last: 0 }
    }
}

impl Chooser for ChosenRuns {
    fn begin_run(&mut self) -> bool {
        let begins = self.link.ask(|scheduler| scheduler.begin_run()).unwrap_or(false);
        if begins {
            self.last = 0;
            // The numbers of the last run are still asked for.
            self.link.numbers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        begins
    }

    fn choose(&mut self, moves: &[Move]) -> Option<Move> {
        let mut threads: Vec<usize> = moves.iter().map(|step| step.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let last = self.last;
        let (yields, names) = with(|context| {
            let pending = context.threads.get(last).and_then(|thread| thread.pending.as_ref());
            let names: Vec<_> = threads.iter().map(|&thread| context.threads[thread].label.clone()).collect();
            (pending.is_some_and(|pending| pending.operation.yields), names)
        });
        let enabled: Vec<EnabledThread> = threads
            .into_iter()
            .zip(names)
            .map(|(number, name)| EnabledThread { number, name, clock: clock_of(ThreadId::from(number)) })
            .collect();
        let chosen = self.link.ask(move |scheduler| {
            let chosen = scheduler.choose(&enabled, last, yields)?;
            let known = enabled.iter().any(|thread| thread.number == chosen);
            assert!(known, "the scheduler has chosen thread {chosen}, which cannot move now");
            Some(chosen)
        });
        let chosen = chosen.flatten()?;
        self.last = chosen;
        moves.iter().copied().find(|step| step.thread == chosen)
    }
}
