//! Lal and Reps 2009 (paper 002), section 5: symbolic pushdown systems, and concurrent ones under a context bound.
//!
//! A symbolic pushdown system keeps its states in relations that are written on its rules: ⟨p₁, γ⟩ ↪ ⟨p₂, u⟩ is the pair (p₁, p₂)
//! of the relation of γ ↪ u. Fig. 4 then has one rule for every rule of the threads and every round, whatever the number of
//! states: the tuples (p₁, …, p_K) are in the [`relations`], and the round k alone is a control state. What is asked is the join over
//! all paths, and its pairs ((g, g₂, …, g_K), (g₂, …, g_K, g')) are what the concurrent system can do (section 5.1).
//!
//! [`analysis`] asks it forward (post*) and backward (pre*).

pub mod analysis;
pub mod relations;

use crate::semiring::Unfinished;
use crate::system::{Concurrent, Interruption, Pds, Rule, State, Symbol, Word};
use relations::{Label, Relations};
use std::collections::BTreeMap;

/// The reduced system, and how its symbols are numbered.
#[derive(Debug)]
pub struct Reduced {
    /// Control states are the rounds, from 0; the last means that all are over.
    pub pds: Pds<Label>,
    /// The first symbol of each thread; behind the last thread's stands e_{n+1}.
    pub offsets: Vec<Symbol>,
    /// The rule of a thread that a rule stands for: thread, and one of its rules.
    pub origins: Vec<Option<(usize, usize)>>,
}

/// Who has how many rounds, and who may go wrong when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// K.
    pub contexts: usize,
    /// Only this thread goes wrong, and only in round K; those after it have a round less. `None`: whoever and whenever.
    pub failing: Option<usize>,
}

impl Turns {
    /// The rounds of a thread.
    pub fn of(self, thread: usize) -> usize {
        match self.failing {
            Some(failing) if thread > failing => self.contexts - 1,
            _ => self.contexts,
        }
    }
}

/// Fig. 4 with relations on the rules.
pub fn reduce(system: &Concurrent, turns: Turns, relations: &Relations) -> Result<Reduced, Unfinished> {
    let Turns { contexts, failing } = turns;
    let mut offsets = vec![0];
    for thread in &system.threads {
        offsets.push(offsets.last().unwrap_or(&0) + thread.pds.symbols);
    }
    let end = offsets[system.threads.len()];
    let mut reduced = Reduced {
        pds: Pds { states: contexts as u32 + 1, symbols: end + 1, rules: Vec::new() },
        offsets,
        origins: Vec::new(),
    };
    let over = contexts as State;
    let open: Vec<State> = (0..system.states)
        .filter(|state| system.open.get(*state as usize).copied().unwrap_or(true))
        .collect();
    let mut made: Made = Made::default();
    for (number, thread) in system.threads.iter().enumerate() {
        let offset = reduced.offsets[number];
        let turns = turns.of(number);
        let mut push = |from: (State, Symbol), to: State, word: Word, label: Label, origin| {
            reduced.pds.rules.push(Rule { from, to, word, label });
            reduced.origins.push(origin);
        };
        // The relation of γ ↪ u: all its pairs of states, for each tag where they matter.
        let mut pairs: BTreeMap<(Symbol, Word, u32), (usize, Pairs)> = BTreeMap::new();
        for (index, rule) in thread.pds.rules.iter().enumerate() {
            let tag = failing.and_then(|_| thread.tags.get(index)).copied().unwrap_or(0);
            let entry = pairs.entry((rule.from.1, rule.word, tag)).or_insert((index, Vec::new()));
            entry.1.push((rule.from.0, rule.to));
        }
        for ((symbol, word, _), (index, mut pairs)) in pairs {
            let is_bad = thread.bad.is_some_and(|bad| word == Word::Step(bad));
            pairs.sort_unstable();
            pairs.dedup();
            let labels = made.labels(relations, pairs, turns)?;
            let word = match word {
                Word::Pop => Word::Pop,
                Word::Step(next) => Word::Step(offset + next),
                Word::Push(top, below) => Word::Push(offset + top, offset + below),
            };
            for (k, label) in labels.iter().enumerate() {
                let wanted = failing.is_none_or(|failing| failing == number && k + 1 == contexts);
                if !is_bad || wanted {
                    let k = k as State;
                    push((k, offset + symbol), k, word, label.clone(), Some((number, index)));
                }
            }
        }
        let next = match system.threads.get(number + 1) {
            Some(after) => offset + thread.pds.symbols + after.start,
            None => end,
        };
        for symbol in 0..thread.pds.symbols {
            let (left, resume) = match thread.interruptions.get(symbol as usize) {
                None | Some(Interruption::Always) => (open.clone(), symbol),
                Some(Interruption::Never) => (Vec::new(), symbol),
                Some(Interruption::In(states, resume)) => (states.clone(), *resume),
            };
            if !left.is_empty() {
                let here = left.into_iter().map(|state| (state, state)).collect();
                let labels = made.labels(relations, here, turns)?;
                for (k, label) in labels.iter().enumerate() {
                    let to = if k + 1 == turns { over } else { k as State + 1 };
                    let word = Word::Step(offset + resume);
                    push((k as State, offset + symbol), to, word, label.clone(), None);
                }
            }
            push((over, offset + symbol), 0, Word::Push(next, offset + symbol), Label::One, None);
        }
        if turns == 0 {
            // It is passed over at once.
            let start = (0, offset + thread.start);
            push(start, over, Word::Step(offset + thread.start), Label::One, None);
        }
    }
    Ok(reduced)
}

/// States before and after.
type Pairs = Vec<(State, State)>;

/// The labels for pairs of states, one for each round; many rules have the same.
#[derive(Default)]
struct Made(BTreeMap<Pairs, Vec<Label>>);

impl Made {
    fn labels(&mut self, relations: &Relations, pairs: Pairs, rounds: usize) -> Result<&[Label], Unfinished> {
        let known = self.0.get(&pairs).map_or(0, Vec::len);
        if known < rounds || !self.0.contains_key(&pairs) {
            let labels = match pairs.iter().all(|(from, to)| from == to) {
                true => {
                    let states: Vec<State> = pairs.iter().map(|(from, _)| *from).collect();
                    let sets = relations.set(&states, rounds)?.into_iter().enumerate();
                    sets.map(|(k, set)| Label::Test(k, set)).collect()
                }
                false => {
                    let steps = relations.relation(&pairs, rounds)?.into_iter().enumerate();
                    steps.map(|(k, relation)| Label::Step(k, relation)).collect::<Vec<_>>()
                }
            };
            self.0.insert(pairs.clone(), labels);
        }
        Ok(&self.0[&pairs][..rounds])
    }
}
