//! How each question about a model is answered here, and any system of one's own.

use crate::interned::{Interned, RunsAlone};
use crate::liveness::{self, CycleMethod};
use crate::native::Native;
use crate::observer::ObserverAutomaton as Automaton;
use crate::product::{FromObserverState, Product};
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::reduction::statics::optimised;
use crate::replay::replay_in_original;
use crate::search::{
    Checkpoints, Counterexample, Figure, Goal, NoCheckpoints, Order, Published, SearchJob, SearchOptions,
    SearchReport, Storage, SuccessorSource, Variety, Visits,
};
use crate::successors::Successors;
use crate::{CheckError, Unsupported};
use preempt_core::{
    Bound, Cost, Guarantee, Limits, Outcome, Progress, Property, SourceMap, StopReason, Trace, Verdict,
};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
};
use preempt_model::search::cost_of_run;
use preempt_model::system::System;
use preempt_model::{Interpreter, Model};
use std::cell::Cell;
use std::time::Instant;

/// Finds the simplest violation of safety, or shows that there is none.
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, CheckError> {
    explore(model, sources, options, Goal::First, progress).map(|report| report.outcome)
}

/// Counts the whole state space, violations included: a failed assertion is passed over.
pub fn count(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, CheckError> {
    explore(model, sources, options, Goal::Count, progress).map(|report| report.outcome)
}

/// Any of the goals, for a system written as a Rust type.
pub fn explore_system<S: System>(
    system: &S,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    search(&mut Interned::new(system, None), options, goal, progress)
}

/// Searches without checkpoints, and compiled once for every source of successors but machine code.
fn search(
    system: &mut dyn Successors,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let (variety, checkpoints) = (Variety::default(), &mut NoCheckpoints);
    SearchJob { options, goal, variety, checkpoints, progress }.search(system)
}

/// Any of the goals, for the safety of a model.
pub fn explore(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    explore_saved(model, sources, options, goal, &mut NoCheckpoints, progress)
}

/// As [`explore`], with checkpoints.
pub fn explore_saved(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    goal: Goal,
    checkpoints: &mut dyn Checkpoints,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    if options.reduction == Reduction::Strong && options.order != Order::DepthFirst {
        return Err(Unsupported("the strong reduction in the order of cost".into()).into());
    }
    if options.statics {
        let changed = optimised(model);
        let options = SearchOptions { statics: false, ..options.clone() };
        let mut report = explore_saved(&changed, sources, &options, goal, checkpoints, progress)?;
        report.simplest = false;
        let (own, changed) = (interpreter(model, sources)?, interpreter(&changed, sources)?);
        if replay_in_original(&own, &changed, &mut report, options.fair_switch) {
            return Ok(report);
        }
        // The steps of a run could not be told apart: then it is found in the model as it stands.
        let visited = report.visited;
        let states = options.limits.states.map(|most| most.saturating_sub(visited));
        let options = SearchOptions { limits: Limits { states, ..options.limits }, ..options };
        let report = explore_saved(model, sources, &options, goal, checkpoints, progress)?;
        return Ok(SearchReport { visited: report.visited + visited, ..report });
    }
    match options.successors {
        SuccessorSource::Native => {
            // Private steps are the safe ones of the paper's ample sets, too.
            let reduction = match options.order {
                Order::Published(published) if published.figure == Figure::WithReduction => Reduction::Exact,
                _ => options.reduction,
            };
            let budget = progress.budget().part(&options.limits);
            let mut native = Native::within(model, sources, &budget)?.reduced(reduction);
            native.explore(options, goal, checkpoints, progress)
        }
        SuccessorSource::Interpreted => interned(model, sources, |system| {
            let variety = Variety::default();
            SearchJob { options, goal, variety, checkpoints, progress }.search(system)
        }),
    }
}

/// Every visit that a published search makes, errors passed over; its figure and bound are those of the options.
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
    let (variety, checkpoints, goal) = (Variety::default(), &mut NoCheckpoints, Goal::First);
    let job = SearchJob { options, goal, variety, checkpoints, progress };
    let (made, complete) = job.published_visits(&mut native, published)?;
    let made = made.into_iter().map(|(state, visit)| (native.state_of(&state), visit)).collect();
    Ok(Visits { made, complete })
}

/// Searches with the interpreter.
pub(crate) fn interned(
    model: &Model,
    sources: &SourceMap,
    search: impl FnOnce(&mut dyn Successors) -> Result<SearchReport, CheckError>,
) -> Result<SearchReport, CheckError> {
    let interpreter = interpreter(model, sources)?;
    let private = PrivateLocations::new(model);
    let runs_alone: RunsAlone<'_, Interpreter<'_>> = Some(Box::new(|state, process| {
        let place = interpreter.place_of(state, process);
        place.is_some_and(|(code, location)| private.contains(code, location))
    }));
    search(&mut Interned::new(&interpreter, runs_alone))
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
    let how = How { weakly_fair, goal: Goal::First, in_turns: true };
    ask(question, model, sources, options, how, progress)
}

/// How a question is asked, beside the options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
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
    options: &SearchOptions,
    how: How,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let How { weakly_fair, goal, .. } = how;
    let model = &*question.model_of(model);
    let interpreter = &interpreter(model, sources)?;
    interpreter.work_within(&progress.budget().part(&options.limits));
    let spent = &Spent::nothing();
    let asked = CheckContext { question, model, sources, interpreter, options, weakly_fair, how, spent };
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
            search(&mut Interned::new(&traced, None), &options, goal, progress)
        }
        Check::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            asked.with(&ClaimMonitor::new(interpreter, claim), &automaton, progress)
        }
        Check::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            asked.with(&monitor, &Automaton::of_automaton(monitor.automaton())?, progress)
        }
        Check::Acceptance => {
            let monitor = AcceptanceMonitor { interpreter };
            asked.about_cycles(
                &monitor,
                &Automaton::of_accept_labels(),
                CycleMethod::NestedDepthFirst,
                progress,
            )
        }
        Check::Progress => {
            let monitor = NonProgressMonitor { interpreter };
            let automaton = Automaton::of_progress_labels();
            match monitor.judges_system() {
                true => asked.with(&monitor, &automaton, progress),
                false => asked.about_cycles(&monitor, &automaton, CycleMethod::NestedDepthFirst, progress),
            }
        }
    }
}

/// Is there an accepted run without end, by one algorithm or the other? The run shown need not be the simplest.
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
    let how = How { weakly_fair, goal: Goal::First, in_turns: false };
    let spent = &Spent::nothing();
    let asked = CheckContext { question, model, sources, interpreter, options, weakly_fair, how, spent };
    match question {
        Check::Safety | Check::Trace => return Ok(None),
        Check::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            asked.decide(&ClaimMonitor::new(interpreter, claim), &automaton, method, progress)
        }
        Check::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            asked.decide(&monitor, &Automaton::of_automaton(monitor.automaton())?, method, progress)
        }
        Check::Acceptance => {
            let monitor = AcceptanceMonitor { interpreter };
            asked.decide(&monitor, &Automaton::of_accept_labels(), method, progress)
        }
        Check::Progress => {
            let monitor = NonProgressMonitor { interpreter };
            asked.decide(&monitor, &Automaton::of_progress_labels(), method, progress)
        }
    }
    .map(Some)
}

/// What the searches for one question have used together.
struct Spent {
    started: Instant,
    states: Cell<u64>,
}

impl Spent {
    fn nothing() -> Spent {
        Spent { started: Instant::now(), states: Cell::new(0) }
    }

    fn states(&self, more: u64) {
        self.states.set(self.states.get() + more);
    }

    fn search(&self, report: SearchReport) -> SearchReport {
        self.states(report.visited);
        report
    }
}

/// Everything that is known about what is asked.
#[derive(Clone, Copy)]
struct CheckContext<'a, 'm> {
    question: &'a Check,
    model: &'m Model,
    sources: &'m SourceMap,
    interpreter: &'a Interpreter<'m>,
    /// Their limits are for everything together.
    options: &'a SearchOptions,
    weakly_fair: bool,
    how: How,
    spent: &'a Spent,
}

/// States on which a proof and a search are tried before either may take as long as it needs.
const SOME_STATES: u64 = 1_000_000;

impl<'m> CheckContext<'_, 'm> {
    /// First what the observer finds in a finite run, then what it finds in a run without end. Where a reduction applies,
    /// it is for the proof that there is neither; the simplest run is looked for without it. Each is tried on some states
    /// first: what is near is found soon, whichever of the two it is.
    fn with<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let is_native = self.options.successors == SuccessorSource::Native;
        // The proof is about what the observer sees.
        let reduces = is_native && self.reduction() != Reduction::None && !monitor.judges_system();
        let most = self.options.limits.states;
        let mut found = None;
        if reduces && self.how.in_turns && most.is_none_or(|most| most > SOME_STATES) {
            found = Some(self.finite_first(monitor, automaton, reduces, Some(SOME_STATES), progress)?);
        }
        let report = match found {
            Some(report) if report.outcome.verdict != Verdict::Inconclusive(StopReason::States) => report,
            Some(report) if self.within(None).limits.states == Some(0) => report,
            _ => self.finite_first(monitor, automaton, reduces, None, progress)?,
        };
        Ok(SearchReport { visited: self.spent.states.get(), ..report })
    }

    /// The options with what is left of states and time, and with at most so many states.
    fn within(&self, states: Option<u64>) -> SearchOptions {
        let limits = self.options.limits;
        let left = limits.states.map(|most| most.saturating_sub(self.spent.states.get()));
        let states = [states, left].into_iter().flatten().min();
        let time = limits.time.map(|most| most.saturating_sub(self.spent.started.elapsed()));
        SearchOptions { limits: Limits { states, time, ..limits }, ..self.options.clone() }
    }

    /// Each search has at most so many states.
    fn finite_first<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        reduces: bool,
        states: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        if reduces {
            let product = self.product(monitor, automaton)?;
            let (proof, visited) = liveness::proof(product, &self.within(states), progress)?;
            self.spent.states(visited);
            let is_final =
                |verdict| matches!(verdict, Verdict::Holds | Verdict::Inconclusive(StopReason::Interrupted));
            if let Some(proof) = proof.filter(|proof| is_final(proof.outcome.verdict)) {
                return Ok(proof);
            }
        }
        let options = &SearchOptions { reduction: Reduction::None, ..self.within(states) };
        let definition = Monitored { system: self.interpreter, monitor };
        let finite = match options.successors {
            SuccessorSource::Native => {
                let mut product = Product::new(self.model, self.sources, automaton.clone(), definition)?;
                search(&mut product, options, self.how.goal, progress)?
            }
            SuccessorSource::Interpreted => {
                search(&mut Interned::new(&definition, None), options, self.how.goal, progress)?
            }
        };
        let finite = self.spent.search(finite);
        let rest = self.within(states);
        match finite.outcome.verdict {
            Verdict::Holds => {
                let asked = CheckContext { options: &rest, ..*self };
                let method = CycleMethod::NestedDepthFirst;
                Ok(self.spent.search(asked.about_cycles(monitor, automaton, method, progress)?))
            }
            Verdict::Violated if automaton.may_accept(self.model) => {
                self.or_a_cheaper_loop(finite, rest, monitor, automaton, progress)
            }
            _ => Ok(finite),
        }
    }

    /// What was found in finite runs, and what a run without end violates at a lower cost. Under weak fairness such a run
    /// has no cost that could be compared.
    fn or_a_cheaper_loop<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        mut finite: SearchReport,
        rest: SearchOptions,
        monitor: &M,
        automaton: &Automaton,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        if self.weakly_fair || rest.order != Order::ByCost {
            return Ok(finite);
        }
        let of_run = |trace: &Trace| cost_of_run(self.interpreter, trace, rest.fair_switch);
        let wanted = Property::from(monitor.violation());
        // With [`Goal::All`] other violations may cost less; the loop is compared with its own kind.
        let same =
            finite.errors.iter().position(|error| self.how.goal == Goal::First || error.property == wanted);
        let known = same.map(|number| of_run(&finite.errors[number].trace));
        let most = SOME_STATES.max(4 * finite.outcome.stats.states);
        let states = rest.limits.states.map_or(most, |limit| limit.min(most));
        let options = SearchOptions {
            cheaper_than: [known, rest.cheaper_than].into_iter().flatten().min(),
            limits: Limits { states: Some(states), ..rest.limits },
            reduction: Reduction::None,
            ..rest
        };
        let asked = CheckContext { options: &options, ..*self };
        let lasso = asked.about_cycles(monitor, automaton, CycleMethod::NestedDepthFirst, progress)?;
        let lasso = self.spent.search(lasso);
        finite.outcome.stats.time += lasso.outcome.stats.time;
        match lasso.outcome.verdict {
            Verdict::Violated => {
                match same {
                    Some(number) => finite.errors.splice(number..=number, lasso.errors),
                    None => finite.errors.splice(0..0, lasso.errors),
                };
                finite.errors.sort_by_key(|error| of_run(&error.trace));
                let guarantee = finite.outcome.guarantee;
                let stats = lasso.outcome.stats;
                let first = finite.errors.first().cloned();
                let (violation, counterexample) = first.map(|error| (error.property, error.trace)).unzip();
                let verdict = Verdict::Violated;
                finite.outcome = Outcome { verdict, guarantee, violation, counterexample, stats };
                finite.simplest &= lasso.simplest;
            }
            Verdict::Holds => {}
            Verdict::Inconclusive(_) => finite.simplest = false,
        }
        Ok(finite)
    }

    /// The simplest run without end; under weak fairness, some run.
    fn about_cycles<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: CycleMethod,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        if self.options.successors == SuccessorSource::Interpreted {
            return self.by_definition(progress);
        }
        if self.weakly_fair {
            return liveness::fair(self.product(monitor, automaton)?, self.options, progress);
        }
        liveness::simplest(self.product(monitor, automaton)?, method, self.options, progress)
    }

    /// What the reference engine finds.
    fn by_definition(&self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let SearchOptions { bound, fair_switch, limits, cheaper_than, .. } = *self.options;
        let within = [bound, cheaper_than.map(|known| known.preemptions)].into_iter().flatten().min();
        let options = preempt_model::search::Options { bound: within, fair_switch, limits };
        let asking = CheckOptions { options, weakly_fair: self.weakly_fair };
        let mut outcome = self
            .question
            .answer_infinite(self.interpreter, &asking, progress)
            .map_err(|error| Unsupported(error.to_string()))?;
        let bounded = |most| Guarantee::Bounded(Bound { unit: Cost::Preemptions, most });
        outcome.guarantee = bound.map_or(Guarantee::Exhaustive, bounded);
        let is_cheaper = |trace: &Trace| {
            cheaper_than.is_none_or(|known| cost_of_run(self.interpreter, trace, fair_switch) < known)
        };
        if outcome.counterexample.as_ref().is_some_and(|trace| !is_cheaper(trace)) {
            outcome.stats.violations.clear();
            (outcome.violation, outcome.counterexample) = (None, None);
            // The search came to its end: within the known cost there is nothing.
            outcome.verdict = Verdict::conclude(false, progress.stop());
        }
        let errors = outcome.violation.clone().zip(outcome.counterexample.clone());
        let errors = errors.map(|(property, trace)| Counterexample { property, trace }).into_iter().collect();
        let visited = outcome.stats.states;
        Ok(SearchReport { outcome, errors, simplest: !self.weakly_fair, visited })
    }

    /// Machine code with the observer beside it, reduced as far as the question allows.
    fn product<'s, M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &'s self,
        monitor: &'s M,
        automaton: &Automaton,
    ) -> Result<Product<'s, 'm>, Unsupported> {
        let definition = Monitored { system: self.interpreter, monitor };
        let product = Product::new(self.model, self.sources, automaton.clone(), definition)?;
        Ok(product.reduced(self.model, self.reduction()))
    }

    fn reduction(&self) -> Reduction {
        match why_not_reduced(self.question, self.options, self.weakly_fair) {
            Some(_) => Reduction::None,
            None => self.options.reduction,
        }
    }

    fn decide<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: CycleMethod,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        liveness::decide(self.product(monitor, automaton)?, method, self.weakly_fair, self.options, progress)
    }
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
