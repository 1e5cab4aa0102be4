//! Which steps need not be tried in every order. One file a reduction:
//!
//! * [`exact`]: keeps the fewest preemptions of every violation.

pub mod exact;

/// How much of the state space may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    None,
    /// Verdict and fewest preemptions stay what they are; runs may have more steps.
    #[default]
    Exact,
}
