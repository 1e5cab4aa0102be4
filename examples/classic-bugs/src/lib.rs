//! Five classics of concurrent programming, each with the mistake that is usually made, and without it. `tests/classics.rs`
//! finds the mistakes, with the fewest preemptions that they need, and shows that nothing is left when they are mended.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

pub mod arc;
pub mod deque;
pub mod mpsc;
pub mod notify;
pub mod seqlock;

/// Which variant of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// With the mistake.
    Mistaken,
    /// Without it.
    Mended,
}
