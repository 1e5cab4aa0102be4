//! Can a concurrent pushdown system go wrong within K contexts of each thread? Forward by post*, backward by pre*.
//!
//! *Forward*: post* from ⟨e₁⟩, for every tuple of guesses at once. What thread j does is the sum over all ways through the
//! automaton between the state that stands for "below thread j + 1" and the one for "below thread j"; the threads' relations
//! are composed, and Theorem 1's condition says which pairs are runs. *Backward*: pre* from all configurations
//! ⟨e_{n+1} c_n … c₁⟩ in which some thread has gone wrong; the answer is written on the one transition that reads e₁.
//!
//! Either gives the tuples p₁, …, p_K at which the first thread's rounds begin. From there the tuples between the threads are
//! picked, and [`stages`](crate::stages) makes rules of them.

use super::relations::Relations;
use super::{Reduced, Turns, reduce};
use crate::automaton::{Automaton, Origin};
use crate::post_star::{PostStar, post_star};
use crate::pre_star::pre_star;
use crate::semiring::{Semiring, Unfinished};
use crate::stages::Rounds;
use crate::system::{Concurrent, State, Symbol};
use preempt_bdd::{Bdd, TableOptions};
use preempt_core::Budget;

/// From which end configurations are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// What can be reached.
    #[default]
    Forward,
    /// What can lead to an error.
    Backward,
}

/// What one analysis within a number of contexts has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysed {
    /// The rounds of every thread on the way to an error, if there is one.
    pub failure: Option<Vec<Rounds>>,
    /// Transitions of the automaton.
    pub transitions: u64,
    /// Rules of the reduced system.
    pub rules: u64,
    /// Nodes in the table.
    pub nodes: u64,
}

/// Within K contexts of each thread.
pub fn analyse(
    system: &Concurrent,
    contexts: usize,
    direction: Direction,
    table: TableOptions,
    budget: &Budget,
) -> Result<Analysed, Unfinished> {
    let relations = Relations::new(system.states, contexts, table, budget)?;
    let reduced = reduce(system, Turns { contexts, failing: None }, &relations)?;
    let beginnings = relations.beginnings(system.initial, &open(system))?;
    let mut transitions = 0;
    let beginnings = match direction {
        Direction::Forward => Some(beginnings),
        Direction::Backward => {
            let automaton = backward(system, &reduced, &relations, budget)?;
            transitions = automaton.transitions.len() as u64;
            let failing = answer(system, &automaton, &relations)?;
            let failing = failing.and(&beginnings)?.and(&relations.fitting()?)?;
            // The rest of the run is looked for forward, with the guesses known.
            relations.pick(&failing).map(|(starts, _)| relations.tuple_before(&starts)).transpose()?
        }
    };
    let mut failure = None;
    if let Some(beginnings) = beginnings {
        let reached = forward(system, &reduced, &relations, &beginnings, budget)?;
        transitions += reached.automaton.transitions.len() as u64;
        failure = failing_rounds(system, &reduced, &relations, &reached, budget)?;
    }
    let (rules, nodes) = (reduced.pds.rules.len() as u64, relations.space.nodes() as u64);
    Ok(Analysed { failure, transitions, rules, nodes })
}

/// The states in which a thread may be left.
pub(crate) fn open(system: &Concurrent) -> Vec<State> {
    (0..system.states).filter(|state| system.open.get(*state as usize).copied().unwrap_or(true)).collect()
}

/// post* from ⟨e₁⟩, for the tuples in `beginnings`.
pub(crate) fn forward(
    system: &Concurrent,
    reduced: &Reduced,
    relations: &Relations,
    beginnings: &Bdd,
    budget: &Budget,
) -> Result<PostStar<Bdd>, Unfinished> {
    let mut given = Automaton::new(reduced.pds.states);
    let last = given.add_state();
    given.finals.insert(last);
    let start = system.threads.first().map_or(0, |thread| thread.start);
    given.add((0, start, last), relations.one().and(beginnings)?, Origin::Given);
    post_star(&reduced.pds, relations, given, budget)
}

/// pre* of all configurations in which every thread has had its turns and one has gone wrong.
pub(crate) fn backward(
    system: &Concurrent,
    reduced: &Reduced,
    relations: &Relations,
    budget: &Budget,
) -> Result<Automaton<Bdd>, Unfinished> {
    let mut target = Automaton::new(reduced.pds.states);
    let (right, wrong) = (target.add_state(), target.add_state());
    target.finals.insert(wrong);
    target.add((0, reduced.pds.symbols - 1, right), relations.one(), Origin::Given);
    for (number, thread) in system.threads.iter().enumerate() {
        for symbol in 0..thread.pds.symbols {
            let read = reduced.offsets[number] + symbol;
            if thread.bad == Some(symbol) {
                target.add((right, read, wrong), relations.one(), Origin::Given);
            } else {
                target.add((right, read, right), relations.one(), Origin::Given);
                target.add((wrong, read, wrong), relations.one(), Origin::Given);
            }
        }
    }
    pre_star(&reduced.pds, relations, target, budget)
}

/// What is written on the transition that reads e₁.
pub(crate) fn answer(
    system: &Concurrent,
    automaton: &Automaton<Bdd>,
    relations: &Relations,
) -> Result<Bdd, Unfinished> {
    let start = system.threads.first().map_or(0, |thread| thread.start);
    let mut answer = relations.space.no();
    for last in &automaton.finals {
        if let Some(edge) = automaton.find((0, start, *last)) {
            answer = answer.or(&automaton.transitions[edge].weight)?;
        }
    }
    Ok(answer)
}

/// What a thread does in its rounds, going wrong or not.
struct Effect {
    right: Bdd,
    wrong: Bdd,
}

/// Composes the threads' relations, and picks the rounds of a run that goes wrong.
fn failing_rounds(
    system: &Concurrent,
    reduced: &Reduced,
    relations: &Relations,
    reached: &PostStar<Bdd>,
    budget: &Budget,
) -> Result<Option<Vec<Rounds>>, Unfinished> {
    let threads = system.threads.len();
    let none = || relations.space.no();
    let entry = |number: usize| -> Option<State> {
        let symbol = match system.threads.get(number) {
            Some(thread) => reduced.offsets[number] + thread.start,
            None => reduced.pds.symbols - 1,
        };
        match number {
            0 => reached.automaton.finals.first().copied(),
            _ => reached.entries.get(&(0, symbol)).copied(),
        }
    };
    let mut effects = Vec::new();
    // What the threads up to each of them do together.
    let mut together: Vec<Effect> = Vec::new();
    for number in 0..threads {
        let (Some(from), Some(to)) = (entry(number + 1), entry(number)) else { return Ok(None) };
        let offset = reduced.offsets[number];
        let own = |symbol: Symbol| (offset..reduced.offsets[number + 1]).contains(&symbol);
        let bad = system.threads[number].bad.map(|bad| offset + bad);
        let sum = |wrong: bool| -> Result<Bdd, Unfinished> {
            let first = |symbol: Symbol| own(symbol) && (Some(symbol) == bad) == wrong;
            let sums = reached.automaton.sums(relations, from, first, own, budget)?;
            Ok(sums.get(&to).cloned().unwrap_or_else(none))
        };
        let effect = Effect { right: sum(false)?, wrong: sum(true)? };
        let both = match together.last() {
            None => Effect { right: effect.right.clone(), wrong: effect.wrong.clone() },
            Some(before) => Effect {
                right: relations.extend(&before.right, &effect.right)?,
                wrong: relations
                    .extend(&before.wrong, &effect.right)?
                    .or(&relations.extend(&before.right, &effect.wrong)?)?,
            },
        };
        effects.push(effect);
        together.push(both);
    }
    let Some(last) = together.last() else { return Ok(None) };
    let Some((starts, mut ends)) = relations.pick(&last.wrong.and(&relations.fitting()?)?) else {
        return Ok(None);
    };
    let first = relations.tuple_before(&starts)?;
    let mut rounds = Vec::new();
    // From the last thread to the first: where did it begin, and is it the one that goes wrong?
    let mut wrong = true;
    for number in (1..threads).rev() {
        let (before, here) = (&together[number - 1], &effects[number]);
        let here_ends = relations.tuple_after(&ends)?;
        let ways = match wrong {
            true => vec![(&before.wrong, &here.right, true), (&before.right, &here.wrong, false)],
            false => vec![(&before.right, &here.right, false)],
        };
        let mut found = None;
        for (earlier, own, still_wrong) in ways {
            let meeting = relations.meeting(&earlier.and(&first)?, &own.and(&here_ends)?)?;
            if let Some((begins, _)) = relations.pick(&meeting) {
                found = Some((begins, still_wrong));
                break;
            }
        }
        let Some((begins, still_wrong)) = found else { return Ok(None) };
        rounds.push(Rounds { starts: begins.clone(), ends, fails: wrong && !still_wrong });
        (ends, wrong) = (begins, still_wrong);
    }
    rounds.push(Rounds { starts, ends, fails: wrong });
    rounds.reverse();
    Ok(Some(rounds))
}
