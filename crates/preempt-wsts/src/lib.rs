//! Can a marking be covered, with any number of tokens? Engines on upward-closed sets, after paper 004's problem
//! and the classical algorithm for it, with certificates for "no" and runs for "yes".
//!
//! | engine | finds | ends always |
//! | --- | --- | --- |
//! | pre-checks | proofs | yes |
//! | backward by basis (Fig. 1) | proofs and runs | yes, if the net is monotone |
//! | backward by weight (Fig. 3) | proofs and runs | yes, if the net is monotone and copies nothing |
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
pub mod weight;

pub use answer::Run;
pub use bounded::place_bounds;
pub use certificate::Certificate;
pub use check::{CoverOptions, CoverReport, Engine, check};
pub use weight::net::Diagrams;
