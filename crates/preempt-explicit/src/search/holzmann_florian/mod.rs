//! The depth-first searches of Holzmann and Florian, "Model checking with bounded context switching" (2011, paper 000), as
//! they are published. They are here for comparison: the search in order of cost does the same with less work.
//!
//! All of them are the depth-first search of [`super::depth_first`] over *visits*: a state with the number of preemptions,
//! the process that ran last, and whether its step was a safe one. The figures differ in when a visit is made
//! ([`RevisitRule`]) and in what is tried from it ([`Figure`]):
//!
//! * Fig. 1: each state once, without a bound. It is [`Order::DepthFirst`](super::Order::DepthFirst);
//! * Fig. 2: each state once, and only within the bound. It cannot guarantee what it seems to: a state that was first reached
//!   at the bound is not visited again when it is reached more cheaply, so errors within the bound are missed (Fig. 6 shows
//!   how). What it does not find is therefore not proved to be absent;
//! * Fig. 3 ([`fig3_revisits`]): a state again whenever it is reached with fewer preemptions, or by another process;
//! * Fig. 5 ([`fig5_ample_sets`]): the same with partial-order reduction.
//!
//! Each visit expands every process at once, as the figures do: which errors a state leads to is known before anything is
//! tried from it. Theorems 1 and 2 of the paper are tests (`tests/theorems.rs`), on the list of visits that a search makes.

mod fig3_revisits;
mod fig5_ample_sets;

use crate::store::StateNumber;
use fig3_revisits::Revisits;
use fig5_ample_sets::RevisitsWithSafeSteps;

use super::depth_first::Admission;
use preempt_model::System;

/// Which of the published searches, and what may be added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// When a state is visited again, and what is tried then.
    pub figure: Figure,
    /// Section 3.1: leaving a process all of whose steps lead back to the path is free.
    pub cycles: bool,
    /// Spin's `-DREACH -i`: go on after an error, with runs that are shorter.
    pub shortening: bool,
}

/// A figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Fig. 2: each state once, whatever it cost to reach it. It misses errors within the bound.
    NaiveBounded,
    /// Fig. 3: a state again whenever it is reached with fewer preemptions, or by another process.
    ContextBounded,
    /// Fig. 5: the same with ample sets.
    WithReduction,
}

impl Figure {
    /// CONSTRAINT of the figure; `None` where a state is visited once.
    pub(crate) fn revisit_rule(self) -> Option<Box<dyn RevisitRule>> {
        match self {
            Figure::NaiveBounded => None,
            Figure::ContextBounded => Some(Box::new(Revisits::default())),
            Figure::WithReduction => Some(Box::new(RevisitsWithSafeSteps::default())),
        }
    }
}

/// How a state is reached: with so many preemptions, `last` running, after a safe step or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Counted as the figure counts them.
    pub preemptions: u32,
    /// The process that ran last; 255 before the first step.
    pub last: u8,
    /// Fig. 5: it came by a step that was taken alone.
    pub safe: bool,
}

/// A visit to a state that is a byte vector.
pub(crate) type ByteVisit = (Vec<u8>, Visit);

/// What a published search visited.
#[derive(Debug, Clone)]
pub struct Visits<M: System> {
    /// Every visit, in the order in which they were made.
    pub made: Vec<(M::State, Visit)>,
    /// No limit was reached.
    pub complete: bool,
}

/// CONSTRAINT of a figure: is the visit to be made? If so, it is remembered.
pub(crate) trait RevisitRule {
    fn admit(&mut self, state: StateNumber, visit: Visit) -> Admission;

    /// Memory used for what it remembers.
    fn bytes(&self) -> u64;
}
