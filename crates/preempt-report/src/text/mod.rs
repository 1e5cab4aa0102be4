//! A result for people: the verdict and what it rests on, the run that breaks the property, what the search cost.

mod columns;
mod counterexample;
mod lanes;
mod rows;
mod summary;
mod widths;
mod words;

use crate::style::Style;
use preempt_core::{Outcome, Verdict};

pub use counterexample::render_run;

/// How a result is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Of the page, in columns.
    pub width: usize,
    pub style: Style,
    /// Every step and every value, however long.
    pub full: bool,
    /// The engine promises that no run costs less.
    pub simplest: bool,
    /// The command that shows the same run again.
    pub again: Option<String>,
    /// What was checked, if there was more than one thing to check.
    pub checked: Vec<String>,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions { width: 80, style: Style::plain(), full: false, simplest: false, again: None, checked: Vec::new() }
    }
}

/// The answer first, then its evidence, then the cost.
pub fn render_outcome(outcome: &Outcome, options: &TextOptions) -> String {
    let mut text = summary::verdict(outcome, options.style);
    if options.checked.len() > 1 && outcome.verdict == Verdict::Holds {
        text.push_str(&format!("checked: {}\n", options.checked.join(", ")));
    }
    match &outcome.counterexample {
        Some(trace) => {
            text.push('\n');
            text.push_str(&render_run(trace, outcome.violation.as_ref(), options));
            text.push('\n');
            text.push_str(&summary::statistics_line(&outcome.stats, options.style));
        }
        None => {
            text.push('\n');
            text.push_str(&summary::statistics(outcome, options.style));
        }
    }
    text
}

#[cfg(test)]
mod tests;
