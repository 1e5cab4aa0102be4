//! Lal and Reps 2009 (paper 002), section 4, Fig. 4: concurrent pushdown systems with K contexts each become one pushdown system.
//!
//! Its states are tuples (k, p₁, …, p_K): the current round, and the shared state in each of them; a rule of a thread changes
//! only p_k. At any time k may grow, and when it has become K + 1 the next thread is called, so that the stack of the one before
//! stays below it. By Theorem 1, n threads that take turns lead from p to p' with stacks c₁, …, c_n in K rounds if and only if
//! there are p₂, …, p_K such that
//!
//! > ⟨(1, p, p₂, …, p_K), e₁⟩ ⇒* ⟨(1, p₂, …, p_K, p'), e_{n+1} c_n … c₁⟩
//!
//! which is tested on random systems (`tests/theorem_1.rs`). This is the reduction as it is printed, with every tuple listed:
//! K |P|^K states and O(|P|^K |Δ|) rules. [`symbolic`](crate::symbolic) keeps the tuples in decision diagrams.
//!
//! Beyond the figure a thread may be uninterruptible at some symbols ([`Interruption`](crate::Interruption)), and threads may have
//! different numbers of rounds, which [`projection`](crate::projection) needs.

use crate::semiring::{Unfinished, go_on};
use crate::system::{Concurrent, Configuration, Global, Pds, Rule, State, Symbol, Word};
use preempt_core::{Budget, StopReason};

/// The reduced system, and how its numbers are to be read.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// P_s.
    pub pds: Pds,
    /// K.
    pub contexts: usize,
    /// |P|.
    pub shared: u32,
    /// The first symbol of each thread; behind the last thread's stands e_{n+1}.
    pub offsets: Vec<Symbol>,
}

/// More states than this are not listed.
pub const MOST_STATES: u64 = 1 << 22;

/// Fig. 4.
pub fn reduce(system: &Concurrent, contexts: usize, budget: &Budget) -> Result<Reduced, Unfinished> {
    let shared = system.states;
    let tuples = u64::from(shared).checked_pow(contexts as u32);
    let states = tuples.and_then(|tuples| tuples.checked_mul(contexts as u64 + 1));
    let Some(states) = states.filter(|states| *states <= MOST_STATES) else {
        return Err(Unfinished::Stopped(StopReason::States));
    };
    let mut offsets = vec![0];
    for thread in &system.threads {
        offsets.push(offsets.last().unwrap_or(&0) + thread.pds.symbols);
    }
    let end = offsets[system.threads.len()];
    let mut reduced = Reduced {
        pds: Pds { states: states as u32, symbols: end + 1, rules: Vec::new() },
        contexts,
        shared,
        offsets,
    };
    let tuples = tuples.unwrap_or(0) as u32;
    for (number, thread) in system.threads.iter().enumerate() {
        let offset = reduced.offsets[number];
        let next = match system.threads.get(number + 1) {
            Some(after) => reduced.offsets[number + 1] + after.start,
            None => end,
        };
        for tuple in 0..tuples {
            go_on(budget)?;
            for k in 0..contexts {
                let here = reduced.state(k, tuple);
                for rule in &thread.pds.rules {
                    if reduced.component(tuple, k) == rule.from.0 {
                        let to = reduced.state(k, reduced.with(tuple, k, rule.to));
                        let word = match rule.word {
                            Word::Pop => Word::Pop,
                            Word::Step(symbol) => Word::Step(offset + symbol),
                            Word::Push(top, below) => Word::Push(offset + top, offset + below),
                        };
                        reduced.pds.rules.push(Rule::new((here, offset + rule.from.1), to, word));
                    }
                }
                for symbol in 0..thread.pds.symbols {
                    let state = reduced.component(tuple, k);
                    if let Some(resume) = thread.resumes(&system.open, state, symbol) {
                        let (from, to) = ((here, offset + symbol), reduced.state(k + 1, tuple));
                        reduced.pds.rules.push(Rule::new(from, to, Word::Step(offset + resume)));
                    }
                }
            }
            for symbol in 0..thread.pds.symbols {
                let from = (reduced.state(contexts, tuple), offset + symbol);
                let word = Word::Push(next, offset + symbol);
                reduced.pds.rules.push(Rule::new(from, reduced.state(0, tuple), word));
            }
        }
    }
    Ok(reduced)
}

impl Reduced {
    /// (k, p₁, …, p_K) as a number; k from 0.
    fn state(&self, k: usize, tuple: u32) -> State {
        tuple * (self.contexts as u32 + 1) + k as u32
    }

    fn component(&self, tuple: u32, k: usize) -> State {
        tuple / self.shared.pow(k as u32) % self.shared
    }

    fn with(&self, tuple: u32, k: usize, state: State) -> u32 {
        let weight = self.shared.pow(k as u32);
        tuple - self.component(tuple, k) * weight + state * weight
    }

    /// The tuple as a number.
    pub fn tuple(&self, states: &[State]) -> u32 {
        states.iter().rev().fold(0, |tuple, state| tuple * self.shared + state)
    }

    /// e_{n+1}.
    pub fn end(&self) -> Symbol {
        self.offsets[self.offsets.len() - 1]
    }

    /// ⟨(1, p, p₂, …, p_K), e₁⟩.
    pub fn beginning(&self, system: &Concurrent, starts: &[State]) -> Configuration {
        let start = system.threads.first().map_or(self.end(), |thread| thread.start);
        Configuration { state: self.state(0, self.tuple(starts)), stack: vec![start] }
    }

    /// ⟨(1, p₂, …, p_K, p'), e_{n+1} c_n … c₁⟩.
    pub fn ending(&self, starts: &[State], last: &Global) -> Configuration {
        let ends: Vec<State> = starts.iter().skip(1).copied().chain([last.state]).collect();
        let mut stack = vec![self.end()];
        for (number, own) in last.stacks.iter().enumerate().rev() {
            stack.extend(own.iter().map(|symbol| self.offsets[number] + symbol));
        }
        Configuration { state: self.state(0, self.tuple(&ends)), stack }
    }

    /// Every choice of p₂, …, p_K behind p.
    pub fn guesses(&self, first: State) -> Vec<Vec<State>> {
        let mut all = vec![vec![first]];
        for _ in 1..self.contexts {
            let longer = |starts: &Vec<State>| {
                let starts = starts.clone();
                (0..self.shared).map(move |state| starts.iter().copied().chain([state]).collect())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }
}
