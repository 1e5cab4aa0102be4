//! Random walks and swarms. They promise little: what they find is real, within the bound and the depth, and they never say
//! that nothing is wrong. So they are compared with the oracle, machine code with the interpreter by the walks of the same
//! seed, and what they say about the states that they saw with the states that there are.

use crate::{Compared, Program, same};
use preempt_core::{Limits, Outcome, Silent, Verdict};
use preempt_explicit::{
    Goal, Order, SearchOptions, SearchReport, SuccessorSource, SwarmSize, Walks, explore, swarm,
};
use preempt_model::Interpreter;
use preempt_model::search::oracle::{CheapestCosts, cheapest_costs};
use preempt_model::search::{self, recognise};
use std::time::{Duration, Instant};

/// A way to make random walks: these options, with machine code and interpreted.
#[derive(Debug, Clone)]
pub struct WalkEntry {
    pub walks: Walks,
    pub bound: Option<u32>,
    pub limits: Limits,
}

/// A swarm.
#[derive(Debug, Clone)]
pub struct SwarmEntry {
    pub options: SearchOptions,
    pub seed: u64,
    pub threads: usize,
}

/// Walks do not keep states, and go round for ever if nobody ends them.
const LONGEST_WALK: u64 = 200;

/// The walks that are compared.
pub fn walk_table() -> Vec<WalkEntry> {
    let mut table = Vec::new();
    let deep = |depth| Limits { depth: Some(depth), ..Limits::default() };
    for bound in [None, Some(0), Some(1), Some(2), Some(3)] {
        for (seed, most) in [(1, Some(1)), (2, Some(30)), (3, Some(100))] {
            let walks = Walks { seed, most };
            table.push(WalkEntry { walks, bound, limits: deep(LONGEST_WALK) });
        }
        for depth in [1, 3, 20] {
            let walks = Walks { seed: 4, most: Some(30) };
            table.push(WalkEntry { walks, bound, limits: deep(depth) });
        }
    }
    for states in [1, 10, 200] {
        let limits = Limits { states: Some(states), ..deep(LONGEST_WALK) };
        let walks = Walks { seed: 5, most: Some(30) };
        table.push(WalkEntry { walks, bound: None, limits });
    }
    // As many as there is time for, or as many as are usual.
    let walks = Walks { seed: 6, most: None };
    let limits = Limits { time: Some(Duration::from_millis(30)), ..deep(LONGEST_WALK) };
    table.push(WalkEntry { walks, bound: None, limits });
    table.push(WalkEntry { walks, bound: None, limits: deep(20) });
    table
}

/// A swarm has so much time; small programs need less.
const LONGEST_SWARM: Duration = Duration::from_secs(2);

/// The swarms that are compared.
pub fn swarm_table() -> Vec<SwarmEntry> {
    let mut table = Vec::new();
    // Small stores: each search clears its own.
    let usual = Limits { time: Some(LONGEST_SWARM), memory_bytes: Some(8 << 20), ..Limits::default() };
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        for (seed, threads) in [(1, 1), (2, 2), (3, 4)] {
            for bound in [None, Some(0), Some(1), Some(2), Some(3)] {
                let options = SearchOptions { successors, bound, limits: usual, ..SearchOptions::default() };
                table.push(SwarmEntry { options, seed, threads });
            }
            for (depth, states) in [(Some(3), None), (Some(20), None), (None, Some(1)), (None, Some(300))] {
                let limits = Limits { depth, states, ..usual };
                let options = SearchOptions { successors, limits, ..SearchOptions::default() };
                table.push(SwarmEntry { options, seed, threads });
            }
        }
    }
    table
}

/// Models with more states than this are left out: the oracle is slow.
const LARGEST: u64 = 800;

/// One of so many walks, and of so many swarms, is compared on each program: they take turns.
const WALKS_IN_TURN: u64 = 8;
const SWARMS_IN_TURN: u64 = 54;

/// Compares the walks whose turn it is; says how many there were.
pub fn compare_walks(program: &Program, seed: u64) -> Compared {
    let Some(case) = Case::new(program) else { return Ok(0) };
    each(walk_table(), |number| (number + seed).is_multiple_of(WALKS_IN_TURN), |entry| case.walks(entry))
}

/// Compares the swarms whose turn it is.
pub fn compare_swarms(program: &Program, seed: u64) -> Compared {
    let Some(case) = Case::new(program) else { return Ok(0) };
    each(swarm_table(), |number| (number + seed).is_multiple_of(SWARMS_IN_TURN), |entry| case.swarm(entry))
}

/// Compares with all walks and with a swarm of each kind of successors.
pub fn compare_all(program: &Program) -> Compared {
    let Some(case) = Case::new(program) else { return Ok(0) };
    let walks = each(walk_table(), |_| true, |entry| case.walks(entry))?;
    let swarms = each(swarm_table(), |number| number.is_multiple_of(13), |entry| case.swarm(entry))?;
    Ok(walks + swarms)
}

fn each<E>(
    table: Vec<E>,
    is_asked: impl Fn(u64) -> bool,
    mut compare: impl FnMut(&E) -> Result<(), String>,
) -> Compared {
    let mut compared = 0;
    for (_, entry) in table.iter().enumerate().filter(|(number, _)| is_asked(*number as u64)) {
        compare(entry)?;
        compared += 1;
    }
    Ok(compared)
}

struct Case<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    oracle: CheapestCosts<Interpreter<'p>>,
}

impl<'p> Case<'p> {
    /// `None` if it is too large, or has no beginning.
    fn new(program: &'p Program) -> Option<Case<'p>> {
        let interpreter = Interpreter::new(&program.model, &program.sources).ok()?;
        let limits = Limits { states: Some(LARGEST), ..Limits::default() };
        let options = search::ReferenceOptions { limits, ..search::ReferenceOptions::default() };
        let whole = search::count(&interpreter, &options, &mut Silent);
        if matches!(whole.verdict, Verdict::Inconclusive(_)) {
            return None;
        }
        let oracle = cheapest_costs(&interpreter, false);
        Some(Case { program, interpreter, oracle })
    }

    fn walks(&self, entry: &WalkEntry) -> Result<(), String> {
        let WalkEntry { walks, bound, limits } = entry.clone();
        let Program { model, sources } = self.program;
        let mut runs = Vec::new();
        for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
            let order = Order::Random(walks);
            let options = SearchOptions { order, bound, limits, successors, ..SearchOptions::default() };
            let name = || format!("walks with {successors:?}, {entry:?}");
            let report = explore(model, sources, &options, Goal::First, &mut Silent)
                .map_err(|refusal| format!("{}: {refusal}", name()))?;
            self.is_real(&report, &options).map_err(|why| format!("{}: {why}", name()))?;
            let stats = &report.outcome.stats;
            let made = walks.most.is_none_or(|most| stats.executions <= most);
            same(|| format!("{}: so many walks", name()), &made, &true)?;
            let deep = limits.depth.is_none_or(|depth| stats.depth <= depth);
            same(|| format!("{}: so deep", name()), &deep, &true)?;
            runs.push(report.outcome);
        }
        // What there is time for is not the same, and neither is what states are estimated from.
        let walked = |run: &Outcome| {
            let steps = run.counterexample.as_ref().map(|trace| trace.steps.clone());
            (run.verdict, steps, run.stats.executions, run.stats.transitions)
        };
        if limits.time.is_none() && limits.states.is_none() {
            same(|| format!("machine code walks with {entry:?}"), &walked(&runs[0]), &walked(&runs[1]))?;
        }
        Ok(())
    }

    fn swarm(&self, entry: &SwarmEntry) -> Result<(), String> {
        let SwarmEntry { options, seed, threads } = entry;
        let Program { model, sources } = self.program;
        let name = || format!("a swarm with {entry:?}");
        let started = Instant::now();
        let report =
            swarm(model, sources, options, SwarmSize { seed: *seed, threads: *threads }, &mut Silent)
                .map_err(|refusal| format!("{}: {refusal}", name()))?;
        let elapsed = started.elapsed();
        self.is_real(&report, options).map_err(|why| format!("{}: {why}", name()))?;
        // It ended because search after search saw nothing new, so it has seen everything, and what is wrong with it.
        let limits = &options.limits;
        let unlimited = limits.states.is_none() && limits.depth.is_none();
        if elapsed < LONGEST_SWARM && unlimited {
            let within =
                self.oracle.cheapest().filter(|cost| options.bound.is_none_or(|b| cost.preemptions <= b));
            let violated = report.outcome.verdict == Verdict::Violated;
            same(|| format!("{}: violated", name()), &violated, &within.is_some())?;
            let states =
                options.bound.map_or(self.oracle.states.len(), |bound| self.oracle.states_within(bound));
            let seen = report.outcome.stats.states as usize;
            // Within a bound its searches may take one visit of a state for another.
            let missed = if options.bound.is_none() { states / 10 } else { states / 2 };
            let most_of_them = violated || seen + 2 + missed >= states;
            same(|| format!("{}: most of the {states} states, not {seen}", name()), &most_of_them, &true)?;
        }
        Ok(())
    }

    /// Nothing is proved, and what is found is a run of the model within the bound.
    fn is_real(&self, report: &SearchReport, options: &SearchOptions) -> Result<(), String> {
        let outcome = &report.outcome;
        same(|| "holds".into(), &(outcome.verdict == Verdict::Holds), &false)?;
        same(|| "the simplest".into(), &report.simplest, &false)?;
        // The estimate is off by some per cent.
        let (states, seen) = (self.oracle.states.len() as u64, outcome.stats.states);
        same(|| format!("{seen} of {states} states"), &(seen <= states + states / 15 + 2), &true)?;
        let violated = outcome.verdict == Verdict::Violated;
        same(|| "violated, and a run".into(), &outcome.counterexample.is_some(), &violated)?;
        let Some(trace) = &outcome.counterexample else { return Ok(()) };
        let run =
            recognise(&self.interpreter, trace).map_err(|why| format!("no run of the model: {why:?}"))?;
        let again = search::replay(&self.interpreter, &run.initial, &run.steps, options.fair_switch)
            .map_err(|why| format!("its run cannot be replayed: {why:?}"))?;
        same(|| "preemptions".into(), &trace.preemptions(), &again.trace.preemptions())?;
        let cheap = options.bound.is_none_or(|bound| trace.preemptions() <= bound as usize);
        same(|| format!("{} preemptions within the bound", trace.preemptions()), &cheap, &true)?;
        let short = options.limits.depth.is_none_or(|depth| trace.steps.len() as u64 <= depth);
        same(|| format!("{} steps within the depth", trace.steps.len()), &short, &true)?;
        let cheapest = self.oracle.cheapest().map(|cost| cost.preemptions as usize);
        let possible = cheapest.is_some_and(|least| least <= trace.preemptions());
        same(|| "cheaper than the cheapest".into(), &possible, &true)
    }
}
