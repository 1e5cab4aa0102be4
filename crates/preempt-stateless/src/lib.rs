//! Explores the runs of anything that runs step by step, one run after the other, within exact preemption bounds.
//!
//! Nothing is known about a program but its runs: there are no states to store. What identifies a point of a run is
//! its *happens-before graph* (paper 001): who did what, and which write each step saw. Two runs with the same graph
//! do the same, so one of them is enough; which of them is cheap decides within which bound the graph lies.
//!
//! | module | algorithm |
//! | --- | --- |
//! | [`marking`] | paper 001, Algorithm 2 (`Search` and `Mark`): the default, each graph exactly once |
//! | [`parallel`] | the same on several threads that share the table of graphs |
//! | [`basic`] | paper 001, Algorithm 1: every prefix of every graph once |
//! | [`bpor`] | paper 003, Algorithm 1, with the bounds of its Algorithms 2 and 3, others ([`bound`]), or none |
//! | [`cb_dfs`] | plain depth-first search within the bound |
//! | [`random`], [`pct`] | one schedule after the other, by chance |
//!
//! There are no sleep sets anywhere: under a bound they lose runs (paper 001, Fig. 1).
#![forbid(unsafe_code)]

pub mod basic;
pub mod bound;
pub mod bpor;
pub mod cb_dfs;
pub mod context_bound;
pub mod counts;
pub mod executable;
pub mod explore;
pub mod graph;
pub mod linearisation;
pub mod marking;
pub mod parallel;
pub mod pct;
pub mod persistent;
pub mod prefix;
pub mod program;
mod racing;
pub mod random;
pub mod runner;
pub mod system;
pub mod table;

pub use bound::BoundFunction;
pub use counts::Counts;
pub use executable::{Access, Executable, Flow, Move, Need, ObjectId, Operation, RunEnd, Stamp, Ways};
pub use explore::{Exploration, Failing, Limits, Stop, Strategy, Terminal, explore};
pub use graph::Graph;
pub use linearisation::cheapest_linearisation;
