//! Which pairs of state and frame there are, thread by thread, and the rules between them.

use super::frames::{Action, Body, Frame, Made, Maker, Shared, word};
use crate::semiring::{Unfinished, go_on};
use crate::system::{Concurrent, Interruption, Pds, Rule, State, Symbol, Thread};
use foldhash::fast::FixedState;
use preempt_core::{Budget, StopReason};
use preempt_model::interpreter::Frame as Activation;
use preempt_model::{Interpreter, LocationId, Model};
use preempt_symbolic::liveness::Liveness;
use preempt_symbolic::threads::{EdgeAt, Threads};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A program as rules.
#[derive(Debug)]
pub struct Lowered {
    /// The rules of all threads.
    pub system: Concurrent,
    /// What each rule of each thread is to the interpreter.
    pub actions: Vec<Vec<Action>>,
    /// The edges of the program that the tags of rules stand for; tag 0 is none.
    pub statements: Vec<Option<EdgeAt>>,
    /// Pairs of state and frame that were looked at.
    pub pairs: u64,
}

/// More pairs than this are not looked at: the diagrams of preempt-symbolic have no need to list them.
const MOST_PAIRS: usize = 3_000_000;
/// A pair takes about so many bytes, with its rules.
const PAIR_BYTES: u64 = 240;
/// How often the budget is asked, in pairs.
const LOOK_UP_EVERY: usize = 256;

/// Makes rules of the threads of a program.
pub fn lower(
    model: &Model,
    interpreter: &Interpreter<'_>,
    threads: &Threads,
    liveness: &Liveness,
    budget: &Budget,
) -> Result<Lowered, Unfinished> {
    let maker = Maker { model, interpreter, threads, liveness };
    let mut explorer = Explorer {
        known: threads.all.iter().map(|_| Known::default()).collect(),
        maker,
        states: Table::default(),
        frames: Table::default(),
        rules: HashMap::default(),
        waiting: Vec::new(),
        pairs: 0,
    };
    let initial = Shared {
        globals: threads.initial.globals.clone(),
        started: vec![0; threads.sites.len()],
        mail: vec![None; threads.all.len()],
        returning: None,
    };
    let initial = explorer.states.number(initial);
    let mut starts = Vec::new();
    for (number, thread) in threads.all.iter().enumerate() {
        let frame = match thread.waits {
            Some(_) => Frame::Waiting(number),
            None => {
                let called_from = (LocationId(0), 0);
                let (code, location) = (thread.code, thread.location);
                let activation = Activation { code, location, locals: thread.locals.clone(), called_from };
                Frame::Running(explorer.maker.body(activation, &[]), thread.exclusive)
            }
        };
        let start = explorer.frames.number(frame);
        starts.push(start);
        explorer.add(number, initial, start);
    }
    let mut looked = 0usize;
    while let Some((thread, state, frame)) = explorer.waiting.pop() {
        looked += 1;
        if looked.is_multiple_of(LOOK_UP_EVERY) {
            budget.counters().bytes.set(explorer.pairs as u64 * PAIR_BYTES);
            go_on(budget)?;
        }
        if explorer.pairs > MOST_PAIRS {
            return Err(Unfinished::Stopped(StopReason::Memory));
        }
        explorer.look(thread, state, frame);
    }
    budget.counters().bytes.set(0);
    Ok(explorer.lowered(initial, &starts))
}

/// Things by their numbers.
struct Table<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32, FixedState>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { all: Vec::new(), numbers: HashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn number(&mut self, thing: T) -> u32 {
        if let Some(number) = self.numbers.get(&thing) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }
}

/// A rule by numbers.
type Numbered = (State, Vec<Symbol>, Action);

/// What is known of a thread.
#[derive(Default)]
struct Known {
    pairs: HashSet<(State, Symbol), FixedState>,
    /// The frames that others may change the state under, by the state; and those that wait for a call.
    tops: HashMap<State, Vec<Symbol>, FixedState>,
    calling: HashMap<State, Vec<Symbol>, FixedState>,
    /// Where it leads a state to.
    moves: HashMap<State, BTreeSet<State>, FixedState>,
    /// Returning states by the state in which the procedure ended.
    returning: HashMap<State, BTreeSet<State>, FixedState>,
    rules: Vec<(State, Symbol, Numbered)>,
    /// Where it is blocked within an atomic sequence, and how it goes on.
    blocked: BTreeMap<Symbol, (Vec<State>, Symbol)>,
}

struct Explorer<'a> {
    maker: Maker<'a>,
    known: Vec<Known>,
    states: Table<Shared>,
    frames: Table<Frame>,
    rules: HashMap<(State, Symbol), Rc<Vec<Numbered>>, FixedState>,
    waiting: Vec<(usize, State, Symbol)>,
    pairs: usize,
}

impl Explorer<'_> {
    fn add(&mut self, thread: usize, state: State, frame: Symbol) {
        if self.known[thread].pairs.insert((state, frame)) {
            self.pairs += 1;
            self.waiting.push((thread, state, frame));
        }
    }

    fn look(&mut self, thread: usize, state: State, frame: Symbol) {
        let kind = self.frames.all[frame as usize].clone();
        let is_returning = self.states.all[state as usize].returning.is_some();
        let is_calling = matches!(kind, Frame::Calling(..));
        if is_calling && !is_returning {
            self.known[thread].calling.entry(state).or_default().push(frame);
            for returning in self.known[thread].returning.get(&state).cloned().unwrap_or_default() {
                self.add(thread, returning, frame);
            }
            for number in 0..self.known.len() {
                self.suffer(thread, number, state, frame);
            }
            return;
        }
        let interruptible = !matches!(kind, Frame::Running(_, true)) && !is_returning;
        if interruptible {
            self.known[thread].tops.entry(state).or_default().push(frame);
            for number in (0..self.known.len()).filter(|number| *number != thread) {
                self.suffer(thread, number, state, frame);
            }
        }
        let rules = self.rules_of(thread, state, frame);
        if let (true, Frame::Running(Body(body), true)) = (rules.is_empty(), kind) {
            let resume = self.frames.number(Frame::Running(Body(body), false));
            let blocked = self.known[thread].blocked.entry(frame).or_insert((Vec::new(), resume));
            blocked.0.push(state);
            self.add(thread, state, resume);
        }
        let from = match is_returning {
            // The state without what is returned: it has been met.
            true => {
                let plain = Shared { returning: None, ..self.states.all[state as usize].clone() };
                self.states.number(plain)
            }
            false => state,
        };
        for (to, symbols, action) in rules.iter() {
            self.known[thread].rules.push((state, frame, (*to, symbols.clone(), action.clone())));
            if symbols.is_empty() {
                if self.known[thread].returning.entry(state).or_default().insert(*to) {
                    for caller in self.known[thread].calling.get(&state).cloned().unwrap_or_default() {
                        self.add(thread, *to, caller);
                    }
                }
                continue;
            }
            for symbol in symbols {
                self.add(thread, *to, *symbol);
            }
            self.moves(thread, from, *to);
        }
    }

    /// What another thread can do to the state under a frame of this one.
    fn suffer(&mut self, thread: usize, by: usize, state: State, frame: Symbol) {
        for to in self.known[by].moves.get(&state).cloned().unwrap_or_default() {
            self.add(thread, to, frame);
        }
    }

    /// A thread leads from one state to another: all others see that, and so do its own callers.
    fn moves(&mut self, thread: usize, from: State, to: State) {
        if from == to || !self.known[thread].moves.entry(from).or_default().insert(to) {
            return;
        }
        for other in 0..self.known.len() {
            let mut frames = self.known[other].calling.get(&from).cloned().unwrap_or_default();
            if other != thread {
                frames.extend(self.known[other].tops.get(&from).into_iter().flatten());
            }
            for frame in frames {
                self.add(other, to, frame);
            }
        }
    }

    fn rules_of(&mut self, thread: usize, state: State, frame: Symbol) -> Rc<Vec<Numbered>> {
        if let Some(rules) = self.rules.get(&(state, frame)) {
            return rules.clone();
        }
        let (shared, top) = (&self.states.all[state as usize], &self.frames.all[frame as usize]);
        let made: Vec<Made> = self.maker.rules(thread, shared, top);
        let mut rules: Vec<Numbered> = Vec::new();
        for (shared, frames, action) in made {
            let to = self.states.number(shared);
            let symbols: Vec<Symbol> = frames.into_iter().map(|frame| self.frames.number(frame)).collect();
            // Two steps of one edge with the same effect are one rule; another edge is another statement.
            let same =
                |(known, word, told): &Numbered| (*known, word, told.edge()) == (to, &symbols, action.edge());
            if !rules.iter().any(same) {
                rules.push((to, symbols, action));
            }
        }
        let rules = Rc::new(rules);
        self.rules.insert((state, frame), rules.clone());
        rules
    }

    /// With symbols numbered anew for each thread.
    fn lowered(self, initial: State, starts: &[Symbol]) -> Lowered {
        let states = self.states.all.len() as u32;
        let open = self.states.all.iter().map(|shared| shared.returning.is_none()).collect();
        let mut actions = Vec::new();
        let mut threads = Vec::new();
        let mut statements: Table<Option<EdgeAt>> = Table::default();
        statements.number(None);
        for (number, known) in self.known.into_iter().enumerate() {
            let mut symbols: BTreeSet<Symbol> = known.pairs.iter().map(|(_, symbol)| *symbol).collect();
            symbols.insert(starts[number]);
            let dense: HashMap<Symbol, Symbol, FixedState> =
                symbols.iter().enumerate().map(|(dense, symbol)| (*symbol, dense as Symbol)).collect();
            let mut pds = Pds { states, symbols: symbols.len() as u32, rules: Vec::new() };
            let (mut told, mut tags) = (Vec::new(), Vec::new());
            for (state, frame, (to, symbols, action)) in known.rules {
                let symbols: Vec<Symbol> = symbols.iter().map(|symbol| dense[symbol]).collect();
                if let Some(word) = word(&symbols) {
                    pds.rules.push(Rule::new((state, dense[&frame]), to, word));
                    tags.push(statements.number(action.edge()));
                    told.push(action);
                }
            }
            let interruptions = symbols
                .iter()
                .map(|symbol| match &self.frames.all[*symbol as usize] {
                    Frame::Running(_, true) => match known.blocked.get(symbol) {
                        Some((states, resume)) => Interruption::In(states.clone(), dense[resume]),
                        None => Interruption::Never,
                    },
                    Frame::Calling(..) => Interruption::Never,
                    Frame::Running(_, false) | Frame::Waiting(_) | Frame::Bad => Interruption::Always,
                })
                .collect();
            let is_bad = |symbol: &&Symbol| self.frames.all[**symbol as usize] == Frame::Bad;
            threads.push(Thread {
                name: self.maker.threads.all[number].name.clone(),
                pds,
                start: dense[&starts[number]],
                bad: symbols.iter().find(is_bad).map(|symbol| dense[symbol]),
                interruptions,
                tags,
            });
            actions.push(told);
        }
        let system = Concurrent { states, initial, open, threads };
        Lowered { system, actions, statements: statements.all, pairs: self.pairs as u64 }
    }
}
