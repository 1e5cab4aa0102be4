//! Context-bounded analysis of concurrent programs with recursion, by BDDs: A. Lal and T. Reps, "Reducing concurrent
//! analysis under a context bound to sequential analysis", Formal Methods in System Design, 2009 (paper 002).
//!
//! A program is a [`Model`](preempt_model::Model) without channels: threads that share variables, procedures that may
//! call each other and themselves. [`check()`] looks for failing assertions and run-time errors when each thread has K
//! execution contexts, in round-robin order.
//!
//! * [`mod@check`]: the entry; `driver`: K = 1, 2, 3, ...;
//! * `sequential` (Fig. 3): programs with one thread; `round_robin` (Fig. 5): threads, with `handoff` between them; both
//!   eager and lazy; `rules`: R1, R2, R3 and R7, which the figures share;
//! * `configurations`: rounds over whole configurations, which can tell that there is nothing more to come;
//! * [`portfolio`]: these diagrams and explicit rounds (`preempt-rounds`, where threads and what is known of their code come from) in
//!   turns, by a `baton`;
//! * `graph`: a thread as nodes and relations (Fig. 2); `translate`, `starting`: from a model to graphs;
//! * `word`, `value`, `effect`: arithmetic, expressions and commands as functions of the state; `relation`: relations in
//!   parts; `vars`, `dependencies`: the BDD variables, and their order;
//! * `numbers`: shared states by number where there are few of them;
//! * `places`: how many places a thread can stand at;
//! * `schedule`, `path`, `concrete`: from a failure to a run on the reference interpreter.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod baton;
pub mod check;
mod concrete;
mod configurations;
mod dependencies;
mod driver;
mod effect;
mod error;
mod graph;
mod handoff;
mod numbers;
mod path;
mod places;
pub mod portfolio;
mod relation;
mod round_robin;
mod rules;
mod schedule;
mod sequential;
mod starting;
#[cfg(test)]
mod tests;
mod translate;
mod value;
mod vars;
mod word;

use preempt_rounds::codes;
pub use preempt_rounds::{liveness, threads};

pub use check::{SharedStates, SymbolicOptions, SymbolicReport, check};
pub use error::{AnalysisError, Unsupported};
pub use round_robin::Method;
pub use vars::VariableOrder;
