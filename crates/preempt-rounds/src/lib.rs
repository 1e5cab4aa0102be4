//! Concurrent programs with recursion, state by state: the threads take turns in rounds, K = 1, 2, 3, ..., and when a round
//! brings nothing new, nothing ever will: a proof without a bound on contexts.
//!
//! A program is a [`Model`](preempt_model::Model) without channels. A thread is a pushdown system (Lal and Reps 2009, paper 002, section
//! 4) that is built as it is walked: its P are the shared states that were met, its Gamma the frames, its Delta a memo. What
//! makes it fast where decision diagrams are slow is that programs with many bits often reach few states.
//!
//! * [`mod@check`]: the entry; `search`: the searches in turns, which can be interrupted and continued;
//! * `round_robin`: the rounds; `symmetry`: all runs at once, with equal threads sorted; `configurations`: the store of both;
//! * `turns`: what a thread can do alone, from stop to stop; `stops`: where it has to stop; `rules`: single steps as rules of a
//!   pushdown system; `intern`: numbers for shared states, frames and stacks;
//! * `run`: from a failure to a run of the reference interpreter;
//! * [`any_number`]: any number of threads, as a thread-transition system that `preempt-wsts` decides;
//! * [`threads`]: which threads there are; [`liveness`], [`codes`]: what is known of their code. The decision diagrams of
//!   `preempt-symbolic` start from the same.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod any_number;
pub mod check;
pub mod codes;
mod configurations;
pub mod error;
mod intern;
pub mod liveness;
mod round_robin;
mod rules;
mod run;
mod scout;
pub mod search;
mod stops;
mod supported;
mod symmetry;
pub mod threads;
mod turns;

pub use check::{RoundsOptions, RoundsReport, check};
pub use error::{Cap, Ended, Unsupported};
pub use scout::scout;
pub use search::{Answer, Basis, Caps, Search, Setting};
