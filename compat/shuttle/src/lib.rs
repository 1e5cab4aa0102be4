//! shuttle's interface over `preempt`.
//!
//! A crate with tests for shuttle uses this package by one line:
//!
//! ```toml
//! [patch.crates-io]
//! shuttle = { path = "../preempt/compat/shuttle" }
//! ```
//!
//! What is different: [`check_dfs`] runs equivalent schedules once, in the order of their preemptions, so that a failure is
//! shown with the fewest; the schedules that are shown are strings of preempt's. What belongs to shuttle's own engine is missing: spans and
//! events for the crate `tracing`, signatures of resources, annotations for its explorer, how it ends after a panic.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[doc(hidden)]
pub use preempt as __preempt;

pub mod current;
pub mod future;
mod labels;
pub mod lazy_static;
mod nondeterminism;
pub mod rand;
mod replay;
mod runner;
mod schedule;
pub mod scheduler;
mod schedulers;
pub mod sync;
mod task;
mod wide;

pub use preempt::{hint, thread, thread_local};
pub use runner::{Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner};

use scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler, Scheduler,
    UncontrolledNondeterminismCheckScheduler, UrwScheduler,
};
use std::path::Path;

#[track_caller]
fn run(scheduler: impl Scheduler + 'static, f: impl Fn() + Send + Sync + 'static) {
    Runner::new(scheduler, Config::default()).run(f);
}

/// Runs the test once.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    run(RoundRobinScheduler::new(1), f);
}

/// Runs the test with so many random schedules.
///
/// # Panics
/// If one of them fails.
///
/// ```
/// use shuttle::{sync::{Arc, Mutex}, thread};
///
/// shuttle::check_random(
///     || {
///         let total = Arc::new(Mutex::new(0));
///         let other = Arc::clone(&total);
///         let child = thread::spawn(move || *other.lock().unwrap() += 1);
///         *total.lock().unwrap() += 1;
///         child.join().unwrap();
///         assert_eq!(*total.lock().unwrap(), 2);
///     },
///     100,
/// );
/// ```
#[track_caller]
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    run(RandomScheduler::new(iterations), f);
}

/// As [`check_random`], with a seed: the same one gives the same schedules.
///
/// # Panics
/// If a schedule fails.
#[track_caller]
pub fn check_random_with_seed<F: Fn() + Send + Sync + 'static>(f: F, seed: u64, iterations: usize) {
    run(RandomScheduler::new_from_seed(seed, iterations), f);
}

/// As [`check_random`]: here it is the same walk.
///
/// # Panics
/// If a schedule fails.
#[track_caller]
pub fn check_urw<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    run(UrwScheduler::new(iterations), f);
}

/// Runs the test with so many schedules, chosen by probabilistic concurrency testing with `depth - 1` changes of priority.
///
/// # Panics
/// If one of them fails.
#[track_caller]
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize, depth: usize) {
    run(PctScheduler::new(depth, iterations), f);
}

/// Runs the test with every schedule that matters, or with so many of them.
///
/// # Panics
/// With the simplest that fails.
///
/// ```
/// use shuttle::{sync::mpsc, thread};
///
/// shuttle::check_dfs(
///     || {
///         let (sender, receiver) = mpsc::channel();
///         let child = thread::spawn(move || sender.send(1).unwrap());
///         assert_eq!(receiver.recv(), Ok(1));
///         child.join().unwrap();
///     },
///     None,
/// );
/// ```
#[track_caller]
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: Option<usize>) {
    run(DfsScheduler::new(max_iterations, false), f);
}

/// Runs the test with so many random schedules, each of them twice: the same schedule must do the same.
///
/// # Panics
/// If the test is not deterministic, or fails.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: usize) {
    run(UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(max_iterations)), f);
}

/// Runs the test with a schedule that has failed before.
///
/// # Panics
/// If it fails again.
#[track_caller]
pub fn replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    run(ReplayScheduler::new_from_encoded(encoded_schedule), f);
}

/// As [`replay`], with the schedule in a file.
///
/// # Panics
/// If it fails again, or the file cannot be read.
#[track_caller]
pub fn replay_from_file<F: Fn() + Send + Sync + 'static, P: AsRef<Path>>(f: F, path: P) {
    run(ReplayScheduler::new_from_file(path).expect("a file with a schedule"), f);
}

/// As the macro of the crate `lazy_static`: a value for each run.
///
/// ```
/// shuttle::lazy_static! {
///     static ref LIMIT: usize = 3;
/// }
/// shuttle::check(|| assert_eq!(*LIMIT, 3));
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($($declarations:tt)*) => {
        $crate::__preempt::__lazy_static! { ($crate::lazy_static) $($declarations)* }
    };
}
