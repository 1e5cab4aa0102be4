//! Futures in modelled threads.

pub use preempt::future::AtomicWaker;
/// Polls the future in this thread until it is ready; runs with one spurious poll are explored too.
pub use preempt::future::block_on_with_spurious_poll as block_on;
