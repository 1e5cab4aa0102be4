//! An observer as an automaton that machine code can follow: a never claim, the automaton of a formula, or one that looks
//! for labels. The definition is `monitor` of the model; here its states are numbers, and what it reads are conditions that
//! are compiled with the model.

use crate::Unsupported;
#[cfg(feature = "native")]
use crate::native::Native;
use preempt_core::PropertyKind;
use preempt_model::monitor::Stage;
use preempt_model::property::Automaton;
use preempt_model::{Code, Command, Expr, LocationId, Model};

/// Where an observer can go from each of its states.
#[derive(Debug, Clone, Default)]
pub struct ObserverAutomaton {
    pub states: Vec<ObserverState>,
    /// Where it may stand before the first state of the model.
    pub starts: Vec<u16>,
    /// What its edges read.
    pub conditions: Vec<Expr>,
    /// Is an accept label of a process as good as an accepting state?
    pub heeds_labels: bool,
    /// Is a state in which nobody can move repeated for ever?
    pub stutters: bool,
}

#[derive(Debug, Clone, Default)]
pub struct ObserverState {
    /// The observer has seen what must never happen.
    ends: bool,
    /// A run that comes here again and again is a violation.
    pub accepts: bool,
    edges: Vec<ObserverEdge>,
}

#[derive(Debug, Clone, Copy)]
struct ObserverEdge {
    when: When,
    target: u16,
    /// It goes on in the same state.
    atomic: bool,
}

#[derive(Debug, Clone, Copy)]
enum When {
    Always,
    Never,
    /// No edge before it can be taken.
    Else,
    Holds(usize),
    /// Always, but with a violation if the condition does not hold.
    Asserts(usize),
}

/// Where the observer goes on reading, or what it has found.
pub type Reading = Result<u16, PropertyKind>;

impl ObserverAutomaton {
    /// A never claim.
    pub fn of_claim(code: &Code) -> Result<ObserverAutomaton, Unsupported> {
        let mut observer = ObserverAutomaton {
            starts: vec![state_number(code.entry.0 as usize)?],
            heeds_labels: true,
            stutters: true,
            ..ObserverAutomaton::default()
        };
        for location in &code.locations {
            let mut edges = Vec::new();
            for edge in &location.edges {
                let when = match &edge.command {
                    Command::Else => When::Else,
                    Command::End => When::Never,
                    Command::Assert(condition) => When::Asserts(observer.condition(condition)),
                    Command::Guard(condition) => When::Holds(observer.condition(condition)),
                    _ => When::Always,
                };
                let target = state_number(edge.target.0 as usize)?;
                edges.push(ObserverEdge { when, target, atomic: edge.atomic });
            }
            observer.states.push(ObserverState { ends: location.end, accepts: location.accept, edges });
        }
        Ok(observer)
    }

    /// The automaton of a formula's negation.
    pub fn of_automaton(automaton: &Automaton) -> Result<ObserverAutomaton, Unsupported> {
        let starts = vec![state_number(automaton.initial)?];
        let mut observer = ObserverAutomaton { starts, stutters: true, ..ObserverAutomaton::default() };
        for (number, state) in automaton.states.iter().enumerate() {
            // Once everything that may follow is accepted, there is nothing to wait for.
            let ends = state.accepting && state.edges.contains(&(Expr::TRUE, number));
            let mut edges = Vec::new();
            for (guard, target) in &state.edges {
                let when = When::Holds(observer.condition(guard));
                edges.push(ObserverEdge { when, target: state_number(*target)?, atomic: false });
            }
            observer.states.push(ObserverState { ends, accepts: state.accepting, edges });
        }
        Ok(observer)
    }

    /// Looks for accept labels of the processes.
    pub fn of_accept_labels() -> ObserverAutomaton {
        let stay = ObserverEdge { when: When::Always, target: 0, atomic: false };
        let only = ObserverState { ends: false, accepts: false, edges: vec![stay] };
        ObserverAutomaton {
            states: vec![only],
            starts: vec![0],
            heeds_labels: true,
            stutters: true,
            ..ObserverAutomaton::default()
        }
    }

    /// Waits, decides at some time (also before the first state) that there is no progress any more, and looks whether
    /// that stays so.
    pub fn of_progress_labels() -> ObserverAutomaton {
        let mut observer = ObserverAutomaton::default();
        let without = When::Holds(observer.condition(&Expr::NonProgress));
        let to = |when, target| ObserverEdge { when, target, atomic: false };
        let edges = vec![to(When::Always, 0), to(When::Always, 1)];
        let waiting = ObserverState { ends: false, accepts: false, edges };
        let decided = ObserverState { ends: false, accepts: true, edges: vec![to(without, 1)] };
        (observer.states, observer.starts) = (vec![waiting, decided], vec![0, 1]);
        observer
    }

    /// Can a run without end be what it looks for? Else every violation that it finds ends a finite run.
    pub fn may_accept(&self, model: &Model) -> bool {
        let labels = || model.codes.iter().flat_map(|code| &code.locations).any(|location| location.accept);
        self.states.iter().any(|state| state.accepts && !state.ends) || self.heeds_labels && labels()
    }

    fn condition(&mut self, condition: &Expr) -> usize {
        let known = self.conditions.iter().position(|known| known == condition);
        known.unwrap_or_else(|| {
            self.conditions.push(condition.clone());
            self.conditions.len() - 1
        })
    }
}

#[cfg(feature = "native")]
impl ObserverAutomaton {
    /// Everywhere it can go on to from `at`, reading this state of the model.
    pub fn read(&self, native: &mut Native<'_>, state: &[u8], at: u16, found: &mut Vec<Reading>) {
        if self.states[usize::from(at)].ends {
            return found.push(Err(PropertyKind::Never));
        }
        self.moves(native, state, at, 0, found);
    }

    fn moves(&self, native: &mut Native<'_>, state: &[u8], at: u16, depth: usize, found: &mut Vec<Reading>) {
        let mut nothing_earlier = true;
        for edge in &self.states[usize::from(at)].edges {
            let holds = |native: &mut Native<'_>, condition| native.holds(state, condition);
            let violation = match edge.when {
                When::Always => None,
                When::Never => continue,
                When::Else if nothing_earlier => None,
                When::Else => continue,
                When::Holds(condition) => match holds(native, condition) {
                    Some(true) => None,
                    Some(false) => continue,
                    None => Some(PropertyKind::RuntimeError),
                },
                When::Asserts(condition) => match holds(native, condition) {
                    Some(true) => None,
                    Some(false) => Some(PropertyKind::Assertion),
                    None => Some(PropertyKind::RuntimeError),
                },
            };
            nothing_earlier = false;
            if edge.atomic && violation.is_none() && depth < self.states.len() {
                let before = found.len();
                self.moves(native, state, edge.target, depth + 1, found);
                if found.len() > before {
                    continue;
                }
            }
            let ends = self.states[usize::from(edge.target)].ends;
            let wrong = violation.or(ends.then_some(PropertyKind::Never));
            found.push(wrong.map_or(Ok(edge.target), Err));
        }
    }
}

fn state_number(state: usize) -> Result<u16, Unsupported> {
    u16::try_from(state).map_err(|_| Unsupported("an observer with more than 65536 states".into()))
}

/// The state of the monitor that an observer's number stands for.
pub trait FromObserverState {
    fn from_number(number: u16) -> Self;
}

impl FromObserverState for LocationId {
    fn from_number(number: u16) -> LocationId {
        LocationId(number.into())
    }
}

impl FromObserverState for usize {
    fn from_number(number: u16) -> usize {
        number.into()
    }
}

impl FromObserverState for () {
    fn from_number(_: u16) {}
}

impl FromObserverState for Stage {
    fn from_number(number: u16) -> Stage {
        if number == 0 { Stage::Waiting } else { Stage::Without }
    }
}
