//! Futures and tasks; a task is a modelled thread of its own.

pub use preempt::future::{AbortHandle, JoinError, JoinHandle, block_on, spawn, spawn_local, yield_now};
