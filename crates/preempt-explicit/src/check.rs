//! How each question about a model is answered here, and any system of one's own.

#[cfg(feature = "native")]
mod in_parts;
mod observed;

use crate::interned::{Interned, RunsAlone};
#[cfg(feature = "native")]
use crate::liveness::CycleMethod;
#[cfg(feature = "native")]
use crate::native::Native;
use crate::observer::ObserverAutomaton as Automaton;
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::reduction::simplify::simplified;
use crate::replay::replay_in_original;
#[cfg(feature = "native")]
use crate::search::{Figure, Published, Visits};
use crate::search::{Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage};
use crate::successors::Replayable;
#[cfg(feature = "native")]
use crate::symmetry::{Symmetric, why_no_symmetry};
use crate::{CheckError, Unsupported};
#[cfg(feature = "native")]
pub use in_parts::answer_in_parts;
use observed::{CheckContext, Observer, Spent};
use preempt_core::{Limits, Outcome, Progress, SourceMap};
use preempt_model::check::Check;
use preempt_model::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, NonProgressMonitor, Traced,
};
use preempt_model::symmetry::Symmetry;
use preempt_model::system::System;
use preempt_model::{Interpreter, Model};

/// Finds the simplest violation of safety, or shows that there is none.
///
/// ```
/// use preempt_core::{Silent, Verdict};
/// use preempt_explicit::{SearchOptions, check};
/// use preempt_promela::{Additions, load};
///
/// let text = "byte x, done;
///     active [2] proctype P() { byte old; old = x; x = old + 1; done++; assert(done < 2 || x == 2) }";
/// let loaded = load("m.pml", text, &Additions::default(), &mut |name| Err(format!("there is no {name}")));
/// let model = loaded.model.expect("there is no error in it");
/// let outcome = check(&model, &loaded.sources, &SearchOptions::default(), &mut Silent)?;
/// assert_eq!(outcome.verdict, Verdict::Violated);
/// assert_eq!(outcome.counterexample.expect("a run").preemptions(), 1);
/// # Ok::<(), preempt_explicit::CheckError>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, CheckError> {
    explore(model, sources, options, Goal::First, progress).map(|report| report.outcome)
}

/// Counts the whole state space, violations included: a failed assertion is passed over.
///
/// ```
/// # use preempt_core::Silent;
/// # use preempt_explicit::{SearchOptions, count};
/// # use preempt_promela::{Additions, load};
/// # let loaded = load("m.pml", "byte x; active proctype P() { do :: x++ od }", &Additions::default(), &mut |_| Err(String::new()));
/// # let model = loaded.model.expect("there is no error in it");
/// // byte x; active proctype P() { do :: x++ od }
/// let outcome = count(&model, &loaded.sources, &SearchOptions::default(), &mut Silent)?;
/// assert_eq!(outcome.stats.states, 256);
/// # Ok::<(), preempt_explicit::CheckError>(())
/// ```
pub fn count(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, CheckError> {
    explore(model, sources, options, Goal::Count, progress).map(|report| report.outcome)
}

/// Any of the goals, for a system written as a Rust type.
///
/// ```
/// use preempt_core::Silent;
/// use preempt_explicit::{Goal, SearchOptions, explore_system};
/// use preempt_model::system::{Successor, System};
///
/// struct Clock;
/// impl System for Clock {
///     type State = u8;
///     type Action = &'static str;
///     fn initial_states(&self) -> Vec<u8> { vec![0] }
///     fn process_count(&self, _: &u8) -> usize { 1 }
///     fn successors(&self, &hour: &u8, me: usize) -> Vec<Successor<u8, &'static str>> {
///         vec![Successor::new("tick", (hour + 1) % 12, me)]
///     }
/// }
/// let report = explore_system(&Clock, &SearchOptions::default(), Goal::Count, &mut Silent)?;
/// assert_eq!(report.outcome.stats.states, 12);
/// # Ok::<(), preempt_explicit::CheckError>(())
/// ```
pub fn explore_system<S: System<State: Send> + Sync>(
    system: &S,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let checkpoints = &mut NoCheckpoints;
    search_interned(Interned::new(system, None), SearchJob::new(options, goal, checkpoints, progress))
}

/// Searches with the threads of the options; compiled once for every source of successors but machine code.
fn search_interned<S: System<State: Send> + Sync>(
    system: Interned<'_, S>,
    job: SearchJob<'_>,
) -> Result<SearchReport, CheckError> {
    // Nobody can help along a path.
    let threads = if job.options.order == Order::ByCost { job.options.threads } else { 1 };
    system.with_threads(threads, |system| job.search(system as &mut dyn Replayable))
}

/// Any of the goals, for the safety of a model.
pub fn explore(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    explore_saved(model, sources, SearchJob::new(options, goal, &mut NoCheckpoints, progress))
}

/// As [`explore`], with checkpoints.
pub(crate) fn explore_saved(
    model: &Model,
    sources: &SourceMap,
    job: SearchJob<'_>,
) -> Result<SearchReport, CheckError> {
    let SearchJob { options, goal, checkpoints, progress, .. } = job;
    if options.reduction == Reduction::Strong && options.order != Order::DepthFirst {
        return Err(Unsupported("the strong reduction in the order of cost".into()).into());
    }
    let changed = match options.simplify {
        true => Some(simplified(model)).filter(|changed| keeps_symmetry(model, changed, sources, options)),
        false => None,
    };
    if let Some(changed) = changed {
        let options = SearchOptions { simplify: false, ..options.clone() };
        let job = SearchJob::new(&options, goal, &mut *checkpoints, &mut *progress);
        let mut report = explore_saved(&changed, sources, job)?;
        report.simplest = false;
        let (own, changed) = (interpreter(model, sources)?, interpreter(&changed, sources)?);
        if replay_in_original(&own, &changed, &mut report, options.fair_switch) {
            return Ok(report);
        }
        // The steps of a run could not be told apart: then it is found in the model as it stands.
        let visited = report.visited;
        let states = options.limits.states.map(|most| most.saturating_sub(visited));
        let options = SearchOptions { limits: Limits { states, ..options.limits }, ..options };
        let job = SearchJob::new(&options, goal, checkpoints, progress);
        let report = explore_saved(model, sources, job)?;
        return Ok(SearchReport { visited: report.visited + visited, ..report });
    }
    #[cfg(feature = "native")]
    if options.successors.is_native() {
        // Private steps are the safe ones of the published ample sets, too.
        let reduction = match options.order {
            Order::Published(published) if published.figure == Figure::WithReduction => Reduction::Exact,
            _ => options.reduction,
        };
        let budget = progress.budget().part(&options.limits);
        let mut native = Native::within(model, sources, &budget)?.reduced(reduction);
        if options.symmetry && why_no_symmetry(options, goal).is_none() {
            let groups = Symmetry::of(&interpreter(model, sources)?).groups;
            if !groups.is_empty() {
                let job = SearchJob::new(options, goal, checkpoints, progress);
                return job.search_by_all(&mut Symmetric::new(native, groups));
            }
        }
        return native.explore(options, goal, checkpoints, progress);
    }
    interned(model, sources, SearchJob::new(options, goal, checkpoints, progress))
}

/// Forgetting what is dead may tell processes apart, by what their variables are forgotten to; then it is not worth it.
fn keeps_symmetry(model: &Model, changed: &Model, sources: &SourceMap, options: &SearchOptions) -> bool {
    let groups = |model: &Model| match interpreter(model, sources) {
        Ok(interpreter) => Symmetry::of(&interpreter).groups.len(),
        Err(_) => 0,
    };
    !options.symmetry || groups(changed) >= groups(model)
}

/// Every visit that a published search makes, errors passed over; its figure and bound are those of the options.
#[cfg(feature = "native")]
pub fn published_visits<'m>(
    model: &'m Model,
    sources: &'m SourceMap,
    published: Published,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Visits<Interpreter<'m>>, CheckError> {
    let reduction = match published.figure {
        Figure::WithReduction => Reduction::Exact,
        Figure::NaiveBounded | Figure::ContextBounded => Reduction::None,
    };
    let mut native = Native::new(model, sources)?.reduced(reduction);
    let mut checkpoints = NoCheckpoints;
    let job = SearchJob::new(options, Goal::First, &mut checkpoints, progress);
    let (made, complete) = job.published_visits(&mut native, published)?;
    let made = made.into_iter().map(|(state, visit)| (native.state_of(&state), visit)).collect();
    Ok(Visits { made, complete })
}

/// Searches with the interpreter.
pub(crate) fn interned(
    model: &Model,
    sources: &SourceMap,
    job: SearchJob<'_>,
) -> Result<SearchReport, CheckError> {
    let interpreter = interpreter(model, sources)?;
    let private = PrivateLocations::new(model);
    let runs_alone: RunsAlone<'_, Interpreter<'_>> = Some(Box::new(|state, process| {
        let place = interpreter.place_of(state, process);
        place.is_some_and(|(code, location)| private.contains(code, location))
    }));
    search_interned(Interned::new(&interpreter, runs_alone), job)
}

/// The answer to any question about a model.
pub fn answer(
    question: &Check,
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    weakly_fair: bool,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let how = How { options, weakly_fair, goal: Goal::First, in_turns: true };
    ask(question, model, sources, how, progress)
}

/// How a question is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How<'a> {
    /// Their limits are for everything together.
    pub options: &'a SearchOptions,
    pub weakly_fair: bool,
    /// Of the search for finite runs.
    pub goal: Goal,
    /// Proof and search are tried on some states first.
    pub in_turns: bool,
}

/// The answer to any question about a model, asked in any way.
pub(crate) fn ask(
    question: &Check,
    model: &Model,
    sources: &SourceMap,
    how: How<'_>,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let How { options, goal, .. } = how;
    let model = &*question.model_of(model);
    let interpreter = &interpreter(model, sources)?;
    interpreter.work_within(&progress.budget().part(&options.limits));
    let spent = &Spent::nothing();
    let asked = CheckContext { question, model, sources, interpreter, how, spent };
    let keeps_states = options.store == Storage::Exact && !matches!(options.order, Order::Random(_));
    if !keeps_states && *question != Check::Safety {
        return Err(Unsupported("claims and cycles in a search that does not keep states".into()).into());
    }
    match question {
        Check::Safety => explore(model, sources, options, goal, progress),
        Check::Trace => {
            let Some(assertion) = &model.trace_assertion else {
                return explore(model, sources, options, goal, progress);
            };
            let traced = Traced::new(interpreter, assertion);
            // No reduction knows what the assertion sees.
            let options = SearchOptions { reduction: Reduction::None, ..options.clone() };
            let checkpoints = &mut NoCheckpoints;
            let job = SearchJob::new(&options, goal, checkpoints, progress);
            search_interned(Interned::new(&traced, None), job)
        }
        Check::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            let monitor = &ClaimMonitor::new(interpreter, claim);
            asked.with(Observer { monitor, automaton: &automaton }, progress)
        }
        Check::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            let automaton = &Automaton::of_automaton(monitor.automaton())?;
            asked.with(Observer { monitor: &monitor, automaton }, progress)
        }
        Check::Acceptance => {
            let (monitor, automaton) = (&AcceptanceMonitor { interpreter }, &Automaton::of_accept_labels());
            asked.about_cycles(Observer { monitor, automaton }, progress)
        }
        Check::Progress => {
            let (monitor, automaton) =
                (&NonProgressMonitor { interpreter }, &Automaton::of_progress_labels());
            let observer = Observer { monitor, automaton };
            match monitor.judges_system() {
                true => asked.with(observer, progress),
                false => asked.about_cycles(observer, progress),
            }
        }
    }
}

/// Is there an accepted run without end, by one algorithm or the other? The run shown need not be the simplest.
#[cfg(feature = "native")]
pub fn decide_cycles(
    question: &Check,
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    (method, weakly_fair): (CycleMethod, bool),
    progress: &mut dyn Progress,
) -> Result<Option<SearchReport>, CheckError> {
    let model = &*question.model_of(model);
    let interpreter = &interpreter(model, sources)?;
    let how = How { options, weakly_fair, goal: Goal::First, in_turns: false };
    let spent = &Spent::nothing();
    let asked = CheckContext { question, model, sources, interpreter, how, spent };
    match question {
        Check::Safety | Check::Trace => return Ok(None),
        Check::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            let monitor = &ClaimMonitor::new(interpreter, claim);
            asked.decide(Observer { monitor, automaton: &automaton }, method, progress)
        }
        Check::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            let automaton = &Automaton::of_automaton(monitor.automaton())?;
            asked.decide(Observer { monitor: &monitor, automaton }, method, progress)
        }
        Check::Acceptance => {
            let (monitor, automaton) = (&AcceptanceMonitor { interpreter }, &Automaton::of_accept_labels());
            asked.decide(Observer { monitor, automaton }, method, progress)
        }
        Check::Progress => {
            let (monitor, automaton) =
                (&NonProgressMonitor { interpreter }, &Automaton::of_progress_labels());
            asked.decide(Observer { monitor, automaton }, method, progress)
        }
    }
    .map(Some)
}

/// Why no reduction applies to a question about runs without end, if so.
pub fn why_not_reduced(question: &Check, options: &SearchOptions, weakly_fair: bool) -> Option<&'static str> {
    match question {
        Check::Safety | Check::Trace => None,
        // A run that is as good to the observer need not be fair: a process may have moved only where it was left out.
        _ if weakly_fair => Some("a reduction may leave out the fair runs"),
        _ if options.bound.is_some() => Some("within a bound every run without end counts"),
        Check::Claim(_) if !options.stutter_invariant => {
            Some("a never claim may count how often a state is repeated")
        }
        Check::Formula(formula) if formula.formula.has_next() && !options.stutter_invariant => {
            Some("a formula with X counts how often a state is repeated")
        }
        Check::Claim(_) | Check::Formula(_) | Check::Acceptance | Check::Progress => None,
    }
}

pub(crate) fn interpreter<'m>(
    model: &'m Model,
    sources: &'m SourceMap,
) -> Result<Interpreter<'m>, Unsupported> {
    Interpreter::new(model, sources)
        .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))
}
