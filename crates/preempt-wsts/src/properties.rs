//! Every property of a file gets an answer of its own: a hard one does not spoil the easy ones. Each has a short time first,
//! and those that are still open get more, again and again, until all are answered or the time is over.

use crate::check::{CoverOptions, check};
use crate::reachable::{Reachability, Reason, reachable};
use crate::run::Run;
use preempt_core::{Budget, Limits, Progress, StopReason, Verdict, run_supervised};
use preempt_net::{NetProperty, Problem, Question};
use std::time::{Duration, Instant};

/// What is known about one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What it asks for can be reached, by this run, which was replayed.
    Reached(Run),
    /// It cannot, and why.
    Unreachable(&'static str),
    /// Nobody knows.
    Unknown(StopReason),
    /// It was not understood.
    Unsupported(String),
}

/// The first time for each, and how it grows.
const FIRST: Duration = Duration::from_millis(500);
const GROWTH: u32 = 4;

/// Answers each property of the net by itself. The targets of the problem itself are not looked at.
pub fn answer_each(
    problem: &Problem,
    properties: &[&NetProperty],
    options: &CoverOptions,
    progress: &mut dyn Progress,
) -> Vec<Answer> {
    let begin = Instant::now();
    let left = || options.limits.time.map(|time| time.saturating_sub(begin.elapsed()));
    let mut answers: Vec<Answer> = vec![Answer::Unknown(StopReason::Time); properties.len()];
    let mut slice = FIRST;
    loop {
        let open = |answer: &Answer| matches!(answer, Answer::Unknown(StopReason::Time));
        let mut some = false;
        for (property, answer) in properties.iter().zip(&mut answers).filter(|(_, answer)| open(answer)) {
            let stopped = progress.budget().exhausted();
            if stopped.is_some() || left() == Some(Duration::ZERO) {
                return answers;
            }
            some = true;
            let time = Some(left().map_or(slice, |left| left.min(slice)));
            let options = CoverOptions { limits: Limits { time, ..options.limits }, ..*options };
            *answer = one(problem, property, &options, progress);
        }
        if !some {
            return answers;
        }
        slice = slice.saturating_mul(GROWTH);
    }
}

fn one(
    problem: &Problem,
    property: &NetProperty,
    options: &CoverOptions,
    progress: &mut dyn Progress,
) -> Answer {
    match &property.question {
        Question::Unsupported(reason) => Answer::Unsupported(reason.clone()),
        Question::Cover(targets) => {
            let alone = Problem { targets: targets.clone(), ..problem.clone() };
            let found = check(&alone, options, progress);
            match (found.outcome.verdict, found.run) {
                (Verdict::Violated, Some(run)) => Answer::Reached(run),
                (Verdict::Holds, _) => Answer::Unreachable("by a certificate"),
                (Verdict::Inconclusive(reason), _) => Answer::Unknown(reason),
                (Verdict::Violated, None) => Answer::Unknown(StopReason::Partial),
            }
        }
        Question::Reach(formula) => {
            let budget = Budget::within(&options.limits);
            let owned = (problem.clone(), formula.clone(), budget.clone());
            let snapshot = || budget.counters().snapshot();
            let found = run_supervised(&budget, progress, snapshot, move || {
                let (problem, formula, budget) = &owned;
                verified(problem, reachable(problem, formula, budget), formula)
            });
            match found {
                Ok(Reachability::Reached(run)) => Answer::Reached(run),
                Ok(Reachability::Unreachable(Reason::Visited)) => {
                    Answer::Unreachable("every marking was visited")
                }
                Ok(Reachability::Unreachable(Reason::StateEquation)) => {
                    Answer::Unreachable("by the state equation")
                }
                Ok(Reachability::Unknown(reason)) | Err(reason) => Answer::Unknown(reason),
            }
        }
    }
}

/// A run counts only if it replays.
fn verified(problem: &Problem, found: Reachability, formula: &preempt_net::formula::Formula) -> Reachability {
    match found {
        Reachability::Reached(run) => {
            let end = problem.end_of(&run.initial, &run.transitions);
            let replays =
                problem.is_initial(&run.initial) && end.is_some_and(|end| formula.holds(&problem.net, &end));
            if replays { Reachability::Reached(run) } else { Reachability::Unknown(StopReason::Partial) }
        }
        other => other,
    }
}
