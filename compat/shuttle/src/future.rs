//! Futures and tasks; a task is a modelled thread of its own.

pub mod batch_semaphore;

pub use preempt::future::{AbortHandle, JoinError, JoinHandle, block_on, spawn, spawn_local, yield_now};
