//! A bounded net as Promela: one variable for each place, and one process that fires transitions.
//!
//! Promela's numbers have an end, so the caller says how many tokens each place has at most. Moves and tests for
//! few tokens are kept exactly: the model has the runs of the net and no others.

use crate::marking::{Marking, Place};
use crate::net::Transition;
use crate::problem::Problem;
use foldhash::HashSet;
use std::fmt::Write;

/// The largest number of tokens that an `int` holds.
const LARGEST: u64 = i32::MAX as u64;

/// The text; `most` has the largest number of tokens for each place. An assertion fails where a target is covered.
///
/// ```
/// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 1";
/// let (problem, _) = preempt_net::spec::read(preempt_core::SourceMap::new().add("net.spec", text), text);
/// let model = preempt_net::promela::print(&problem, &[1, 1])?;
/// assert!(model.contains("assert(!COVERED)"), "{model}");
/// # Ok::<(), String>(())
/// ```
pub fn print(problem: &Problem, most: &[u64]) -> Result<String, String> {
    let names = names(&problem.net.places);
    let mut text =
        String::from("/* A net: a variable is a place, and its value the number of tokens there. */\n\n");
    for ((name, range), most) in names.iter().zip(&problem.initial).zip(most) {
        let kind = match *most {
            0..=255 => "byte",
            256..=0x7fff => "short",
            _ if *most <= LARGEST => "int",
            _ => return Err(format!("`{name}` has up to {most} tokens, and Promela counts to {LARGEST}")),
        };
        let _ = match range.low {
            0 => writeln!(text, "{kind} {name};"),
            low => writeln!(text, "{kind} {name} = {low};"),
        };
    }
    let targets: Vec<String> = problem.targets.iter().map(|target| at_least(&names, target)).collect();
    let covered = if targets.is_empty() { "false".into() } else { targets.join(" || ") };
    let _ = writeln!(text, "\n#define COVERED ({covered})\n\nactive proctype net() {{");
    let moved = problem.net.transitions.iter().map(|t| t.moves.len()).max().unwrap_or(0);
    for number in 0..moved {
        let _ = writeln!(text, "  int rest{number};");
    }
    text.push_str("  atomic {\n");
    for (name, range) in names.iter().zip(&problem.initial) {
        let high = range.high.ok_or(format!("`{name}` begins with any number of tokens"))?;
        if high > range.low {
            let _ = writeln!(text, "    do :: {name} < {high} -> {name}++ :: break od;");
        }
    }
    text.push_str("    assert(!COVERED)\n  }\n");
    if !problem.net.transitions.is_empty() {
        // Nothing enabled is no mistake of a net.
        text.push_str("end:\n  do\n");
        for transition in &problem.net.transitions {
            step(&mut text, &names, transition);
        }
        text.push_str("  od\n");
    }
    text.push_str("}\n");
    Ok(text)
}

fn at_least(names: &[String], marking: &Marking) -> String {
    // No place ever has so many, and Promela has no such number.
    if marking.iter().any(|(_, n)| n > LARGEST) {
        return "false".into();
    }
    let parts: Vec<String> =
        marking.iter().map(|(place, n)| format!("{} >= {n}", names[place as usize])).collect();
    if parts.is_empty() { "true".into() } else { parts.join(" && ") }
}

/// Consume, take the rests away, put them where they go, produce: what arrives is not moved on.
fn step(text: &mut String, names: &[String], transition: &Transition) {
    let name = |place: Place| names[place as usize].as_str();
    // What is produced is there afterwards, so that more than there can be is never produced either.
    let mut guard = match transition.produce.iter().any(|(_, n)| n > LARGEST) {
        true => "false".into(),
        false => at_least(names, &transition.consume),
    };
    for (place, most) in transition.at_most.iter().filter(|(_, most)| *most <= LARGEST) {
        let _ = write!(guard, " && {} <= {most}", name(*place));
    }
    let mut effects: Vec<String> = Vec::new();
    if transition.moves.is_empty() {
        for (place, by) in transition.displacement() {
            let sign = if by < 0 { '-' } else { '+' };
            effects.push(format!("{0} = {0} {sign} {1}", name(place), by.unsigned_abs()));
        }
    } else {
        effects.extend(transition.consume.iter().map(|(p, n)| format!("{0} = {0} - {n}", name(p))));
        for (number, moved) in transition.moves.iter().enumerate() {
            effects.push(format!("rest{number} = {0}; {0} = 0", name(moved.from)));
        }
        for (number, moved) in transition.moves.iter().enumerate() {
            effects.extend(moved.to.iter().map(|to| format!("{0} = {0} + rest{number}", name(*to))));
        }
        effects.extend((0..transition.moves.len()).map(|number| format!("rest{number} = 0")));
        effects.extend(transition.produce.iter().map(|(p, n)| format!("{0} = {0} + {n}", name(p))));
    }
    effects.push("assert(!COVERED)".into());
    let comment = transition.name.replace("*/", "* /");
    let _ = writeln!(text, "  :: atomic {{ /* {comment} */ {guard} -> {} }}", effects.join("; "));
}

/// No word of Promela begins with `p_`, so that every name is free.
fn names(places: &[String]) -> Vec<String> {
    let mut used = HashSet::<String>::default();
    let mut names = Vec::with_capacity(places.len());
    for place in places {
        let plain: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = format!("p_{plain}");
        while !used.insert(name.clone()) {
            name.push('_');
        }
        names.push(name);
    }
    names
}
