//! Tests concurrent Rust code: every schedule with at most c preemptions, c = 0, 1, 2, ..., no two of them equivalent,
//! and the simplest one that fails.
//!
//! Use [`sync`], [`thread`], [`cell`] and [`hint`] in place of std's, and put the test into [`check`]:
//!
//! ```
//! use preempt::sync::atomic::{AtomicUsize, Ordering};
//! use preempt::{sync::Arc, thread};
//!
//! preempt::check(|| {
//!     let counter = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&counter);
//!     let child = thread::spawn(move || other.fetch_add(1, Ordering::SeqCst));
//!     counter.fetch_add(1, Ordering::SeqCst);
//!     child.join().unwrap();
//!     assert_eq!(counter.load(Ordering::SeqCst), 2);
//! });
//! ```
//!
//! **What is explored.** Which thread does the next operation on a shared object (lock, unlock, atomic access, wait,
//! notify, send, receive, spawn, join, park). The code in between runs without interruption. A switch from a thread that
//! could have gone on is a *preemption*; [`Checker::max_preemptions`] bounds them, and a result "all graphs with at
//! most c preemptions" is exact. Runs that differ only in the order of independent operations are run once.
//!
//! **What is not explored.** Atomics have sequentially consistent values: stale reads that weaker orderings allow are
//! not shown. The orderings do count for data races on [`cell::UnsafeCell`]: an access that they leave unordered is
//! reported. Spurious wake-ups and spurious failures of `compare_exchange_weak` are explored if
//! [`Checker::spurious`] says so.
//!
//! **What a test must keep to.** What a thread does may depend on what it reads through these types only: not on the
//! time, random numbers or addresses. Objects are to be created inside the test, or be statics: every run starts with
//! all statics as they were declared. (On Linux; elsewhere a static can be used by one run only.) A reference that a
//! static has given out must not be kept beyond the run, say in a static of std's. `Arc` is std's own, and counting
//! references is no step; if the count or the moment of the last drop matters, use [`sync::tracked::Arc`].
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod alloc;
mod attribute;
mod backtrace;
pub mod cell;
mod checker;
mod describe;
mod determinism;
mod environment;
pub mod future;
pub mod hint;
mod hooks;
#[doc(hidden)]
pub mod lazy;
mod local;
mod naming;
mod operations;
mod page;
mod replay;
mod report;
mod reproduce;
mod runtime;
mod schedule;
mod scheduled;
mod scope;
mod search;
mod source;
mod supervise;
pub mod sync;
pub mod thread;
pub mod time;

pub use attribute::TestResult;
#[doc(hidden)]
pub use attribute::model_test as __model_test;
pub use checker::{Checker, check, model};
pub use operations::OperationCount;
pub use preempt_core::{StopReason, Verdict};
pub use preempt_stateless::{BoundFunction, Strategy};
pub use report::{CheckReport, Failure, FailureKind, FailureObject, FailureStep};
pub use scheduled::{EnabledThread, Scheduler};

/// Makes a function a test that is run in every schedule.
///
/// The function takes nothing and returns nothing, or a `Result` whose error is a failure; an `async` function is run by
/// [`future::block_on`]. The test is called `NAME::model`, so `cargo test ::model` runs the model tests alone. Options are
/// methods of [`Checker`]: `max_preemptions`, `max_executions`, `max_seconds`, `max_steps`, `give_up_long_runs`, `fair_bound`, `spurious`, `threads`,
/// `strategy`, `check_leaks`, `check_determinism`, `watchdog` (in seconds), `report_html` and `replay`. `#[should_panic]`, `#[ignore]` and `#[cfg(..)]` mean what they mean for tests.
///
/// ```
/// # #![allow(dead_code)]
/// use preempt::{sync::{Arc, Mutex}, thread};
///
/// #[preempt::test(max_preemptions = 2, check_leaks)]
/// fn two_increments() {
///     let total = Arc::new(Mutex::new(0));
///     let other = Arc::clone(&total);
///     let child = thread::spawn(move || *other.lock().unwrap() += 1);
///     *total.lock().unwrap() += 1;
///     child.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// }
/// ```
///
/// What makes no sense does not compile:
///
/// ```compile_fail
/// #[preempt::test(max_preemption = 2)]
/// fn no_such_option() {}
/// ```
///
/// ```compile_fail
/// #[preempt::test]
/// fn parameters(x: u32) {}
/// ```
pub use preempt_macros::test;

/// The example of the README is run, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
