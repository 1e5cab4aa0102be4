//! How each question about a model is answered here, and any system of one's own.

use crate::interned::{Interned, RunsAlone};
use crate::liveness::{self, Method};
use crate::native::Native;
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::search::{
    Checkpoints, Figure, Goal, NoCheckpoints, Options, Order, Report, Source, Storage, search, search_saved,
};
use crate::watched::{Observer as Automaton, PlaceOf, Watched};
use crate::{Refusal, Unsupported};
use preempt_core::{Limits, Observer, Outcome, SourceMap, Verdict};
use preempt_model::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
};
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
    if options.reduction == Reduction::Strong && options.order != Order::DepthFirst {
        return Err(Unsupported("the strong reduction in the order of cost".into()).into());
    }
    match options.successors {
        Source::Native => {
            // Private steps are the safe ones of the paper's ample sets, too.
            let reduction = match options.order {
                Order::Published(published) if published.figure == Figure::WithReduction => Reduction::Exact,
                _ => options.reduction,
            };
            let native = Native::new(model, sources)?.reduced(reduction);
            search_saved(native, options, goal, checkpoints, observer)
        }
        Source::Interpreted => {
            interned(model, sources, |system| search_saved(system, options, goal, checkpoints, observer))
        }
    }
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
    let interpreter = &interpreter(model, sources)?;
    let asked = Asked { question, model, sources, interpreter, options, weakly_fair };
    let keeps_states = options.store == Storage::Exact && !matches!(options.order, Order::Random(_));
    if !keeps_states && *question != Question::Safety {
        return Err(Unsupported("claims and cycles in a search that does not keep states".into()).into());
    }
    match question {
        Question::Safety => explore(model, sources, options, Goal::First, observer),
        Question::Trace => {
            let Some(assertion) = &model.trace_assertion else {
                return explore(model, sources, options, Goal::First, observer);
            };
            let traced = Traced::new(interpreter, assertion);
            search(Interned::new(&traced, None), options, Goal::First, observer)
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
    let asked = Asked { question, model, sources, interpreter, options, weakly_fair };
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
struct Asked<'a, 'm> {
    question: &'a Question,
    model: &'m Model,
    sources: &'m SourceMap,
    interpreter: &'a Interpreter<'m>,
    options: &'a Options,
    weakly_fair: bool,
}

/// States that the reference engine may visit to find the simplest run without end, where one is known already.
const SIMPLEST_STATES: u64 = 200_000;

impl<'m> Asked<'_, 'm> {
    /// First what the observer finds in a finite run, then what it finds in a run without end. Reductions do not
    /// apply: an observer may see every step.
    fn with<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let options = &Options { reduction: Reduction::None, ..self.options.clone() };
        let meaning = Monitored { system: self.interpreter, monitor };
        let finite = match options.successors {
            Source::Native => {
                let watched = Watched::new(self.model, self.sources, automaton.clone(), meaning)?;
                search(watched, options, Goal::First, observer)?
            }
            Source::Interpreted => search(Interned::new(&meaning, None), options, Goal::First, observer)?,
        };
        match finite.outcome.verdict {
            Verdict::Holds => self.about_cycles(monitor, automaton, Method::NestedDepthFirst, observer),
            Verdict::Violated | Verdict::Inconclusive(_) => Ok(finite),
        }
    }

    /// Machine code decides whether there is a run without end at all; the reference engine knows the simplest, and
    /// whether there is one within a bound.
    fn about_cycles<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: Method,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let Options { bound, fair_switch, limits, .. } = *self.options;
        let options = preempt_model::search::Options { bound, fair_switch, limits };
        if self.options.successors == Source::Interpreted {
            return self.simplest(options, observer);
        }
        let mut decided = self.decide(monitor, automaton, method, observer)?;
        decided.outcome.guarantee = preempt_model::search::guarantee(&options);
        if decided.outcome.verdict != Verdict::Violated {
            return Ok(decided);
        }
        if bound.is_some() {
            return self.simplest(options, observer);
        }
        let most = limits.states.map_or(SIMPLEST_STATES, |most| most.min(SIMPLEST_STATES));
        let limits = Limits { states: Some(most), ..limits };
        let simplest = self.simplest(preempt_model::search::Options { limits, ..options }, observer)?;
        Ok(if simplest.outcome.verdict == Verdict::Violated { simplest } else { decided })
    }

    fn simplest(
        &self,
        options: preempt_model::search::Options,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let asking = Asking { options, weakly_fair: self.weakly_fair };
        let outcome = self
            .question
            .answer_infinite(self.interpreter, &asking, observer)
            .map_err(|error| Unsupported(error.to_string()))?;
        Ok(Report { outcome, errors: Vec::new(), simplest: !self.weakly_fair })
    }

    fn decide<M: Monitor<Interpreter<'m>, Place: PlaceOf>>(
        &self,
        monitor: &M,
        automaton: &Automaton,
        method: Method,
        observer: &mut dyn Observer,
    ) -> Result<Report, Refusal> {
        let meaning = Monitored { system: self.interpreter, monitor };
        let watched = Watched::new(self.model, self.sources, automaton.clone(), meaning)?;
        liveness::check(watched, method, self.weakly_fair, self.options, observer)
    }
}

fn interpreter<'m>(model: &'m Model, sources: &'m SourceMap) -> Result<Interpreter<'m>, Unsupported> {
    Interpreter::new(model, sources)
        .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))
}
