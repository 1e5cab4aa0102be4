//! Which searches answer what is asked of a model, in which order, and what they promise together.
//!
//! * [`check_one`]: searches and proofs for one question;
//! * [`check_all`]: several questions, until it is certain which of their violations is the cheapest;
//! * [`all_violations`]: every different violation at its cheapest.

mod all_violations;
mod check_all;
mod check_one;

use crate::CheckError;
use crate::check::{explore_saved, interpreter};
use crate::search::{
    Checkpoints, CostModel, Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage,
    SuccessorSource,
};
use crate::swarm::{SwarmSize, swarm};
use preempt_core::{Cost, Limits, Minimality, Progress, PropertyResult, SourceMap, Trace};
use preempt_model::Model;
use preempt_model::check::Check;
use preempt_model::search::{RunCost, cost_of_run};
use std::time::Instant;

/// What is to be checked, and how.
#[derive(Debug, Clone, Copy)]
pub struct Portfolio<'a> {
    /// The model that the questions are about.
    pub model: &'a Model,
    /// Where its statements stand.
    pub sources: &'a SourceMap,
    /// For every search; the limits are for all together.
    pub options: &'a SearchOptions,
    /// Only runs count in which nobody waits for ever who could always move.
    pub weakly_fair: bool,
    /// Nobody said which reduction it should be: every question may have the one that suits it.
    pub chooses_reduction: bool,
    /// May the proof that nothing is violated forget what is dead ([`SearchOptions::simplify`])?
    pub proofs_simplify: bool,
    /// The simplest run at any price.
    pub shortest: bool,
    /// May a model that cannot be compiled be interpreted?
    pub may_interpret: bool,
}

/// The answers to several questions.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The cheapest violation; else what is not decided; else the proof of the first question.
    pub report: SearchReport,
    /// What is known about its run.
    pub minimality: Minimality,
    /// In the order of the questions.
    pub properties: Vec<PropertyResult>,
    /// To which of them the report belongs.
    pub shown: usize,
}

impl Portfolio<'_> {
    /// The simplest run that violates anything, or the proof that there is none. `None` if nothing is asked.
    ///
    /// A search of the model itself can be saved and continued, if it alone is asked for.
    pub fn simplest(
        &self,
        questions: &[Check],
        checkpoints: Option<&mut dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Answers>, CheckError> {
        check_all::simplest(self, questions, checkpoints, progress)
    }

    /// Every different violation of any of the questions, each at its cheapest: the errors of the report, the cheapest
    /// first. `None` if nothing is asked.
    pub fn all_violations(
        &self,
        questions: &[Check],
        checkpoints: Option<&mut dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Answers>, CheckError> {
        all_violations::find(self, questions, checkpoints, progress)
    }

    /// The number of states, violations passed over. The search can be saved and continued.
    pub fn count(
        &self,
        checkpoints: Option<&mut dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        let mut none = NoCheckpoints;
        let checkpoints: &mut dyn Checkpoints = match checkpoints {
            Some(checkpoints) => checkpoints,
            None => &mut none,
        };
        self.with_fallback(self.options, |options| {
            let job = SearchJob::new(options, Goal::Count, checkpoints, progress);
            explore_saved(self.model, self.sources, job)
        })
    }

    /// Many different searches for a violation of safety, on several threads, until the time is over.
    pub fn swarm(
        &self,
        seed: u64,
        threads: usize,
        progress: &mut dyn Progress,
    ) -> Result<Answers, CheckError> {
        let report = self.with_fallback(self.options, |options| {
            swarm(self.model, self.sources, options, SwarmSize { seed, threads }, progress)
        })?;
        let property = PropertyResult {
            name: Check::Safety.name(self.model),
            verdict: report.outcome.verdict,
            violation: report.outcome.violation.clone(),
            cost: None,
            answer: None,
        };
        Ok(Answers { report, minimality: Minimality::Nothing, properties: vec![property], shown: 0 })
    }

    /// What a run that violates the question costs, in the unit that is asked for.
    fn cost(&self, question: &Check, trace: &Trace) -> Result<RunCost, CheckError> {
        match self.options.cost {
            Cost::Preemptions => {
                let model = question.model_of(self.model);
                let interpreter = interpreter(&model, self.sources)?;
                Ok(cost_of_run(&interpreter, trace, self.options.fair_switch))
            }
            Cost::Switches | Cost::Steps => Ok(CostModel::new(self.options.cost).of_run(trace)),
        }
    }

    /// Can it be searched for something cheaper than what is known? Fair runs without end have no cost.
    fn ranks(&self, question: &Check) -> bool {
        self.options.order == Order::ByCost
            && self.options.store == Storage::Exact
            && !(self.weakly_fair && question.is_about_cycles())
    }

    /// A model that cannot be compiled is interpreted.
    fn with_fallback(
        &self,
        options: &SearchOptions,
        mut run: impl FnMut(&SearchOptions) -> Result<SearchReport, CheckError>,
    ) -> Result<SearchReport, CheckError> {
        match run(options) {
            Err(CheckError::Unsupported(_))
                if self.may_interpret && options.successors == SuccessorSource::Native =>
            {
                run(&SearchOptions { successors: SuccessorSource::Interpreted, ..options.clone() })
            }
            result => result,
        }
    }
}

/// One clock, and one count of states, for everything that is asked.
#[derive(Clone, Copy)]
struct Account {
    started: Instant,
    /// States met by all searches so far.
    visited: u64,
    /// How many they may be altogether, and before the next has its turn.
    most: Option<u64>,
    until: Option<u64>,
}

impl Account {
    fn open(options: &SearchOptions) -> Account {
        let most = options.limits.states;
        Account { started: Instant::now(), visited: 0, most, until: most }
    }

    /// Who comes next may use its share of the states that are left: so many are waiting for them.
    fn share(&mut self, waiting: u64) {
        let fair = |most: u64| self.visited + most.saturating_sub(self.visited) / waiting.max(1);
        self.until = self.most.map(fair);
    }

    /// The states that are left; `None` without a limit.
    fn states(self) -> Option<u64> {
        self.until.map(|most| most.saturating_sub(self.visited))
    }

    fn is_used_up(self) -> bool {
        self.states() == Some(0)
    }

    /// The options with what is left of states and time, and with at most so many states.
    fn left(self, options: &SearchOptions, states: Option<u64>) -> SearchOptions {
        let limits = Limits {
            states: [states, self.states()].into_iter().flatten().min(),
            time: options.limits.time.map(|most| most.saturating_sub(self.started.elapsed())),
            ..options.limits
        };
        SearchOptions { limits, ..options.clone() }
    }
}
