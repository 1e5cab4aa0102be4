//! The short help: what everybody should know, grouped by what it is about.

use super::rows;
use preempt_workbench::Verb;
use preempt_workbench::settings::{Group, Setting};

/// The arguments of a verb, below its usage.
pub fn short(verb: Verb, files: &[(&str, &str)]) -> String {
    let common: Vec<&Setting> = rows(verb).filter(|row| row.common).collect();
    let mut lines: Vec<(String, &str)> =
        files.iter().map(|(name, help)| (format!("  <{name}>"), *help)).collect();
    for group in Group::ALL {
        let own = || common.iter().filter(|row| row.group == group);
        if own().next().is_some() {
            lines.push((format!("{}:", group.title()), ""));
        }
        lines.extend(own().map(|row| (format!("  {}", spelled(row)), row.help)));
    }
    lines.push(("  -h, --help".into(), "Print this; with --help, everything"));
    let column =
        lines.iter().filter(|(_, help)| !help.is_empty()).map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let line = |(name, help): &(String, &str)| match help.is_empty() {
        true => name.clone(),
        false => format!("{name:<column$}{help}"),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// `-o, --output <FILE>`
fn spelled(row: &Setting) -> String {
    let flag = row.flag();
    let flag = match row.short {
        Some(_) if row.name == "output" => format!("{flag}, --{}", row.name),
        _ => flag,
    };
    row.value.name().map_or(flag.clone(), |name| format!("{flag} <{name}>"))
}
