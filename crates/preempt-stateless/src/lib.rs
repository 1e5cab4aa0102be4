//! Explores the runs of anything that runs step by step, one run after the other, within exact preemption bounds.
//!
//! Nothing is known about a program but its runs: there are no states to store. What identifies a point of a run is
//! its *happens-before graph* (Musuvathi and Qadeer 2007, paper 001): who did what, and which write each step saw. Two runs
//! with the same graph do the same, so one of them is enough; which of them is cheap decides within which bound the graph
//! lies.
//!
//! | module | algorithm |
//! | --- | --- |
//! | [`marking`] | Musuvathi and Qadeer 2007 (paper 001), Algorithm 2 (`Search` and `Mark`): the default, each graph exactly once |
//! | [`parallel`] | the same on several threads that share the table of graphs |
//! | [`basic`] | the same paper's Algorithm 1: every prefix of every graph once |
//! | [`bpor`] | Coons, Musuvathi and McKinley 2013 (paper 003), Algorithm 1, with the bounds of its Algorithms 2 and 3, others ([`bound`]), or none |
//! | [`cb_dfs`] | depth-first search within the bound, without reduction |
//! | [`random`], [`pct`] | one random schedule after the other |
//! | [`chosen`] | whatever somebody else chooses |
//!
//! There are no sleep sets anywhere: under a bound they lose runs (paper 001, Fig. 1).
//!
//! [`explore()`] is the entry; [`Executable`] is what a program has to be.
//!
//! ```
//! use preempt_stateless::program::{Op, Program};
//! use preempt_stateless::{ExplorationLimits, Strategy, explore};
//!
//! // Three threads with two critical sections each: 90 orders, of which 6 need no preemption.
//! let sections = vec![Op::Lock(0), Op::Unlock(0), Op::Lock(0), Op::Unlock(0)];
//! let mut program = Program::new(vec![sections; 3]);
//! let found = explore(&mut program, Strategy::default(), &ExplorationLimits::default(), &mut ());
//! assert_eq!(found.per_bound, [6, 24, 60, 90]);
//! assert!(found.exhaustive);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod basic;
pub mod bound;
pub mod bpor;
pub mod cb_dfs;
pub mod chosen;
pub mod context_bound;
pub mod counts;
pub mod executable;
pub mod explore;
pub mod graph;
pub mod linearisation;
pub mod marking;
pub mod operation;
pub mod parallel;
pub mod pct;
pub mod persistent;
pub mod prefix;
mod private;
pub mod program;
mod racing;
pub mod random;
mod recorder;
pub mod runner;
pub mod stamp;
pub mod system;
pub mod table;
mod team;

pub use bound::BoundFunction;
pub use counts::Counts;
pub use executable::{Executable, Flow, Move, RunEnd};
pub use explore::{
    Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver, Strategy, explore,
};
pub use graph::Graph;
pub use linearisation::cheapest_linearisation;
pub use operation::{Access, Choices, Need, ObjectId, Operation};
pub use stamp::{Stamp, derive_name};

/// The example of the README is run, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
