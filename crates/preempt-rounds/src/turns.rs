//! What a thread can do alone, from one stop to the next: one step that others may see, and the private steps after it.
//!
//! A turn is found once for each shared state and stack, and then looked up. A thread that goes on privately for ever, or is
//! blocked by its own locals, comes to no stop; but what it wrote before is there for the others to see. If no stop has that
//! shared state, the thread is `OVER` in it. (If one has, it stands for the thread that does not go on as well: nobody has to
//! move.) Inside an atomic sequence there are no stops but where the thread is blocked and gives up the processor.

use crate::error::{Cap, Ended, Result, go_on};
use crate::intern::{FxMap, Interner, OVER, Stacks, WAITING};
use crate::rules::{NO_FRAME, Rules};
use crate::search::{Caps, Setting};
use preempt_core::Budget;
use preempt_model::interpreter::Process;
use std::collections::{BTreeSet, HashSet};

/// Where a thread can get to in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stop {
    pub shared: u32,
    pub stack: u32,
    /// The threads that were started on the way, as a number of `Turns::started`.
    pub started: u32,
}

/// Everything that a thread can do before it has to stop again.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub stops: Box<[Stop]>,
    /// Something goes wrong, after these starts.
    pub fails: Box<[u32]>,
}

/// Nobody was started.
pub(crate) const NOBODY: u32 = 0;

/// A private sequence of steps is no search of its own.
const LONGEST_TURN: usize = 1 << 20;

pub(crate) struct Turns<'a> {
    pub rules: Rules<'a>,
    pub stacks: Stacks,
    /// Sites and stacks of threads that were started in a turn, one after the other.
    started: Interner,
    numbers: FxMap<(u32, u64), u32>,
    turns: Vec<Turn>,
    caps: Caps,
    /// Stacks that are too deep do not end the search.
    pub deep_left_out: bool,
    budget: &'a Budget,
    bytes: u64,
}

/// A state within a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Within {
    at: Stop,
    exclusive: bool,
}

impl<'a> Turns<'a> {
    pub fn new(setting: &'a Setting<'a>, caps: Caps, budget: &'a Budget) -> Turns<'a> {
        let mut started = Interner::default();
        started.number(&[]);
        Turns {
            rules: Rules::new(setting, budget),
            stacks: Stacks::default(),
            started,
            numbers: FxMap::default(),
            turns: Vec::new(),
            caps,
            deep_left_out: false,
            budget,
            bytes: 0,
        }
    }

    /// About how much memory everything takes that is kept here.
    pub fn bytes(&self) -> u64 {
        let rules = &self.rules;
        self.bytes + rules.bytes + rules.shared.bytes + rules.frames.bytes + 40 * self.stacks.len() as u64
    }

    /// The stack of a process.
    pub fn stack(&mut self, process: &Process) -> u32 {
        let frames = self.rules.intern(process);
        self.push_all(OVER, &frames)
    }

    fn push_all(&mut self, below: u32, frames: &[u32]) -> u32 {
        frames.iter().fold(below, |stack, frame| self.stacks.push(stack, *frame))
    }

    /// The sites and stacks of a number of starts.
    pub fn starts(&self, started: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.started.word(started).chunks_exact(2).map(|pair| (pair[0] as usize, pair[1] as u32))
    }

    /// The same place in the middle of an atomic sequence: a program may begin there, and nobody stops there.
    pub fn exclusive(&mut self, stack: u32) -> u32 {
        self.stacks.push(WAITING, self.stacks.top(stack))
    }

    /// What a thread of this kind can do; the number is good for [`Turns::content`].
    pub fn turn(&mut self, kind: u32, shared: u32, stack: u32) -> Result<u32> {
        let key = (kind, u64::from(shared) << 32 | u64::from(stack));
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let turn = match self.stacks.below(stack) {
            WAITING => {
                let stack = self.stacks.push(OVER, self.stacks.top(stack));
                self.explore(kind, shared, stack, true)?
            }
            _ => self.explore(kind, shared, stack, false)?,
        };
        let number = self.turns.len() as u32;
        self.bytes += 80 + 12 * turn.stops.len() as u64;
        self.turns.push(turn);
        self.numbers.insert(key, number);
        Ok(number)
    }

    pub fn content(&self, turn: u32) -> &Turn {
        &self.turns[turn as usize]
    }

    /// The frame below the top, where it takes part in a rule.
    fn partner(&self, stack: u32) -> u32 {
        match self.stacks.below(stack) {
            OVER => NO_FRAME,
            below if self.rules.place(self.stacks.top(stack)).returns => self.stacks.top(below),
            _ => NO_FRAME,
        }
    }

    fn explore(&mut self, kind: u32, shared: u32, stack: u32, exclusive: bool) -> Result<Turn> {
        let mut turn = (BTreeSet::new(), BTreeSet::new());
        let begin = Within { at: Stop { shared, stack, started: NOBODY }, exclusive };
        let mut seen = HashSet::from([begin]);
        let mut waiting = vec![begin];
        // Where the thread was without being at a stop, as others see it.
        let mut passed = BTreeSet::new();
        while let Some(state) = waiting.pop() {
            let Within { at: Stop { shared, stack, started }, exclusive } = state;
            if seen.len() % 1024 == 0 {
                go_on(self.budget)?;
            }
            if seen.len() > LONGEST_TURN {
                return Err(Ended::TooMuch(Cap::States));
            }
            let (top, partner) = (self.stacks.top(stack), self.partner(stack));
            if state != begin && !exclusive {
                if self.rules.stops(top, partner) {
                    let over = self.rules.place(top).last;
                    turn.0.insert(Stop { shared, stack: if over { OVER } else { stack }, started });
                    continue;
                }
                passed.insert((shared, started));
            }
            if self.stacks.depth(stack) > self.caps.depth {
                if self.deep_left_out {
                    continue;
                }
                return Err(Ended::TooMuch(Cap::Depth));
            }
            let rule = self.rules.rule(kind, shared, top, partner)?;
            let rest = match (self.stacks.below(stack), partner) {
                (below, NO_FRAME) => below,
                (below, _) => self.stacks.below(below),
            };
            let (fails, outcomes) = (self.rules.content(rule).fails, self.rules.content(rule).outcomes.len());
            if fails {
                turn.1.insert(started);
            }
            if outcomes == 0 && !fails && exclusive {
                // Blocked in an atomic sequence: the thread gives up the processor, and goes on from here later.
                turn.0.insert(state.at);
            }
            for index in 0..outcomes {
                let outcome = self.rules.content(rule).outcomes[index].clone();
                let started = match outcome.started {
                    None => started,
                    Some((site, frame)) => {
                        let mut word = self.started.word(started).to_vec();
                        word.extend([site as i32, self.stacks.push(OVER, frame) as i32]);
                        self.started.number(&word)
                    }
                };
                let stack = self.push_all(rest, &outcome.frames);
                let at = Stop { shared: outcome.shared, stack, started };
                let next = Within { at, exclusive: outcome.exclusive };
                if seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        let (mut stops, fails) = turn;
        if !exclusive {
            // Without an effect that others see: the thread just does not move.
            stops.remove(&begin.at);
            passed.remove(&(shared, NOBODY));
        }
        if !passed.is_empty() {
            let seen_by_others: HashSet<_> = stops.iter().map(|stop| (stop.shared, stop.started)).collect();
            passed.retain(|passed| !seen_by_others.contains(passed));
        }
        stops.extend(passed.into_iter().map(|(shared, started)| Stop { shared, stack: OVER, started }));
        Ok(Turn { stops: stops.into_iter().collect(), fails: fails.into_iter().collect() })
    }

    /// Is this a thread that can move?
    pub fn moves(stack: u32) -> bool {
        stack != OVER && stack != WAITING
    }
}
