//! The threads of a program, if their number is fixed: those that exist at the beginning, and one for every start that
//! is executed at most once.

use super::{go_on, refused};
use preempt_core::{Budget, Diagnostic};
use preempt_model::{Code, CodeId, CodeKind, Command, LocationId, Model};

#[derive(Debug, Clone)]
pub struct Thread {
    pub code: CodeId,
    /// The thread that starts it, and the edge that does; `None` if it exists from the beginning.
    pub started_by: Option<(usize, LocationId, usize)>,
}

/// First those that exist at the beginning, then those that they start in the order of the text, and so on.
pub fn threads(model: &Model, budget: &Budget) -> Result<Vec<Thread>, Diagnostic> {
    let starts = model.start.iter();
    let mut threads: Vec<Thread> =
        starts.map(|start| Thread { code: start.code, started_by: None }).collect();
    let mut next = 0;
    while next < threads.len() {
        let code = model.code(threads[next].code);
        for (location, edge) in starting_edges(code) {
            let found = &code.location(location).edges[edge];
            let Command::Run { code: started, .. } = found.command else { continue };
            go_on(budget)?;
            if reaches(code, found.target, location) {
                return Err(refused(
                    found.span,
                    "a thread is started in a loop, so their number is not fixed",
                ));
            }
            if ancestors(&threads, next).any(|ancestor| threads[ancestor].code == started) {
                return Err(refused(
                    found.span,
                    "a thread starts itself again, so their number is not fixed",
                ));
            }
            threads.push(Thread { code: started, started_by: Some((next, location, edge)) });
            if threads.len() > 255 {
                return Err(refused(found.span, "there are more than 255 threads"));
            }
        }
        next += 1;
    }
    for code in model.codes.iter().filter(|code| code.kind == CodeKind::Procedure) {
        if let Some((location, edge)) = starting_edges(code).first() {
            let span = code.location(*location).edges[*edge].span;
            return Err(refused(span, "a thread is started within a procedure, which may be called again"));
        }
    }
    Ok(threads)
}

/// In the order of the text.
fn starting_edges(code: &Code) -> Vec<(LocationId, usize)> {
    let mut found = Vec::new();
    for (location, at) in code.locations.iter().enumerate() {
        for (edge, it) in at.edges.iter().enumerate() {
            if let Command::Run { .. } = it.command {
                found.push((it.span.start, location, edge));
            }
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, location, edge)| (LocationId(location as u32), edge)).collect()
}

fn ancestors(threads: &[Thread], thread: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(thread), |thread| threads[*thread].started_by.map(|(parent, ..)| parent))
}

/// Can control go from one location to the other?
fn reaches(code: &Code, from: LocationId, to: LocationId) -> bool {
    let mut met = vec![false; code.locations.len()];
    let mut open = vec![from];
    while let Some(location) = open.pop() {
        if location == to {
            return true;
        }
        if !std::mem::replace(&mut met[location.0 as usize], true) {
            open.extend(code.location(location).edges.iter().map(|edge| edge.target));
        }
    }
    false
}
