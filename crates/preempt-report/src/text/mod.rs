//! A result for people: the verdict and what it rests on, the run that breaks the property, what the search cost.

mod columns;
mod counterexample;
mod lanes;
mod properties;
mod rows;
mod summary;
mod widths;
mod words;

use crate::style::Style;
use preempt_core::{Outcome, Property, PropertyResult, Trace};

pub use counterexample::render_run;
pub use summary::why_stopped;

/// How a result is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Of the page, in columns.
    pub width: usize,
    pub style: Style,
    /// Every step and every value, however long.
    pub full: bool,
    /// What the engine promises about the run, as in `the simplest run`.
    pub promise: Option<&'static str>,
    /// What moves: `process` or `thread`.
    pub mover: &'static str,
    /// The command that shows the same run again.
    pub again: Option<String>,
    /// Every different violation with its run, where all were asked for.
    pub all: Vec<(Property, Trace)>,
    /// What became of each property that was asked, and which of them the outcome is about.
    pub properties: Vec<PropertyResult>,
    pub shown: usize,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            width: 80,
            style: Style::plain(),
            full: false,
            promise: None,
            mover: "process",
            again: None,
            all: Vec::new(),
            properties: Vec::new(),
            shown: 0,
        }
    }
}

/// The answer first, then its evidence, then the cost.
pub fn render_outcome(outcome: &Outcome, options: &TextOptions) -> String {
    let mut text = summary::verdict(outcome, options.style);
    text.push_str(&properties::lines(options));
    match &outcome.counterexample {
        Some(_) if options.all.len() > 1 => {
            text.push('\n');
            text.push_str(&summary::list(&options.all, options.style));
            for (number, (property, trace)) in options.all.iter().enumerate() {
                text.push_str(&summary::heading(number, property, options.style));
                text.push_str(&render_run(trace, Some(property), options));
            }
            text.push('\n');
            text.push_str(&summary::statistics_line(&outcome.stats, options.style));
        }
        Some(trace) => {
            text.push('\n');
            text.push_str(&render_run(trace, outcome.violation.as_ref(), options));
            // A run that was only executed again has no search behind it.
            if outcome.stats.states > 0 {
                text.push('\n');
                text.push_str(&summary::statistics_line(&outcome.stats, options.style));
            }
        }
        None => {
            text.push('\n');
            text.push_str(&summary::statistics(outcome, options.style));
        }
    }
    text
}

/// An inconclusive answer of which nothing is known but why it is one, and the last numbers: of what was visited it says
/// nothing, for a violation may have been found there and not be told yet.
pub fn render_cut_short(outcome: &Outcome, options: &TextOptions) -> String {
    let (answer, numbers) = (summary::answered(outcome, options.style), &outcome.stats);
    match numbers.states {
        0 => format!("{answer}it was too early for numbers\n"),
        _ => format!("{answer}\n{}", summary::statistics(outcome, options.style)),
    }
}

#[cfg(test)]
mod tests;
