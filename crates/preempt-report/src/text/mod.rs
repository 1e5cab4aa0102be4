//! A result for people: the verdict and what it rests on, the evidence, what the search cost.

mod columns;
mod counterexample;
mod executed;
mod lanes;
mod projection;
mod properties;
mod rows;
mod standing;
mod statistics;
mod summary;
mod widths;
mod words;

use crate::style::{Ink, Style};
use preempt_core::{Measure, Report};

pub use counterexample::render_run;
pub(crate) use executed::{never_possible, title as executed_title};
pub(crate) use projection::title as projection_title;
pub(crate) use properties::lines as property_lines;
pub(crate) use statistics::lines as statistics_lines;
pub(crate) use summary::{describe, verdict as verdict_lines};
pub use summary::{minimality, why_stopped};
pub(crate) use words::{cut, plural, unit};

/// How a result is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Of the page, in columns.
    pub width: usize,
    /// Colours, or none.
    pub style: Style,
    /// Every step and every value, however long.
    pub full: bool,
    /// What is promised about a run, as in `the simplest run`; a report says that itself.
    pub promise: Option<&'static str>,
    /// What moves: `process` or `thread`.
    pub mover: &'static str,
    /// The command that shows the same run again.
    pub again: Option<String>,
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
        }
    }
}

/// The answer first, then its evidence, then the cost.
pub fn render_report(report: &Report, options: &TextOptions) -> String {
    let promise = minimality(report.minimality, report.statistics.unit);
    let options = &TextOptions { promise, ..options.clone() };
    let mut text = summary::verdict(report, options.style);
    text.push_str(&properties::lines(report, options.style));
    if let Some(certificate) = &report.certificate {
        text.push_str(&summary::certified(report, certificate));
    }
    text = words::fit(&text, options.width);
    let several = report.violations.as_deref().filter(|all| all.len() > 1);
    match (several, &report.counterexample) {
        (Some(all), _) => {
            text.push('\n');
            text.push_str(&words::fit(&summary::list(all, options.style), options.width));
            for (number, (property, trace)) in all.iter().enumerate() {
                text.push_str(&words::fit(&summary::heading(number, property, options.style), options.width));
                text.push_str(&render_run(trace, Some(property), options));
            }
            text.push_str(&cost(report, options));
        }
        (None, Some(trace)) => {
            text.push('\n');
            text.push_str(&counterexample::render(trace, report, options));
            text.push_str(&cost(report, options));
        }
        (None, None) => {
            text.push('\n');
            text.push_str(&statistics::block(&report.statistics, options));
        }
    }
    text.push_str(&executed::lines(report, options));
    if let Some(projection) = &report.projection {
        text.push_str(&projection::listing(projection));
    }
    text
}

/// In one line, below a run. A run that was only executed again has no search behind it.
fn cost(report: &Report, options: &TextOptions) -> String {
    match report.statistics.time {
        Some(_) => format!("\n{}", statistics::line(report, options)),
        None => String::new(),
    }
}

/// An inconclusive answer of which nothing is known but why it is one, and the last numbers: of what was visited it says
/// nothing, for a violation may have been found there and not be told yet.
pub fn render_cut_short(report: &Report, options: &TextOptions) -> String {
    let answer = words::fit(&summary::answered(report, options.style), options.width);
    match report.statistics.counts().any(|(measure, number)| number > 0 && measure != Measure::Tokens) {
        false => format!("{answer}it was too early for numbers\n"),
        true => format!("{answer}\n{}", statistics::block(&report.statistics, options)),
    }
}

/// What whoever asked should know beside the answer, a line each.
pub fn render_notes(report: &Report, width: usize, style: Style) -> String {
    let line = |note: &preempt_core::Note| {
        format!("{}: {}\n", style.paint(Ink::Strong, note.kind.name()), words::clean(&note.text))
    };
    words::fit(&report.notes.iter().map(line).collect::<String>(), width)
}

#[cfg(test)]
mod tests;
