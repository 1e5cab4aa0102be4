//! Both searches in turns, interrupted and continued as the caller likes: rounds for the fewest contexts, sorted threads for
//! the question without a bound.
//!
//! Rounds alone decide everything as long as there is room. Where threads are equal, the sorted search comes to its end
//! earlier by far: if it finds nothing, there is nothing for any number of contexts, so for K of them neither; if it finds
//! something, the rounds go on until they have met it with the fewest contexts.

use crate::error::{Cap, Ended, Result, go_on, unsupported};
use crate::intern::WAITING;
use crate::liveness::Liveness;
use crate::round_robin::{End, RoundRobin};
use crate::run::{Chain, execute};
use crate::supported::supported;
use crate::symmetry::{self, Order, Sorted};
use crate::threads::Threads;
use crate::turns::Turns;
use preempt_core::{Budget, Guarantee, Property, SourceMap, StopReason, Trace, Verdict};
use preempt_model::{CodeId, Interpreter, Model, System};

/// A program with what is known of it before any search.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The program.
    pub model: &'a Model,
    /// What it means.
    pub interpreter: Interpreter<'a>,
    /// The threads that there are.
    pub threads: Threads,
    /// The locals that matter.
    pub liveness: Liveness,
}

impl<'a> Setting<'a> {
    /// `instances`: how many threads a start that can be repeated is good for.
    pub fn new(
        model: &'a Model,
        sources: &'a SourceMap,
        instances: u32,
        budget: &Budget,
    ) -> Result<Setting<'a>> {
        if model.has_priorities {
            return unsupported("priorities");
        }
        let threads = Threads::of(model, sources, instances, budget)?;
        let interpreter = match Interpreter::new(model, sources) {
            Ok(interpreter) => interpreter,
            Err(fault) => return unsupported(fault.0),
        };
        interpreter.work_within(budget);
        let liveness = Liveness::of(model, budget)?;
        Ok(Setting { model, interpreter, threads, liveness })
    }
}

/// Beyond this there is too much to be listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Frames of a stack.
    pub depth: u32,
    /// Bytes of what is stored by each search, and of what they share.
    pub bytes: u64,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { depth: 100, bytes: 2 << 30 }
    }
}

/// What an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// So many rounds were looked at, and no more.
    Rounds,
    /// A round brought nothing new: no later one will.
    NothingNew,
    /// All configurations, with equal threads sorted.
    Symmetry,
}

/// What the searches have found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// About assertions and run-time errors.
    pub verdict: Verdict,
    /// How far it reaches.
    pub guarantee: Guarantee,
    /// Rounds that were looked at, or that the violation takes.
    pub contexts: u32,
    /// What is violated, and the run that does it.
    pub violation: Option<(Property, Trace)>,
    /// No run with fewer contexts violates anything.
    pub fewest: bool,
    /// Which search answered.
    pub basis: Basis,
    /// No thread was left out.
    pub complete: bool,
}

/// Where the searches begin, and who is who.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// The shared state, and the stack of each thread.
    pub cells: Vec<u32>,
    /// For each thread its code, the kind of its rules, and the site that starts it.
    pub codes: Vec<CodeId>,
    pub kinds: Vec<u32>,
    pub sites: Vec<Option<usize>>,
    /// This one is in the middle of an atomic sequence.
    pub exclusive: Option<usize>,
}

/// The searches under way.
#[allow(missing_debug_implementations, reason = "a search has nothing to show but its numbers")]
pub struct Search<'a> {
    setting: &'a Setting<'a>,
    budget: &'a Budget,
    caps: Caps,
    contexts: Option<u32>,
    turns: Turns<'a>,
    start: Start,
    rounds: Option<RoundRobin>,
    sorted: Option<Sorted>,
    /// Something goes wrong by this run, within so many contexts of each thread.
    failure: Option<(Chain, u32)>,
    /// One context of each thread, once it matters whether that is enough.
    first_round: Option<RoundRobin>,
    /// It is; the rounds will meet it.
    one_fails: bool,
    /// Within so many contexts nothing goes wrong.
    fine: u32,
}

/// Configurations that are expanded before anybody else gets a chance.
const WORK: usize = 2048;

impl<'a> Search<'a> {
    /// `contexts`: of each thread; `None` for as many as it takes.
    pub fn new(
        setting: &'a Setting<'a>,
        contexts: Option<u32>,
        symmetry: bool,
        caps: Caps,
        budget: &'a Budget,
    ) -> Result<Search<'a>> {
        supported(setting.model, &setting.threads)?;
        let mut turns = Turns::new(setting, caps, budget);
        let start = start(setting, &mut turns);
        let rounds = Some(RoundRobin::new(start.clone(), contexts));
        let sorted = symmetry && symmetry::applies(&start);
        let sorted = sorted.then(|| Sorted::new(start.clone(), Order::Switches));
        let (failure, first_round, one_fails, fine) = (None, None, false, 0);
        Ok(Search {
            setting,
            budget,
            caps,
            contexts,
            turns,
            start,
            rounds,
            sorted,
            failure,
            first_round,
            one_fails,
            fine,
        })
    }

    /// Goes on until there is an answer, or `pause` says that it is enough for now.
    pub fn advance(&mut self, pause: &mut dyn FnMut() -> bool) -> Result<Option<Answer>> {
        if self.start.codes.is_empty() {
            return Ok(Some(self.holds(Basis::NothingNew, Guarantee::Exhaustive, false)));
        }
        loop {
            if let Some(answer) = self.slice()? {
                return Ok(Some(answer));
            }
            if pause() {
                return Ok(None);
            }
        }
    }

    fn slice(&mut self) -> Result<Option<Answer>> {
        if let Some(rounds) = &mut self.rounds {
            let end = rounds.advance(&mut self.turns, WORK)?;
            let cut = rounds.cut;
            match end {
                Some(End::Failure { from, thread }) => {
                    let chain = Chain::of(&rounds.configurations, from, thread, false);
                    let contexts = rounds.round;
                    return self.violated(&chain, contexts, Basis::Rounds).map(Some);
                }
                Some(End::Nothing) => {
                    return Ok(Some(self.holds(Basis::NothingNew, Guarantee::Exhaustive, cut)));
                }
                Some(End::Bound) => {
                    let guarantee = Guarantee::Contexts(rounds.round);
                    return Ok(Some(self.holds(Basis::Rounds, guarantee, cut)));
                }
                None => self.fine = self.fine.max(rounds.round - 1),
            }
        }
        if let Some(sorted) = &mut self.sorted {
            let end = sorted.advance(&mut self.turns, WORK)?;
            match end {
                Some(End::Failure { from, thread }) => {
                    let chain = Chain::of(&sorted.configurations, from, thread, true);
                    let contexts = chain.rounds(&self.start, &mut self.turns)?;
                    self.failure = Some((chain, contexts));
                    self.sorted = None;
                }
                Some(_) => {
                    let cut = sorted.cut;
                    return Ok(Some(self.holds(Basis::Symmetry, Guarantee::Exhaustive, cut)));
                }
                None => {}
            }
        }
        if let Some(answer) = self.known_to_be_fewest()? {
            return Ok(Some(answer));
        }
        self.look_at_limits()
    }

    /// A run that goes wrong is an answer as soon as it is known that fewer contexts are not enough. For two contexts that is
    /// easily known: with one context of each thread, whoever has had its turn need not be remembered.
    fn known_to_be_fewest(&mut self) -> Result<Option<Answer>> {
        let Some(contexts) = self.failure.as_ref().map(|failure| failure.1) else { return Ok(None) };
        if self.asks_about_one() {
            let first_round = self.first_round.get_or_insert_with(|| RoundRobin::once(self.start.clone()));
            match first_round.advance(&mut self.turns, WORK)? {
                Some(End::Nothing | End::Bound) => self.fine = 1,
                Some(End::Failure { .. }) => self.one_fails = true,
                None => {}
            }
        }
        let enough = self.fine + 1 == contexts && self.contexts.is_none_or(|most| contexts <= most);
        match self.failure.clone().filter(|_| enough) {
            Some((chain, contexts)) => {
                let answer = self.violated(&chain, contexts, Basis::Symmetry)?;
                Ok(Some(Answer { fewest: true, ..answer }))
            }
            None => Ok(None),
        }
    }

    /// There is a run with two contexts of each thread, and it is not known whether one is enough.
    fn asks_about_one(&self) -> bool {
        let two = self.failure.as_ref().is_some_and(|failure| failure.1 == 2);
        two && self.fine == 0 && !self.one_fails
    }

    /// A search that has become too large ends; the other may go on.
    fn look_at_limits(&mut self) -> Result<Option<Answer>> {
        let stored = |bytes: Option<u64>| bytes.unwrap_or(0);
        let rounds = stored(self.rounds.as_ref().map(|it| it.configurations.bytes()));
        let sorted = stored(self.sorted.as_ref().map(Sorted::bytes));
        let counters = self.budget.counters();
        counters.states.set(self.shared_states());
        counters.level.set(self.round().into());
        counters.bytes.set(rounds + sorted + self.turns.bytes());
        go_on(self.budget)?;
        if self.turns.bytes() > self.caps.bytes {
            return Err(Ended::TooMuch(Cap::States));
        }
        if rounds > self.caps.bytes {
            self.rounds = None;
        }
        if sorted > self.caps.bytes {
            self.sorted = None;
        }
        match (&self.rounds, &self.sorted, &self.failure) {
            _ if self.asks_about_one() => Ok(None),
            (None, None, None) => Err(Ended::TooMuch(Cap::States)),
            (None, None, Some((chain, contexts))) => {
                // Better a run with more contexts than needed than none.
                match self.contexts.is_none_or(|most| *contexts <= most) {
                    true => {
                        let (chain, contexts) = (chain.clone(), *contexts);
                        self.violated(&chain, contexts, Basis::Symmetry).map(Some)
                    }
                    false => Err(Ended::TooMuch(Cap::States)),
                }
            }
            _ => Ok(None),
        }
    }

    /// The round that is under way.
    pub fn round(&self) -> u32 {
        self.rounds.as_ref().map_or(0, |rounds| rounds.round)
    }

    /// Shared states that were met.
    pub fn shared_states(&self) -> u64 {
        self.turns.rules.shared.len() as u64
    }

    /// Configurations that are stored.
    pub fn configurations(&self) -> u64 {
        let rounds = self.rounds.as_ref().map_or(0, |rounds| rounds.configurations.len());
        (rounds + self.sorted.as_ref().map_or(0, |sorted| sorted.configurations.len())) as u64
    }

    /// The shared states that were met, slot by slot.
    pub fn shared(&self) -> impl Iterator<Item = &[i32]> {
        (0..self.turns.rules.shared.len()).map(|number| self.turns.rules.shared.word(number as u32))
    }

    fn holds(&self, basis: Basis, guarantee: Guarantee, cut: bool) -> Answer {
        // Threads for which there was no room may do what these do not.
        let verdict = Verdict::conclude(false, cut.then_some(StopReason::Partial));
        let contexts = self.round().max(1);
        Answer { verdict, guarantee, contexts, violation: None, fewest: false, basis, complete: !cut }
    }

    fn violated(&mut self, chain: &Chain, contexts: u32, basis: Basis) -> Result<Answer> {
        let violation = execute(self.setting, &self.start, &mut self.turns, chain, self.budget)?;
        Ok(Answer {
            verdict: Verdict::Violated,
            guarantee: Guarantee::Contexts(contexts),
            contexts,
            violation: Some(violation),
            fewest: basis != Basis::Symmetry,
            basis,
            complete: true,
        })
    }
}

pub(crate) fn start(setting: &Setting<'_>, turns: &mut Turns<'_>) -> Start {
    let initial = &setting.threads.initial;
    let mut start = Start {
        cells: vec![turns.rules.shared.number(&initial.globals)],
        codes: Vec::new(),
        kinds: Vec::new(),
        sites: Vec::new(),
        exclusive: None,
    };
    for (number, thread) in setting.threads.all.iter().enumerate() {
        let process = thread.pid.and_then(|pid| initial.processes.get(pid));
        let mut stack = process.map_or(WAITING, |process| turns.stack(process));
        if thread.exclusive {
            start.exclusive = Some(number);
            stack = turns.exclusive(stack);
        }
        start.cells.push(stack);
        start.codes.push(thread.code);
        start.kinds.push(turns.rules.kind(number));
        start.sites.push(thread.waits.map(|(site, _)| site));
    }
    start
}
