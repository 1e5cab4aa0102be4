//! The reduction that keeps the fewest preemptions.
//!
//! **The rule.** While the running process stands where every alternative is private to it, none closes a cycle in the
//! process's own graph, and one can be taken, only that process is expanded, with all its alternatives.
//!
//! **Why it is right.** Take a run to a violation in which somebody interrupts the process here. A private step commutes with
//! every step of the others, so it can be moved forward, next to the process's step before it: the run has the same steps,
//! ends in the same violation and has no more preemptions, since the interruption now comes after the private step at the
//! same price. Back edges are never private, so after finitely many private steps the others have their turn, whatever the
//! order of the search: nothing is put off for ever, and no search has to look at its path.
//!
//! **What it costs.** One table for each code, made before the search; in the search one look at it. Steps of the others may
//! be added before the violation, so the fewest *steps* are not kept.

use preempt_model::{Code, CodeId, CodeKind, Command, Expr, Footprint, LocationId, Model, Scope};
use std::collections::HashSet;

/// For each code and location: may a process that stands there run on alone?
#[derive(Debug, Clone)]
pub struct PrivateLocations(Vec<Vec<bool>>);

impl PrivateLocations {
    pub fn new(model: &Model) -> PrivateLocations {
        let observed = Observed::new(model);
        let of_code = |(number, code): (usize, &Code)| {
            let id = CodeId(number as u16);
            let count = code.locations.len();
            let eligible =
                code.kind == CodeKind::Process && code.provided.is_none() && !observed.includes(id);
            if !eligible {
                return vec![false; count];
            }
            let back = back_edges(code);
            (0..count)
                .map(|location| {
                    !back.contains(&location) && is_private(model, id, LocationId(location as u32))
                })
                .collect()
        };
        PrivateLocations(model.codes.iter().enumerate().map(of_code).collect())
    }

    /// Nothing is private.
    pub fn none(model: &Model) -> PrivateLocations {
        PrivateLocations(model.codes.iter().map(|code| vec![false; code.locations.len()]).collect())
    }

    #[inline]
    pub fn contains(&self, code: CodeId, location: LocationId) -> bool {
        self.0[usize::from(code.0)][location.0 as usize]
    }
}

/// The codes of which `np_` asks where their processes stand.
pub(super) fn with_progress(model: &Model) -> impl Iterator<Item = CodeId> {
    let has_progress = |code: &Code| code.locations.iter().any(|location| location.progress);
    let codes = model.codes.iter().enumerate().filter(move |(_, code)| has_progress(code));
    codes.map(|(number, _)| CodeId(number as u16))
}

/// What a model's expressions can see of a process from outside.
struct Observed {
    everybody: bool,
    codes: HashSet<CodeId>,
}

impl Observed {
    fn new(model: &Model) -> Observed {
        // Who moved last, and who could move, is changed by every step.
        let mut observed =
            Observed { everybody: model.has_priorities || model.remembers_last, codes: HashSet::new() };
        let mut look = |expr: &Expr| match expr {
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::Priority(_) | Expr::LastPid => {
                observed.everybody = true;
            }
            Expr::At { code, .. } | Expr::Remote { code, .. } => {
                observed.codes.insert(*code);
            }
            Expr::NonProgress => observed.codes.extend(with_progress(model)),
            _ => {}
        };
        for code in model.codes.iter().filter(|code| code.kind != CodeKind::Observer) {
            for edge in code.locations.iter().flat_map(|location| &location.edges) {
                edge.command.visit(&mut look);
            }
            if let Some(provided) = &code.provided {
                provided.visit(&mut look);
            }
        }
        observed
    }

    fn includes(&self, code: CodeId) -> bool {
        self.everybody || self.codes.contains(&code)
    }
}

fn is_private(model: &Model, code: CodeId, location: LocationId) -> bool {
    let edges = &model.code(code).location(location).edges;
    let plain = |command: &Command| {
        !matches!(command, Command::End | Command::Run { .. } | Command::Call { .. } | Command::Return(_))
    };
    // An atomic sequence goes on to places of which nothing is known here.
    if edges.is_empty() || edges.iter().any(|edge| edge.atomic || !plain(&edge.command)) {
        return false;
    }
    let footprint = Footprint::of_location(model, code, location);
    let own = |scope: Scope| matches!(scope, Scope::Local | Scope::Nowhere);
    use preempt_model::footprint::Channels;
    footprint.may_read.0.iter().all(|(scope, _)| own(*scope))
        && footprint.may_write.0.iter().all(|(scope, _)| own(*scope))
        && [&footprint.sends, &footprint.receives, &footprint.polls]
            .into_iter()
            .all(|channels| *channels == Channels::None)
        && !(footprint.processes.reads || footprint.processes.writes || footprint.processes.timeout)
}

/// The locations at which commands may be executed in one step: further ones only through an atomic sequence.
pub(super) fn in_one_step(code: &Code, location: usize) -> Vec<usize> {
    let mut reached = vec![location];
    let mut next = 0;
    while next < reached.len() {
        let edges = &code.locations[reached[next]].edges;
        next += 1;
        for target in edges.iter().filter(|edge| edge.atomic).map(|edge| edge.target.0 as usize) {
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    reached
}

/// The locations from which an edge leads back, so that without them the graph has no cycle.
pub(super) fn back_edges(code: &Code) -> HashSet<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; code.locations.len()];
    let mut found = HashSet::new();
    // From every location, so that nothing depends on what can be reached.
    let starts = std::iter::once(code.entry.0 as usize).chain(0..code.locations.len());
    for start in starts {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut path = vec![(start, 0)];
        while let Some((location, next)) = path.last_mut() {
            let Some(edge) = code.locations[*location].edges.get(*next) else {
                marks[*location] = Mark::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let target = edge.target.0 as usize;
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    path.push((target, 0));
                }
                Mark::Open => {
                    found.insert(*location);
                }
                Mark::Done => {}
            }
        }
    }
    found
}
