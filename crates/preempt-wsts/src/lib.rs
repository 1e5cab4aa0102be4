//! Can a marking be covered, with any number of tokens? Engines on upward-closed sets, after paper 004's problem
//! and the classical algorithm for it, with certificates for "no" and runs for "yes".
//!
//! | engine | finds | ends always |
//! | --- | --- | --- |
//! | pre-checks | proofs | yes |
//! | backward by basis | proofs and runs | yes, if the net is monotone |
//! | forward | runs | no |
#![forbid(unsafe_code)]

mod answer;
mod backward;
mod bounded;
pub mod certificate;
mod check;
pub mod checker;
mod distance;
mod exact;
mod forward;
mod inequation;
mod invariants;
mod linear;
mod prune;
mod reduce;
mod refute;
mod relevant;
mod sign;
mod simplex;
mod stop;
mod subsumption;
mod trap;
mod unwind;

pub use answer::Run;
pub use bounded::place_bounds;
pub use certificate::Certificate;
pub use check::{Checked, Engine, Options, check};
