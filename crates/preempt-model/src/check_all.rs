//! Every question about a model, answered the plain way: one after the other, and the cheapest violation is shown.

use crate::check::{Answer, Check, CheckOptions, Unanswerable};
use crate::interpreter::Interpreter;
use crate::search::ReferenceOptions;
use preempt_core::{Limits, Minimality, Outcome, Progress, PropertyResult, Trace, Verdict};
use std::time::Instant;

/// The answers to several questions.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The cheapest violation; else what is not decided; else the proof of the first.
    pub outcome: Outcome,
    pub minimality: Minimality,
    /// In the order of the questions.
    pub properties: Vec<PropertyResult>,
    /// To which of them the outcome belongs.
    pub shown: usize,
}

/// Asks every question; the limits of time and states are for all of them together. `None` if there is none.
pub fn check_all(
    questions: &[Check],
    interpreter: &Interpreter<'_>,
    asking: &CheckOptions,
    progress: &mut dyn Progress,
) -> Result<Option<Answers>, (String, Unanswerable)> {
    let started = Instant::now();
    let mut answers: Vec<Answer> = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let limits = asking.options.limits;
        let time = limits.time.map(|most| most.saturating_sub(started.elapsed()));
        // Each has its share of what is left.
        let visited: u64 = answers.iter().map(|answer| answer.visited).sum();
        let share = |most: u64| most.saturating_sub(visited) / (questions.len() - number) as u64;
        let limits = Limits { states: limits.states.map(share), time, ..limits };
        let asking =
            CheckOptions { options: ReferenceOptions { limits, ..asking.options.clone() }, ..*asking };
        let answer = question
            .check_cheapest(interpreter, &asking, progress)
            .map_err(|error| (question.name(interpreter.model()), error))?;
        answers.push(answer);
    }
    let numbered = || answers.iter().enumerate();
    let cheapest = numbered()
        .filter_map(|(number, answer)| Some((answer.cost?, number)))
        .min()
        .map(|(_, number)| number);
    let is_open = |answer: &Answer| matches!(answer.outcome.verdict, Verdict::Inconclusive(_));
    let open = || numbered().find(|(_, answer)| is_open(answer)).map(|(number, _)| number);
    let shown = cheapest.or_else(open).unwrap_or(0);
    let known = |answer: &Answer| answer.simplest || answer.outcome.verdict == Verdict::Holds;
    let others = || numbered().filter(|(number, _)| *number != shown).all(|(_, answer)| known(answer));
    let Some(best) = answers.get(shown) else { return Ok(None) };
    let minimality = match (best.simplest, others()) {
        (true, true) => Minimality::Simplest,
        (true, false) => Minimality::SimplestOfProperty,
        (false, _) => Minimality::Nothing,
    };
    let mut outcome = best.outcome.clone();
    outcome.stats.time = started.elapsed();
    let properties = questions
        .iter()
        .zip(&answers)
        .map(|(question, answer)| PropertyResult {
            name: question.name(interpreter.model()),
            verdict: answer.outcome.verdict,
            violation: answer.outcome.violation.clone(),
            cost: answer.outcome.counterexample.as_ref().filter(|_| answer.simplest).map(Trace::cost),
        })
        .collect();
    Ok(Some(Answers { outcome, minimality, properties, shown }))
}
