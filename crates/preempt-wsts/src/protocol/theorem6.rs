//! From a run of B' to one of the protocol itself: the construction in the proof of Theorem 6 (Bingham and Hu 2005, paper
//! 004), whose result is replayed.
//!
//! The run is made step by step in the protocol. Where a guard is violated, those who violate it would have resigned in B';
//! instead each of them first moves, alone and leaving the global part as it is, to where the guard holds of it. Afterwards it
//! is passive, and the rest of the run is possible as it was, because it takes no part in it. If the side condition holds,
//! these moves always exist; if one does not, the side condition fails, and nothing is known.

use preempt_core::Budget;
use preempt_net::protocol::guards::moves_alone;
use preempt_net::protocol::state::View;
use preempt_net::protocol::{Protocol, ProtocolRun, ProtocolState, ProtocolStep};
use std::collections::{HashMap, HashSet, VecDeque};

/// Why there is no run of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// The rule whose guard is violated, by its position.
    pub(crate) rule: usize,
    /// The local state that violates it and cannot be left alone.
    pub(crate) process: u64,
}

/// A run of the protocol, from a run of B' whose processes are numbers with what says who has resigned behind the rest.
pub(crate) fn rebuilt(
    protocol: &Protocol,
    run: &ProtocolRun,
    budget: &Budget,
) -> Result<ProtocolRun, Blocked> {
    let count = protocol.local_states().unwrap_or(u64::MAX);
    let processes = run.initial.processes.iter().map(|process| process % count).collect();
    let initial = ProtocolState { global: run.initial.global, processes };
    let mut result = ProtocolRun { initial: initial.clone(), steps: Vec::new() };
    let mut state = initial;
    for step in &run.steps {
        for process in 0..state.processes.len() {
            if process == step.mover
                || Some(process) == step.partner
                || satisfies(protocol, &state, *step, process)
            {
                continue;
            }
            let moves = leave(protocol, &state, *step, process, budget)
                .ok_or(Blocked { rule: step.rule, process: state.processes[process] })?;
            for step in moves {
                if let Some(after) = protocol.fire(&state, step) {
                    state = after;
                    result.steps.push(step);
                }
            }
        }
        // In B' somebody may move who has to resign here; then the step is not possible, and the replay says so.
        if let Some(after) = protocol.fire(&state, *step) {
            state = after;
        }
        result.steps.push(*step);
    }
    Ok(result)
}

/// Does the guard of the step hold of this process?
fn satisfies(protocol: &Protocol, state: &ProtocolState, step: ProtocolStep, process: usize) -> bool {
    let Some(guard) = protocol.rules.get(step.rule).and_then(|rule| rule.all_others.as_ref()) else {
        return true;
    };
    let values = |number: usize| protocol.local_values(state.processes[number]);
    let partner = step.partner.map(values).unwrap_or_default();
    let (global, mover, other) = (protocol.global_values(state.global), values(step.mover), values(process));
    View { global: &global, mover: &mover, partner: &partner, other: &other }.holds(guard)
}

/// The fewest moves of the process alone, after which the guard of the step holds of it.
fn leave(
    protocol: &Protocol,
    state: &ProtocolState,
    step: ProtocolStep,
    process: usize,
    budget: &Budget,
) -> Option<Vec<ProtocolStep>> {
    let mut came: HashMap<u64, (u64, ProtocolStep)> = HashMap::new();
    let mut seen = HashSet::from([state.processes[process]]);
    let mut open = VecDeque::from([state.processes[process]]);
    let at = |local: u64| {
        let mut processes = state.processes.clone();
        processes[process] = local;
        ProtocolState { global: state.global, processes }
    };
    while let Some(local) = open.pop_front() {
        if budget.exhausted().is_some() {
            return None;
        }
        let here = at(local);
        if satisfies(protocol, &here, step, process) {
            let (mut moves, mut local) = (Vec::new(), local);
            while let Some((before, step)) = came.get(&local) {
                moves.push(*step);
                local = *before;
            }
            moves.reverse();
            return Some(moves);
        }
        for (rule, _) in protocol.rules.iter().enumerate().filter(|(_, rule)| moves_alone(rule)) {
            let alone = ProtocolStep { rule, mover: process, partner: None };
            let Some(after) = protocol.fire(&here, alone) else { continue };
            let next = after.processes[process];
            if after.global == state.global && seen.insert(next) {
                came.insert(next, (local, alone));
                open.push_back(next);
            }
        }
    }
    None
}
