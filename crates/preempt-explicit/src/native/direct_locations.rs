//! Which steps lead straight from one stable state to the next, as far as that can be known before the model runs.
//!
//! A location is *direct* if all its steps are such: none of them waits for another process's answer in the middle of an atomic
//! sequence, chooses a value, or belongs to an escape, and every atomic sequence that begins there comes to an end. Then its steps
//! are computed by the process's step function ([`super::step_function`]).

use super::rendezvous::acceptances;
use preempt_model::command::Command;
use preempt_model::{CodeKind, Edge, Expr, Location, Model};

/// What is known of an edge without executing it.
#[derive(Debug, Clone, Copy)]
pub struct EdgeFacts {
    pub target: u32,
    pub atomic: bool,
    pub escape: Option<u32>,
    /// May it start processes?
    pub grows: bool,
    /// Does it choose values?
    pub chooses: bool,
    /// May it offer a message?
    pub sends: bool,
    /// May it take an offered message?
    pub accepts: bool,
    /// Can it be taken wherever no other edge can?
    pub never_blocks: bool,
}

impl EdgeFacts {
    pub fn of(edge: &Edge) -> EdgeFacts {
        let command = &edge.command;
        let mut chooses = false;
        command.visit(&mut |expr| chooses |= matches!(expr, Expr::Any { .. }));
        EdgeFacts {
            target: edge.target.0,
            atomic: edge.atomic,
            escape: edge.escape,
            grows: matches!(command, Command::Run { .. } | Command::Deterministic(_)),
            chooses,
            sends: matches!(command, Command::Send { .. }),
            accepts: !acceptances(command).is_empty(),
            never_blocks: is_always_ready(command) || matches!(command, Command::Else),
        }
    }
}

/// Can the command be executed whatever the state is?
pub fn is_always_ready(command: &Command) -> bool {
    match command {
        Command::Guard(Expr::Const(value)) => *value != 0,
        Command::Guard(_)
        | Command::Else
        | Command::End
        | Command::Send { .. }
        | Command::Receive { .. }
        | Command::Deterministic(_) => false,
        _ => true,
    }
}

/// What step functions have to do for one location.
#[derive(Debug, Clone, Copy, Default)]
pub struct Duties {
    /// It is direct, and a process may stand here in a stable state.
    pub expands: bool,
    /// A process that is alone comes by here.
    pub goes_on: bool,
}

/// By code and location. `is_plain`: nothing keeps a process from running, nobody claims a channel, and there are no hidden
/// variables.
pub fn duties(model: &Model, is_plain: bool) -> Vec<Vec<Duties>> {
    let has_rendezvous = model.templates.iter().any(|template| template.capacity == 0);
    let facts = |location: &Location| location.edges.iter().map(EdgeFacts::of).collect::<Vec<_>>();
    let codes = model.codes.iter().map(|code| match code.kind == CodeKind::Process {
        true => (code.entry.0, code.locations.iter().map(facts).collect::<Vec<_>>()),
        false => (0, Vec::new()),
    });
    let codes: Vec<(u32, Vec<Vec<EdgeFacts>>)> = codes.collect();
    let mut all = codes.iter().flat_map(|(_, locations)| locations).flatten();
    // Whoever takes a message may go on alone.
    let goes_on_alone = has_rendezvous && all.any(|edge| edge.accepts && edge.atomic);
    let rules = Rules { is_plain, has_rendezvous, goes_on_alone };
    codes.iter().map(|(entry, locations)| rules.duties(*entry, locations)).collect()
}

/// What is so in the whole model.
#[derive(Debug, Clone, Copy)]
struct Rules {
    is_plain: bool,
    has_rendezvous: bool,
    goes_on_alone: bool,
}

/// Atomic sequences of more steps are not followed in place.
const LONGEST: u32 = 200;

impl Rules {
    fn duties(self, entry: u32, locations: &[Vec<EdgeFacts>]) -> Vec<Duties> {
        let mut longest = vec![Longest::Unknown; locations.len()];
        for start in 0..locations.len() {
            self.find_longest(locations, start, &mut longest);
        }
        let is_direct = |edge: &EdgeFacts| {
            let ends = |target: u32| longest[target as usize].is_within(LONGEST);
            self.is_simple(edge) && (!edge.atomic || ends(edge.target))
        };
        let direct: Vec<bool> =
            locations.iter().map(|edges| self.is_plain && edges.iter().all(is_direct)).collect();
        let stable = self.may_be_stable(entry, locations);
        let mut duties: Vec<Duties> = std::iter::zip(&direct, stable)
            .map(|(direct, stable)| Duties { expands: *direct && stable, goes_on: false })
            .collect();
        let mut open: Vec<usize> = (0..locations.len()).filter(|at| direct[*at]).collect();
        while let Some(at) = open.pop() {
            for edge in locations[at].iter().filter(|edge| edge.atomic) {
                let target = edge.target as usize;
                if !std::mem::replace(&mut duties[target].goes_on, true) {
                    open.push(target);
                }
            }
        }
        duties
    }

    fn is_simple(self, edge: &EdgeFacts) -> bool {
        let is_special = edge.chooses || edge.escape.is_some();
        !is_special && (!edge.sends || !(self.goes_on_alone || edge.atomic && self.has_rendezvous))
    }

    /// May a process stand here while everybody may run? In the middle of an atomic sequence only where it can be blocked.
    fn may_be_stable(self, entry: u32, locations: &[Vec<EdgeFacts>]) -> Vec<bool> {
        let mut stable = vec![false; locations.len()];
        let may_block =
            |at: u32| !locations.get(at as usize).is_some_and(|edges| edges.iter().any(|it| it.never_blocks));
        let ends_here = |edge: &EdgeFacts| {
            !edge.atomic || may_block(edge.target) || self.has_rendezvous && (edge.sends || edge.accepts)
        };
        let targets = locations.iter().flatten().filter(|edge| ends_here(edge)).map(|edge| edge.target);
        for at in targets.chain([entry]) {
            if let Some(stable) = stable.get_mut(at as usize) {
                *stable = true;
            }
        }
        stable
    }

    /// Depth first along atomic edges, without recursion.
    fn find_longest(self, locations: &[Vec<EdgeFacts>], start: usize, longest: &mut [Longest]) {
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let (here, edges) = (*at, &locations[*at]);
            if *next == 0 {
                if longest[here] != Longest::Unknown {
                    path.pop();
                    continue;
                }
                longest[here] = Longest::Open;
            }
            if let Some(edge) = edges.get(*next) {
                *next += 1;
                let target = edge.target as usize;
                if edge.atomic && target < locations.len() && longest[target] == Longest::Unknown {
                    path.push((target, 0));
                }
                continue;
            }
            let mut most = Some(0);
            for edge in edges {
                let after = match edge.atomic {
                    false => Some(0),
                    true => match longest.get(edge.target as usize) {
                        Some(Longest::Steps(steps)) => Some(*steps),
                        _ => None,
                    },
                };
                let may_follow = self.is_simple(edge) && (!edge.sends || !self.has_rendezvous);
                most = most.zip(after.filter(|_| may_follow)).map(|(most, after)| most.max(after + 1));
            }
            longest[here] = most.map_or(Longest::Nothing, Longest::Steps);
            path.pop();
        }
    }
}

/// How many steps an atomic sequence can have from some location on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Longest {
    Unknown,
    /// It is being found out: whoever comes here again goes round.
    Open,
    Steps(u32),
    /// There is no such number, or it has steps that are not simple.
    Nothing,
}

impl Longest {
    fn is_within(self, most: u32) -> bool {
        matches!(self, Longest::Steps(steps) if steps <= most)
    }
}
