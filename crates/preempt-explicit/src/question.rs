//! How each question about a model is answered here, and any system of one's own.

use crate::interned::{Interned, RunsAlone};
use crate::liveness::{self, Method};
use crate::native::Native;
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::reduction::statics::optimised;
use crate::search::{
    Checkpoints, Error, Figure, Goal, NoCheckpoints, Options, Order, Published, Report, Source, Storage,
    Visits, search, search_saved, told_of, visits,
};
use crate::watched::{Observer as Automaton, PlaceOf, Watched};
use crate::{Refusal, Unsupported};
use preempt_core::{
    Bound, Cost, Guarantee, Limits, Observer, Outcome, Property, SourceMap, StopReason, Trace, Verdict,
};
use preempt_model::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
};
use preempt_model::question::{Asking, Question};
use preempt_model::search::cost_of_run;
use preempt_model::system::System;
use preempt_model::{Interpreter, Model};
use std::time::Instant;

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
    if options.reduction == Reduction::Strong && options.order != Order::DepthFirst {
        return Err(Unsupported("the strong reduction in the order of cost".into()).into());
    }
    if options.statics {
        let changed = optimised(model);
        let options = Options { statics: false, ..options.clone() };
        let mut report = explore_saved(&changed, sources, &options, goal, checkpoints, observer)?;
        report.simplest = false;
        let (own, changed) = (interpreter(model, sources)?, interpreter(&changed, sources)?);
        if told_of(&own, &changed, &mut report, options.fair_switch) {
            return Ok(report);
        }
        // The steps of a run could not be told apart: then it is found in the model as it stands.
        return explore_saved(model, sources, &options, goal, checkpoints, observer);
    }
    match options.successors {
        Source::Native => {
            // Private steps are the safe ones of the paper's ample sets, too.
            let reduction = match options.order {
                Order::Published(published) if published.figure == Figure::WithReduction => Reduction::Exact,
                _ => options.reduction,
            };
            let budget = observer.budget().part(&options.limits);
            let native = Native::within(model, sources, &budget)?.reduced(reduction);
            search_saved(native, options, goal, checkpoints, observer)
        }
        Source::Interpreted => {
            interned(model, sources, |system| search_saved(system, options, goal, checkpoints, observer))
        }
    }
}

/// Every visit that a published search makes, errors passed over; its figure and bound are those of the options.
pub fn published_visits<'m>(
    model: &'m Model,
    sources: &'m SourceMap,
    published: Published,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Visits<Interpreter<'m>>, Refusal> {
    let reduction = match published.figure {
        Figure::WithReduction => Reduction::Exact,
        Figure::NaiveBounded | Figure::ContextBounded => Reduction::None,
    };
    visits(Native::new(model, sources)?.reduced(reduction), published, options, observer)
}

/// Searches with the interpreter.
pub(crate) fn interned(
    model: &Model,
    sources: &SourceMap,
    search: impl FnOnce(Interned<'_, Interpreter<'_>>) -> Result<Report, Refusal>,
) -> Result<Report, Refusal> {
    let interpreter = interpreter(model, sources)?;
    let private = PrivateLocations::new(model);
    let runs_alone: RunsAlone<'_, Interpreter<'_>> = Some(Box::new(|state, process| {
        let place = interpreter.place_of(state, process);
        place.is_some_and(|(code, location)| private.contains(code, location))
    }));
    search(Interned::new(&interpreter, runs_alone))
}

/// The answer to any question about a model.
pub fn answer(
    question: &Question,
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    weakly_fair: bool,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let how = How { weakly_fair, goal: Goal::First, in_turns: true };
    ask(question, model, sources, options, how, observer)
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
    question: &Question,
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    how: How,
    observer: &mut dyn Observer,
) -> Result<Report, Refusal> {
    let How { weakly_fair, goal, .. } = how;
    let interpreter = &interpreter(model, sources)?;
    interpreter.work_within(&observer.budget().part(&options.limits));
    let asked = Asked { question, model, sources, interpreter, options, weakly_fair, how };
    let keeps_states = options.store == Storage::Exact && !matches!(options.order, Order::Random(_));
    if !keeps_states && *question != Question::Safety {
        return Err(Unsupported("claims and cycles in a search that does not keep states".into()).into());
    }
    match question {
        Question::Safety => explore(model, sources, options, goal, observer),
        Question::Trace => {
            let Some(assertion) = &model.trace_assertion else {
                return explore(model, sources, options, goal, observer);
            };
            let traced = Traced::new(interpreter, assertion);
            // No reduction knows what the assertion sees.
            let options = Options { reduction: Reduction::None, ..options.clone() };
            search(Interned::new(&traced, None), &options, goal, observer)
        }
        Question::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            asked.with(&ClaimMonitor::new(interpreter, claim), &automaton, observer)
        }
        Question::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            asked.with(&monitor, &Automaton::of_automaton(monitor.automaton())?, observer)
        }
        Question::Acceptance => {
            let monitor = AcceptanceMonitor { interpreter };
            asked.about_cycles(&monitor, &Automaton::of_accept_labels(), Method::NestedDepthFirst, observer)
        }
        Question::Progress => {
            let monitor = NonProgressMonitor { interpreter };
            asked.about_cycles(&monitor, &Automaton::of_progress_labels(), Method::NestedDepthFirst, observer)
        }
    }
}

/// Is there an accepted run without end, by one algorithm or the other? The run shown need not be the simplest.
pub fn decide_cycles(
    question: &Question,
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    (method, weakly_fair): (Method, bool),
    observer: &mut dyn Observer,
) -> Result<Option<Report>, Refusal> {
    let interpreter = &interpreter(model, sources)?;
    let how = How { weakly_fair, goal: Goal::First, in_turns: false };
    let asked = Asked { question, model, sources, interpreter, options, weakly_fair, how };
    match question {
        Question::Safety | Question::Trace => return Ok(None),
        Question::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            asked.decide(&ClaimMonitor::new(interpreter, claim), &automaton, method, observer)
        }
        Question::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            asked.decide(&monitor, &Automaton::of_automaton(monitor.automaton())?, method, observer)
        }
        Question::Acceptance => {
            let monitor = AcceptanceMonitor { interpreter };
            asked.decide(&monitor, &Automaton::of_accept_labels(), method, observer)
        }
        Question::Progress => {
            let monitor = NonProgressMonitor { interpreter };
            asked.decide(&monitor, &Automaton::of_progress_labels(), method, observer)
        }
    }
    .map(Some)
}

/// Everything that is known about what is asked.
#[derive(Clone, Copy)]
struct Asked<'a, 'm> {
    question: &'a Question,
    model: &'m Model,
    sources: &'m SourceMap,
    interpreter: &'a Interpreter<'m>,
    options: &'a Options,
    weakly_fair: bool,
    how: How,
}

/// States on which a proof and a search are tried before either may take as long as it needs.
const SOME_STATES: u64 = 1_000_000;

impl<'m> Asked<'_, 'm> {
    /// First what the observer finds in a finite run, then what it finds in a run without end. Where a reduction applies,
    /// it is for the proof that there is neither; the simplest run is looked for without it. Each is tried on some states
    /// first: what is near is found soon, whichever of the two it is.
    fn with<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let started = Instant::now();
        let is_native = self.options.successors == Source::Native;
        let reduces = is_native && self.reduction() != Reduction::None;
        let most = self.options.limits.states;
        if reduces && self.how.in_turns && most.is_none_or(|most| most > SOME_STATES) {
            let some = self.within(Some(SOME_STATES), started);
            let asked = Asked { options: &some, ..*self };
            let report = asked.finite_first(monitor, automaton, reduces, observer)?;
            if report.outcome.verdict != Verdict::Inconclusive(StopReason::States) {
                return Ok(report);
            }
        }
        let rest = self.within(most, started);
        Asked { options: &rest, ..*self }.finite_first(monitor, automaton, reduces, observer)
    }

    /// The options with this limit of states, and with what is left of the time.
    fn within(&self, states: Option<u64>, started: Instant) -> Options {
        let time = self.options.limits.time.map(|most| most.saturating_sub(started.elapsed()));
        Options { limits: Limits { states, time, ..self.options.limits }, ..self.options.clone() }
    }

    fn finite_first<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        reduces: bool,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let states = self.options.limits.states;
        let started = Instant::now();
        if reduces
            && let Some(proof) = liveness::proof(self.watched(monitor, automaton)?, self.options, observer)?
            && matches!(
                proof.outcome.verdict,
                Verdict::Holds | Verdict::Inconclusive(StopReason::Interrupted)
            )
        {
            return Ok(proof);
        }
        let options = &Options { reduction: Reduction::None, ..self.within(states, started) };
        let meaning = Monitored { system: self.interpreter, monitor };
        let finite = match options.successors {
            Source::Native => {
                let watched = Watched::new(self.model, self.sources, automaton.clone(), meaning)?;
                search(watched, options, self.how.goal, observer)?
            }
            Source::Interpreted => search(Interned::new(&meaning, None), options, self.how.goal, observer)?,
        };
        let rest = self.within(states, started);
        match finite.outcome.verdict {
            Verdict::Holds => {
                let asked = Asked { options: &rest, ..*self };
                asked.about_cycles(monitor, automaton, Method::NestedDepthFirst, observer)
            }
            Verdict::Violated if automaton.may_accept(self.model) => {
                self.or_a_cheaper_loop(finite, rest, monitor, automaton, observer)
            }
            _ => Ok(finite),
        }
    }

    /// What was found in finite runs, and what a run without end violates at a lower cost. Under weak fairness such a run
    /// has no cost that could be compared.
    fn or_a_cheaper_loop<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        mut finite: Report,
        rest: Options,
        monitor: &M,
        automaton: &Automaton,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
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
        let options = Options {
            cheaper_than: [known, rest.cheaper_than].into_iter().flatten().min(),
            limits: Limits { states: Some(states), ..rest.limits },
            reduction: Reduction::None,
            ..rest
        };
        let asked = Asked { options: &options, ..*self };
        let lasso = asked.about_cycles(monitor, automaton, Method::NestedDepthFirst, observer)?;
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
    fn about_cycles<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: Method,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        if self.options.successors == Source::Interpreted {
            return self.by_definition(observer);
        }
        if self.weakly_fair {
            return liveness::fair(self.watched(monitor, automaton)?, self.options, observer);
        }
        liveness::simplest(self.watched(monitor, automaton)?, method, self.options, observer)
    }

    /// What the reference engine finds.
    fn by_definition(&self, observer: &mut dyn Observer) -> Result<Report, Refusal> {
        let Options { bound, fair_switch, limits, cheaper_than, .. } = *self.options;
        let within = [bound, cheaper_than.map(|known| known.preemptions)].into_iter().flatten().min();
        let options = preempt_model::search::Options { bound: within, fair_switch, limits };
        let asking = Asking { options, weakly_fair: self.weakly_fair };
        let mut outcome = self
            .question
            .answer_infinite(self.interpreter, &asking, observer)
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
            outcome.verdict = Verdict::conclude(false, observer.stop());
        }
        let errors = outcome.violation.clone().zip(outcome.counterexample.clone());
        let errors = errors.map(|(property, trace)| Error { property, trace }).into_iter().collect();
        Ok(Report { outcome, errors, simplest: !self.weakly_fair })
    }

    /// Machine code with the observer beside it, reduced as far as the question allows.
    fn watched<'s, M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &'s self,
        monitor: &'s M,
        automaton: &Automaton,
    ) -> Result<Watched<'s, 'm, M>, Unsupported> {
        let meaning = Monitored { system: self.interpreter, monitor };
        let watched = Watched::new(self.model, self.sources, automaton.clone(), meaning)?;
        Ok(watched.reduced(self.model, self.reduction()))
    }

    fn reduction(&self) -> Reduction {
        match why_not_reduced(self.question, self.options, self.weakly_fair) {
            Some(_) => Reduction::None,
            None => self.options.reduction,
        }
    }

    fn decide<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: Method,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        liveness::decide(self.watched(monitor, automaton)?, method, self.weakly_fair, self.options, observer)
    }
}

/// Why no reduction applies to a question about runs without end, if so.
pub fn why_not_reduced(question: &Question, options: &Options, weakly_fair: bool) -> Option<&'static str> {
    match question {
        Question::Safety | Question::Trace => None,
        // A run that is as good to the observer need not be fair: a process may have moved only where it was left out.
        _ if weakly_fair => Some("a reduction may leave out the fair runs"),
        _ if options.bound.is_some() => Some("within a bound every run without end counts"),
        Question::Claim(_) if !options.stutter_invariant => {
            Some("a never claim may count how often a state is repeated")
        }
        Question::Formula(formula) if formula.formula.has_next() && !options.stutter_invariant => {
            Some("a formula with X counts how often a state is repeated")
        }
        Question::Claim(_) | Question::Formula(_) | Question::Acceptance | Question::Progress => None,
    }
}

pub(crate) fn interpreter<'m>(
    model: &'m Model,
    sources: &'m SourceMap,
) -> Result<Interpreter<'m>, Unsupported> {
    Interpreter::new(model, sources)
        .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))
}
