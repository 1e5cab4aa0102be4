//! A check with an observer: what it finds in finite runs, what in runs without end, and which searches tell.

use super::{How, search_interned, why_not_reduced};
use crate::interned::Interned;
#[cfg(feature = "native")]
use crate::liveness::{self, CycleMethod};
use crate::observer::{FromObserverState, ObserverAutomaton as Automaton};
#[cfg(feature = "native")]
use crate::product::Product;
use crate::reduction::Reduction;
use crate::search::{Counterexample, Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport};
use crate::{CheckError, Unsupported};
use preempt_core::{
    Bound, Cost, Guarantee, Limits, Outcome, Progress, Property, SourceMap, StopReason, Trace, Verdict,
};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::monitor::{Monitor, Monitored};
use preempt_model::search::cost_of_run;
use preempt_model::{Interpreter, Model};
use std::cell::Cell;
use std::time::Instant;

/// What the searches for one question have used together.
pub(super) struct Spent {
    started: Instant,
    states: Cell<u64>,
}

impl Spent {
    pub fn nothing() -> Spent {
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
pub(super) struct CheckContext<'a, 'm> {
    pub question: &'a Check,
    pub model: &'m Model,
    pub sources: &'m SourceMap,
    pub interpreter: &'a Interpreter<'m>,
    pub how: How<'a>,
    pub spent: &'a Spent,
}

/// An observer by its definition, and as the automaton that machine code follows.
pub(super) struct Observer<'a, M> {
    pub monitor: &'a M,
    pub automaton: &'a Automaton,
}

impl<M> Clone for Observer<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Observer<'_, M> {}

/// States on which a proof and a search are tried before either may take as long as it needs.
const SOME_STATES: u64 = 1_000_000;

impl<'m> CheckContext<'_, 'm> {
    /// First what the observer finds in a finite run, then what it finds in a run without end. Where a reduction applies,
    /// it is for the proof that there is neither; the simplest run is looked for without it. Each is tried on some states
    /// first: what is near is found soon, whichever of the two it is.
    pub fn with<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        // The proof is about what the observer sees.
        let reduces = self.how.options.successors.is_native()
            && self.reduction() != Reduction::None
            && !observer.monitor.judges_system();
        let most = self.how.options.limits.states;
        let mut found = None;
        if reduces && self.how.in_turns && most.is_none_or(|most| most > SOME_STATES) {
            found = Some(self.finite_first(observer, reduces, Some(SOME_STATES), progress)?);
        }
        let report = match found {
            Some(report) if report.outcome.verdict != Verdict::Inconclusive(StopReason::States) => report,
            Some(report) if self.within(None).limits.states == Some(0) => report,
            _ => self.finite_first(observer, reduces, None, progress)?,
        };
        Ok(SearchReport { visited: self.spent.states.get(), ..report })
    }

    fn with_options<'b>(&'b self, options: &'b SearchOptions) -> CheckContext<'b, 'm> {
        CheckContext { how: How { options, ..self.how }, ..*self }
    }

    /// The options with what is left of states and time, and with at most so many states.
    fn within(&self, states: Option<u64>) -> SearchOptions {
        let limits = self.how.options.limits;
        let left = limits.states.map(|most| most.saturating_sub(self.spent.states.get()));
        let states = [states, left].into_iter().flatten().min();
        let time = limits.time.map(|most| most.saturating_sub(self.spent.started.elapsed()));
        SearchOptions { limits: Limits { states, time, ..limits }, ..self.how.options.clone() }
    }

    /// Each search has at most so many states.
    fn finite_first<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        reduces: bool,
        states: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        if reduces && let Some(proof) = self.proof(observer, states, progress)? {
            return Ok(proof);
        }
        let options = &SearchOptions { reduction: Reduction::None, ..self.within(states) };
        let finite = self.spent.search(self.finite_runs(observer, options, progress)?);
        let rest = self.within(states);
        match finite.outcome.verdict {
            Verdict::Holds => {
                let asked = self.with_options(&rest);
                Ok(self.spent.search(asked.about_cycles(observer, progress)?))
            }
            Verdict::Violated if observer.automaton.may_accept(self.model) => {
                self.or_a_cheaper_loop(finite, rest, observer, progress)
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
        observer: Observer<'_, M>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        if self.how.weakly_fair || rest.order != Order::ByCost {
            return Ok(finite);
        }
        let of_run = |trace: &Trace| cost_of_run(self.interpreter, trace, rest.fair_switch);
        let wanted = Property::from(observer.monitor.violation());
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
        let asked = self.with_options(&options);
        let lasso = asked.about_cycles(observer, progress)?;
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

    /// What the observer finds in finite runs.
    fn finite_runs<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        options: &SearchOptions,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let definition = Monitored { system: self.interpreter, monitor: observer.monitor };
        #[cfg(feature = "native")]
        if options.successors.is_native() {
            let mut product = Product::new(self.model, self.sources, observer.automaton.clone(), definition)?;
            let (goal, checkpoints) = (self.how.goal, &mut NoCheckpoints);
            return SearchJob::new(options, goal, checkpoints, progress).search_by_all(&mut product);
        }
        let checkpoints = &mut NoCheckpoints;
        let job = SearchJob::new(options, self.how.goal, checkpoints, progress);
        search_interned(Interned::new(&definition, None), job)
    }

    /// Shows that nothing is violated, in finite runs or without end, if that can be shown within so many states.
    #[cfg(feature = "native")]
    fn proof<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        states: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<Option<SearchReport>, CheckError> {
        let product = self.product(observer)?;
        let (proof, visited) = liveness::proof(product, &self.within(states), progress)?;
        self.spent.states(visited);
        let is_final =
            |verdict| matches!(verdict, Verdict::Holds | Verdict::Inconclusive(StopReason::Interrupted));
        Ok(proof.filter(|proof| is_final(proof.outcome.verdict)))
    }

    /// The interpreter knows no reduction that such a proof could use.
    #[cfg(not(feature = "native"))]
    fn proof<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        _: Observer<'_, M>,
        _: Option<u64>,
        _: &mut dyn Progress,
    ) -> Result<Option<SearchReport>, CheckError> {
        Ok(None)
    }

    /// The simplest run without end; under weak fairness, some run.
    pub fn about_cycles<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        #[cfg(feature = "native")]
        if self.how.options.successors.is_native() {
            let product = self.product(observer)?;
            return match self.how.weakly_fair {
                true => liveness::fair(product, self.how.options, progress),
                false => {
                    let method = CycleMethod::NestedDepthFirst;
                    liveness::simplest(product, method, self.how.options, progress)
                }
            };
        }
        let _ = observer;
        self.by_definition(progress)
    }

    /// What the reference engine finds.
    fn by_definition(&self, progress: &mut dyn Progress) -> Result<SearchReport, CheckError> {
        let SearchOptions { bound, fair_switch, limits, cheaper_than, .. } = *self.how.options;
        let within = [bound, cheaper_than.map(|known| known.preemptions)].into_iter().flatten().min();
        let options = preempt_model::search::ReferenceOptions { bound: within, fair_switch, limits };
        let asking = CheckOptions { search: options, weakly_fair: self.how.weakly_fair };
        let mut outcome = self
            .question
            .check_infinite(self.interpreter, &asking, progress)
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
        Ok(SearchReport { outcome, errors, simplest: !self.how.weakly_fair, visited })
    }

    /// Machine code with the observer beside it, reduced as far as the question allows.
    #[cfg(feature = "native")]
    fn product<'s, M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &'s self,
        observer: Observer<'s, M>,
    ) -> Result<Product<'s, 'm>, Unsupported> {
        let definition = Monitored { system: self.interpreter, monitor: observer.monitor };
        let product = Product::new(self.model, self.sources, observer.automaton.clone(), definition)?;
        Ok(product.reduced(self.model, self.reduction()))
    }

    fn reduction(&self) -> Reduction {
        match why_not_reduced(self.question, self.how.options, self.how.weakly_fair) {
            Some(_) => Reduction::None,
            None => self.how.options.reduction,
        }
    }

    #[cfg(feature = "native")]
    pub fn decide<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        observer: Observer<'_, M>,
        method: CycleMethod,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        liveness::decide(self.product(observer)?, method, self.how.weakly_fair, self.how.options, progress)
    }
}
