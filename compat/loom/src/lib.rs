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

#[doc(hidden)]
pub use preempt as __preempt;

pub use preempt::{alloc, hint};

pub mod cell;
pub mod future;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use crate::model::model;

/// Of loom. There is no such limit here.
pub const MAX_THREADS: usize = 5;

/// Nothing here: everything is searched. loom begins to search from here on.
pub fn explore() {}

/// Nothing here: everything is searched. loom leaves schedules out from here on.
pub fn stop_exploring() {}

/// Nothing here: everything is searched. loom leaves out what another choice would have led to.
pub fn skip_branch() {}

/// As `std::thread_local!`, for modelled threads.
#[macro_export]
macro_rules! thread_local {
    ($($declarations:tt)*) => {
        $crate::__preempt::thread_local! { $($declarations)* }
    };
}

/// As the macro of the crate `lazy_static`: a value for each run, gone when the main thread ends.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $vis struct $name { __private_field: () }
        #[doc(hidden)]
        $vis static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn init() -> $type {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(init);
                LAZY.get()
            }
        }
        $crate::lazy_static! { $($rest)* }
    };
}
