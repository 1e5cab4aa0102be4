//! Nested depth-first search: when the outer search leaves an accepting state, the inner one looks for a way from it
//! back to the outer path. Every state is entered at most once by each. With the early stop of Schwoon and Esparza
//! ("A note on on-the-fly verification algorithms", 2005): a step back to the path that passes an accepting state is
//! a cycle already.

use super::lasso::Lasso;
use super::space::{Cut, Edge, Space};
use crate::store::StateNumber;
use crate::watched::PlaceOf;
use preempt_core::Progress;
use preempt_model::Interpreter;
use preempt_model::monitor::Monitor;

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

pub fn search<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    progress: &mut dyn Progress,
) -> Result<Option<Lasso>, Cut> {
    let mut colours = Colours::default();
    for initial in space.initial()? {
        if colours.get(initial) != Colour::White {
            continue;
        }
        let mut path = vec![enter(space, &mut colours, initial, None)?];
        let mut bytes = path[0].bytes;
        while let Some(frame) = path.last_mut() {
            if let Some(edge) = frame.edges.next() {
                let accepts = frame.accepts;
                match colours.get(edge.to) {
                    Colour::Cyan if accepts || space.accepts(edge.to) => {
                        return Ok(Some(closed(&path, &[], edge)));
                    }
                    Colour::White if space.is_within_depth(path.len()) => {
                        let frame = enter(space, &mut colours, edge.to, Some(edge))?;
                        bytes += frame.bytes;
                        path.push(frame);
                    }
                    _ => {}
                }
                space.look_up(path.len(), bytes + colours.0.capacity(), progress)?;
                continue;
            }
            let (state, accepts) = (frame.state, frame.accepts);
            if accepts {
                if let Some((back, last)) = inner(space, &mut colours, state, bytes, progress)? {
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

fn enter<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    colours: &mut Colours,
    state: StateNumber,
    by: Option<Edge>,
) -> Result<Frame, Cut> {
    colours.set(state, Colour::Cyan);
    let accepts = space.accepts(state);
    let edges = space.expand(state)?.edges;
    let bytes = size_of::<Frame>() + edges.capacity() * size_of::<Edge>();
    Ok(Frame { state, accepts, by, edges: edges.into_iter(), bytes })
}

/// A way from an accepting state back to the outer path: its steps, and the one that arrives there.
fn inner<'m, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    space: &mut Space<'_, 'm, M>,
    colours: &mut Colours,
    from: StateNumber,
    outer_bytes: usize,
    progress: &mut dyn Progress,
) -> Result<Option<(Vec<Edge>, Edge)>, Cut> {
    let mut path = vec![(None, space.expand(from)?.edges.into_iter())];
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
                path.push((Some(edge), space.expand(edge.to)?.edges.into_iter()));
            }
            // White cannot be: everything that can be reached from here has been left by the outer search, or was
            // cut off by the limit of depth.
            Colour::White | Colour::Red => {}
        }
        // Its path is one of the outer search's, with as many edges.
        let bytes = outer_bytes + colours.0.capacity() + path.len() * 4 * size_of::<Edge>();
        space.look_up(path.len(), bytes, progress)?;
    }
    Ok(None)
}

/// The outer path up to where the cycle begins, and the cycle: the rest of the path, the way back, the last step.
fn closed(path: &[Frame], back: &[Edge], last: Edge) -> Lasso {
    let begins = path.iter().position(|frame| frame.state == last.to).unwrap_or(0);
    let steps = |frames: &[Frame]| frames.iter().filter_map(|frame| frame.by).collect::<Vec<_>>();
    let mut cycle = steps(&path[begins + 1..]);
    cycle.extend_from_slice(back);
    cycle.push(last);
    Lasso { initial: path[0].state, stem: steps(&path[..=begins]), cycle }
}
