//! Accepted runs without end by strongly connected components.
//!
//! Tarjan's algorithm (1972), without recursion: a component with a cycle and an accepting state holds an accepted run, and
//! a run that is accepted ends up in such a component. Each state is expanded once to find its component and once more
//! where the component has an accepting state, in time linear in the graph.
//!
//! Under weak fairness every process must also move in the component, or be unable to move somewhere in it: then a run that
//! passes all of that again and again is fair, and no run that stays in the component is if not. So the cycle that is
//! returned goes round by all these places ([`Waypoint`]); it is a witness, not a short one. Nested depth-first search
//! cannot do this without a copy of the graph for each process.

use super::Lasso;
use super::graph::{Edge, Graph, Incomplete};
use crate::replay::NOBODY;
use crate::store::StateNumber;
use crate::store::index::prefetch;
use preempt_core::Progress;
use std::collections::{HashMap, VecDeque};

struct Frame {
    state: StateNumber,
    by: Option<Edge>,
    edges: std::vec::IntoIter<Edge>,
}

/// With the edges that most states have.
const BYTES_OF_A_FRAME: usize = size_of::<Frame>() + 4 * size_of::<Edge>();

/// What is known of a state that was met: when that was, the lowest it leads to, and the component that it is in once that is known; 0
/// as long as it is not.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    index: u32,
    low: u32,
    component: u32,
}

/// By the states' numbers, as far as they were met.
#[derive(Default)]
struct Order {
    states: Vec<Met>,
    met: u32,
    components: u32,
}

impl Order {
    fn get(&self, state: StateNumber) -> Met {
        self.states.get(state as usize).copied().unwrap_or_default()
    }

    fn enter(&mut self, state: StateNumber) {
        self.met += 1;
        let length = self.states.len().max(state as usize + 1);
        self.states.resize(length, Met::default());
        self.states[state as usize] = Met { index: self.met, low: self.met, component: 0 };
    }

    fn lower(&mut self, state: StateNumber, to: u32) {
        let low = &mut self.states[state as usize].low;
        *low = (*low).min(to);
    }

    /// These are one.
    fn close(&mut self, members: &[StateNumber]) -> u32 {
        self.components += 1;
        members.iter().for_each(|member| self.states[*member as usize].component = self.components);
        self.components
    }

    /// It will be asked about this state soon.
    fn announce(&self, state: StateNumber) {
        if let Some(state) = self.states.get(state as usize) {
            prefetch(state);
        }
    }

    fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<Met>()
    }
}

pub fn search(
    graph: &mut impl Graph,
    weakly_fair: bool,
    progress: &mut dyn Progress,
) -> Result<Option<Lasso>, Incomplete> {
    let mut order = Order::default();
    let mut waiting: Vec<StateNumber> = Vec::new();
    for initial in graph.initial()? {
        if order.get(initial).index != 0 {
            continue;
        }
        let mut path = vec![enter(graph, &mut order, &mut waiting, initial, None)?];
        while let Some(frame) = path.last_mut() {
            let state = frame.state;
            if let Some(edge) = frame.edges.next() {
                match order.get(edge.to) {
                    Met { index: 0, .. } if graph.is_within_depth(path.len()) => {
                        path.push(enter(graph, &mut order, &mut waiting, edge.to, Some(edge))?);
                    }
                    Met { index, component: 0, .. } if index != 0 => {
                        order.lower(state, index);
                    }
                    _ => {}
                }
                let bytes = order.bytes() + waiting.capacity() * 4 + path.len() * BYTES_OF_A_FRAME;
                graph.poll_path(path.len(), bytes, progress)?;
                continue;
            }
            let Met { index, low, .. } = order.get(state);
            if index == low {
                let from = waiting.iter().rposition(|member| *member == state).unwrap_or(0);
                let members = waiting.split_off(from);
                let component = order.close(&members);
                let is_own = |state: StateNumber| order.get(state).component == component;
                if let Some(cycle) = accepted(graph, &members, state, &is_own, weakly_fair)? {
                    let stem = path.iter().filter_map(|frame| frame.by).collect();
                    return Ok(Some(Lasso { initial: path[0].state, stem, cycle }));
                }
            }
            path.pop();
            if let Some(frame) = path.last() {
                order.lower(frame.state, low);
            }
        }
    }
    Ok(None)
}

fn enter(
    graph: &mut impl Graph,
    order: &mut Order,
    waiting: &mut Vec<StateNumber>,
    state: StateNumber,
    by: Option<Edge>,
) -> Result<Frame, Incomplete> {
    order.enter(state);
    waiting.push(state);
    let edges = graph.expand(state)?.edges;
    edges.iter().for_each(|edge| order.announce(edge.to));
    Ok(Frame { state, by, edges: edges.into_iter() })
}

/// The edges of a component, by the states where they begin.
type Inside = HashMap<StateNumber, Vec<Edge>, foldhash::fast::FixedState>;

/// States of a component that are announced at a time, and of one that is worth it.
const ANNOUNCED: usize = 1 << 15;
const LARGE: usize = 1 << 10;

/// What a cycle must pass.
enum Waypoint {
    State(StateNumber),
    Step(Edge),
}

/// A cycle from `root` through the component that is accepted, and fair if that is asked for.
fn accepted(
    graph: &mut impl Graph,
    members: &[StateNumber],
    root: StateNumber,
    is_own: &dyn Fn(StateNumber) -> bool,
    weakly_fair: bool,
) -> Result<Option<Vec<Edge>>, Incomplete> {
    let Some(accepting) = members.iter().copied().find(|member| graph.accepts(*member)) else {
        return Ok(None);
    };
    let mut edges_inside: Vec<Edge> = Vec::new();
    // For each process a reason why a run through the whole component is fair to it.
    let mut fair: HashMap<u8, Waypoint> = HashMap::new();
    let mut processes = 0;
    let mut fewest: Option<(u8, StateNumber)> = None;
    for (number, member) in members.iter().enumerate() {
        // In a small one nobody could be done before the search is there.
        if members.len() >= LARGE && number.is_multiple_of(ANNOUNCED) {
            graph.announce(&members[number..members.len().min(number + ANNOUNCED)]);
        }
        let expansion = graph.expand(*member)?;
        processes = processes.max(expansion.processes);
        let first = edges_inside.len();
        edges_inside.extend(expansion.edges.into_iter().filter(|edge| is_own(edge.to)));
        for process in expansion.resting {
            fair.entry(process).or_insert(Waypoint::State(*member));
        }
        if fewest.is_none_or(|(count, _)| expansion.processes < count) {
            fewest = Some((expansion.processes, *member));
        }
        for edge in edges_inside[first..].iter().filter(|edge| edge.by != NOBODY) {
            for process in [edge.by, edge.runs] {
                fair.entry(process).or_insert(Waypoint::Step(*edge));
            }
        }
    }
    if edges_inside.is_empty() {
        return Ok(None);
    }
    let mut waypoints = vec![Waypoint::State(accepting)];
    if weakly_fair {
        for process in 0..processes {
            // Or it does not even live somewhere.
            let absent =
                fewest.filter(|(count, _)| *count <= process).map(|(_, member)| Waypoint::State(member));
            match fair.remove(&process).or(absent) {
                Some(waypoint) => waypoints.push(waypoint),
                None => return Ok(None),
            }
        }
    }
    let mut inside = Inside::default();
    edges_inside.into_iter().for_each(|edge| inside.entry(edge.from).or_default().push(edge));
    Ok(round(&inside, root, waypoints))
}

/// From `root` past every waypoint, and back; at least one step.
fn round(inside: &Inside, root: StateNumber, waypoints: Vec<Waypoint>) -> Option<Vec<Edge>> {
    let mut steps: Vec<Edge> = Vec::new();
    let mut at = root;
    for waypoint in waypoints {
        let (state, step) = match waypoint {
            Waypoint::State(state) => (state, None),
            Waypoint::Step(edge) => (edge.from, Some(edge)),
        };
        steps.extend(shortest(inside, at, state)?);
        at = state;
        if let Some(edge) = step {
            steps.push(edge);
            at = edge.to;
        }
    }
    if at == root && steps.is_empty() {
        let first = *inside.get(&root)?.first()?;
        steps.push(first);
        at = first.to;
    }
    steps.extend(shortest(inside, at, root)?);
    Some(steps)
}

/// A shortest path within the component.
fn shortest(inside: &Inside, from: StateNumber, to: StateNumber) -> Option<Vec<Edge>> {
    let mut reached: HashMap<StateNumber, Option<Edge>> = HashMap::from([(from, None)]);
    let mut waiting = VecDeque::from([from]);
    while let Some(state) = waiting.pop_front() {
        if state == to {
            let mut steps = Vec::new();
            let mut at = to;
            while let Some(Some(edge)) = reached.get(&at) {
                steps.push(*edge);
                at = edge.from;
            }
            steps.reverse();
            return Some(steps);
        }
        for edge in inside.get(&state).into_iter().flatten() {
            reached.entry(edge.to).or_insert_with(|| {
                waiting.push_back(edge.to);
                Some(*edge)
            });
        }
    }
    None
}
