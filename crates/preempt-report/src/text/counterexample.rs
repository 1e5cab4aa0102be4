//! A run, one line a step: who moved, what it did, who was left behind, what changed.

use super::TextOptions;
use super::lanes::Lanes;
use super::rows::{final_values, rows};
use super::standing;
use super::summary::describe;
use super::words::{self, clean, counted, fill};
use crate::style::Ink;
use preempt_core::{Change, Measure, Property, PropertyKind, Report, Trace, Value};

/// The headings are repeated after this many rows, so that one is always in sight.
const HEADING_EVERY: usize = 60;
/// So many lines of values before and after the run, unless all are wanted.
const VALUE_LINES: usize = 3;

/// The numbers of a run, the run itself, and how it ends.
pub fn render_run(trace: &Trace, violation: Option<&Property>, options: &TextOptions) -> String {
    rendered(&headline(trace, violation, options), trace, violation, options)
}

/// The same for the run of a report, which may know more about it.
pub(super) fn render(trace: &Trace, report: &Report, options: &TextOptions) -> String {
    let mut numbers = headline(trace, report.violation.as_ref(), options);
    if let Some(tokens) = report.statistics.get(Measure::Tokens) {
        numbers.push_str(&format!(", at most {} at once", counted(tokens as usize, "token")));
    }
    rendered(&numbers, trace, report.violation.as_ref(), options)
}

fn rendered(numbers: &str, trace: &Trace, violation: Option<&Property>, options: &TextOptions) -> String {
    let style = options.style;
    let mut text = lead(numbers, options);
    text.push('\n');
    text.push_str(&values("start", &trace.initial, options));
    if !trace.steps.is_empty() {
        text.push_str(&table(trace, options));
    }
    let last = trace.steps.len();
    if let Some(start) = trace.loop_start.filter(|start| *start < last) {
        let line = match last - start {
            1 => format!("↺ step {last} repeats for ever"),
            _ => format!("↺ steps {} to {last} repeat for ever", start + 1),
        };
        text.push_str(&format!("{}\n", style.paint(Ink::Strong, &line)));
    }
    if trace.loop_start == Some(last) {
        text.push_str(&format!(
            "{}\n",
            style.paint(Ink::Strong, "↺ nobody moves any more: it stays like this")
        ));
    }
    if let Some(property) = violation {
        // Below, everybody says where it stands.
        let what = if property.waiting.is_empty() { describe(property) } else { "deadlock".into() };
        let line = match trace.steps.is_empty() {
            true => format!("✗ {what} (in the initial state)"),
            false => format!("✗ {what}"),
        };
        text.push_str(&words::fit(&format!("{}\n", style.paint(Ink::Bad, &line)), options.width));
        text.push_str(&standing::lines(property, trace, options));
    }
    if !trace.steps.is_empty() {
        text.push_str(&values("end", &final_values(trace), options));
    }
    text
}

/// `8 steps, 2 preemptions, 0 forced switches, 2 processes`
fn headline(trace: &Trace, violation: Option<&Property>, options: &TextOptions) -> String {
    let preemptions = trace.preemptions();
    let steps = counted(trace.steps.len(), "step");
    // A net has no processes.
    if violation.is_some_and(|property| property.kind == PropertyKind::Coverability) {
        return steps;
    }
    let switches = counted(trace.switches() - preemptions, "forced switch");
    [steps, counted(preemptions, "preemption"), switches, counted(trace.processes, options.mover)].join(", ")
}

/// What is promised of the run, its numbers, and how to see it again.
fn lead(numbers: &str, options: &TextOptions) -> String {
    let promise = options.promise.map_or(String::new(), |promise| format!("{promise}: "));
    let numbers = format!("  {promise}{}\n", options.style.paint(Ink::Strong, numbers));
    let mut text = words::fit(&numbers, options.width);
    if let Some(command) = &options.again {
        let again = options.style.paint(Ink::Faint, "see it again:");
        text.push_str(&format!("  {again} {}\n", clean(command)));
    }
    text
}

fn table(trace: &Trace, options: &TextOptions) -> String {
    let rows = rows(trace, options.full);
    let lanes = Lanes::new(trace, &rows, options);
    let mut text = lanes.legend(options.width) + &lanes.heading();
    for (i, row) in rows.iter().enumerate() {
        // Not shortly before the end, where nobody scrolls any more.
        if i > 0 && i.is_multiple_of(HEADING_EVERY) && i + HEADING_EVERY / 4 < rows.len() {
            text.push_str(&lanes.heading());
        }
        text.push_str(&lanes.row(row));
    }
    text
}

/// A paragraph of values, cut unless everything is wanted.
fn values(label: &str, values: &[Change], options: &TextOptions) -> String {
    if values.is_empty() {
        return String::new();
    }
    let indent = "  start  ".len();
    let mut lines = fill(pieces(values).iter().map(String::as_str), options.width.saturating_sub(indent));
    if !options.full && lines.len() > VALUE_LINES {
        lines.truncate(VALUE_LINES);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} …", super::words::cut(last, options.width.saturating_sub(indent + 2)));
        }
    }
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        let label = if i == 0 { label } else { "" };
        text.push_str(&format!("  {}  {line}\n", options.style.paint(Ink::Faint, &format!("{label:<5}"))));
    }
    if label == "start" {
        text.push('\n');
    }
    text
}

/// `x = 1,` and so on, the last one without a comma. A variable that is gone says nothing.
pub(super) fn pieces(changes: &[Change]) -> Vec<String> {
    let mut pieces: Vec<String> = changes
        .iter()
        .filter(|change| change.value != Value::Gone)
        .map(|change| format!("{} = {},", clean(&change.name), clean(&change.value.to_string())))
        .collect();
    if let Some(last) = pieces.last_mut() {
        last.pop();
    }
    pieces
}
