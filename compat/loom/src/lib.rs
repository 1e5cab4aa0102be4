//! loom's interface over `preempt`.
//!
//! A crate with tests for loom uses this package by one line, which reaches its dependencies too:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "../preempt/compat/loom" }
//! ```
//!
//! What is different: the preemption bound is exact and counted up from 0, so a failure is shown with the fewest
//! preemptions; equivalent schedules are run once; values of atomics are sequentially consistent (loom shows some stale
//! ones); a child's panic reaches `join`; what loom leaves unimplemented works. [`explore`], [`stop_exploring`] and
//! [`skip_branch`] narrow loom's search and do nothing here: everything is searched.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[doc(hidden)]
pub use preempt as __preempt;

pub use preempt::{alloc, hint, thread_local};

pub mod cell;
pub mod future;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use crate::model::model;

/// The most threads of a test that loom allows. There is no such limit here.
pub const MAX_THREADS: usize = 5;

/// Nothing here: everything is searched. loom begins to search from here on.
pub fn explore() {}

/// Nothing here: everything is searched. loom leaves schedules out from here on.
pub fn stop_exploring() {}

/// Nothing here: everything is searched. loom leaves out what another choice would have led to.
pub fn skip_branch() {}

/// As the macro of the crate `lazy_static`: a value for each run, gone when the main thread ends.
///
/// ```
/// loom::lazy_static! {
///     static ref LIMIT: usize = 3;
/// }
/// loom::model(|| assert_eq!(*LIMIT, 3));
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($($declarations:tt)*) => {
        $crate::__preempt::__lazy_static! { ($crate::lazy_static) $($declarations)* }
    };
}
