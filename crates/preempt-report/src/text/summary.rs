//! The verdict and what it rests on.

use super::words::{clean, counted, grouped, plural, unit};
use crate::style::{Ink, Style};
use preempt_core::{
    Bound, CertificateText, Cost, Guarantee, Measure, Minimality, Property, PropertyKind, Report, Statistics,
    StopReason, Trace, Verdict,
};

/// So many who are stuck are named in the headline.
const STUCK_AT_MOST: usize = 3;

/// One line with the answer, and one with how far it reaches.
pub(crate) fn verdict(report: &Report, style: Style) -> String {
    let mut text = answered(report, style);
    if let Some(reach) = reach(report) {
        text.push_str(&style.paint(Ink::Faint, &reach));
        text.push('\n');
    }
    text
}

/// The first of these lines.
pub(super) fn answered(report: &Report, style: Style) -> String {
    let (word, ink) = match report.verdict {
        Verdict::Holds => ("holds", Ink::Good),
        Verdict::Violated => ("violated", Ink::Bad),
        Verdict::Inconclusive(_) => ("inconclusive", Ink::Doubtful),
    };
    format!("{}: {}\n", style.paint(ink, word), answer(report))
}

fn answer(report: &Report) -> String {
    match (report.verdict, &report.violation, report.guarantee) {
        (Verdict::Violated, Some(property), _) => property_with_place(property),
        (Verdict::Violated, None, _) => violations(&report.statistics).unwrap_or_else(|| "a property".into()),
        (Verdict::Inconclusive(reason), ..) => match &report.statement {
            Some(statement) => clean(statement),
            None => why_stopped(reason).to_string(),
        },
        (Verdict::Holds, _, _) if let Some(statement) = &report.statement => clean(statement),
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
        (Verdict::Holds, _, Guarantee::Instances { most, contexts }) => {
            let threads = counted(most as usize, "thread");
            let started = format!("no violation with at most {threads} of each start that can be repeated");
            match contexts {
                Some(most) => format!("{started}, and {} of each", counted(most as usize, "context")),
                None => started,
            }
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
pub(crate) fn describe(property: &Property) -> String {
    let name = match property.stuck().count() {
        0..=STUCK_AT_MOST => clean(&property.name),
        many => {
            let named: Vec<String> =
                property.stuck().take(STUCK_AT_MOST - 1).map(ToString::to_string).collect();
            clean(&format!("{}; and {} more", named.join("; "), many - named.len()))
        }
    };
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
fn reach(report: &Report) -> Option<String> {
    match report.verdict {
        // A proof says itself what it is made of.
        Verdict::Holds if report.certificate.is_some() => None,
        Verdict::Holds => Some(match report.guarantee {
            Guarantee::Exhaustive => "exhaustive: every reachable state was considered".into(),
            Guarantee::Bounded(bound) => {
                let unit = plural(unit(bound.unit));
                format!("complete up to this bound; runs with more {unit} were not considered")
            }
            Guarantee::Contexts(_) => {
                "complete up to this bound, the threads taking turns; runs with more contexts were not considered".into()
            }
            Guarantee::Instances { contexts, .. } => {
                let more = if contexts.is_some() { "threads or contexts" } else { "threads" };
                format!("complete up to this bound; runs with more {more} were not considered")
            }
            Guarantee::Approximate { probability, .. } => format!(
                "approximate: states are known by fingerprints; the probability that one was missed is {probability:.1e}"
            ),
            Guarantee::Parameterised => "exhaustive: the proof covers every instance".into(),
        }),
        Verdict::Violated => None,
        Verdict::Inconclusive(_) => match violations(&report.statistics) {
            Some(found) => Some(format!("found before that: {found}")),
            None if let Guarantee::Contexts(most) = report.guarantee => Some(format!(
                "no violation with at most {} of each thread; more are unknown",
                counted(most as usize, "context")
            )),
            None => report.statistics.get(Measure::States).map(|_| {
                let states = states(&report.statistics);
                format!("no violation among the {states} states visited; the others are unknown")
            }),
        },
    }
}

/// What a certificate is made of.
pub(super) fn certified(report: &Report, certificate: &CertificateText) -> String {
    let by = report.run.answered_by.as_ref().map_or(String::new(), |name| format!(" by {name}"));
    let lines: String = certificate.summary.iter().map(|line| format!("  {}\n", clean(line))).collect();
    format!("certified{by}:\n{lines}")
}

/// How much is known about the run that is shown, in words; `None` if nothing is.
pub fn minimality(minimality: Minimality, unit: Cost) -> Option<&'static str> {
    match (minimality, unit) {
        (Minimality::Nothing, _) => None,
        (Minimality::Fewest, Cost::Switches) => Some("a run with the fewest switches"),
        (Minimality::Fewest, Cost::Preemptions | Cost::Steps) => Some("a run with the fewest preemptions"),
        (Minimality::SimplestOfProperty, _) => Some("the simplest run that violates this property"),
        (Minimality::Simplest, _) => Some("the simplest run"),
        (Minimality::SimplestByFingerprint, _) => Some("the simplest run that fingerprints tell apart"),
        (Minimality::SimplestFound, _) => Some("the simplest run found"),
        (Minimality::FewestContexts, _) => Some("a run with the fewest contexts of each thread"),
        (Minimality::FewestTokens, _) => Some("a run with the fewest tokens"),
    }
}

/// Their number, and whether it is only an estimate.
pub(super) fn states(statistics: &Statistics) -> String {
    let estimated = statistics.coverage.as_ref().is_some_and(|coverage| coverage.states_are_estimated);
    let number = statistics.get(Measure::States).unwrap_or(0);
    format!("{}{}", if estimated { "about " } else { "" }, grouped(number))
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

/// `3 × assertion, 1 × deadlock`
pub(super) fn violations(statistics: &Statistics) -> Option<String> {
    let found: Vec<String> = statistics
        .violations
        .iter()
        .flatten()
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
