//! Lal and Reps 2009 (paper 002), appendix A.2 and Table 1: post* of the reduced system, stage by stage.
//!
//! Within one round only the rules Δ^i of that round fire, and they change only p_i. So post* of the reduced system is a
//! sequence of post* of the *threads*, one for each round and each way in which the rounds before can have ended: after round
//! i the automaton is split by its state into at most |P| automata, and each goes on with the state that was guessed for the
//! next round. Table 1 bounds the number of these runs by |P|^(i-1) and each of them by 2 (i-1) |P|² |Δ| |Proc|; [`Stage`] is
//! what they are in fact.
//!
//! With the ends of the rounds given as well ([`Rounds`]), nothing has to be split, and the configurations of each round
//! lead back to a run: that is how counterexamples are made.

use crate::automaton::{Automaton, Origin};
use crate::post_star::{PostStar, post_star};
use crate::semiring::{Boolean, Unfinished};
use crate::system::{Concurrent, Configuration, State, Symbol};
use crate::witness::to_reached;
use preempt_core::Budget;
use std::collections::BTreeMap;

/// A row of Table 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stage {
    /// How often post* was run: "Num".
    pub runs: u64,
    /// The most transitions of an automaton that it was run on: "|→|".
    pub transitions: u64,
    /// Rules that were tried, all runs together: what "Time" counts.
    pub work: u64,
    /// The most automata that a result was split into: "Split".
    pub split: u64,
    /// The most states of an automaton that came out: "|Q|".
    pub states: u64,
}

/// What a thread can do in K rounds that begin with these states: the ends of the rounds, each with the stacks that it may
/// have then; and the rows of Table 1.
pub type Ends = BTreeMap<Vec<State>, Automaton<()>>;

/// Every way in which a thread can go through its rounds.
pub fn stages(
    system: &Concurrent,
    thread: usize,
    starts: &[State],
    budget: &Budget,
) -> Result<(Ends, Vec<Stage>), Unfinished> {
    let mut rows = Vec::new();
    let mut ends = Ends::new();
    ends.insert(Vec::new(), beginning(system, thread, starts.first().copied().unwrap_or(0)));
    for (round, _) in starts.iter().enumerate() {
        let mut row = Stage::default();
        let mut next = Ends::new();
        for (before, automaton) in ends {
            row.runs += 1;
            row.transitions = row.transitions.max(automaton.transitions.len() as u64);
            let reached = post_star(&system.threads[thread].pds, &Boolean, automaton, budget)?.automaton;
            row.work += reached.transitions.len() as u64;
            let mut split = 0;
            for end in 0..system.states {
                let start = starts.get(round + 1).copied().unwrap_or(end);
                let left = left(system, thread, &reached, end, start);
                if left.leaving(start).is_empty() {
                    continue;
                }
                split += 1;
                row.states = row.states.max(u64::from(left.states - left.controls) + 1);
                next.insert(before.iter().copied().chain([end]).collect(), left);
            }
            row.split = row.split.max(split);
        }
        rows.push(row);
        ends = next;
    }
    Ok((ends, rows))
}

/// The beginning of a thread in a state.
fn beginning(system: &Concurrent, thread: usize, state: State) -> Automaton<()> {
    let first = Configuration { state, stack: vec![system.threads[thread].start] };
    Automaton::of(system.states, &first, (), ())
}

/// Where the thread can be left in state `end`, going on in state `start`: the same stacks, but for what the top becomes.
fn left(
    system: &Concurrent,
    thread: usize,
    reached: &Automaton<()>,
    end: State,
    start: State,
) -> Automaton<()> {
    let mut left = Automaton::new(reached.controls);
    left.states = reached.states;
    left.finals = reached.finals.clone();
    let useful = reached.useful();
    for transition in &reached.transitions {
        if transition.from >= reached.controls && useful.contains(&transition.to) {
            left.add((transition.from, transition.symbol, transition.to), (), Origin::Given);
        }
    }
    for &edge in reached.leaving(end) {
        let transition = &reached.transitions[edge];
        let resume = system.threads[thread].resumes(&system.open, end, transition.symbol);
        if transition.symbol != crate::automaton::NOTHING
            && useful.contains(&transition.to)
            && let Some(resume) = resume
            && left.find((start, resume, transition.to)).is_none()
        {
            left.add((start, resume, transition.to), (), Origin::Given);
        }
    }
    left
}

/// Rounds of a thread of which both ends are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The state in which each round begins.
    pub starts: Vec<State>,
    /// The state in which each ends.
    pub ends: Vec<State>,
    /// Is the thread wrong at the end?
    pub fails: bool,
}

/// The rules that a thread applies in each of its rounds; `None` if it cannot go through them like this.
pub fn run_through(
    system: &Concurrent,
    thread: usize,
    rounds: &Rounds,
    budget: &Budget,
) -> Result<Option<Vec<Vec<usize>>>, Unfinished> {
    let own = &system.threads[thread];
    let Some(&first) = rounds.starts.first() else { return Ok(Some(Vec::new())) };
    let mut reached: Vec<PostStar<()>> = Vec::new();
    let mut given = beginning(system, thread, first);
    for (round, &end) in rounds.ends.iter().enumerate() {
        let automaton = post_star(&own.pds, &Boolean, given, budget)?;
        let start = rounds.starts.get(round + 1).copied().unwrap_or(end);
        given = left(system, thread, &automaton.automaton, end, start);
        reached.push(automaton);
    }
    let Some(&last) = rounds.ends.last() else { return Ok(Some(Vec::new())) };
    let top_fits = |top: Symbol| match rounds.fails {
        true => own.bad == Some(top),
        false => own.resumes(&system.open, last, top).is_some(),
    };
    let Some(automaton) = reached.last() else { return Ok(None) };
    let wanted = automaton.automaton.find_configuration(|state, top| state == last && top_fits(top));
    let Some(mut wanted) = wanted else { return Ok(None) };
    let mut rules = Vec::new();
    for round in (0..reached.len()).rev() {
        let Some(witness) = to_reached(&reached[round].automaton, &wanted) else { return Ok(None) };
        rules.push(witness.rules);
        if round == 0 {
            break;
        }
        // The configuration that this round began with is one that the round before was left in.
        let (resumed, end) = (witness.first, rounds.ends[round - 1]);
        let automaton = &reached[round - 1].automaton;
        let tops = (0..own.pds.symbols)
            .filter(|top| own.resumes(&system.open, end, *top) == resumed.stack.first().copied());
        let candidates = tops.map(|top| {
            let stack = [top].into_iter().chain(resumed.stack.iter().skip(1).copied()).collect();
            Configuration { state: end, stack }
        });
        let Some(before) = candidates.into_iter().find(|candidate| automaton.accepts(candidate)) else {
            return Ok(None);
        };
        wanted = before;
    }
    rules.reverse();
    Ok(Some(rules))
}
