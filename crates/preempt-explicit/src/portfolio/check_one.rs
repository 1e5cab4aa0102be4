//! Searches and proofs for one question. What is near is found in the order of cost; whether there is anything at all is
//! decided with the strongest reduction. Each has its turns, so that neither runs long where the other would soon be done.

use super::{Account, Portfolio};
use crate::check::{How, ask, explore_saved};
use crate::reduction::Reduction;
use crate::search::{
    Checkpoints, Goal, NoCheckpoints, Order, SearchJob, SearchOptions, SearchReport, Storage,
};
use crate::{CheckError, why_not_reduced};
use preempt_core::{Cost, Minimality, Progress, StopReason, Verdict};
use preempt_model::check::Check;
use preempt_model::search::RunCost;

/// How much a question may use before another has its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    First,
    Second,
    /// As much as the limits allow.
    Last,
    /// There is no other question: all turns, one after the other.
    Alone,
    /// Only the verdict matters, and not at any price.
    Verdict,
}

/// States that the search for a violation, and the one for a proof, may visit in their turns.
pub(super) const FIRST_STATES: u64 = 100_000;
pub(super) const SECOND_STATES: u64 = 1_000_000;
/// States to decide a question whose violation, if there is one, would not be shown.
const VERDICT_STATES: u64 = 300_000;
/// States that the search for a shorter run may visit without being asked to.
pub(super) const SHORTER_STATES: u64 = 1_000_000;

impl Turn {
    pub fn states(self) -> Option<u64> {
        match self {
            Turn::First => Some(FIRST_STATES),
            Turn::Second => Some(SECOND_STATES),
            Turn::Verdict => Some(VERDICT_STATES),
            Turn::Last | Turn::Alone => None,
        }
    }
}

/// What a turn has found.
pub(super) struct Attempt {
    pub report: SearchReport,
    /// About this question alone.
    pub minimality: Minimality,
}

/// What a search has found.
struct Sought {
    report: SearchReport,
    /// In the order of cost, so that no run has fewer preemptions.
    in_order: bool,
}

impl Sought {
    fn is_decided(&self) -> bool {
        self.report.outcome.verdict != Verdict::Inconclusive(StopReason::States)
    }

    fn promised(self) -> Attempt {
        let minimality = match self.report.outcome.verdict {
            Verdict::Violated if self.report.simplest => Minimality::Simplest,
            Verdict::Violated if self.in_order => Minimality::Fewest,
            _ => Minimality::Nothing,
        };
        Attempt { report: self.report, minimality }
    }
}

/// Where one question is asked.
pub(super) struct CheckContext<'a, 'b> {
    pub strategy: &'a Portfolio<'a>,
    pub account: Account,
    pub progress: &'b mut dyn Progress,
}

impl CheckContext<'_, '_> {
    /// Every run counts.
    pub fn attempt(
        &mut self,
        question: &Check,
        turn: Turn,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<Attempt, CheckError> {
        let options = self.strategy.options;
        let sought = match question {
            Check::Safety if checkpoints.is_none() && self.may_prove_first() => self.prove_or_find(turn)?,
            Check::Safety => {
                let report = self.explore(options, turn.states(), Goal::First, checkpoints)?;
                Sought { report, in_order: options.order == Order::ByCost }
            }
            _ => {
                let options = self.for_observers(question);
                let report = self.ask(question, &options, turn.states(), turn == Turn::Alone)?;
                Sought { report, in_order: false }
            }
        };
        let attempt = sought.promised();
        let minimality = attempt.minimality;
        let reduced = options.reduction == Reduction::Exact || options.simplify;
        let is_long =
            attempt.report.outcome.verdict == Verdict::Violated && minimality != Minimality::Simplest;
        match *question == Check::Safety && turn == Turn::Alone && options.order == Order::ByCost {
            true if reduced && is_long => self.shortened(attempt),
            // A run that was found depth first promises nothing, and there is nothing to improve.
            _ => Ok(attempt),
        }
    }

    /// Only runs that cost less than a known one count.
    pub fn cheaper(
        &mut self,
        question: &Check,
        than: RunCost,
        states: Option<u64>,
    ) -> Result<SearchReport, CheckError> {
        let whole = SearchOptions {
            cheaper_than: Some(than),
            reduction: Reduction::None,
            simplify: false,
            ..self.strategy.options.clone()
        };
        self.ask(question, &whole, states, false)
    }

    /// Safety is violated, but the run was found depth first: one with the fewest preemptions.
    pub fn in_order(&mut self, known: SearchReport) -> Result<Attempt, CheckError> {
        self.no_dearer_than(Sought { report: known, in_order: false }).map(Sought::promised)
    }

    /// A reduction keeps the fewest preemptions, but not the fewest steps.
    fn shortened(&mut self, known: Attempt) -> Result<Attempt, CheckError> {
        let options = self.strategy.options;
        let may_search = !self.account.is_used_up();
        let Some(trace) = known.report.outcome.counterexample.as_ref().filter(|_| may_search) else {
            return Ok(known);
        };
        let charged = match options.cost {
            Cost::Preemptions => trace.preemptions(),
            Cost::Switches => trace.switches(),
            Cost::Steps => trace.steps.len(),
        };
        let whole = SearchOptions {
            reduction: Reduction::None,
            simplify: false,
            bound: Some(charged as u32),
            ..options.clone()
        };
        let states = SHORTER_STATES.max(4 * known.report.outcome.stats.states);
        let states = (!self.strategy.shortest).then_some(states);
        let mut shorter = self.explore(&whole, states, Goal::First, None)?;
        shorter.outcome.guarantee = known.report.outcome.guarantee;
        Ok(match shorter.outcome.verdict {
            Verdict::Violated => Attempt { report: shorter, minimality: Minimality::Simplest },
            _ => known,
        })
    }

    /// `--reduction auto`, where nothing but the verdict and its simplest run is asked for.
    pub fn may_prove_first(&self) -> bool {
        let options = self.strategy.options;
        self.strategy.chooses_reduction
            && options.reduction == Reduction::Exact
            && options.order == Order::ByCost
            && options.store == Storage::Exact
            && options.cost == Cost::Preemptions
            && options.bound.is_none()
            && !options.fair_switch
            // Few states are for one search.
            && options.limits.states.is_none_or(|most| most > SECOND_STATES)
    }

    /// A violation that is not far is found in the order of cost. If there are many states, the strong reduction looks
    /// whether there is one at all; if so, the search in the order of cost ends there at the latest.
    fn prove_or_find(&mut self, turn: Turn) -> Result<Sought, CheckError> {
        match turn {
            Turn::First => {
                let found = self.find(FIRST_STATES)?;
                if found.is_decided() { Ok(found) } else { self.proof(Some(FIRST_STATES)) }
            }
            Turn::Second => self.find(SECOND_STATES),
            Turn::Verdict => self.proof(Some(VERDICT_STATES)),
            Turn::Last => {
                let proof = self.proof(None)?;
                self.no_dearer_than(proof)
            }
            // Level by level, a million states take about a second: less than to find out whether something can be left out.
            Turn::Alone => {
                let found = self.prove_or_find(Turn::Second)?;
                match found.is_decided() || self.account.is_used_up() {
                    true => Ok(found),
                    false => self.prove_or_find(Turn::Last),
                }
            }
        }
    }

    fn find(&mut self, states: u64) -> Result<Sought, CheckError> {
        let report = self.explore(self.strategy.options, Some(states), Goal::First, None)?;
        Ok(Sought { report, in_order: true })
    }

    fn proof(&mut self, states: Option<u64>) -> Result<Sought, CheckError> {
        let strong = SearchOptions {
            reduction: Reduction::Strong,
            order: Order::DepthFirst,
            simplify: self.strategy.proofs_simplify,
            ..self.strategy.options.clone()
        };
        let report = self.explore(&strong, states, Goal::First, None)?;
        Ok(Sought { report, in_order: false })
    }

    /// Where depth first has found a run, the search in the order of cost ends at that run at the latest. If the cheapest
    /// cannot be found within the limits, the one known is better than none.
    fn no_dearer_than(&mut self, known: Sought) -> Result<Sought, CheckError> {
        let may_search = !known.in_order && !self.account.is_used_up();
        let Some(trace) = known.report.outcome.counterexample.as_ref().filter(|_| may_search) else {
            return Ok(known);
        };
        let bound = Some(trace.preemptions() as u32);
        let bounded = SearchOptions { bound, ..self.strategy.options.clone() };
        let mut cheapest = self.explore(&bounded, None, Goal::First, None)?;
        cheapest.outcome.guarantee = known.report.outcome.guarantee;
        Ok(match cheapest.outcome.verdict {
            Verdict::Violated => Sought { report: cheapest, in_order: true },
            _ => known,
        })
    }

    /// For runs without end a reduction is for the proof that there is none, and the stronger the better; the simplest run
    /// is found without it.
    fn for_observers(&self, question: &Check) -> SearchOptions {
        let options = self.strategy.options;
        let stronger = self.strategy.chooses_reduction
            && options.reduction == Reduction::Exact
            && question.is_about_cycles()
            && why_not_reduced(question, options, self.strategy.weakly_fair).is_none();
        let reduction = if stronger { Reduction::Strong } else { options.reduction };
        SearchOptions { reduction, ..options.clone() }
    }

    fn ask(
        &mut self,
        question: &Check,
        options: &SearchOptions,
        states: Option<u64>,
        in_turns: bool,
    ) -> Result<SearchReport, CheckError> {
        let Portfolio { model, sources, weakly_fair, .. } = *self.strategy;
        let options = self.account.left(options, states);
        let report = self.strategy.with_fallback(&options, |options| {
            let how = How { options, weakly_fair, goal: Goal::First, in_turns };
            ask(question, model, sources, how, self.progress)
        })?;
        self.account.visited += report.visited;
        Ok(report)
    }

    /// A search of the model itself.
    fn explore(
        &mut self,
        options: &SearchOptions,
        states: Option<u64>,
        goal: Goal,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<SearchReport, CheckError> {
        let Portfolio { model, sources, .. } = *self.strategy;
        let mut options = self.account.left(options, states);
        // In a turn nothing is searched twice.
        options.gives_up = states.is_some();
        let mut none = NoCheckpoints;
        let checkpoints: &mut dyn Checkpoints = match checkpoints {
            Some(checkpoints) => checkpoints,
            None => &mut none,
        };
        let report = self.strategy.with_fallback(&options, |options| {
            explore_saved(model, sources, SearchJob::new(options, goal, checkpoints, self.progress))
        })?;
        self.account.visited += report.visited;
        Ok(report)
    }
}
