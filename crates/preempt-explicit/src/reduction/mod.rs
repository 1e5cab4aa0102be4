//! Which steps need not be tried in every order. One file a reduction:
//!
//! * [`exact`]: keeps the fewest preemptions of every violation;
//! * [`strong`]: keeps the verdict, with as few states as it can. It rests on [`step_access`] and [`futures`], what a process
//!   may do next and what it may ever do, for which [`constants`] says which variables and channels are meant, and on
//!   [`access`], what conflicts.
//!
//! [`dependence`] says on what a step depends, from the same facts: not to leave it out, but to compute it once.
//!
//! Where somebody observes, [`visible`] says which steps may not be put off. [`simplify`] makes the states themselves fewer,
//! before the search.

mod access;
pub mod assigned;
mod constants;
pub mod dependence;
pub mod exact;
mod futures;
pub mod simplify;
mod step_access;
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
