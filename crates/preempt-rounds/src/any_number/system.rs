//! A program as a thread-transition system: shared states, of which there is one at a time, and counters of threads in
//! local states.
//!
//! A local state is the stack of a thread at a stop, and a rule is a turn: from shared state and stack to others, with threads
//! that were started on the way. Which pairs of shared and local states there are is found thread by thread: what
//! one thread does to the shared state happens to every other that may be beside it (thread-modular reachability, Flanagan and Qadeer
//! 2003). That is more than what can be reached, since it forgets who is there at the same time; what it leaves out cannot
//! be reached, so that the net of the rules that are left covers the same. Its size is at most shared states times local ones,
//! times what a thread can do there.
//!
//! Threads that exist from the beginning have local states of their own: each of them is there once.

use crate::error::{Cap, Ended, Result, go_on};
use crate::intern::FxMap;
use crate::search::{Caps, Start};
use crate::turns::{Stop, Turns};
use preempt_core::Budget;
use preempt_net::{Marking, Place, Problem, Range, Transition};
use std::collections::HashSet;

/// The owner of a local state is a thread that exists from the beginning, by its number, or one of those that are started.
pub(crate) const STARTED: u32 = u32::MAX;

/// A thread in a local state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Local {
    pub owner: u32,
    pub stack: u32,
}

/// A rule: who moves, and where it gets to; nowhere, if something goes wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub mover: Local,
    pub stop: Option<Stop>,
}

/// The system as a net: its target is that something has gone wrong.
pub(crate) struct ThreadTransitionSystem {
    pub problem: Problem,
    /// For each transition of the net.
    pub steps: Vec<Step>,
    pub shared_states: usize,
    pub local_states: usize,
}

struct Shared {
    number: u32,
    /// A thread begins in the middle of an atomic sequence: nobody else moves.
    held: bool,
    /// Who may be there, by number.
    locals: Vec<u32>,
    /// Where somebody can lead from here, and who it is.
    next: Vec<(u32, u32)>,
}

struct Pairs {
    shared: Vec<Shared>,
    shared_numbers: FxMap<(u32, bool), u32>,
    locals: Vec<Local>,
    local_numbers: FxMap<(u32, u32), u32>,
    met: HashSet<(u32, u32)>,
    waiting: Vec<(u32, u32)>,
}

/// A rule by the numbers of its states.
struct Rule {
    from: (u32, u32),
    to: Option<(u32, Option<u32>, Vec<u32>)>,
    step: Step,
}

impl Pairs {
    fn shared(&mut self, number: u32, held: bool) -> u32 {
        let all = &mut self.shared;
        *self.shared_numbers.entry((number, held)).or_insert_with(|| {
            all.push(Shared { number, held, locals: Vec::new(), next: Vec::new() });
            all.len() as u32 - 1
        })
    }

    fn local(&mut self, local: Local) -> u32 {
        let all = &mut self.locals;
        *self.local_numbers.entry((local.owner, local.stack)).or_insert_with(|| {
            all.push(local);
            all.len() as u32 - 1
        })
    }

    /// A thread may be in this local state in this shared one; then also wherever the others lead from there.
    fn add(&mut self, shared: u32, local: u32) {
        let owner = self.locals[local as usize].owner;
        let mut added = vec![shared];
        while let Some(shared) = added.pop() {
            if !self.met.insert((shared, local)) {
                continue;
            }
            self.waiting.push((shared, local));
            let state = &mut self.shared[shared as usize];
            state.locals.push(local);
            added.extend(state.next.iter().filter(|(_, by)| others(*by, owner)).map(|(to, _)| *to));
        }
    }

    /// Somebody can lead from one shared state to another: that happens to all others that are there.
    fn lead(&mut self, from: u32, to: u32, by: u32) {
        let state = &mut self.shared[from as usize];
        if from == to || state.next.contains(&(to, by)) {
            return;
        }
        state.next.push((to, by));
        for local in state.locals.clone() {
            if others(by, self.locals[local as usize].owner) {
                self.add(to, local);
            }
        }
    }
}

/// Are these different threads, or may they be?
fn others(one: u32, other: u32) -> bool {
    one != other || one == STARTED
}

/// The system of a program. `start` is where its threads begin.
pub(crate) fn system(
    start: &Start,
    turns: &mut Turns<'_>,
    caps: &Caps,
    budget: &Budget,
) -> Result<ThreadTransitionSystem> {
    let mut pairs = Pairs {
        shared: Vec::new(),
        shared_numbers: FxMap::default(),
        locals: Vec::new(),
        local_numbers: FxMap::default(),
        met: HashSet::new(),
        waiting: Vec::new(),
    };
    let first = pairs.shared(start.cells[0], start.exclusive.is_some());
    let mut initial = Vec::new();
    for (owner, stack) in (0..).zip(&start.cells[1..]).filter(|(_, stack)| Turns::moves(**stack)) {
        let local = pairs.local(Local { owner, stack: *stack });
        pairs.add(first, local);
        initial.push(local);
    }
    let mut rules: Vec<Rule> = Vec::new();
    while let Some((shared, local)) = pairs.waiting.pop() {
        go_on(budget)?;
        let bytes = turns.bytes() + 40 * pairs.met.len() as u64 + 100 * rules.len() as u64;
        budget.counters().bytes.set(bytes);
        if bytes > caps.bytes {
            return Err(Ended::TooMuch(Cap::States));
        }
        let (mover, state) = (pairs.locals[local as usize], &pairs.shared[shared as usize]);
        if state.held && start.exclusive != Some(mover.owner as usize) {
            continue;
        }
        let kind = if mover.owner == STARTED { 0 } else { start.kinds[mover.owner as usize] };
        let turn = turns.turn(kind, state.number, mover.stack)?;
        if !turns.content(turn).fails.is_empty() {
            rules.push(Rule { from: (shared, local), to: None, step: Step { mover, stop: None } });
        }
        for index in 0..turns.content(turn).stops.len() {
            let stop = turns.content(turn).stops[index];
            let to = pairs.shared(stop.shared, false);
            let after = Turns::moves(stop.stack).then(|| pairs.local(Local { stack: stop.stack, ..mover }));
            let started = turns.starts(stop.started).map(|(_, stack)| Local { owner: STARTED, stack });
            let started: Vec<u32> = started.map(|local| pairs.local(local)).collect();
            for local in started.iter().chain(&after) {
                pairs.add(to, *local);
            }
            pairs.lead(shared, to, mover.owner);
            let to = Some((to, after, started));
            rules.push(Rule { from: (shared, local), to, step: Step { mover, stop: Some(stop) } });
        }
    }
    Ok(net(&pairs, first, &initial, &rules))
}

/// A place for each shared state, one for each local state, and one for what goes wrong.
fn net(pairs: &Pairs, first: u32, initial: &[u32], rules: &[Rule]) -> ThreadTransitionSystem {
    let (shared_states, local_states) = (pairs.shared.len(), pairs.locals.len());
    let place = |local: u32| shared_states as Place + local;
    let wrong = place(local_states as Place);
    let mut problem = Problem::default();
    let shared = (0..shared_states).map(|number| format!("s{number}"));
    let local = (0..local_states).map(|number| format!("l{number}"));
    problem.net.places = shared.chain(local).chain(["wrong".to_string()]).collect();
    problem.initial = vec![Range::exactly(0); problem.net.places.len()];
    for place in initial.iter().map(|local| place(*local)).chain([first]) {
        problem.initial[place as usize] = Range::exactly(1);
    }
    for (number, rule) in rules.iter().enumerate() {
        let (shared, local) = rule.from;
        let produce: Vec<(Place, u64)> = match &rule.to {
            None => vec![(wrong, 1)],
            Some((shared, after, started)) => {
                let locals = started.iter().chain(after).map(|local| (place(*local), 1));
                locals.chain([(*shared, 1)]).collect()
            }
        };
        problem.net.transitions.push(Transition {
            name: format!("t{number}"),
            consume: Marking::from_pairs([(shared, 1), (place(local), 1)]),
            produce: Marking::from_pairs(produce),
            ..Transition::default()
        });
    }
    problem.targets = vec![Marking::from_pairs([(wrong, 1)])];
    let steps = rules.iter().map(|rule| rule.step).collect();
    ThreadTransitionSystem { problem, steps, shared_states, local_states }
}
