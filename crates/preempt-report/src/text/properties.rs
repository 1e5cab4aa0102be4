//! What became of the other properties that were asked.

use super::summary::property_with_place;
use super::words::{clean, counted};
use crate::style::{Ink, Style};
use preempt_core::{FormulaAnswer, PropertyKind, PropertyResult, Report, Verdict};

/// Nothing if only one was asked.
pub(crate) fn lines(report: &Report, style: Style) -> String {
    let properties = &report.properties;
    if properties.len() < 2 {
        return String::new();
    }
    if properties.iter().any(|property| property.answer.is_some()) {
        return answers(properties);
    }
    let named = |wanted: fn(Verdict) -> bool| -> Vec<String> {
        properties.iter().filter(|it| wanted(it.verdict)).map(|it| clean(&it.name).to_string()).collect()
    };
    let holds = named(|verdict| verdict == Verdict::Holds);
    if holds.len() == properties.len() {
        return format!("checked: {}\n", holds.join(", "));
    }
    let mut text = String::new();
    // Where all are listed with their runs, there is nothing more to say about them.
    if report.violations.as_ref().is_none_or(|all| all.len() < 2) {
        for (number, property) in properties.iter().enumerate() {
            if number != report.shown && property.verdict == Verdict::Violated {
                text.push_str(&also_violated(property, style));
            }
        }
    }
    let open = named(|verdict| matches!(verdict, Verdict::Inconclusive(_)));
    for (word, names) in [("holds", holds), ("not decided", open)] {
        if !names.is_empty() {
            text.push_str(&format!("{word}: {}\n", names.join(", ")));
        }
    }
    text
}

/// The formulas of a file, one a line.
fn answers(properties: &[PropertyResult]) -> String {
    let width = properties.iter().map(|it| it.name.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::from("\n");
    for property in properties {
        let Some(answer) = &property.answer else { continue };
        let reason = match answer {
            FormulaAnswer::Unsupported(reason) => format!(": {}", clean(reason)),
            _ => String::new(),
        };
        text.push_str(&format!("  {:width$}  {}{reason}\n", clean(&property.name), answer.name()));
    }
    text
}

fn also_violated(property: &PropertyResult, style: Style) -> String {
    let by_name =
        [PropertyKind::Ltl, PropertyKind::Never, PropertyKind::Acceptance, PropertyKind::NonProgress];
    let what = match &property.violation {
        Some(violation) if !by_name.contains(&violation.kind) => property_with_place(violation),
        _ => clean(&property.name).to_string(),
    };
    let cost = property.cost.map(|cost| {
        format!(" ({}, {})", counted(cost.preemptions, "preemption"), counted(cost.steps, "step"))
    });
    format!("{}: {what}{}\n", style.paint(Ink::Bad, "also violated"), cost.unwrap_or_default())
}
