//! What can be checked of a model, and how the reference searches do it.
//!
//! A violation that a finite run shows is looked for first; then, for what runs without end can violate, a lasso that costs less
//! than the finite run. So the run that is shown is the simplest of all that violate the property.

use crate::interpreter::{Fault, Interpreter};
use crate::ltl::TooLarge;
use crate::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
    finds_violation,
};
use crate::program::{CodeId, Model};
use crate::property::Formula;
use crate::search::{self, ReferenceOptions, Replayed, RunCost, cost_of_run};
use preempt_core::{Limits, Outcome, Progress, Trace, Verdict};
use std::borrow::Cow;
use std::fmt;
use std::time::Instant;

/// One property, or one family of properties, of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// Assertions, run-time errors, invalid end states, exclusive channels.
    Safety,
    /// The model's `trace` or `notrace`.
    Trace,
    /// A never claim of the model, by number.
    Claim(usize),
    /// A formula: one of the model's, or one given apart from it.
    Formula(Formula),
    /// No accept label is passed infinitely often.
    Acceptance,
    /// Progress labels are passed again and again.
    Progress,
}

/// How a check is done.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// How the reference searches go.
    pub search: ReferenceOptions,
    /// Only runs count in which every process that could always move does.
    pub weakly_fair: bool,
}

/// An outcome with what its run costs.
#[derive(Debug, Clone)]
pub struct CheckResult {
    /// Verdict, run and numbers.
    pub outcome: Outcome,
    /// Of the run that violates the property.
    pub cost: Option<RunCost>,
    /// Is it certain that no run costs less?
    pub simplest: bool,
    /// States that were met, by all searches together.
    pub visited: u64,
}

/// Why a check has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uncheckable {
    /// No automaton was made of the formula.
    Formula(TooLarge),
    /// The initial values have no meaning while a claim watches.
    Start(Fault),
}

impl fmt::Display for Uncheckable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncheckable::Formula(why) => why.fmt(f),
            Uncheckable::Start(Fault(why)) => {
                write!(f, "an initial value has no meaning where `_nr_pr` counts the claim: {why}")
            }
        }
    }
}

impl std::error::Error for Uncheckable {}

impl From<TooLarge> for Uncheckable {
    fn from(why: TooLarge) -> Uncheckable {
        Uncheckable::Formula(why)
    }
}

impl From<Fault> for Uncheckable {
    fn from(why: Fault) -> Uncheckable {
        Uncheckable::Start(why)
    }
}

impl Check {
    /// Everything that a model says about itself, in the order in which it is checked.
    pub fn all(model: &Model) -> Vec<Check> {
        let mut checks = vec![Check::Safety];
        checks.extend(model.trace_assertion.as_ref().map(|_| Check::Trace));
        checks.extend((0..model.claims.len()).map(Check::Claim));
        checks.extend(model.formulas.iter().cloned().map(Check::Formula));
        let processes = || model.start.iter().map(|start| start.code).chain(started(model));
        let accepts = |code| model.code(code).locations.iter().any(|location| location.accept);
        if processes().any(accepts) {
            checks.push(Check::Acceptance);
        }
        checks
    }

    /// As it is called in reports.
    pub fn name(&self, model: &Model) -> String {
        match self {
            Check::Safety => "safety".into(),
            Check::Trace => "trace".into(),
            Check::Claim(number) => format!("never {}", model.claims[*number].name),
            Check::Formula(formula) => format!("ltl {}", formula.name),
            Check::Acceptance => "no acceptance cycle".into(),
            Check::Progress => "progress".into(),
        }
    }

    /// Is it done by a claim that goes along with the processes?
    pub fn has_claim(&self) -> bool {
        match self {
            Check::Claim(_) | Check::Formula(_) | Check::Progress => true,
            Check::Safety | Check::Trace | Check::Acceptance => false,
        }
    }

    /// The model as this check sees it: to Spin a claim is a process, and counts in `_nr_pr` wherever that is read. So a
    /// model may behave otherwise while it is watched, and every run belongs to the model of its check.
    pub fn model_of<'m>(&self, model: &'m Model) -> Cow<'m, Model> {
        model.counting_claim(self.has_claim())
    }

    /// Is the property violated by this run of [its model](Check::model_of)? `recorded` is what `run` was
    /// replayed from.
    pub fn is_violated_by<'m>(
        &self,
        interpreter: &Interpreter<'m>,
        run: &Replayed<Interpreter<'m>>,
        recorded: &Trace,
    ) -> Result<bool, Uncheckable> {
        let model = interpreter.model();
        if model.counts_claim != self.has_claim() {
            return Ok(false);
        }
        let loop_start = recorded.loop_start;
        Ok(match self {
            Check::Safety => {
                run.violation.is_some()
                    || run.last_state.as_ref().is_some_and(|state| search::is_deadlock(interpreter, state))
            }
            Check::Trace => model.trace_assertion.as_ref().is_some_and(|assertion| {
                let traced = Traced::new(interpreter, assertion);
                search::recognise(&traced, recorded)
                    .and_then(|found| search::replay(&traced, &found.initial, &found.steps, false))
                    .is_ok_and(|run| run.violation.is_some())
            }),
            Check::Claim(number) => {
                found_in(&ClaimMonitor::new(interpreter, &model.claims[*number]), run, loop_start)
            }
            Check::Formula(formula) => {
                found_in(&BuchiMonitor::of_formula(interpreter, formula)?, run, loop_start)
            }
            Check::Acceptance => found_in(&AcceptanceMonitor { interpreter }, run, loop_start),
            Check::Progress => found_in(&NonProgressMonitor { interpreter }, run, loop_start),
        })
    }

    /// The simplest run that violates the property, or the proof that there is none.
    ///
    /// ```
    /// use preempt_core::{Silent, SourceMap, Verdict};
    /// use preempt_model::check::{Check, CheckOptions};
    /// use preempt_model::{Interpreter, Model};
    ///
    /// let (model, sources) = (Model::default(), SourceMap::new());
    /// let interpreter = Interpreter::new(&model, &sources).expect("nothing can be wrong in an empty model");
    /// let outcome = Check::Safety.check(&interpreter, &CheckOptions::default(), &mut Silent)?;
    /// assert_eq!(outcome.verdict, Verdict::Holds);
    /// # Ok::<(), preempt_model::check::Uncheckable>(())
    /// ```
    pub fn check(
        &self,
        interpreter: &Interpreter<'_>,
        options: &CheckOptions,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Uncheckable> {
        self.check_cheapest(interpreter, options, progress).map(|result| result.outcome)
    }

    /// The same, with what the run costs. A run without end may cost less than the cheapest finite one; under weak
    /// fairness such a run has no cost, and is shown only if there is no other.
    pub fn check_cheapest(
        &self,
        interpreter: &Interpreter<'_>,
        options: &CheckOptions,
        progress: &mut dyn Progress,
    ) -> Result<CheckResult, Uncheckable> {
        let own = self.model_of(interpreter.model());
        self.check_observed(&interpreter.of(&own)?, options, progress)
    }

    /// About the model of the check itself.
    fn check_observed(
        &self,
        interpreter: &Interpreter<'_>,
        options: &CheckOptions,
        progress: &mut dyn Progress,
    ) -> Result<CheckResult, Uncheckable> {
        let started = Instant::now();
        let rest = |bound, visited: u64| {
            let limits = options.search.limits;
            let time = limits.time.map(|most| most.saturating_sub(started.elapsed()));
            let states = limits.states.map(|most| most.saturating_sub(visited));
            let limits = Limits { states, time, ..limits };
            CheckOptions { search: ReferenceOptions { bound, limits, ..options.search.clone() }, ..*options }
        };
        let result_of = |outcome: Outcome, simplest: bool| {
            let of_run = |trace: &Trace| cost_of_run(interpreter, trace, options.search.fair_switch);
            let cost = outcome.counterexample.as_ref().map(of_run);
            let visited = outcome.stats.states;
            CheckResult { simplest: simplest && cost.is_some(), cost, outcome, visited }
        };
        let finite = self.check_finite(interpreter, options, progress)?;
        let visited = finite.as_ref().map_or(0, |outcome| outcome.stats.states);
        let finite = match finite {
            Some(outcome) if outcome.verdict != Verdict::Holds || !self.is_about_cycles() => {
                result_of(outcome, true)
            }
            _ => {
                let options = rest(options.search.bound, visited);
                let infinite = self.check_infinite(interpreter, &options, progress)?;
                let result = result_of(infinite, !options.weakly_fair);
                return Ok(CheckResult { visited: result.visited + visited, ..result });
            }
        };
        let Some(cost) = finite.cost.filter(|_| self.is_about_cycles() && !options.weakly_fair) else {
            return Ok(finite);
        };
        let infinite = self.check_infinite(interpreter, &rest(Some(cost.preemptions), visited), progress)?;
        let guarantee = finite.outcome.guarantee;
        let infinite = result_of(Outcome { guarantee, ..infinite }, true);
        let visited = visited + infinite.visited;
        let result = match infinite.cost {
            Some(other) if other < cost => infinite,
            _ => CheckResult {
                simplest: !matches!(infinite.outcome.verdict, Verdict::Inconclusive(_)),
                ..finite
            },
        };
        Ok(CheckResult { visited, ..result })
    }

    /// Can a run without end violate it?
    pub fn is_about_cycles(&self) -> bool {
        !matches!(self, Check::Safety | Check::Trace)
    }

    /// What is found in a finite run; `None` if only a run without end can violate the property.
    fn check_finite(
        &self,
        interpreter: &Interpreter<'_>,
        options: &CheckOptions,
        progress: &mut dyn Progress,
    ) -> Result<Option<Outcome>, Uncheckable> {
        let model = interpreter.model();
        let options = &options.search;
        Ok(match (self, &model.trace_assertion) {
            (Check::Trace, Some(assertion)) => {
                Some(search::check(&Traced::new(interpreter, assertion), options, progress))
            }
            (Check::Safety | Check::Trace, _) => Some(search::check(interpreter, options, progress)),
            (Check::Claim(number), _) => {
                let monitor = &ClaimMonitor::new(interpreter, &model.claims[*number]);
                Some(search::check(&Monitored { system: interpreter, monitor }, options, progress))
            }
            (Check::Formula(formula), _) => {
                let monitor = &BuchiMonitor::of_formula(interpreter, formula)?;
                Some(search::check(&Monitored { system: interpreter, monitor }, options, progress))
            }
            (Check::Progress, _) if interpreter.feels_claim() => {
                let monitor = &NonProgressMonitor { interpreter };
                Some(search::check(&Monitored { system: interpreter, monitor }, options, progress))
            }
            (Check::Acceptance | Check::Progress, _) => None,
        })
    }

    /// What is found in a run without end.
    pub fn check_infinite(
        &self,
        interpreter: &Interpreter<'_>,
        options: &CheckOptions,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Uncheckable> {
        let own = self.model_of(interpreter.model());
        let interpreter = &interpreter.of(&own)?;
        let model = interpreter.model();
        Ok(match self {
            Check::Safety | Check::Trace => search::check(interpreter, &options.search, progress),
            Check::Claim(number) => {
                let monitor = ClaimMonitor::new(interpreter, &model.claims[*number]);
                cycles(interpreter, &monitor, options, progress)
            }
            Check::Formula(formula) => {
                cycles(interpreter, &BuchiMonitor::of_formula(interpreter, formula)?, options, progress)
            }
            Check::Acceptance => cycles(interpreter, &AcceptanceMonitor { interpreter }, options, progress),
            Check::Progress => cycles(interpreter, &NonProgressMonitor { interpreter }, options, progress),
        })
    }
}

fn found_in<'m, M: Monitor<Interpreter<'m>>>(
    monitor: &M,
    run: &Replayed<Interpreter<'m>>,
    loop_start: Option<usize>,
) -> bool {
    let total = run.trace.steps.len();
    let first = loop_start.and_then(|start| run.stable.iter().position(|(steps, _)| *steps == start));
    if loop_start.is_some() && first.is_none() {
        return false;
    }
    let mut states: Vec<_> = run.stable.iter().map(|(_, state)| state.clone()).collect();
    // Coming back, the last state is the first of the loop again; a loop without steps repeats it.
    if loop_start.is_some_and(|start| start < total) {
        let back = states.pop();
        if back.as_ref() != first.map(|first| &run.stable[first].1) {
            return false;
        }
    }
    finds_violation(monitor, &states, first)
}

/// Codes that some command starts.
fn started(model: &Model) -> impl Iterator<Item = CodeId> {
    model.edges().filter_map(|edge| match &edge.command {
        crate::command::Command::Run { code, .. } => Some(*code),
        _ => None,
    })
}

fn cycles<'m, M: Monitor<Interpreter<'m>>>(
    interpreter: &Interpreter<'m>,
    monitor: &M,
    options: &CheckOptions,
    progress: &mut dyn Progress,
) -> Outcome {
    search::check_cycles(interpreter, monitor, options.weakly_fair, &options.search, progress)
}
