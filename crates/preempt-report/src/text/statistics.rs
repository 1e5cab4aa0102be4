//! What a job cost: every number that the engine has, with what it counts.

use super::TextOptions;
use super::summary::{states, violations};
use super::words::{bytes, fill, fit, grouped, plural, seconds, unit, width};
use crate::style::Ink;
use preempt_core::{Cost, Coverage, Measure, Report, Statistics};

/// All numbers, each with its name.
pub(crate) fn lines(statistics: &Statistics) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = statistics
        .counts()
        .filter(is_told)
        .map(|(measure, number)| match measure {
            Measure::States => (measure.label(), states(statistics)),
            _ => (measure.label(), grouped(number)),
        })
        .collect();
    if let Some(time) = statistics.time {
        lines.push(("time", format!("{}{}", seconds(time), speed(statistics))));
    }
    if let Some(peak) = statistics.peak_bytes {
        lines.push(("memory", format!("{}{}", bytes(peak), per_state(statistics))));
    }
    if let Some(found) = violations(statistics) {
        lines.push(("violations", found));
    }
    if let Some(coverage) = &statistics.coverage {
        lines.extend(covered(coverage));
    }
    lines
}

/// All numbers, one a line, and the levels of the cost as a table.
pub(super) fn block(statistics: &Statistics, options: &TextOptions) -> String {
    let style = options.style;
    let lines = lines(statistics);
    let column = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(12);
    let mut text = String::new();
    for (name, value) in lines {
        text.push_str(&format!("  {} {value}\n", style.paint(Ink::Faint, &format!("{name:<column$}"))));
    }
    fit(&text, options.width) + &levels(statistics, options)
}

/// The size of what was searched is told even if it is 0; of the rest only what there was.
fn is_told(&(measure, number): &(Measure, u64)) -> bool {
    number > 0 || matches!(measure, Measure::States | Measure::Transitions | Measure::Depth)
}

/// Room for a time and a size of memory.
const COST: usize = 24;

/// The same numbers in a line, for the end of a counterexample.
pub(super) fn line(report: &Report, options: &TextOptions) -> String {
    let statistics = &report.statistics;
    // How many tokens the run has, is said where the run is.
    let counts = statistics.counts().filter(is_told).filter(|(measure, _)| *measure != Measure::Tokens);
    let mut parts: Vec<String> = counts
        .map(|(measure, number)| match measure {
            Measure::States => format!("{} {}", states(statistics), of(number, measure.label())),
            _ if measure.is_a_count() => format!("{} {}", grouped(number), of(number, measure.label())),
            _ => format!("{} {}", measure.label(), grouped(number)),
        })
        .collect();
    let by = report.run.answered_by.as_ref().map_or(String::new(), |name| format!(" by {name}"));
    let cost: Vec<String> =
        statistics.time.map(seconds).into_iter().chain(statistics.peak_bytes.map(bytes)).collect();
    let last = if cost.is_empty() { parts.len().saturating_sub(1) } else { usize::MAX };
    let comma = |(number, part): (usize, &mut String)| {
        if number != last {
            part.push(',')
        }
    };
    parts.iter_mut().enumerate().for_each(comma);
    let pieces = std::iter::once(format!("searched{by}:")).chain(parts).collect::<Vec<_>>();
    let mut lines = fill(pieces.iter().map(String::as_str), options.width);
    // They keep together, and stand in the same place however long it took.
    match lines.last_mut() {
        Some(line) if width(line) + COST <= options.width => line.push_str(&format!(" {}", cost.join(", "))),
        _ => lines.push(cost.join(", ")),
    }
    lines.iter().map(|line| format!("{}\n", options.style.paint(Ink::Faint, line.trim_end()))).collect()
}

/// `1 state`, `2 states`: what is counted has its name in the plural.
fn of(number: u64, label: &'static str) -> &'static str {
    match label.strip_suffix('s') {
        Some(singular) if number == 1 => singular,
        _ => label,
    }
}

/// How much of what there is was seen, where that was only part.
fn covered(coverage: &Coverage) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(factor) = coverage.hash_factor {
        lines.push(("hash factor", format!("{factor:.1} bits a state")));
    }
    if let Some(share) = coverage.share {
        // Never 100 %: that would be a proof.
        let percent = (share * 100.0).min(99.9999);
        lines.push(("coverage", format!("about {percent:.4} % of what was met (estimated)")));
    }
    if !coverage.searches.is_empty() {
        let kinds: Vec<String> =
            coverage.searches.iter().map(|(kind, count)| format!("{} × {kind}", grouped(*count))).collect();
        lines.push(("searches", kinds.join(", ")));
    }
    lines
}

/// What each state costs, and what for.
fn per_state(statistics: &Statistics) -> String {
    let states = statistics.get(Measure::States).filter(|states| *states >= 1000);
    let (Some(memory), Some(states)) = (statistics.memory, states) else { return String::new() };
    let each = |bytes: u64| format!("{:.1}", bytes as f64 / states as f64);
    format!(
        " (bytes a state: store {}, frontier {}, parents {})",
        each(memory.store),
        each(memory.frontier),
        each(memory.parents)
    )
}

fn speed(statistics: &Statistics) -> String {
    let seconds = statistics.time.unwrap_or_default().as_secs_f64();
    match statistics.get(Measure::States) {
        Some(states) if seconds >= 0.01 => {
            format!(" ({} states/s)", grouped((states as f64 / seconds) as u64))
        }
        _ => String::new(),
    }
}

fn levels(statistics: &Statistics, options: &TextOptions) -> String {
    let Some(levels) = statistics.levels.as_deref().filter(|_| statistics.unit != Cost::Steps) else {
        return String::new();
    };
    let head = plural(unit(statistics.unit));
    let head = row([&head, "new states", "transitions", "states so far"], options.width);
    let mut text = format!("\n  {}\n", options.style.paint(Ink::Strong, &head));
    let mut total = 0;
    for level in levels {
        total += level.states;
        let numbers = [u64::from(level.level), level.states, level.transitions, total].map(grouped);
        text.push_str(&format!("  {}\n", row(numbers.each_ref().map(String::as_str), options.width)));
    }
    text
}

/// Without the sum, which anybody can do, where the page is narrow.
fn row([level, states, transitions, total]: [&str; 4], page: usize) -> String {
    match page {
        ..61 => format!("{level:>11}  {states:>11}  {transitions:>11}"),
        _ => format!("{level:>11}  {states:>14}  {transitions:>14}  {total:>14}"),
    }
}
