//! Which steps need not be tried in every order. One file a reduction:
//!
//! * [`exact`]: keeps the fewest preemptions of every violation;
//! * [`strong`]: keeps the verdict, with as few states as it can.
//!
//! Where somebody watches, [`visible`] says which steps may not be put off.

pub mod exact;
pub mod strong;
pub mod visible;

/// How much of the state space may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    None,
    /// Verdict and fewest preemptions stay what they are; runs may have more steps.
    #[default]
    Exact,
    /// Only the verdict stays what it is.
    Strong,
}
