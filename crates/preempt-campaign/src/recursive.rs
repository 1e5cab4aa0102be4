//! Programs with recursion by every method that there is: rounds, diagrams lazy and eager, with shared states as bits and by
//! number, the portfolio, pushdown systems forward and backward, the program made sequential, and brute force where there are
//! few states. All say whether something goes wrong within so many contexts, and how many it takes. The explicit engine knows
//! no contexts: it says whether something goes wrong at all, as rounds without a bound do, and by which run.

use crate::sequential::fails_within;
use crate::{Compared, same};
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print, sequentialize};
use preempt_core::{Budget, Limits, Silent, SourceMap, Verdict};
use preempt_explicit::{Goal, SearchOptions, explore_system};
use preempt_model::generator::census::Census;
use preempt_model::{Interpreter, Model};
use preempt_promela::generator::Line;
use preempt_pushdown::{Direction, PushdownOptions};
use preempt_rounds::threads::Threads;
use preempt_rounds::{Caps, RoundsOptions};
use preempt_symbolic::portfolio;
use preempt_symbolic::{Method, SharedStates, SymbolicOptions};
use std::cell::RefCell;
use std::time::Duration;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 14 };
const CAPS: Caps = Caps { depth: 30, bytes: 1 << 26 };

/// The program of a seed, a line each.
pub fn lines(seed: u64) -> Vec<Line> {
    let threads = 1 + (seed % 3) as usize;
    // Threads that execute the same are answered for in other ways.
    let equal = seed.is_multiple_of(5);
    let shape = Shape { statements: 3, equal, ..Shape::recursive(threads) };
    print::program(&generator::program(seed, &shape)).lines().map(Line::new).collect()
}

/// `None` if the text is no program.
pub fn compare(text: &str, seed: u64) -> Option<Compared> {
    let loaded = load("generated.bp", text, &Default::default());
    Some(every_method(&loaded.model?, &loaded.sources, 1 + (seed / 3 % 3) as u32))
}

/// In how many contexts something goes wrong, if it does within the bound; or nobody knows.
type Answer = Option<Option<u32>>;

fn answer(verdict: &Verdict, contexts: u32) -> Answer {
    match verdict {
        Verdict::Violated => Some(Some(contexts)),
        Verdict::Holds => Some(None),
        Verdict::Inconclusive(_) => None,
    }
}

fn every_method(model: &Model, sources: &SourceMap, contexts: u32) -> Compared {
    let (bound, instances) = (Some(contexts), 4);
    let diagrams = |method, shared| {
        let options = SymbolicOptions {
            contexts: bound,
            method,
            shared,
            table: TABLE,
            limits: limits(),
            ..Default::default()
        };
        let report = preempt_symbolic::check(model, sources, &options, &mut Silent).ok()?;
        answer(&report.outcome.verdict, report.contexts)
    };
    let by_rounds = |bound| {
        let (symmetry, caps) = (true, CAPS);
        let options = RoundsOptions { contexts: bound, instances, symmetry, caps, limits: limits() };
        let report = preempt_rounds::check(model, sources, &options, &mut Silent).ok()?;
        answer(&report.outcome.verdict, report.contexts)
    };
    let by_both = || {
        let options =
            SymbolicOptions { contexts: bound, table: TABLE, limits: limits(), ..Default::default() };
        let found = portfolio::check(model, sources, &options, &CAPS, &mut Silent).ok()?;
        answer(&found.report.outcome.verdict, found.report.contexts)
    };
    let as_rules = |direction| {
        let options =
            PushdownOptions { contexts: bound, direction, instances, table: TABLE, limits: limits() };
        let report = preempt_pushdown::check(model, sources, &options, &mut Silent).ok()?;
        answer(&report.outcome.verdict, report.contexts)
    };
    let ways: [(&str, Answer); 9] = [
        ("lazy", diagrams(Method::Lazy, SharedStates::Bits)),
        ("eager", diagrams(Method::Eager, SharedStates::Bits)),
        ("shared states by number", diagrams(Method::Lazy, SharedStates::Numbers)),
        ("rounds", by_rounds(bound)),
        ("portfolio", by_both()),
        ("pushdown, forward", as_rules(Direction::Forward)),
        ("pushdown, backward", as_rules(Direction::Backward)),
        ("sequentialized", sequentialized(model, sources, contexts)),
        ("brute force", brute_force(model, sources, contexts)),
    ];
    let mut answers = ways.into_iter().filter_map(|(name, found)| Some((name, found?)));
    let Some((first, expected)) = answers.next() else {
        answered("nobody");
        return Ok(0);
    };
    answered(first);
    let mut compared = 0;
    for (name, found) in answers {
        answered(name);
        same(|| format!("{name}, {contexts} contexts, beside {first}"), &found, &expected)?;
        compared += 1;
    }
    if let Some(run) = state_by_state(model, sources) {
        answered("explicit");
        let fails = run.is_some();
        let within = expected.is_none_or(|_| fails);
        same(|| "explicit: what goes wrong within a bound does so at all".into(), &within, &true)?;
        if let Some(fewest) = by_rounds(None) {
            answered("explicit beside rounds without a bound");
            same(|| "explicit, beside rounds without a bound".into(), &fails, &fewest.is_some())?;
            let enough = fewest.zip(run).is_none_or(|(fewest, run)| fewest <= run);
            same(|| format!("explicit: no run has fewer than {fewest:?} rounds"), &enough, &true)?;
        }
        compared += 1;
    }
    Ok(compared)
}

/// So that all methods together say something before a campaign takes their process to hang.
fn limits() -> Limits {
    Limits { time: Some(Duration::from_secs(3)), ..Limits::default() }
}

thread_local! {
    static ANSWERED: RefCell<Census> = RefCell::default();
}

fn answered(name: &'static str) {
    ANSWERED.with_borrow_mut(|census| *census.entry(name).or_default() += 1);
}

/// For how many programs each method has had an answer, since this was last asked: a method that gives up compares nothing.
pub fn take_answers() -> Census {
    ANSWERED.take()
}

/// The explicit engine, with real stacks: the rounds of the run in which something goes wrong, if there is one.
fn state_by_state(model: &Model, sources: &SourceMap) -> Answer {
    let threads = Threads::of(model, sources, 4, &Budget::unlimited()).ok()?;
    let interpreter = Interpreter::new(model, sources).ok()?;
    let limits = Limits { states: Some(MOST_STATES), ..limits() };
    let options = SearchOptions { limits, ..SearchOptions::default() };
    let report = explore_system(&interpreter, &options, Goal::First, &mut Silent).ok()?;
    match report.outcome.verdict {
        Verdict::Holds => Some(None),
        // The interpreter's stack has an end, and the program's has not.
        Verdict::Violated if report.outcome.violation?.name.contains("nested deeper") => None,
        Verdict::Violated => {
            let pids: Vec<usize> = report.outcome.counterexample?.steps.iter().map(|step| step.pid).collect();
            // Where threads start others, their turns do not come in the order of their numbers.
            let rounds = 1 + pids.windows(2).filter(|two| two[1] < two[0]).count() as u32;
            threads.sites.is_empty().then_some(Some(rounds))
        }
        Verdict::Inconclusive(_) => None,
    }
}

/// The explicit engine gives up beyond so many states.
const MOST_STATES: u64 = 3_000;

/// The fewest contexts with which the sequential program fails.
fn sequentialized(model: &Model, sources: &SourceMap, most: u32) -> Answer {
    for contexts in 1..=most {
        let budget = Budget::within(&limits());
        let made = sequentialize::to_boolean(model, sources, contexts as usize, &budget).ok()?;
        let loaded = load("sequential.bp", &print::program(&made), &Default::default());
        let options =
            SymbolicOptions { contexts: Some(1), table: TABLE, limits: limits(), ..Default::default() };
        let report = preempt_symbolic::check(&loaded.model?, &loaded.sources, &options, &mut Silent).ok()?;
        if answer(&report.outcome.verdict, 1)?.is_some() {
            return Some(Some(contexts));
        }
    }
    Some(None)
}

/// Only where the number of a process is its place among the turns, and nothing happens between its start and its turn.
fn brute_force(model: &Model, sources: &SourceMap, most: u32) -> Answer {
    let threads = Threads::of(model, sources, 4, &Budget::unlimited()).ok()?;
    if !threads.sites.is_empty() {
        return None;
    }
    let interpreter = Interpreter::new(model, sources).ok()?;
    for contexts in 1..=most {
        if fails_within(&interpreter, contexts as usize)? {
            return Some(Some(contexts));
        }
    }
    Some(None)
}
