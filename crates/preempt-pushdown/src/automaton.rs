//! Automata that read configurations, with weights on their transitions: how infinite sets of configurations are kept.
//!
//! The states `0 .. controls` of an automaton are the states of the pushdown system. ⟨p, w⟩ is accepted if reading w leads from p
//! to a final state. Every transition remembers why it was added first ([`Origin`]), which is all that
//! [`witness`](crate::witness) needs.

use crate::semiring::{Semiring, Unfinished, go_on};
use crate::system::{Configuration, State, Symbol};
use foldhash::fast::FixedState;
use preempt_core::Budget;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of a transition, in the order in which they were added.
pub type Edge = usize;

/// No symbol: from a state without reading anything.
pub const NOTHING: Symbol = Symbol::MAX;

/// A transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition<W> {
    /// From this state,
    pub from: State,
    /// reading this symbol, or [`NOTHING`],
    pub symbol: Symbol,
    /// to this one.
    pub to: State,
    /// What is known of the paths that it stands for.
    pub weight: W,
    /// Why it was added first.
    pub origin: Origin,
}

/// Why a transition was added. What it names was there before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was there at the beginning.
    Given,
    /// post*: this rule, applied at the head that the transition reads.
    After(usize, Edge),
    /// post*: the new top of the stack after a call, whichever it was.
    Entry,
    /// post*: a call's rule, applied at this transition: what it leaves below the new top.
    Below(usize, Edge),
    /// post*: a return (a transition that reads nothing), and what lay below.
    Returned(Edge, Edge),
    /// pre*: a rule that returns.
    Popping(usize),
    /// pre*: a rule, and the transition that reads what it leads to.
    Stepping(usize, Edge),
    /// pre*: a rule, and the two transitions that read what it leads to.
    Calling(usize, Edge, Edge),
}

/// An automaton over configurations.
#[derive(Debug, Clone)]
pub struct Automaton<W> {
    /// States of the pushdown system.
    pub controls: u32,
    /// All states; those from `controls` on are the automaton's own.
    pub states: u32,
    /// Where a configuration is accepted.
    pub finals: BTreeSet<State>,
    /// In the order in which they were added.
    pub transitions: Vec<Transition<W>>,
    numbers: HashMap<(State, Symbol, State), Edge, FixedState>,
    leaving: HashMap<State, Vec<Edge>, FixedState>,
}

impl<W: Clone> Automaton<W> {
    /// Accepts nothing.
    pub fn new(controls: u32) -> Automaton<W> {
        Automaton {
            controls,
            states: controls,
            finals: BTreeSet::new(),
            transitions: Vec::new(),
            numbers: HashMap::default(),
            leaving: HashMap::default(),
        }
    }

    /// Accepts one configuration, with this weight on the transition that reads its top. The stack must not be empty.
    pub fn of(controls: u32, configuration: &Configuration, weight: W, one: W) -> Automaton<W> {
        let mut automaton = Automaton::new(controls);
        let mut from = configuration.state;
        let mut weight = Some(weight);
        for symbol in &configuration.stack {
            let to = automaton.add_state();
            let weight = weight.take().unwrap_or_else(|| one.clone());
            automaton.add((from, *symbol, to), weight, Origin::Given);
            from = to;
        }
        automaton.finals.insert(from);
        automaton
    }

    /// A new state of the automaton's own.
    pub fn add_state(&mut self) -> State {
        self.states += 1;
        self.states - 1
    }

    /// The transition with these ends.
    pub fn find(&self, key: (State, Symbol, State)) -> Option<Edge> {
        self.numbers.get(&key).copied()
    }

    /// A transition that is not there yet.
    pub fn add(&mut self, key: (State, Symbol, State), weight: W, origin: Origin) -> Edge {
        let number = self.transitions.len();
        let (from, symbol, to) = key;
        self.transitions.push(Transition { from, symbol, to, weight, origin });
        self.numbers.insert(key, number);
        self.leaving.entry(from).or_default().push(number);
        number
    }

    /// The transitions that leave a state.
    pub fn leaving(&self, state: State) -> &[Edge] {
        self.leaving.get(&state).map_or(&[], Vec::as_slice)
    }

    /// Adds to what is known of a transition: its number and what is new, if anything is.
    pub fn learn<S: Semiring<Weight = W>>(
        &mut self,
        semiring: &S,
        key: (State, Symbol, State),
        weight: W,
        origin: Origin,
    ) -> Result<Option<(Edge, W)>, Unfinished> {
        if semiring.is_zero(&weight) {
            return Ok(None);
        }
        let Some(number) = self.find(key) else {
            return Ok(Some((self.add(key, weight.clone(), origin), weight)));
        };
        let known = &self.transitions[number].weight;
        let Some(news) = semiring.news(known, &weight)? else { return Ok(None) };
        self.transitions[number].weight = semiring.combine(known, &news)?;
        Ok(Some((number, news)))
    }

    /// A way through the automaton that accepts the configuration; transitions that read nothing are passed over, since
    /// saturation has added what they stand for.
    pub fn accepting(&self, configuration: &Configuration) -> Option<Vec<Edge>> {
        if configuration.stack.is_empty() {
            // Only a return can have emptied the stack.
            let edges = self.leaving(configuration.state).iter();
            let mut emptied = edges.filter(|&&edge| {
                let transition = &self.transitions[edge];
                transition.symbol == NOTHING && self.finals.contains(&transition.to)
            });
            let here = self.finals.contains(&configuration.state).then(Vec::new);
            return here.or_else(|| emptied.next().map(|edge| vec![*edge]));
        }
        let mut levels: Vec<BTreeMap<State, Edge>> = Vec::new();
        let mut here = BTreeSet::from([configuration.state]);
        for symbol in &configuration.stack {
            let mut reached = BTreeMap::new();
            for state in &here {
                for &edge in self.leaving(*state) {
                    let transition = &self.transitions[edge];
                    if transition.symbol == *symbol {
                        reached.entry(transition.to).or_insert(edge);
                    }
                }
            }
            here = reached.keys().copied().collect();
            levels.push(reached);
        }
        let mut state = *here.iter().find(|state| self.finals.contains(state))?;
        let mut path = Vec::new();
        for level in levels.iter().rev() {
            let edge = level[&state];
            state = self.transitions[edge].from;
            path.push(edge);
        }
        path.reverse();
        Some(path)
    }

    /// Is the configuration accepted?
    pub fn accepts(&self, configuration: &Configuration) -> bool {
        self.accepting(configuration).is_some()
    }

    /// States from which a final one can be reached.
    pub fn useful(&self) -> BTreeSet<State> {
        let mut entering: HashMap<State, Vec<State>, FixedState> = HashMap::default();
        for transition in &self.transitions {
            entering.entry(transition.to).or_default().push(transition.from);
        }
        let mut useful = self.finals.clone();
        let mut waiting: Vec<State> = useful.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            for &before in entering.get(&state).map_or(&[][..], Vec::as_slice) {
                if useful.insert(before) {
                    waiting.push(before);
                }
            }
        }
        useful
    }

    /// A shortest configuration that is accepted and whose state and top satisfy `wanted`.
    pub fn find_configuration(&self, wanted: impl Fn(State, Symbol) -> bool) -> Option<Configuration> {
        let mut came: HashMap<State, Edge, FixedState> = HashMap::default();
        let mut waiting = std::collections::VecDeque::new();
        for control in 0..self.controls {
            for &edge in self.leaving(control) {
                let transition = &self.transitions[edge];
                if transition.symbol != NOTHING
                    && wanted(control, transition.symbol)
                    && !came.contains_key(&transition.to)
                {
                    came.insert(transition.to, edge);
                    waiting.push_back(transition.to);
                }
            }
        }
        while let Some(state) = waiting.pop_front() {
            if self.finals.contains(&state) {
                let mut stack = Vec::new();
                let mut at = state;
                loop {
                    let transition = &self.transitions[came[&at]];
                    stack.push(transition.symbol);
                    at = transition.from;
                    if at < self.controls {
                        stack.reverse();
                        return Some(Configuration { state: at, stack });
                    }
                }
            }
            for &edge in self.leaving(state) {
                let to = self.transitions[edge].to;
                if to >= self.controls && !came.contains_key(&to) {
                    came.insert(to, edge);
                    waiting.push_back(to);
                }
            }
        }
        None
    }

    /// What is known of all ways from a state to the others whose first symbol satisfies `first` and whose others satisfy
    /// `rest`. Weights are composed from the last transition to the first, as post* has them.
    pub fn sums<S: Semiring<Weight = W>>(
        &self,
        semiring: &S,
        start: State,
        first: impl Fn(Symbol) -> bool,
        rest: impl Fn(Symbol) -> bool,
        budget: &Budget,
    ) -> Result<BTreeMap<State, W>, Unfinished> {
        let mut sums: BTreeMap<State, W> = BTreeMap::new();
        let mut waiting: BTreeMap<State, W> = BTreeMap::new();
        let learn = |sums: &mut BTreeMap<State, W>, waiting: &mut BTreeMap<State, W>, state, weight: W| {
            if semiring.is_zero(&weight) {
                return Ok(());
            }
            let news = match sums.get(&state) {
                None => weight,
                Some(known) => match semiring.news(known, &weight)? {
                    None => return Ok(()),
                    Some(news) => news,
                },
            };
            let all = match sums.get(&state) {
                None => news.clone(),
                Some(known) => semiring.combine(known, &news)?,
            };
            sums.insert(state, all);
            let more = match waiting.get(&state) {
                None => news,
                Some(known) => semiring.combine(known, &news)?,
            };
            waiting.insert(state, more);
            Ok::<(), Unfinished>(())
        };
        for &edge in self.leaving(start) {
            let transition = &self.transitions[edge];
            if transition.symbol != NOTHING && first(transition.symbol) {
                learn(&mut sums, &mut waiting, transition.to, transition.weight.clone())?;
            }
        }
        while let Some((state, news)) = waiting.pop_first() {
            go_on(budget)?;
            for &edge in self.leaving(state) {
                let transition = &self.transitions[edge];
                if transition.symbol != NOTHING && rest(transition.symbol) {
                    let weight = semiring.extend(&transition.weight, &news)?;
                    learn(&mut sums, &mut waiting, transition.to, weight)?;
                }
            }
        }
        Ok(sums)
    }
}
