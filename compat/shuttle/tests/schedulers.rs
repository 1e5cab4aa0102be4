//! Schedulers that a user has written, and schedules as data.

use shuttle::rand::{RngCore, thread_rng};
use shuttle::scheduler::{
    AnnotationScheduler, DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler,
    Schedule, ScheduleStep, Scheduler, Task, TaskId, UncontrolledNondeterminismCheckScheduler,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex};
use shuttle::{Config, Runner, replay, thread};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let add = |counter: &AtomicUsize| counter.store(counter.load(SeqCst) + 1, SeqCst);
    let child = thread::spawn(move || add(&other));
    add(&counter);
    child.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

fn failure<R: std::fmt::Debug>(test: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(test)).expect_err("it fails");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().expect("a text").to_string(),
    }
}

fn schedule_of(failure: &str) -> &str {
    let (_, rest) = failure.split_once("failing schedule:\n\"\n").expect("a schedule");
    rest.split_once("\n\"").expect("its end").0
}

/// What a scheduler has seen and answered. It is not `Send`: a scheduler stays where it was made.
type Log = Rc<RefCell<Schedule>>;

/// A scheduler around another, which writes down the last execution.
struct Recording<S>(S, Log);

impl<S: Scheduler> Scheduler for Recording<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        let schedule = self.0.new_execution()?;
        *self.1.borrow_mut() = schedule.clone();
        Some(schedule)
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let task = self.0.next_task(tasks, current, yields)?;
        self.1.borrow_mut().push_task(task);
        Some(task)
    }

    fn next_u64(&mut self) -> u64 {
        self.1.borrow_mut().push_random();
        self.0.next_u64()
    }
}

/// Everybody in turn, written by a user.
struct Turns {
    executions: usize,
    yields: Rc<RefCell<usize>>,
}

impl Scheduler for Turns {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.executions = self.executions.checked_sub(1)?;
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        *self.yields.borrow_mut() += usize::from(yields);
        let next = tasks.iter().find(|task| Some(task.id()) > current).unwrap_or(&tasks[0]);
        Some(next.id())
    }

    fn next_u64(&mut self) -> u64 {
        7
    }
}

#[test]
fn a_round_robin_of_ones_own() {
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let yields = Rc::new(RefCell::new(0));
    let scheduler = Turns { executions: 3, yields: Rc::clone(&yields) };
    let (log, seen) = (Log::default(), std::sync::Arc::clone(&order));
    let executions = Runner::new(Recording(scheduler, Rc::clone(&log)), Config::new()).run(move || {
        seen.lock().unwrap().clear();
        let threads: Vec<_> = (1..=2)
            .map(|number| {
                let seen = std::sync::Arc::clone(&seen);
                thread::spawn(move || {
                    for _ in 0..2 {
                        seen.lock().unwrap().push(number);
                        thread::yield_now();
                    }
                    assert_eq!(thread_rng().next_u64(), 7);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(executions, 3);
    assert_eq!(*order.lock().unwrap(), [1, 1, 2, 2]);
    // Main begins and spawns, the first begins, main spawns, the first yields, the second begins, the first yields and ends, the second
    // yields, main joins the first, the second yields and ends, and main joins it.
    let tasks: Vec<_> = [0, 0, 1, 0, 1, 2, 1, 2, 0, 2, 0].map(TaskId::from).to_vec();
    let steps = log.borrow().steps.clone();
    let chosen: Vec<TaskId> = steps
        .iter()
        .filter_map(|step| match step {
            ScheduleStep::Task(task) => Some(*task),
            ScheduleStep::Random => None,
        })
        .collect();
    assert_eq!(chosen, tasks);
    assert_eq!(steps.len(), tasks.len() + 2, "each has asked for a random number");
    assert_eq!(*yields.borrow(), 3 * 4, "each of four yields was announced in each execution");
}

#[test]
fn a_recorded_schedule_fails_again() {
    let log = Log::default();
    let recording = Recording(RandomScheduler::new_from_seed(1, 1000), Rc::clone(&log));
    let found = failure(|| Runner::new(recording, Config::new()).run(lost_update));
    assert!(found.contains("an update is lost"), "{found}");
    let recorded = log.borrow().clone();
    // As data, by itself and within another scheduler, and as the string that is shown.
    let schedules = || ReplayScheduler::new_from_schedule(recorded.clone());
    let again = [
        failure(|| Runner::new(schedules(), Config::new()).run(lost_update)),
        failure(|| Runner::new(Recording(schedules(), Log::default()), Config::new()).run(lost_update)),
        failure(|| Runner::new(AnnotationScheduler::new(schedules()), Config::new()).run(lost_update)),
        failure(|| replay(lost_update, schedule_of(&found))),
    ];
    for again in again {
        assert_eq!(schedule_of(&again), schedule_of(&found));
        assert!(again.contains("an update is lost"), "{again}");
    }
}

#[test]
fn an_execution_may_be_given_up() {
    /// Ends each execution after so many steps.
    struct Short(RandomScheduler, usize);
    impl Scheduler for Short {
        fn new_execution(&mut self) -> Option<Schedule> {
            self.1 = 0;
            self.0.new_execution()
        }
        fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
            self.1 += 1;
            if self.1 > 5 { None } else { self.0.next_task(tasks, current, yields) }
        }
        fn next_u64(&mut self) -> u64 {
            self.0.next_u64()
        }
    }
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = std::sync::Arc::clone(&count);
    let executions = Runner::new(Short(RandomScheduler::new(10), 0), Config::new()).run(move || {
        loop {
            seen.fetch_add(1, SeqCst);
            thread::yield_now();
        }
    });
    // The beginning is a step, too.
    assert_eq!((executions, count.load(SeqCst)), (10, 50));
}

#[test]
fn random_numbers_come_from_the_scheduler_and_are_replayed() {
    fn test() {
        let child = thread::spawn(|| thread_rng().next_u64());
        let (mine, other) = (thread_rng().next_u64(), child.join().unwrap());
        assert_ne!((mine ^ other) % 10, 3, "found it");
    }
    let log = Log::default();
    let recording = Recording(RandomScheduler::new_from_seed(5, 1000), Rc::clone(&log));
    let found = failure(|| Runner::new(recording, Config::new()).run(test));
    assert!(found.contains("found it") && schedule_of(&found).contains("~="), "{found}");
    let again = failure(|| replay(test, schedule_of(&found)));
    assert_eq!(schedule_of(&again), schedule_of(&found));
    let scheduler = ReplayScheduler::new_from_schedule(log.borrow().clone());
    let again = failure(|| Runner::new(scheduler, Config::new()).run(test));
    assert_eq!(schedule_of(&again), schedule_of(&found));
}

#[test]
fn what_a_scheduler_does_wrong_is_said() {
    struct Wrong(usize);
    impl Scheduler for Wrong {
        fn new_execution(&mut self) -> Option<Schedule> {
            Some(Schedule::new(0))
        }
        fn next_task(&mut self, _: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
            Some(current.map_or(0, |_| self.0).into())
        }
        fn next_u64(&mut self) -> u64 {
            panic!("I have no numbers")
        }
    }
    let wrong = failure(|| Runner::new(Wrong(8), Config::new()).run(lost_update));
    assert!(wrong.contains("chosen thread 8, which cannot move"), "{wrong}");
    let panics = || {
        thread_rng().next_u64();
        thread::yield_now();
    };
    let wrong = failure(|| Runner::new(Wrong(0), Config::new()).run(panics));
    assert!(wrong.contains("I have no numbers"), "{wrong}");
    // The next search is not disturbed.
    shuttle::check_random(|| thread::yield_now(), 3);
    let early = ReplayScheduler::new_from_schedule(Schedule::new_from_task_ids(0, [0, 0, 0]));
    assert!(failure(|| Runner::new(early, Config::new()).run(lost_update)).contains("schedule ended early"));
    let misfit = ReplayScheduler::new_from_schedule(Schedule::new_from_task_ids(0, [0, 5]));
    assert!(failure(|| Runner::new(misfit, Config::new()).run(lost_update)).contains("is not runnable"));
    for text in ["", "91", "9", "zz", "90010000", "9101ff00", "91ffffffffffffffffff7f0100"] {
        assert!(failure(|| ReplayScheduler::new_from_encoded(text)).contains("invalid schedule"), "{text}");
    }
}

/// As steps of shuttle's, without reduction: who takes the lock first, and when the child begins.
#[test]
fn schedulers_of_shuttle_within_others_choose_step_by_step() {
    fn sections() {
        let shared = Arc::new(Mutex::new(0));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        *shared.lock().unwrap() += 1;
        child.join().unwrap();
    }
    fn within(scheduler: impl Scheduler + 'static, test: fn()) -> usize {
        Runner::new(Recording(scheduler, Log::default()), Config::new()).run(test)
    }
    // B is the child's beginning; L and U are locks and unlocks, small ones the child's. Nobody moves between L and U but by B, and B
    // comes before l: BluLU, BLUlu, LBUlu, LUBlu.
    assert_eq!(within(DfsScheduler::new(None, false), sections), 4);
    assert_eq!(within(DfsScheduler::new(Some(3), false), sections), 3);
    assert_eq!(within(RandomScheduler::new(20), sections), 20);
    assert_eq!(within(PctScheduler::new(3, 20), sections), 20);
    assert_eq!(within(RoundRobinScheduler::new(2), sections), 2);
    for scheduler in [
        Box::new(DfsScheduler::new(None, false)) as Box<dyn Scheduler>,
        Box::new(PctScheduler::new(3, 200)),
        Box::new(RandomScheduler::new(200)),
    ] {
        assert!(failure(|| within(scheduler, lost_update)).contains("an update is lost"));
    }
}

#[test]
fn a_string_of_shuttle_s_is_replayed() {
    // Version, 1 bit a task, 5 steps, seed 0; then the tasks 0, 0, 0, 1 and 1 in two bits each: 00 00 00 10 10.
    let schedule = ReplayScheduler::new_from_encoded("91 01 05 00 80 02");
    let mut recorded = Recording(schedule, Log::default());
    let log = Rc::clone(&recorded.1);
    recorded.0.set_allow_incomplete();
    assert_eq!(Runner::new(recorded, Config::new()).run(lost_update), 1);
    assert_eq!(*log.borrow(), Schedule::new_from_task_ids(0, [0, 0, 0, 1, 1]));
}

#[test]
fn what_is_not_the_same_twice_is_seen() {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let differs = move || {
        for _ in 0..runs.fetch_add(1, SeqCst) {
            thread::spawn(|| ()).join().unwrap();
        }
    };
    let scheduler = UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(10));
    let said = failure(|| Runner::new(scheduler, Config::new()).run(differs));
    assert!(said.contains("possible nondeterminism: current execution should have ended"), "{said}");
}
