//! The verdict, what it rests on, and what the search cost.

use super::words::{bytes, clean, counted, grouped, plural, seconds};
use crate::style::{Ink, Style};
use preempt_core::{
    Bound, Cost, Coverage, Guarantee, Outcome, Property, PropertyKind, Stats, StopReason, Trace, Verdict,
};

/// One line with the answer, and one with how far it reaches.
pub(super) fn verdict(outcome: &Outcome, style: Style) -> String {
    let mut text = answered(outcome, style);
    if let Some(reach) = reach(outcome) {
        text.push_str(&style.paint(Ink::Faint, &reach));
        text.push('\n');
    }
    text
}

/// The first of these lines.
pub(super) fn answered(outcome: &Outcome, style: Style) -> String {
    let (word, ink) = match outcome.verdict {
        Verdict::Holds => ("holds", Ink::Good),
        Verdict::Violated => ("violated", Ink::Bad),
        Verdict::Inconclusive(_) => ("inconclusive", Ink::Doubtful),
    };
    format!("{}: {}\n", style.paint(ink, word), answer(outcome))
}

fn answer(outcome: &Outcome) -> String {
    match (outcome.verdict, &outcome.violation, outcome.guarantee) {
        (Verdict::Violated, Some(property), _) => property_with_place(property),
        (Verdict::Violated, None, _) => violations(&outcome.stats).unwrap_or_else(|| "a property".into()),
        (Verdict::Inconclusive(reason), _, _) => why_stopped(reason).to_string(),
        (
            Verdict::Holds,
            _,
            Guarantee::Bounded(bound) | Guarantee::Approximate { bound: Some(bound), .. },
        ) => {
            format!("no violation with {}", at_most(bound))
        }
        (Verdict::Holds, _, Guarantee::Contexts(most)) => {
            format!("no violation with at most {} of each thread", counted(most as usize, "context"))
        }
        (Verdict::Holds, _, Guarantee::Parameterised) => "no violation, for any number of processes".into(),
        (Verdict::Holds, _, Guarantee::Exhaustive | Guarantee::Approximate { bound: None, .. }) => {
            "no violation".into()
        }
    }
}

pub(super) fn property_with_place(property: &Property) -> String {
    let what = describe(property);
    match &property.location {
        // Those who wait say where.
        _ if !property.waiting.is_empty() => what,
        Some(location) => format!("{what} at {}", clean(&location.to_string())),
        None => what,
    }
}

/// The user's words, with the kind in front where those words do not show it.
pub(super) fn describe(property: &Property) -> String {
    let name = clean(&property.name);
    let kind = match property.kind {
        PropertyKind::Assertion => return name,
        PropertyKind::Deadlock => "deadlock",
        PropertyKind::RuntimeError => "run-time error",
        PropertyKind::Never => "never claim",
        PropertyKind::Ltl => "LTL property",
        PropertyKind::Acceptance => "acceptance cycle",
        PropertyKind::NonProgress => "non-progress cycle",
        PropertyKind::TraceAssertion => "trace assertion",
        PropertyKind::Exclusive => "exclusive channel",
        PropertyKind::Coverability => "coverability",
    };
    if name.is_empty() || name == kind { kind.to_string() } else { format!("{kind}: {name}") }
}

/// What a "holds" rests on; what is missing from an inconclusive answer.
fn reach(outcome: &Outcome) -> Option<String> {
    match outcome.verdict {
        Verdict::Holds => Some(match outcome.guarantee {
            Guarantee::Exhaustive => "exhaustive: every reachable state was considered".into(),
            Guarantee::Bounded(bound) => {
                format!(
                    "complete up to this bound; runs with more {} were not considered",
                    several(bound.unit)
                )
            }
            Guarantee::Contexts(_) => {
                "complete up to this bound, the threads taking turns; runs with more contexts were not considered".into()
            }
            Guarantee::Approximate { probability, .. } => format!(
                "approximate: states are known by fingerprints; the probability that one was missed is {probability:.1e}"
            ),
            Guarantee::Parameterised => "exhaustive: the proof covers every instance".into(),
        }),
        Verdict::Violated => None,
        Verdict::Inconclusive(_) => Some(match violations(&outcome.stats) {
            Some(found) => format!("found before that: {found}"),
            None if let Guarantee::Contexts(most) = outcome.guarantee => format!(
                "no violation with at most {} of each thread; more are unknown",
                counted(most as usize, "context")
            ),
            None => format!(
                "no violation among the {} states visited; the others are unknown",
                states(&outcome.stats)
            ),
        }),
    }
}

/// Their number, and whether it is only an estimate.
fn states(stats: &Stats) -> String {
    let estimated = stats.coverage.as_ref().is_some_and(|coverage| coverage.states_are_estimated);
    format!("{}{}", if estimated { "about " } else { "" }, grouped(stats.states))
}

/// In words, with the option that says otherwise.
pub fn why_stopped(reason: StopReason) -> &'static str {
    match reason {
        StopReason::States => "the limit of states was reached (--max-states)",
        StopReason::Depth => "the limit of depth was reached (--max-depth)",
        StopReason::Time => "the limit of time was reached (--max-time)",
        StopReason::Memory => "the limit of memory was reached (--max-memory)",
        StopReason::Interrupted => "interrupted",
        StopReason::Partial => "this search visits only part of the states, and found nothing there",
    }
}

fn at_most(bound: Bound) -> String {
    match bound.most {
        0 => format!("no {}", unit(bound.unit)),
        most => format!("at most {}", counted(most as usize, unit(bound.unit))),
    }
}

fn unit(unit: Cost) -> &'static str {
    match unit {
        Cost::Preemptions => "preemption",
        Cost::Switches => "switch",
        Cost::Steps => "step",
    }
}

fn several(cost: Cost) -> String {
    plural(unit(cost))
}

/// `3 × assertion, 1 × deadlock`
fn violations(stats: &Stats) -> Option<String> {
    let found: Vec<String> = stats
        .violations
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{} × {}", grouped(*count), kind.name()))
        .collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// One line for each of several violations.
pub(super) fn list(all: &[(Property, Trace)], style: Style) -> String {
    let mut text = format!("  {}\n", style.paint(Ink::Strong, &counted(all.len(), "different violation")));
    for (number, (property, trace)) in all.iter().enumerate() {
        let cost =
            format!("{}, {}", counted(trace.preemptions(), "preemption"), counted(trace.steps.len(), "step"));
        text.push_str(&format!("  {:>3}  {}  ({cost})\n", number + 1, property_with_place(property)));
    }
    text
}

pub(super) fn heading(number: usize, property: &Property, style: Style) -> String {
    format!("\n{}\n", style.paint(Ink::Strong, &format!("{}: {}", number + 1, property_with_place(property))))
}

/// All numbers, one a line, and the levels of the cost as a table.
pub(super) fn statistics(outcome: &Outcome, style: Style) -> String {
    let stats = &outcome.stats;
    let mut lines = vec![
        ("states", states(stats)),
        ("transitions", grouped(stats.transitions)),
        ("depth", grouped(stats.depth)),
    ];
    for (name, number) in
        [("revisits", stats.revisits), ("executions", stats.executions), ("pruned", stats.pruned)]
    {
        if number > 0 {
            lines.push((name, grouped(number)));
        }
    }
    lines.push(("time", format!("{}{}", seconds(stats.time), speed(stats))));
    if stats.peak_bytes > 0 {
        lines.push(("memory", format!("{}{}", bytes(stats.peak_bytes), per_state(stats))));
    }
    if let Some(found) = violations(stats) {
        lines.push(("violations", found));
    }
    if let Some(coverage) = &stats.coverage {
        lines.extend(covered(coverage));
    }
    let mut text = String::new();
    for (name, value) in lines {
        text.push_str(&format!("  {} {value}\n", style.paint(Ink::Faint, &format!("{name:<12}"))));
    }
    text.push_str(&levels(outcome, style));
    text
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
fn per_state(stats: &Stats) -> String {
    let Some(memory) = stats.memory.filter(|_| stats.states >= 1000) else { return String::new() };
    let each = |bytes: u64| format!("{:.1}", bytes as f64 / stats.states as f64);
    format!(
        " (bytes a state: store {}, frontier {}, parents {})",
        each(memory.store),
        each(memory.frontier),
        each(memory.parents)
    )
}

fn speed(stats: &Stats) -> String {
    let seconds = stats.time.as_secs_f64();
    if seconds < 0.01 {
        return String::new();
    }
    format!(" ({} states/s)", grouped((stats.states as f64 / seconds) as u64))
}

fn levels(outcome: &Outcome, style: Style) -> String {
    let levels = &outcome.stats.levels;
    let unit = outcome.stats.unit;
    if levels.is_empty() || unit == Cost::Steps {
        return String::new();
    }
    let head = several(unit);
    let mut text = format!(
        "\n  {}\n",
        style.paint(Ink::Strong, &row(&head, "new states", "transitions", "states so far"))
    );
    let mut total = 0;
    for level in levels {
        total += level.states;
        let numbers = [u64::from(level.level), level.states, level.transitions, total].map(grouped);
        let [level, states, transitions, total] = &numbers;
        text.push_str(&format!("  {}\n", row(level, states, transitions, total)));
    }
    text
}

fn row(level: &str, states: &str, transitions: &str, total: &str) -> String {
    format!("{level:>11}  {states:>14}  {transitions:>14}  {total:>14}")
}

/// The same numbers in one line, for the end of a counterexample.
pub(super) fn statistics_line(stats: &Stats, style: Style) -> String {
    let mut parts = vec![
        format!("{} states", states(stats)),
        format!("{} transitions", grouped(stats.transitions)),
        format!("depth {}", grouped(stats.depth)),
        seconds(stats.time),
    ];
    if stats.peak_bytes > 0 {
        parts.push(bytes(stats.peak_bytes));
    }
    let line = format!("searched: {}", parts.join(", "));
    format!("{}\n", style.paint(Ink::Faint, &line))
}
