//! Graphs on which runs without end are looked for.

use crate::store::StateNumber;
use preempt_core::{Progress, StopReason};

/// States are numbered, and know their edges.
pub trait Graph {
    fn initial(&mut self) -> Result<Vec<StateNumber>, Incomplete>;
    /// Every edge from a state, the first process's first.
    fn expand(&mut self, state: StateNumber) -> Result<Expansion, Incomplete>;
    fn accepts(&self, state: StateNumber) -> bool;
    /// May the path become so long?
    fn is_within_depth(&mut self, path: usize) -> bool;
    /// At each step: is it time to stop? The path has so many entries, and so many bytes are used beside the graph.
    fn poll_path(&mut self, path: usize, bytes: usize, progress: &mut dyn Progress)
    -> Result<(), Incomplete>;
    /// These will be expanded again, one after the other.
    fn announce(&mut self, _states: &[StateNumber]) {}
}

/// A step of the product: `by` made it, and afterwards `runs` is running. Where nobody can move, a state repeats itself
/// by [`NOBODY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub from: StateNumber,
    pub to: StateNumber,
    pub by: u8,
    pub runs: u8,
    /// How many steps of the model: an atomic sequence has several.
    pub steps: u32,
}

/// What was met from one state.
#[derive(Debug, Default, Clone)]
pub struct Expansion {
    pub edges: Vec<Edge>,
    /// The processes that cannot move.
    pub resting: Vec<u8>,
    pub processes: u8,
}

/// Why a search ends before it has seen everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incomplete {
    Limit(StopReason),
    /// A finite run is a violation already; see [`super::product_graph::ProductGraph::judging`].
    FiniteViolation,
}
