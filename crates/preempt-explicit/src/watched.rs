//! Machine code with an observer that moves in step with it: a never claim, the automaton of a formula, or one that
//! looks for labels. The definition is `monitor` of the model; here the observer's conditions are machine code too, and
//! its place lies in the state.

use crate::Unsupported;
use crate::native::Native;
use crate::reduction::Reduction;
use crate::reduction::visible::VisibleLocations;
use crate::search::spins;
use crate::successors::{Event, Successors};
use preempt_core::{Budget, PropertyKind, SourceMap};
use preempt_model::monitor::{Monitor, Monitored, Stage};
use preempt_model::property::Automaton;
use preempt_model::{Code, Command, Expr, Interpreter, LocationId, Model, System};
use std::io::{Read, Write};

/// Where an observer can go from each of its places.
#[derive(Debug, Clone, Default)]
pub struct ObserverAutomaton {
    places: Vec<Place>,
    /// Where it may stand before the first state.
    starts: Vec<u16>,
    conditions: Vec<Expr>,
    /// Is an accept label of a process as good as an accepting place?
    heeds_labels: bool,
    /// Is a state in which nobody can move repeated for ever?
    stutters: bool,
}

#[derive(Debug, Clone, Default)]
struct Place {
    /// The observer has seen what must never happen.
    ends: bool,
    /// A run that comes here again and again is a violation.
    accepts: bool,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
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
type Reading = Result<u16, PropertyKind>;

impl ObserverAutomaton {
    /// A never claim.
    pub fn of_claim(code: &Code) -> Result<ObserverAutomaton, Unsupported> {
        let mut observer = ObserverAutomaton {
            starts: vec![place_number(code.entry.0 as usize)?],
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
                let target = place_number(edge.target.0 as usize)?;
                edges.push(Edge { when, target, atomic: edge.atomic });
            }
            observer.places.push(Place { ends: location.end, accepts: location.accept, edges });
        }
        Ok(observer)
    }

    /// The automaton of a formula's negation.
    pub fn of_automaton(automaton: &Automaton) -> Result<ObserverAutomaton, Unsupported> {
        let starts = vec![place_number(automaton.initial)?];
        let mut observer = ObserverAutomaton { starts, stutters: true, ..ObserverAutomaton::default() };
        for (number, state) in automaton.states.iter().enumerate() {
            // Once everything that may follow is accepted, there is nothing to wait for.
            let ends = state.accepting && state.edges.contains(&(Expr::TRUE, number));
            let mut edges = Vec::new();
            for (guard, target) in &state.edges {
                let when = When::Holds(observer.condition(guard));
                edges.push(Edge { when, target: place_number(*target)?, atomic: false });
            }
            observer.places.push(Place { ends, accepts: state.accepting, edges });
        }
        Ok(observer)
    }

    /// Looks for accept labels of the processes.
    pub fn of_accept_labels() -> ObserverAutomaton {
        let stay = Edge { when: When::Always, target: 0, atomic: false };
        let place = Place { ends: false, accepts: false, edges: vec![stay] };
        let (places, starts) = (vec![place], vec![0]);
        ObserverAutomaton {
            places,
            starts,
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
        let to = |when, target| Edge { when, target, atomic: false };
        let edges = vec![to(When::Always, 0), to(When::Always, 1)];
        let waiting = Place { ends: false, accepts: false, edges };
        let decided = Place { ends: false, accepts: true, edges: vec![to(without, 1)] };
        (observer.places, observer.starts) = (vec![waiting, decided], vec![0, 1]);
        observer
    }

    /// Can a run without end be what it looks for? Else every violation that it finds ends a finite run.
    pub fn may_accept(&self, model: &Model) -> bool {
        let labels = || model.codes.iter().flat_map(|code| &code.locations).any(|location| location.accept);
        self.places.iter().any(|place| place.accepts && !place.ends) || self.heeds_labels && labels()
    }

    fn condition(&mut self, condition: &Expr) -> usize {
        let known = self.conditions.iter().position(|known| known == condition);
        known.unwrap_or_else(|| {
            self.conditions.push(condition.clone());
            self.conditions.len() - 1
        })
    }

    /// Everywhere it can go on to from `place`, reading this state.
    fn read(&self, native: &mut Native<'_>, state: &[u8], place: u16, found: &mut Vec<Reading>) {
        if self.places[usize::from(place)].ends {
            return found.push(Err(PropertyKind::Never));
        }
        self.moves(native, state, place, 0, found);
    }

    fn moves(
        &self,
        native: &mut Native<'_>,
        state: &[u8],
        place: u16,
        depth: usize,
        found: &mut Vec<Reading>,
    ) {
        let mut nothing_earlier = true;
        for edge in &self.places[usize::from(place)].edges {
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
            if edge.atomic && violation.is_none() && depth < self.places.len() {
                let before = found.len();
                self.moves(native, state, edge.target, depth + 1, found);
                if found.len() > before {
                    continue;
                }
            }
            let ends = self.places[usize::from(edge.target)].ends;
            let wrong = violation.or(ends.then_some(PropertyKind::Never));
            found.push(wrong.map_or(Ok(edge.target), Err));
        }
    }
}

fn place_number(place: usize) -> Result<u16, Unsupported> {
    u16::try_from(place).map_err(|_| Unsupported("an observer with more than 65536 places".into()))
}

/// What an observer's place means to the monitor that defines it.
pub trait PlaceOf {
    fn from_number(number: u16) -> Self;
}

impl PlaceOf for LocationId {
    fn from_number(number: u16) -> LocationId {
        LocationId(number.into())
    }
}

impl PlaceOf for usize {
    fn from_number(number: u16) -> usize {
        number.into()
    }
}

impl PlaceOf for () {
    fn from_number(_: u16) {}
}

impl PlaceOf for Stage {
    fn from_number(number: u16) -> Stage {
        if number == 0 { Stage::Waiting } else { Stage::Without }
    }
}

pub struct Watched<'a, 'm, M> {
    native: Native<'m>,
    meaning: Monitored<'a, Interpreter<'m>, M>,
    observer: ObserverAutomaton,
    readings: Vec<Reading>,
    arrival: Vec<u8>,
    /// The steps that the observer may see; where nothing is left out, that does not matter.
    visible: Option<VisibleLocations>,
}

impl<'a, 'm, M: Monitor<Interpreter<'m>, Place: PlaceOf>> Watched<'a, 'm, M> {
    pub fn new(
        model: &'m Model,
        sources: &'m SourceMap,
        observer: ObserverAutomaton,
        meaning: Monitored<'a, Interpreter<'m>, M>,
    ) -> Result<Self, Unsupported> {
        let conditions = Some(observer.conditions.clone());
        let native = Native::with_conditions(model, sources, conditions, &meaning.budget())?;
        Ok(Watched { native, meaning, observer, readings: Vec::new(), arrival: Vec::new(), visible: None })
    }

    /// Steps that the observer cannot see need not be tried in every order, if it does not count steps either.
    pub fn reduced(self, model: &Model, reduction: Reduction) -> Self {
        if reduction == Reduction::None {
            return self;
        }
        let visible = VisibleLocations::new(model, &self.observer.conditions, self.observer.heeds_labels);
        Watched { native: self.native.reduced(reduction), visible: Some(visible), ..self }
    }

    /// The processes to which a reduction restricts itself here; `None` for everybody. Their steps are not seen.
    pub fn tried(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.visible.as_ref()?;
        let count = self.native.process_count(state);
        let alone = (0..count)
            .find(|process| self.runs_alone(state, *process) && self.native.can_move(state, *process));
        let tried =
            alone.map_or_else(|| self.native.persistent(state), |process| Some(vec![process as u8]))?;
        let mut may_show = |process: &u8| {
            let process = usize::from(*process);
            self.is_seen(state, process) && self.native.can_move(state, process)
        };
        (!tried.iter().any(&mut may_show)).then_some(tried)
    }

    /// May the process's next step be seen?
    fn is_seen(&self, state: &[u8], process: usize) -> bool {
        let Some(visible) = &self.visible else { return true };
        self.native.location(state, process).is_none_or(|(code, at)| visible.contains(code, at))
    }

    /// Is a run accepted that passes this state infinitely often?
    pub fn accepts(&self, state: &[u8]) -> bool {
        self.observer.places[usize::from(self.native.place(state))].accepts
            || self.observer.heeds_labels && self.native.stands_at_accept(state)
    }

    /// If nobody can move in the state: the same state with the observer's next places.
    pub fn repetitions(&mut self, state: &[u8]) -> Vec<Vec<u8>> {
        if !self.observer.stutters || !self.rests(state) {
            return Vec::new();
        }
        let mut readings = Vec::new();
        let place = self.native.place(state);
        self.observer.read(&mut self.native, state, place, &mut readings);
        let with_place = |place: u16| {
            let mut state = state.to_vec();
            self.native.set_place(&mut state, place);
            state
        };
        readings.into_iter().flatten().map(with_place).collect()
    }

    pub fn monitor(&self) -> &'a M {
        self.meaning.monitor
    }

    /// Could the process move, whatever the observer says?
    pub fn could_move(&mut self, state: &[u8], process: usize) -> bool {
        self.native.can_move(state, process)
    }

    /// Does the process only spin, whatever the observer says?
    pub fn spins(&mut self, budget: &Budget, state: &[u8], process: usize) -> bool {
        spins(&mut self.native, budget, state, process)
    }

    fn rests(&mut self, state: &[u8]) -> bool {
        (0..self.native.process_count(state)).all(|process| !self.native.can_move(state, process))
    }
}

impl<'a, 'm, M: Monitor<Interpreter<'m>, Place: PlaceOf>> Successors for Watched<'a, 'm, M> {
    type Reference = Monitored<'a, Interpreter<'m>, M>;
    const JUDGES_STATES: bool = true;
    const HEADER: usize = Native::HEADER;

    fn reference(&self) -> &Self::Reference {
        &self.meaning
    }

    fn state_of(&self, state: &[u8]) -> <Self::Reference as System>::State {
        (self.native.state_of(state), M::Place::from_number(self.native.place(state)))
    }

    fn initial(&mut self) -> Vec<Vec<u8>> {
        let mut states = Vec::new();
        for state in self.native.initial() {
            for place in &self.observer.starts {
                let mut state = state.clone();
                self.native.set_place(&mut state, *place);
                states.push(state);
            }
        }
        states
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.native.process_count(state)
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        self.readings.clear();
        let place = self.native.place(state);
        self.observer.read(&mut self.native, state, place, &mut self.readings);
        // What it has found is a matter of the state, and a run that it does not look for leads nowhere.
        self.readings.retain(Result::is_ok);
        if self.readings.is_empty() {
            return false;
        }
        let mut found = std::mem::take(&mut self.arrival);
        let (readings, at) = (&self.readings, self.native.place_range());
        let judges_system = self.meaning.monitor.judges_system();
        let mut wrong: Vec<(PropertyKind, u32)> = Vec::new();
        let moved = self.native.expand(state, process, &mut |event| {
            let (state, runs, steps) = match event {
                Event::Arrival { state, runs, steps } => (state, runs, steps),
                Event::Violation { kind, steps } => {
                    return if judges_system {
                        wrong.push((kind, steps))
                    };
                }
            };
            for place in readings.iter().flatten() {
                found.clear();
                found.extend_from_slice(state);
                found[at.clone()].copy_from_slice(&place.to_le_bytes());
                visit(Event::Arrival { state: &found, runs, steps });
            }
        });
        self.arrival = found;
        // As in the definition, all of them with each reading.
        for (kind, steps) in readings.iter().flat_map(|_| wrong.iter().copied()) {
            visit(Event::Violation { kind, steps });
        }
        moved
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        let mut readings = Vec::new();
        let place = self.native.place(state);
        self.observer.read(&mut self.native, state, place, &mut readings);
        readings.iter().any(Result::is_ok) && self.native.can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        self.native.work_within(budget);
        self.meaning.work_within(budget);
    }

    fn bytes(&self) -> u64 {
        self.native.bytes()
    }

    fn may_end(&self, _: &[u8]) -> bool {
        true
    }

    fn state_violation(&mut self, state: &[u8]) -> Option<PropertyKind> {
        let first = self.native.place(state);
        let mut waiting = vec![first];
        let mut passed = vec![first];
        let mut readings = Vec::new();
        while let Some(place) = waiting.pop() {
            readings.clear();
            self.observer.read(&mut self.native, state, place, &mut readings);
            for reading in &readings {
                match *reading {
                    Err(kind) => return Some(kind),
                    // A state of rest is read again and again.
                    Ok(place) => {
                        if !passed.contains(&place) {
                            passed.push(place);
                            waiting.push(place);
                        }
                    }
                }
            }
            if !waiting.is_empty() && !self.rests(state) {
                break;
            }
        }
        None
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.native.runs_alone(state, process) && !self.is_seen(state, process)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        self.native.class_of(state)
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        self.native.class_size(class)
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        self.native.write_class(class, state);
    }

    fn identity(&self) -> u64 {
        self.native.identity()
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.native.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        self.native.restore(input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        usize::from(self.native.place(state)) < self.observer.places.len() && self.native.is_possible(state)
    }

    fn trouble(&self) -> Option<Unsupported> {
        self.native.trouble()
    }
}
