//! Accepted runs without end by nested depth-first search (Courcoubetis, Vardi, Wolper and Yannakakis, 1992; Holzmann, Peled
//! and Yannakakis, 1996).
//!
//! When the outer search leaves an accepting state, the inner one looks for a path from it back to the outer path. Since
//! the outer search leaves states in postorder, whatever an earlier inner search has entered cannot lead back either, so
//! every state is entered at most once by each: twice the work of one search, and two bits for each state. With the early
//! stop of Schwoon and Esparza ("A note on on-the-fly verification algorithms", 2005): a step back to the path that passes
//! an accepting state is a cycle already.
//!
//! It finds some run, not the simplest, and knows no fairness.

use super::Lasso;
use super::graph::{Edge, Graph, Incomplete};
use super::product_graph::ProductGraph;
use crate::store::StateNumber;
use preempt_core::Progress;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Colour {
    #[default]
    White,
    /// On the outer path.
    Cyan,
    /// Left by the outer search.
    Blue,
    /// Entered by the inner search.
    Red,
}

/// By the states' numbers.
#[derive(Default)]
struct Colours(Vec<Colour>);

impl Colours {
    fn get(&self, state: StateNumber) -> Colour {
        self.0.get(state as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, state: StateNumber, colour: Colour) {
        if self.0.len() <= state as usize {
            self.0.resize(state as usize + 1, Colour::White);
        }
        self.0[state as usize] = colour;
    }
}

struct Frame {
    state: StateNumber,
    accepts: bool,
    /// The step by which it was reached; `None` for the first.
    by: Option<Edge>,
    edges: std::vec::IntoIter<Edge>,
    bytes: usize,
}

pub fn search(
    graph: &mut ProductGraph<'_, '_>,
    progress: &mut dyn Progress,
) -> Result<Option<Lasso>, Incomplete> {
    let mut colours = Colours::default();
    for initial in graph.initial()? {
        if colours.get(initial) != Colour::White {
            continue;
        }
        let mut path = vec![enter(graph, &mut colours, initial, None)?];
        let mut bytes = path[0].bytes;
        while let Some(frame) = path.last_mut() {
            if let Some(edge) = frame.edges.next() {
                let accepts = frame.accepts;
                match colours.get(edge.to) {
                    Colour::Cyan if accepts || graph.accepts(edge.to) => {
                        return Ok(Some(closed(&path, &[], edge)));
                    }
                    Colour::White if graph.is_within_depth(path.len()) => {
                        let frame = enter(graph, &mut colours, edge.to, Some(edge))?;
                        bytes += frame.bytes;
                        path.push(frame);
                    }
                    _ => {}
                }
                graph.poll_path(path.len(), bytes + colours.0.capacity(), progress)?;
                continue;
            }
            let (state, accepts) = (frame.state, frame.accepts);
            if accepts {
                if let Some((back, last)) = inner(graph, &mut colours, state, bytes, progress)? {
                    return Ok(Some(closed(&path, &back, last)));
                }
                colours.set(state, Colour::Red);
            } else {
                colours.set(state, Colour::Blue);
            }
            bytes -= path.pop().map_or(0, |frame| frame.bytes);
        }
    }
    Ok(None)
}

fn enter(
    graph: &mut ProductGraph<'_, '_>,
    colours: &mut Colours,
    state: StateNumber,
    by: Option<Edge>,
) -> Result<Frame, Incomplete> {
    colours.set(state, Colour::Cyan);
    let accepts = graph.accepts(state);
    let edges = graph.expand(state)?.edges;
    let bytes = size_of::<Frame>() + edges.capacity() * size_of::<Edge>();
    Ok(Frame { state, accepts, by, edges: edges.into_iter(), bytes })
}

/// A path from an accepting state back to the outer path: its steps, and the one that arrives there.
fn inner(
    graph: &mut ProductGraph<'_, '_>,
    colours: &mut Colours,
    from: StateNumber,
    outer_bytes: usize,
    progress: &mut dyn Progress,
) -> Result<Option<(Vec<Edge>, Edge)>, Incomplete> {
    let mut path = vec![(None, graph.expand(from)?.edges.into_iter())];
    while let Some((_, edges)) = path.last_mut() {
        let Some(edge) = edges.next() else {
            path.pop();
            continue;
        };
        match colours.get(edge.to) {
            Colour::Cyan => {
                let steps = path.iter().filter_map(|(by, _)| *by).collect();
                return Ok(Some((steps, edge)));
            }
            Colour::Blue => {
                colours.set(edge.to, Colour::Red);
                path.push((Some(edge), graph.expand(edge.to)?.edges.into_iter()));
            }
            // White cannot be: everything that can be reached from here has been left by the outer search, or was
            // cut off by the limit of depth.
            Colour::White | Colour::Red => {}
        }
        // Its path is one of the outer search's, with as many edges.
        let bytes = outer_bytes + colours.0.capacity() + path.len() * 4 * size_of::<Edge>();
        graph.poll_path(path.len(), bytes, progress)?;
    }
    Ok(None)
}

/// The outer path up to where the cycle begins, and the cycle: the rest of the path, the path back, the last step.
fn closed(path: &[Frame], back: &[Edge], last: Edge) -> Lasso {
    let begins = path.iter().position(|frame| frame.state == last.to).unwrap_or(0);
    let steps = |frames: &[Frame]| frames.iter().filter_map(|frame| frame.by).collect::<Vec<_>>();
    let mut cycle = steps(&path[begins + 1..]);
    cycle.extend_from_slice(back);
    cycle.push(last);
    Lasso { initial: path[0].state, stem: steps(&path[..=begins]), cycle }
}
