//! Can a marking be covered, with any number of tokens? Engines on upward-closed sets: the algorithms of J. Bingham and
//! A. J. Hu, "Empirically efficient verification for a class of infinite-state systems", TACAS 2005 (paper 004), the classical
//! one, and what was found since, with certificates for "no" and runs for "yes". [`check()`] is the entry.
//!
//! | engine | finds | ends always |
//! | --- | --- | --- |
//! | pre-checks | proofs | yes |
//! | backward by basis (Fig. 1) | proofs and runs | yes, if the net is monotone |
//! | backward by weight (Fig. 3) | proofs and runs | yes, if the net is monotone and copies nothing |
//! | forward | runs | no |
//!
//! One file an algorithm: `backward` with `subsumption`, `prune`, `invariants` and the forward oracle `together`; [`weight`]; `forward` with `distance` and
//! `unwind`; the pre-checks `sign`, `inequation` and `trap`, joined by `refute`; `reduce` with `relevant`. `linear`, `simplex` and
//! `exact` solve linear programs. [`certificate`] is what a proof is, and [`checker`] verifies it by itself. [`reachable`] is for
//! formulas that are not upward closed, and `properties` answers whole files. [`basis`] is Fig. 1 for any well-structured system;
//! [`protocol`], [`channels`] and [`grammars`] have the engines for these.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod backward;
pub mod basis;
mod bounded;
pub mod certificate;
pub mod channels;
mod check;
pub mod checker;
mod distance;
mod exact;
mod forward;
pub mod grammars;
mod inequation;
mod invariants;
mod linear;
mod properties;
pub mod protocol;
mod prune;
pub mod reachable;
mod reduce;
mod refute;
mod relevant;
mod run;
mod sign;
mod simplex;
mod subsumption;
mod together;
mod trap;
mod unwind;
pub mod weight;

pub use bounded::place_bounds;
pub use certificate::Certificate;
pub use check::{CoverOptions, CoverReport, Engine, Work, check};
pub use properties::{Answer, answer_each};
pub use run::Run;
pub use weight::net::Diagrams;
