//! The control-flow graph of a thread, as Lal and Reps 2009 (paper 002) draw it in Fig. 2: nodes, and edges that are
//! relations, calls or returns.
//!
//! A node is a location together with whether the thread alone may run there (it is inside an atomic sequence). A
//! procedure is looked at twice if it is called from inside and from outside of atomic sequences. `translate` makes the
//! graph of a model's thread; the rules of `rules` are applied to it.

use crate::relation::{Condition, Product, Relation};
use preempt_bdd::Bdd;
use preempt_model::{CodeId, LocationId};

/// A thread's program. Procedure 0 is the thread's own code.
pub(crate) struct Graph {
    pub procedures: Vec<Procedure>,
    /// What the locals are at the entry of procedure 0.
    pub start: Bdd,
}

pub(crate) struct Procedure {
    pub code: CodeId,
    pub nodes: Vec<Node>,
    pub entry: usize,
    /// For each node its place in an order in which a node comes after those that lead to it, loops aside.
    pub ranks: Vec<usize>,
    /// Parameters and shared state at the entry to locals; for procedure 0 it is not used.
    pub init: Condition,
}

pub(crate) struct Node {
    /// `None`: the thread waits to be started.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare states by it"))]
    pub location: Option<LocationId>,
    /// Nobody else may run here unless the thread is blocked.
    pub exclusive: bool,
    /// Where the thread goes on if it was blocked here and others have run.
    pub resume: usize,
    pub blocked: Condition,
    pub steps: Vec<Step>,
    pub calls: Vec<Call>,
    pub returns: Vec<Return>,
    /// States in which an edge fails an assertion or has no meaning.
    pub bad: Vec<(u32, Condition)>,
}

pub(crate) struct Step {
    pub edge: u32,
    pub target: usize,
    pub relation: Relation,
}

pub(crate) struct Call {
    pub edge: u32,
    pub callee: usize,
    /// From the caller's state to the parameters handed over.
    pub arguments: Product,
    /// Where the caller goes on: after a return inside an atomic sequence, and outside.
    pub targets: [usize; 2],
    /// What is done with the results.
    pub results: Option<Relation>,
}

pub(crate) struct Return {
    pub edge: u32,
    pub exclusive: bool,
    /// From the state to the results.
    pub values: Product,
}

/// Threads with the same code share a program.
pub(crate) struct Programs {
    pub graphs: Vec<Graph>,
    /// For each thread the number of its program.
    pub of_thread: Vec<usize>,
}

impl Programs {
    pub fn of(&self, thread: usize) -> &Graph {
        &self.graphs[self.of_thread[thread]]
    }
}

impl Graph {
    /// Can anything go wrong in this thread at all, whatever the values are?
    pub fn can_fail(&self) -> bool {
        let nodes = self.procedures.iter().flat_map(|procedure| &procedure.nodes);
        nodes.flat_map(|node| &node.bad).any(|(_, bad)| !bad.never())
    }
}

/// Reverse postorder: the order in which a depth-first search leaves the nodes, turned round.
pub(crate) fn ranks(nodes: &[Node], entry: usize) -> Vec<usize> {
    let successors = |node: &Node| -> Vec<usize> {
        let calls = node.calls.iter().flat_map(|call| call.targets);
        node.steps.iter().map(|step| step.target).chain(calls).chain([node.resume]).collect()
    };
    let mut ranks = vec![0; nodes.len()];
    let mut seen = vec![false; nodes.len()];
    let mut next_rank = nodes.len();
    for start in std::iter::once(entry).chain(0..nodes.len()) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, successors(&nodes[start]))];
        while let Some((node, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if !std::mem::replace(&mut seen[next], true) => {
                    stack.push((next, successors(&nodes[next])));
                }
                Some(_) => {}
                None => {
                    next_rank -= 1;
                    ranks[*node] = next_rank;
                    stack.pop();
                }
            }
        }
    }
    ranks
}

/// The bits of a value as a number.
pub(crate) fn raw(value: i32, ty: preempt_model::Type) -> u64 {
    u64::from(value as u32) & ((1u64 << ty.bits.clamp(1, 32)) - 1)
}
