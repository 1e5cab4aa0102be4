//! Futures in modelled threads.

pub use preempt::future::AtomicWaker;
/// Polls the future in this thread until it is ready; runs with one poll for no reason are explored too.
pub use preempt::future::block_on_restless as block_on;
