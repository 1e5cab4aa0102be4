//! Several questions at once: the violation that costs least over all of them is shown, and what became of the others is
//! said.
//!
//! The questions take turns, each longer than the one before, until one has found a violation. Its cost is then the limit
//! for all the others: each is searched for something cheaper, again in turns, and whatever is found lowers the limit.
//! When no question can have anything cheaper, the run is the simplest. What remains is to decide the others, and that is
//! not tried for long. Of two that cost the same, the question that was asked first is shown.

use super::check_one::{Attempt, CheckContext, FIRST_STATES, SECOND_STATES, SHORTER_STATES, Turn};
use super::{Account, Answers, Portfolio};
use crate::CheckError;
use crate::search::{Checkpoints, SearchReport};
use preempt_core::{Minimality, Progress, PropertyResult, StopReason, Trace, Verdict};
use preempt_model::check::Check;
use preempt_model::search::RunCost;

pub(super) fn simplest(
    strategy: &Portfolio<'_>,
    questions: &[Check],
    checkpoints: Option<&mut dyn Checkpoints>,
    progress: &mut dyn Progress,
) -> Result<Option<Answers>, CheckError> {
    let account = Account::open(strategy.options);
    let mut all = Competition {
        asking: CheckContext { strategy, account, progress },
        questions,
        standings: questions.iter().map(|_| Standing::default()).collect(),
        stopped: None,
    };
    match questions {
        [] => return Ok(None),
        [question] => {
            let attempt = all.asking.attempt(question, Turn::Alone, checkpoints)?;
            all.note(0, attempt)?;
        }
        _ => {
            all.find_some()?;
            all.find_cheaper()?;
            all.decide_others()?;
        }
    }
    Ok(all.answers())
}

/// What is known about one question.
#[derive(Default)]
struct Standing {
    /// The cheapest violation known, and what is promised of it among those of the same question.
    known: Option<Known>,
    /// It holds, or why it is not decided.
    other: Option<SearchReport>,
    /// No run that violates it costs less than this; `None` if nothing of the kind is known.
    at_least: Option<RunCost>,
    /// The states that its last turn could have, `u64::MAX` for as many as there are.
    had: Option<u64>,
    /// It has had more than its first turn.
    tried_again: bool,
    /// It has had everything that the limits allow.
    had_all: bool,
}

struct Known {
    cost: RunCost,
    attempt: Attempt,
}

impl Standing {
    fn holds(&self) -> bool {
        self.other.as_ref().is_some_and(|report| report.outcome.verdict == Verdict::Holds)
    }

    fn is_decided(&self) -> bool {
        self.known.is_some() || self.holds()
    }
}

struct Competition<'a, 'b> {
    asking: CheckContext<'a, 'b>,
    questions: &'a [Check],
    standings: Vec<Standing>,
    /// Nothing more can be asked.
    stopped: Option<StopReason>,
}

impl Competition<'_, '_> {
    /// The questions take turns until one has found something. Everybody has the first turn. Where states are limited, each
    /// has its share of those that are left.
    fn find_some(&mut self) -> Result<(), CheckError> {
        for turn in [Turn::First, Turn::Second, Turn::Last] {
            for number in 0..self.questions.len() {
                let over = turn != Turn::First && self.best().is_some();
                if over || !self.is_open(number) {
                    continue;
                }
                let waiting = (number..self.questions.len()).filter(|other| self.is_open(*other)).count();
                // If something is found, somebody has to look for something cheaper.
                let reserve = usize::from(turn != Turn::Last);
                self.asking.account.share((waiting + reserve) as u64);
                // If everything else holds, nobody is kept waiting.
                let mut others = self.standings.iter().enumerate().filter(|(other, _)| *other != number);
                let is_alone = others.all(|(_, other)| other.holds());
                if is_alone {
                    self.asking.account.share(1);
                }
                let turn = if is_alone { Turn::Alone } else { turn };
                let allowed = [turn.states(), self.asking.account.states()].into_iter().flatten().min();
                let allowed = allowed.unwrap_or(u64::MAX);
                if self.repeats(number, turn, allowed) {
                    continue;
                }
                self.attempt(number, turn)?;
                let standing = &mut self.standings[number];
                standing.had = Some(allowed);
                standing.tried_again = turn != Turn::First;
                standing.had_all = turn == Turn::Alone;
            }
        }
        self.asking.account.share(1);
        Ok(())
    }

    /// May another turn decide it?
    fn is_open(&self, number: usize) -> bool {
        let standing = &self.standings[number];
        !standing.is_decided() && !standing.had_all
    }

    /// Would the turn end where the one before has ended, because no more states are allowed?
    fn repeats(&self, number: usize, turn: Turn, allowed: u64) -> bool {
        // The last turn of safety is another search than the one before.
        let is_another = turn == Turn::Last
            && self.questions[number] == Check::Safety
            && self.asking.may_prove_first()
            && allowed > 0;
        !is_another && self.standings[number].had.is_some_and(|had| allowed <= had)
    }

    /// Whoever may have something cheaper looks for it.
    fn find_cheaper(&mut self) -> Result<(), CheckError> {
        self.look_for_cheaper()?;
        // A run that was found depth first may be of any length: then the cheapest is worth what it takes.
        let Some((_, best)) = self.best() else { return Ok(()) };
        if self.questions[best] == Check::Safety
            && self.may_look_below(best)
            && let Some(known) = &self.standings[best].known
            && known.attempt.minimality == Minimality::Nothing
        {
            let attempt = self.asking.in_order(known.attempt.report.clone())?;
            self.note(best, attempt)?;
            self.look_for_cheaper()?;
        }
        Ok(())
    }

    /// First among few states.
    fn look_for_cheaper(&mut self) -> Result<(), CheckError> {
        let Some((_, best)) = self.best() else { return Ok(()) };
        let visited =
            self.standings[best].known.as_ref().map(|known| known.attempt.report.outcome.stats.states);
        let enough = SHORTER_STATES.max(4 * visited.unwrap_or(0));
        let enough = if self.asking.strategy.shortest { u64::MAX } else { enough };
        let most = self.asking.account.states().unwrap_or(u64::MAX);
        let mut turns = [FIRST_STATES, SECOND_STATES, enough].map(|states| states.min(most)).to_vec();
        turns.dedup();
        for states in turns {
            for number in 0..self.questions.len() {
                while let Some(limit) = self.limit_for(number).filter(|_| self.may_look_below(number)) {
                    if !self.look_below(number, limit, states)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn may_look_below(&self, number: usize) -> bool {
        self.stopped.is_none()
            && !self.asking.account.is_used_up()
            && self.asking.strategy.ranks(&self.questions[number])
    }

    /// What a violation of this question would have to cost less than to be shown; `None` if there is no such violation.
    fn limit_for(&self, number: usize) -> Option<RunCost> {
        let (cost, best) = self.best()?;
        let standing = &self.standings[number];
        // As cheap is good enough for a question that was asked before.
        let limit = if number < best { RunCost { steps: cost.steps + 1, ..cost } } else { cost };
        let is_clear = standing.holds() || standing.at_least.is_some_and(|least| least >= limit);
        (!is_clear).then_some(limit)
    }

    /// One search for something cheaper; false if it did not come to its end.
    fn look_below(&mut self, number: usize, limit: RunCost, states: u64) -> Result<bool, CheckError> {
        let report = self.asking.cheaper(&self.questions[number], limit, Some(states))?;
        match report.outcome.verdict {
            Verdict::Violated => {
                let minimality = if report.simplest { Minimality::Simplest } else { Minimality::Nothing };
                self.note(number, Attempt { report, minimality })?;
                let found = self.standings[number].known.as_ref().map(|known| known.cost);
                assert!(found < Some(limit), "internal error: the run found is not cheaper than {limit:?}");
                // If that is not the least, there is more to look for, with a lower limit.
                Ok(true)
            }
            Verdict::Holds => {
                let standing = &mut self.standings[number];
                standing.at_least = standing.at_least.max(Some(limit));
                if let Some(known) = &mut standing.known
                    && known.cost <= limit
                {
                    known.attempt.minimality = Minimality::Simplest;
                }
                Ok(true)
            }
            Verdict::Inconclusive(reason) => {
                self.note_stop(reason);
                Ok(false)
            }
        }
    }

    /// Whether the others are violated at all, and if so, what their cheapest runs cost.
    fn decide_others(&mut self) -> Result<(), CheckError> {
        if self.best().is_none() {
            return Ok(());
        }
        for number in 0..self.questions.len() {
            let standing = &self.standings[number];
            let in_vain = standing.tried_again && self.questions[number] != Check::Safety;
            if !standing.is_decided() && !in_vain && !self.asking.account.is_used_up() {
                self.attempt(number, Turn::Verdict)?;
            }
            while let Some(cost) = self.may_be_cheaper(number).filter(|_| self.may_look_below(number)) {
                if !self.look_below(number, cost, FIRST_STATES)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The cost of the run that is known, if it is not certain that none costs less.
    fn may_be_cheaper(&self, number: usize) -> Option<RunCost> {
        let known = self.standings[number].known.as_ref()?;
        (known.attempt.minimality != Minimality::Simplest).then_some(known.cost)
    }

    fn attempt(&mut self, number: usize, turn: Turn) -> Result<(), CheckError> {
        if self.stopped.is_none() {
            let attempt = self.asking.attempt(&self.questions[number], turn, None)?;
            self.note(number, attempt)?;
        }
        Ok(())
    }

    fn note(&mut self, number: usize, attempt: Attempt) -> Result<(), CheckError> {
        let outcome = &attempt.report.outcome;
        if let Verdict::Inconclusive(reason) = outcome.verdict {
            self.note_stop(reason);
        }
        let standing = &mut self.standings[number];
        let Some(trace) = &outcome.counterexample else {
            standing.other = Some(attempt.report);
            return Ok(());
        };
        let cost = self.asking.strategy.cost(&self.questions[number], trace)?;
        if attempt.minimality == Minimality::Simplest {
            standing.at_least = standing.at_least.max(Some(cost));
        }
        let is_better = |known: &Known| {
            cost < known.cost || cost == known.cost && known.attempt.minimality == Minimality::Nothing
        };
        if standing.known.as_ref().is_none_or(is_better) {
            standing.known = Some(Known { cost, attempt });
        }
        Ok(())
    }

    /// A search that has used up its states, or cannot go deeper, does not end the others.
    fn note_stop(&mut self, reason: StopReason) {
        if matches!(reason, StopReason::Time | StopReason::Interrupted) {
            self.stopped = Some(reason);
        }
    }

    fn best(&self) -> Option<(RunCost, usize)> {
        let known = self.standings.iter().enumerate();
        known.filter_map(|(number, standing)| Some((standing.known.as_ref()?.cost, number))).min()
    }

    /// `None` if nothing was asked.
    fn answers(mut self) -> Option<Answers> {
        let properties = (0..self.questions.len()).map(|number| self.answered(number)).collect();
        let best = self.best().map(|(_, best)| best);
        // Who was not asked at all, comes after somebody who was stopped.
        let open = || self.standings.iter().position(|standing| !standing.is_decided());
        let shown = best.or_else(open).unwrap_or(0);
        let others_are_clear =
            (0..self.questions.len()).all(|number| number == shown || self.limit_for(number).is_none());
        let time = self.asking.account.started.elapsed();
        let standing = std::mem::take(&mut self.standings[shown]);
        let (mut report, minimality) = match (standing.known, standing.other) {
            (Some(known), _) => (known.attempt.report, known.attempt.minimality),
            (None, other) => (other?, Minimality::Nothing),
        };
        report.outcome.stats.time = time;
        report.visited = self.asking.account.visited;
        let minimality = match (minimality, others_are_clear) {
            (Minimality::Simplest, false) => Minimality::SimplestOfProperty,
            (Minimality::Fewest, false) => Minimality::Nothing,
            (minimality, _) => minimality,
        };
        Some(Answers { report, minimality, properties, shown })
    }

    fn answered(&self, number: usize) -> PropertyResult {
        let standing = &self.standings[number];
        let known = standing.known.as_ref().map(|known| &known.attempt);
        let violated = known.map(|known| &known.report.outcome);
        let is_simplest = known.is_some_and(|known| known.minimality == Minimality::Simplest);
        let undecided = Verdict::Inconclusive(self.stopped.unwrap_or(StopReason::States));
        PropertyResult {
            name: self.questions[number].name(self.asking.strategy.model),
            verdict: match (&violated, &standing.other) {
                (Some(_), _) => Verdict::Violated,
                (None, Some(report)) => report.outcome.verdict,
                (None, None) => undecided,
            },
            violation: violated.and_then(|outcome| outcome.violation.clone()),
            cost: violated
                .and_then(|outcome| outcome.counterexample.as_ref())
                .filter(|_| is_simplest)
                .map(Trace::cost),
            answer: None,
        }
    }
}
