//! The stateless engine against brute force: where runs end and what is wrong there, within each bound, by every algorithm.
//! The table says for each of them what it promises; nothing more is asked of it.

mod brute_force;

use crate::{Compared, Program, same};
use brute_force::{Ends, RunEnds, run_ends};
use preempt_model::interpreter::State;
use preempt_model::{Interpreter, System};
use preempt_stateless::system::{FinalState, SystemRun, SystemRunError, explore_system};
use preempt_stateless::{
    BoundFunction, Executable, Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunEnd, Strategy,
    explore::preemptions_of, parallel,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

/// What a way to explore says about its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Runs end in all these states and in no others; a failing run costs what the cheapest one does.
    AllWithin,
    /// Runs end in some of these states.
    Some,
    /// A run may be taken for one without end.
    ShortRuns,
}

/// A way to explore.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub strategy: Strategy,
    pub limits: ExplorationLimits,
    /// With several searches side by side: so many.
    pub threads: Option<usize>,
    pub promise: Promise,
}

/// An exploration that makes more runs than this is left out: depth-first search makes them all.
const MOST_RUNS: u64 = 2000;

/// The ways that are compared.
pub fn table() -> Vec<Entry> {
    let plain = ExplorationLimits { executions: Some(MOST_RUNS), ..ExplorationLimits::default() };
    let mut table = Vec::new();
    let mut add = |strategy, limits, threads, promise| {
        table.push(Entry { strategy, limits, threads, promise });
    };
    for stop_at_failure in [false, true] {
        for preemptions in [Some(0), Some(1), Some(2), Some(3), None] {
            let limits = ExplorationLimits { preemptions, stop_at_failure, ..plain };
            for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
                add(strategy, limits, None, Promise::AllWithin);
            }
            for threads in [1, 2, 4] {
                add(Strategy::Marking, limits, Some(threads), Promise::AllWithin);
            }
            for function in
                [BoundFunction::Preemptions, BoundFunction::ContextSwitches, BoundFunction::Delays]
            {
                add(Strategy::BporBy(function), limits, None, Promise::AllWithin);
            }
        }
        // Runs that are cut do not count, and there may be very many of them.
        let time = Some(Duration::from_millis(200));
        for depth in [1, 2, 3, 4, 6] {
            let limits = ExplorationLimits { preemptions: Some(depth), time, stop_at_failure, ..plain };
            add(Strategy::BporBy(BoundFunction::Depth), limits, None, Promise::AllWithin);
        }
        // No step of a model yields, so whoever asks for fairness gets the same.
        let limits = ExplorationLimits { fair: Some(1), stop_at_failure, ..plain };
        for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::Dpor] {
            add(strategy, ExplorationLimits { preemptions: Some(1), ..limits }, None, Promise::AllWithin);
        }
        add(Strategy::Dpor, ExplorationLimits { stop_at_failure, ..plain }, None, Promise::AllWithin);
        let limits = ExplorationLimits { executions: Some(20), stop_at_failure, ..plain };
        add(Strategy::RoundRobin, limits, None, Promise::Some);
        for seed in [1, 2] {
            add(Strategy::Random(seed), limits, None, Promise::Some);
            for depth in [1, 2, 3] {
                add(Strategy::Pct { seed, depth }, limits, None, Promise::Some);
            }
        }
        for executions in [1, 5] {
            let limits = ExplorationLimits { executions: Some(executions), ..limits };
            for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
                add(strategy, limits, None, Promise::Some);
            }
        }
        for (steps, gives_up_long_runs) in [(1, false), (4, false), (4, true)] {
            let limits = ExplorationLimits {
                steps,
                gives_up_long_runs,
                preemptions: Some(1),
                stop_at_failure,
                ..plain
            };
            for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
                add(strategy, limits, None, Promise::ShortRuns);
            }
        }
        let time = Some(Duration::from_secs(3600));
        let limits = ExplorationLimits { time, preemptions: Some(2), stop_at_failure, ..plain };
        add(Strategy::Marking, limits, None, Promise::AllWithin);
    }
    table
}

/// One of so many entries of the table is compared on each program: they take turns.
const TURNS: u64 = 6;

/// Compares with the entries whose turn it is; says how many there were.
pub fn compare(program: &Program, seed: u64) -> Compared {
    compare_those(program, |number| (number + seed).is_multiple_of(TURNS))
}

/// Compares with the whole table.
pub fn compare_all(program: &Program) -> Compared {
    compare_those(program, |_| true)
}

fn compare_those(program: &Program, is_asked: impl Fn(u64) -> bool) -> Compared {
    let Ok(interpreter) = Interpreter::new(&program.model, &program.sources) else { return Ok(0) };
    let mut compared = 0;
    let mut judge = Judge { interpreter: &interpreter, known: HashMap::new() };
    for (number, entry) in table().iter().enumerate() {
        if is_asked(number as u64) && ask(&mut judge, entry)? {
            compared += 1;
        }
    }
    Ok(compared)
}

/// Brute force, asked once for each bound.
struct Judge<'i, 'm> {
    interpreter: &'i Interpreter<'m>,
    known: HashMap<(BoundFunction, Option<u32>), Option<Rc<Ends>>>,
}

impl Judge<'_, '_> {
    fn ends(&mut self, function: BoundFunction, bound: Option<u32>) -> Option<Rc<Ends>> {
        let interpreter = self.interpreter;
        let compute = || run_ends(interpreter, function, bound).map(Rc::new);
        self.known.entry((function, bound)).or_insert_with(compute).clone()
    }
}

/// What the limit on preemptions bounds.
fn function_of(strategy: Strategy) -> BoundFunction {
    match strategy {
        Strategy::BporBy(function) => function,
        _ => BoundFunction::Preemptions,
    }
}

/// The bound, if the strategy has one.
fn bound_of(entry: &Entry) -> Option<u32> {
    match entry.strategy {
        Strategy::Dpor | Strategy::RoundRobin | Strategy::Random(_) | Strategy::Pct { .. } => None,
        _ => entry.limits.preemptions,
    }
}

/// False if the model does not fit, or is too large.
fn ask(judge: &mut Judge<'_, '_>, entry: &Entry) -> Result<bool, String> {
    let (function, bound) = (function_of(entry.strategy), bound_of(entry));
    let Some(ends) = judge.ends(function, bound) else { return Ok(false) };
    let interpreter = judge.interpreter;
    // Only a bound on depth ends runs without end, and who makes some runs only must see them end.
    if ends.endless && (function != BoundFunction::Depth || entry.promise != Promise::AllWithin) {
        return Ok(false);
    }
    let name = || format!("{entry:?}");
    let (found, met) = match entry.threads {
        None => match explore_system(interpreter, entry.strategy, &entry.limits, &mut ()) {
            Ok((found, met)) => (found, Some(met)),
            Err(_) => return Ok(false),
        },
        Some(threads) => match side_by_side(interpreter, entry, threads) {
            Some(found) => (found, None),
            None => return Ok(false),
        },
    };
    if let Some(ExplorationStop::Diverged(diverged)) = &found.stop {
        return Err(format!("{}: the same steps did something else: {diverged:?}", name()));
    }
    if let Some(failure) = &found.failure {
        is_real(interpreter, failure).map_err(|why| format!("{}: {why}", name()))?;
    }
    let all: HashSet<&FinalState<State>> = ends.costs.keys().collect();
    let met: Option<HashSet<_>> = met.as_ref().map(|met| met.iter().collect());
    let livelock = found.failure.as_ref().is_some_and(|failure| failure.livelock);
    match entry.promise {
        Promise::ShortRuns if livelock => {
            let long = found.failure.as_ref().is_some_and(|it| it.schedule.len() >= entry.limits.steps);
            same(name, &(long && !entry.limits.gives_up_long_runs), &true)?;
        }
        Promise::Some | Promise::ShortRuns => {
            let beyond = met.map_or(0, |met| met.difference(&all).count());
            same(|| format!("{}: ends that are none", name()), &beyond, &0)?;
            let counted = entry.limits.executions.is_none_or(|most| found.executions <= most);
            same(name, &counted, &true)?;
        }
        Promise::AllWithin => {
            // It would have to make too many runs.
            if matches!(found.stop, Some(ExplorationStop::Executions | ExplorationStop::Time)) {
                return Ok(false);
            }
            cheapest_failure(entry, &found, &ends)?;
            if let (Some(met), None) = (&met, &found.stop) {
                let differing = (all.difference(met).count(), met.difference(&all).count());
                same(
                    || format!("{}: ends that are missing, and that are none", name()),
                    &differing,
                    &(0, 0),
                )?;
            }
            // Nothing lies beyond the bound, it says.
            if found.exhaustive
                && let Some(whole) = judge.ends(function, None)
            {
                let nothing_beyond = !whole.endless && whole.costs.len() == ends.costs.len();
                same(|| format!("{}: exhaustive", name()), &nothing_beyond, &true)?;
            }
        }
    }
    Ok(true)
}

/// A failure is found if there is one within the bound, and a run with the fewest preemptions that it can have.
fn cheapest_failure(entry: &Entry, found: &Exploration, ends: &Ends) -> Result<(), String> {
    let name = || format!("{entry:?}: failing");
    same(name, &found.failure.is_some(), &ends.cheapest_failure.is_some())?;
    let goes_by_bound = !matches!(entry.strategy, Strategy::Dpor)
        && function_of(entry.strategy) == BoundFunction::Preemptions;
    if let (Some(failure), Some(cheapest), true) = (&found.failure, ends.cheapest_failure, goes_by_bound) {
        same(|| format!("{}, its preemptions", name()), &failure.preemptions, &cheapest)?;
        if entry.limits.stop_at_failure {
            let complete = found.complete_to.map_or(0, |bound| bound + 1);
            same(|| format!("{}, bounds completed before", name()), &(complete <= cheapest), &true)?;
        }
    }
    Ok(())
}

/// With several searches that share a table; coarse if that is needed.
fn side_by_side(interpreter: &Interpreter<'_>, entry: &Entry, threads: usize) -> Option<Exploration> {
    for coarse in [false, true] {
        let found = parallel::explore(|| SystemRun::new(interpreter, coarse), &entry.limits, threads);
        if found.stop != Some(ExplorationStop::GaveUp) {
            return Some(found);
        }
    }
    None
}

/// The schedule is a run with so many preemptions, and fails.
fn is_real(interpreter: &Interpreter<'_>, failure: &FailingRun) -> Result<(), String> {
    // A coarse run schedules as any other.
    let mut run = SystemRun::new(interpreter, true);
    match preemptions_of(&mut run, &failure.schedule) {
        None => return Err("its failing run is no run".into()),
        counted => same(|| "preemptions of its failing run".into(), &counted, &Some(failure.preemptions))?,
    }
    same(|| "its failing run fails".into(), &(failure.livelock || run.end() == RunEnd::Failed), &true)?;
    same(|| "its failing run fits".into(), &run.error(), &None::<SystemRunError>)
}

impl RunEnds for Interpreter<'_> {
    fn fails(&self, end: &FinalState<State>) -> bool {
        end.violation.is_some() || !self.may_end(&end.state)
    }
}
