//! Several checks of a model, done the plain way: one after the other, and the cheapest violation is shown.

use crate::check::{Check, CheckOptions, CheckResult, Uncheckable};
use crate::interpreter::Interpreter;
use crate::search::ReferenceOptions;
use preempt_core::{Limits, Minimality, Outcome, Progress, PropertyResult, Trace, Verdict};
use std::time::Instant;

/// The results of several checks.
#[derive(Debug, Clone)]
pub struct CheckResults {
    /// The cheapest violation; else what is not decided; else the proof of the first.
    pub outcome: Outcome,
    /// What is known about the run of the outcome.
    pub minimality: Minimality,
    /// In the order of the checks.
    pub properties: Vec<PropertyResult>,
    /// To which of them the outcome belongs.
    pub shown: usize,
}

/// Does every check; the limits of time and states are for all of them together. `None` if there is none.
pub fn check_all(
    checks: &[Check],
    interpreter: &Interpreter<'_>,
    options: &CheckOptions,
    progress: &mut dyn Progress,
) -> Result<Option<CheckResults>, (String, Uncheckable)> {
    let started = Instant::now();
    let mut results: Vec<CheckResult> = Vec::new();
    for (number, check) in checks.iter().enumerate() {
        let limits = options.search.limits;
        let time = limits.time.map(|most| most.saturating_sub(started.elapsed()));
        // Each has its share of what is left.
        let visited: u64 = results.iter().map(|result| result.visited).sum();
        let share = |most: u64| most.saturating_sub(visited) / (checks.len() - number) as u64;
        let limits = Limits { states: limits.states.map(share), time, ..limits };
        let options =
            CheckOptions { search: ReferenceOptions { limits, ..options.search.clone() }, ..*options };
        let result = check
            .check_cheapest(interpreter, &options, progress)
            .map_err(|error| (check.name(interpreter.model()), error))?;
        results.push(result);
    }
    let numbered = || results.iter().enumerate();
    let cheapest = numbered()
        .filter_map(|(number, result)| Some((result.cost?, number)))
        .min()
        .map(|(_, number)| number);
    let is_open = |result: &CheckResult| matches!(result.outcome.verdict, Verdict::Inconclusive(_));
    let open = || numbered().find(|(_, result)| is_open(result)).map(|(number, _)| number);
    let shown = cheapest.or_else(open).unwrap_or(0);
    let known = |result: &CheckResult| result.simplest || result.outcome.verdict == Verdict::Holds;
    let others = || numbered().filter(|(number, _)| *number != shown).all(|(_, result)| known(result));
    let Some(best) = results.get(shown) else { return Ok(None) };
    let minimality = match (best.simplest, others()) {
        (true, true) => Minimality::Simplest,
        (true, false) => Minimality::SimplestOfProperty,
        (false, _) => Minimality::Nothing,
    };
    let mut outcome = best.outcome.clone();
    outcome.stats.time = started.elapsed();
    let properties = checks
        .iter()
        .zip(&results)
        .map(|(check, result)| PropertyResult {
            name: check.name(interpreter.model()),
            verdict: result.outcome.verdict,
            violation: result.outcome.violation.clone(),
            cost: result.outcome.counterexample.as_ref().filter(|_| result.simplest).map(Trace::cost),
            answer: None,
        })
        .collect();
    Ok(Some(CheckResults { outcome, minimality, properties, shown }))
}
