//! How each question about a model is answered here, and any system of one's own.

use crate::interned::{Interned, RunsAlone};
use crate::native::Native;
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::search::{Checkpoints, Goal, NoCheckpoints, Options, Report, Source, search, search_saved};
use crate::watched::{Observer as Automaton, PlaceOf, Watched};
use crate::{Refusal, Unsupported};
use preempt_core::{Observer, Outcome, SourceMap, Verdict};
use preempt_model::monitor::{BuchiMonitor, ClaimMonitor, Monitor, Monitored, Traced};
use preempt_model::question::{Asking, Question};
use preempt_model::system::System;
use preempt_model::{Interpreter, Model};

/// Finds the simplest violation of safety, or shows that there is none.
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Refusal> {
    explore(model, sources, options, Goal::First, observer).map(|report| report.outcome)
}

/// Counts the whole state space, violations included: a failed assertion is passed over.
pub fn count(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Refusal> {
    explore(model, sources, options, Goal::Count, observer).map(|report| report.outcome)
}

/// Any of the goals, for a system written as a Rust type.
pub fn explore_system<S: System>(
    system: &S,
    options: &Options,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    search(Interned::new(system, None), options, goal, observer)
}

/// Any of the goals, for the safety of a model.
pub fn explore(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    explore_saved(model, sources, options, goal, &mut NoCheckpoints, observer)
}

/// As [`explore`], with checkpoints.
pub fn explore_saved(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    goal: Goal,
    checkpoints: &mut dyn Checkpoints,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let private = match options.reduction {
        Reduction::None => PrivateLocations::none(model),
        Reduction::Exact => PrivateLocations::new(model),
    };
    match options.successors {
        Source::Native => {
            let native = Native::new(model, sources)?.reduced(private);
            search_saved(native, options, goal, checkpoints, observer)
        }
        Source::Interpreted => {
            let interpreter = interpreter(model, sources)?;
            let runs_alone: RunsAlone<'_, Interpreter<'_>> = Some(Box::new(|state, process| {
                let place = interpreter.place_of(state, process);
                place.is_some_and(|(code, location)| private.contains(code, location))
            }));
            let interned = Interned::new(&interpreter, runs_alone);
            search_saved(interned, options, goal, checkpoints, observer)
        }
    }
}

/// The answer to any question about a model: what a finite run shows is searched for here.
pub fn answer(
    question: &Question,
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    weakly_fair: bool,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let interpreter = &interpreter(model, sources)?;
    let finite = match question {
        Question::Safety => return explore(model, sources, options, Goal::First, observer),
        Question::Trace => {
            let Some(assertion) = &model.trace_assertion else {
                return explore(model, sources, options, Goal::First, observer);
            };
            let traced = Traced::new(interpreter, assertion);
            return search(Interned::new(&traced, None), options, Goal::First, observer);
        }
        Question::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            let monitor = ClaimMonitor::new(interpreter, claim);
            Some(watched(model, sources, (interpreter, &monitor), automaton, options, observer)?)
        }
        Question::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            let automaton = Automaton::of_automaton(monitor.automaton())?;
            Some(watched(model, sources, (interpreter, &monitor), automaton, options, observer)?)
        }
        Question::Acceptance | Question::Progress => None,
    };
    if let Some(report) = finite.filter(|report| report.outcome.verdict != Verdict::Holds) {
        return Ok(report);
    }
    let (bound, fair_switch, limits) = (options.bound, options.fair_switch, options.limits);
    let asking =
        Asking { options: preempt_model::search::Options { bound, fair_switch, limits }, weakly_fair };
    let outcome = question
        .answer_infinite(interpreter, &asking, observer)
        .map_err(|error| Unsupported(error.to_string()))?;
    Ok(Report { outcome, errors: Vec::new() })
}

/// What an observer finds in a finite run. Reductions do not apply: an observer may see every step.
fn watched<'a, 'm, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
    model: &'m Model,
    sources: &'m SourceMap,
    (interpreter, monitor): (&'a Interpreter<'m>, &'a M),
    automaton: Automaton,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let meaning = Monitored { system: interpreter, monitor };
    match options.successors {
        Source::Native => {
            let watched = Watched::new(model, sources, automaton, meaning)?;
            search(watched, options, Goal::First, observer)
        }
        Source::Interpreted => search(Interned::new(&meaning, None), options, Goal::First, observer),
    }
}

fn interpreter<'m>(model: &'m Model, sources: &'m SourceMap) -> Result<Interpreter<'m>, Unsupported> {
    Interpreter::new(model, sources)
        .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))
}
