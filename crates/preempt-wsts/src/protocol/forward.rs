//! Forward with one process, with two, and so on: every state that can be reached, breadth first, by the definition, so that
//! guards over the others are exact. It finds a run with the fewest processes and then the fewest steps, or it says nothing.
//!
//! States that differ only in the names of processes are one. The cost is their number, which grows with the number of
//! processes to the power of the local states.

use super::{Found, Numbers};
use foldhash::{HashMap, HashMapExt};
use preempt_core::{Budget, StopReason};
use preempt_net::protocol::{Bad, Protocol, ProtocolRun, ProtocolState, ProtocolStep};

/// Beyond the largest pattern so many processes more are tried.
const MORE: usize = 5;
/// Initial states are found by trying every local state.
const MOST_LOCALS: u64 = 1 << 20;

/// Why the search does not apply, if it does not.
pub(crate) fn refuses(protocol: &Protocol) -> Option<String> {
    match (protocol.local_states(), protocol.global_states()) {
        (Some(locals), Some(globals)) if locals.saturating_mul(globals) <= MOST_LOCALS => None,
        _ => Some("there are too many initial states to try".into()),
    }
}

/// A run to a bad state, if there is one with few processes.
pub(crate) fn search(protocol: &Protocol, bad: &Bad, budget: &Budget) -> (Found, Numbers) {
    let mut numbers = Numbers::default();
    let least = bad.patterns.iter().map(|pattern| pattern.processes.len()).min().unwrap_or(1);
    for count in least..=least + MORE {
        let (found, states) = with_processes(protocol, Some(bad), count, budget);
        numbers.states += states;
        numbers.n = count as u64;
        match found {
            Found::Nothing(_) => {}
            found => return (found, numbers),
        }
    }
    let why = format!("there is none with up to {} processes, and more were not tried", least + MORE);
    (Found::Nothing(why), numbers)
}

/// How many states there are with so many processes, up to their names; `None` if it was stopped.
pub fn count_states(protocol: &Protocol, processes: usize, budget: &Budget) -> Option<u64> {
    match with_processes(protocol, None, processes, budget) {
        (Found::Nothing(_), states) => Some(states),
        _ => None,
    }
}

type Came = Option<(u32, ProtocolStep)>;

fn with_processes(protocol: &Protocol, bad: Option<&Bad>, count: usize, budget: &Budget) -> (Found, u64) {
    let mut known: HashMap<ProtocolState, u32> = HashMap::new();
    let mut states: Vec<(ProtocolState, Came)> = Vec::new();
    for global in 0..protocol.global_states().unwrap_or(0) {
        let values = protocol.global_values(global);
        let begins = |local: &u64| protocol.may_begin(&values, &protocol.local_values(*local));
        let begins: Vec<u64> = (0..protocol.local_states().unwrap_or(0)).filter(begins).collect();
        let mut chosen = vec![0usize; count];
        // Every multiset of those who may begin.
        while !begins.is_empty() {
            if let Some(reason) = budget.exhausted() {
                return (Found::Stopped(reason), states.len() as u64);
            }
            let processes = chosen.iter().map(|at| begins[*at]).collect();
            add(ProtocolState { global, processes }, None, &mut known, &mut states, budget);
            let Some(last) = chosen.iter().rposition(|at| at + 1 < begins.len()) else { break };
            let next = chosen[last] + 1;
            chosen[last..].fill(next);
        }
    }
    let mut at = 0;
    while at < states.len() {
        if at % 64 == 0
            && let Some(reason) = budget.exhausted()
        {
            return (Found::Stopped(reason), states.len() as u64);
        }
        let state = states[at].0.clone();
        if bad.is_some_and(|bad| protocol.is_bad(&state, bad)) {
            let found = match run(protocol, &states, at) {
                Some(run) => Found::Reached(run),
                None => Found::Wrong("the path of the search is no run".into()),
            };
            return (found, states.len() as u64);
        }
        for rule in 0..protocol.rules.len() {
            for (step, after) in protocol.steps_of(&state, rule) {
                budget.counters().firings.add(1);
                add(after, Some((at as u32, step)), &mut known, &mut states, budget);
            }
        }
        at += 1;
        if states.len() >= u32::MAX as usize {
            return (Found::Stopped(StopReason::States), states.len() as u64);
        }
    }
    (Found::Nothing("no bad state is reached".into()), states.len() as u64)
}

fn add(
    mut state: ProtocolState,
    came: Came,
    known: &mut HashMap<ProtocolState, u32>,
    states: &mut Vec<(ProtocolState, Came)>,
    budget: &Budget,
) {
    state.processes.sort_unstable();
    if !known.contains_key(&state) {
        known.insert(state.clone(), states.len() as u32);
        budget.counters().states.add(1);
        budget.counters().bytes.add(150 + 16 * state.processes.len() as u64);
        states.push((state, came));
    }
}

/// The steps with names that stay the same: each state on the way is a permutation of the one that was met.
fn run(protocol: &Protocol, states: &[(ProtocolState, Came)], last: usize) -> Option<ProtocolRun> {
    let mut path = Vec::new();
    let mut at = last;
    while let Some((before, step)) = states[at].1 {
        path.push((step.rule, &states[at].0));
        at = before as usize;
    }
    path.reverse();
    let mut run = ProtocolRun { initial: states[at].0.clone(), steps: Vec::new() };
    let mut state = run.initial.clone();
    for (rule, next) in path {
        let is_next = |after: &ProtocolState| {
            let mut sorted = after.clone();
            sorted.processes.sort_unstable();
            sorted == *next
        };
        let (step, after) = protocol.steps_of(&state, rule).into_iter().find(|(_, after)| is_next(after))?;
        run.steps.push(step);
        state = after;
    }
    Some(run)
}
