//! How a never claim goes along with a run: which of its moves lead to the violation.

use preempt_model::interpreter::State;
use preempt_model::monitor::{ClaimMonitor, Monitor};
use preempt_model::search::Replayed;
use preempt_model::{Interpreter, LocationId};
use std::collections::HashMap;
use std::ops::Range;

/// The claim reads the run state by state, and between two states the system moves.
#[derive(Debug)]
pub(super) struct ClaimPath {
    pub readings: Vec<ReadAndMove>,
    /// The reading with which the part begins that is repeated for ever.
    pub loop_start: Option<usize>,
}

/// The edges that the claim takes in a state, and then the steps of the system.
#[derive(Debug, Clone)]
pub(super) struct ReadAndMove {
    pub edges: Vec<(LocationId, usize)>,
    pub steps: Range<usize>,
}

/// Which stable state of the run is read next, and where the claim stands.
type Node = (usize, LocationId);

/// The shortest path to a violation: to the end of the claim or an assertion of its own that fails, else for ever
/// through an accepting place.
pub(super) fn path<'m>(
    monitor: &ClaimMonitor<'_, 'm>,
    run: &Replayed<Interpreter<'m>>,
    loop_start: Option<usize>,
) -> Option<ClaimPath> {
    let reader = Reader { monitor, run, loop_start };
    let start = (0, monitor.start());
    let reached = match reader.search(start, |_| false) {
        Searched::Violation(readings) => return Some(ClaimPath { readings, loop_start: None }),
        Searched::Goal(_) => return None,
        Searched::Everything(reached) => reached,
    };
    let accepts = |(position, place): Node| monitor.accepts(&run.stable[position].1, place);
    reached.order.iter().copied().filter(|node| accepts(*node)).find_map(|node| {
        let Searched::Goal(cycle) = reader.search(node, |again| again == node) else { return None };
        let mut readings = reached.path(node);
        let loop_start = Some(readings.len());
        readings.extend(cycle);
        Some(ClaimPath { readings, loop_start })
    })
}

struct Reader<'r, 'a, 'm> {
    monitor: &'r ClaimMonitor<'a, 'm>,
    run: &'r Replayed<Interpreter<'m>>,
    loop_start: Option<usize>,
}

enum Searched {
    Violation(Vec<ReadAndMove>),
    Goal(Vec<ReadAndMove>),
    /// Neither: everything was reached that can be.
    Everything(Reached),
}

/// Nodes in the order in which they were reached, and from where.
#[derive(Default)]
struct Reached {
    order: Vec<Node>,
    from: HashMap<Node, (Node, ReadAndMove)>,
}

impl Reader<'_, '_, '_> {
    /// Breadth first from a node: to a violation, to the goal by at least one reading, or to everything there is.
    fn search(&self, from: Node, goal: impl Fn(Node) -> bool) -> Searched {
        let mut reached = Reached { order: vec![from], from: HashMap::new() };
        let mut next = 0;
        while let Some(node @ (position, place)) = reached.order.get(next).copied() {
            next += 1;
            for followed in self.monitor.follow(self.state(position), place) {
                let (then, steps) = self.next(position);
                let (Some(place), None) = (followed.reading.place, &followed.reading.violation) else {
                    let last = ReadAndMove { edges: followed.edges, steps: 0..0 };
                    return Searched::Violation(reached.path_and(node, last));
                };
                let (then, here) = ((then, place), ReadAndMove { edges: followed.edges, steps });
                if goal(then) {
                    return Searched::Goal(reached.path_and(node, here));
                }
                if then != from && !reached.from.contains_key(&then) {
                    reached.order.push(then);
                    reached.from.insert(then, (node, here));
                }
            }
        }
        Searched::Everything(reached)
    }

    fn state(&self, position: usize) -> &State {
        &self.run.stable[position].1
    }

    /// The state that follows, and the steps to it. Behind the last one the loop begins again, or nothing moves.
    fn next(&self, position: usize) -> (usize, Range<usize>) {
        let stable = &self.run.stable;
        let from = stable[position].0;
        match (stable.get(position + 1), self.loop_start) {
            (Some((to, _)), Some(_)) if position + 2 == stable.len() => (self.back(), from..*to),
            (Some((to, _)), _) => (position + 1, from..*to),
            (None, _) => (position, from..from),
        }
    }

    /// The stable state at which the loop begins. The last state of the run is the same one again.
    fn back(&self) -> usize {
        let start = self.loop_start.unwrap_or(0);
        self.run.stable.iter().position(|(steps, _)| *steps >= start).unwrap_or(0)
    }
}

impl Reached {
    fn path(&self, to: Node) -> Vec<ReadAndMove> {
        let mut readings = Vec::new();
        let mut node = to;
        while let Some((before, reading)) = self.from.get(&node) {
            readings.push(reading.clone());
            node = *before;
        }
        readings.reverse();
        readings
    }

    fn path_and(&self, to: Node, last: ReadAndMove) -> Vec<ReadAndMove> {
        let mut readings = self.path(to);
        readings.push(last);
        readings
    }
}
