//! Context-bounded analysis of concurrent programs with recursion, by BDDs: A. Lal and T. Reps, "Reducing concurrent
//! analysis under a context bound to sequential analysis" (paper 002).
//!
//! A program is a [`Model`](preempt_model::Model) without channels: threads that share variables, procedures that may
//! call each other and themselves. [`check`] looks for failing assertions and run-time errors when each thread has K
//! execution contexts, in round-robin order.
//!
//! * `threads`: which threads there are, and how later ones are started;
//! * `word`, `value`, `effect`: arithmetic, expressions and commands as functions of the state;
//! * `vars`, `dependencies`: the BDD variables, and their order; `relation`, `graph`: relations in parts; a thread as nodes and relations (Fig. 2);
//! * `rules`: R1, R2, R3 and R7, which Figs. 3 and 5 share;
//! * `fig3`: sequential programs, eager and lazy; `fig5`: threads, eager and lazy, with `handoff` between them;
//! * `configurations`: rounds over whole configurations, which can tell that there is nothing more to come;
//! * `schedule`, `path`, `concrete`: from a failure to a run on the reference interpreter;
//! * [`mod@check`]: K = 1, 2, 3, ...
#![forbid(unsafe_code)]

pub mod check;
mod concrete;
mod configurations;
mod dependencies;
mod effect;
mod fig3;
mod fig5;
mod graph;
mod handoff;
mod liveness;
mod path;
mod relation;
mod rules;
mod schedule;
mod stop;
#[cfg(test)]
mod tests;
mod threads;
mod value;
mod vars;
mod word;

pub use check::{SymbolicOptions, SymbolicReport, check};
pub use fig5::Method;
pub use stop::Unsupported;
pub use vars::Order;
