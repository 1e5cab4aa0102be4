//! A problem as a `.spec`. Reading it back gives the same problem up to names.

use crate::marking::{Marking, Place};
use crate::net::Transition;
use crate::problem::Problem;
use crate::scan::LARGEST;
use foldhash::{HashSet, HashSetExt};
use std::fmt::Write;

/// The text, with names changed where the format does not allow them.
///
/// # Errors
/// If a number is larger than the format has them: sums of weights may be.
pub fn print(problem: &Problem) -> Result<String, String> {
    let names = names(&problem.net.places);
    let mut text = String::from("vars\n");
    for line in names.chunks(12) {
        let _ = writeln!(text, "  {}", line.join(" "));
    }
    text.push_str("\nrules\n");
    for transition in &problem.net.transitions {
        rule(&mut text, &names, transition)?;
    }
    text.push_str("\ninit\n  ");
    let limits: Vec<String> = names
        .iter()
        .zip(&problem.initial)
        .map(|(name, range)| {
            number(range.high.unwrap_or(range.low))?;
            Ok(match range.high {
                None => format!("{name} >= {}", range.low),
                Some(high) if high == range.low => format!("{name} = {high}"),
                Some(high) => format!("{name} in [{}, {high}]", range.low),
            })
        })
        .collect::<Result<_, String>>()?;
    let _ = writeln!(text, "{}\n\ntarget", limits.join(", "));
    for target in &problem.targets {
        let _ = writeln!(text, "  {}", at_least(&names, target)?);
    }
    Ok(text)
}

/// A number that can be read back.
fn number(number: impl Into<i128>) -> Result<i128, String> {
    let number = number.into();
    match number.unsigned_abs() <= u128::from(LARGEST) {
        true => Ok(number),
        false => Err(format!("a .spec file has no number beyond {LARGEST}, and this net needs {number}")),
    }
}

fn at_least(names: &[String], marking: &Marking) -> Result<String, String> {
    let limit = |(place, n): (Place, u64)| Ok(format!("{} >= {}", names[place as usize], number(n)?));
    let limits = marking.iter().map(limit).collect::<Result<Vec<String>, String>>()?;
    Ok(match (limits.is_empty(), names.first()) {
        (true, Some(name)) => format!("{name} >= 0"),
        _ => limits.join(", "),
    })
}

fn rule(text: &mut String, names: &[String], transition: &Transition) -> Result<(), String> {
    let name = |place: Place| &names[place as usize];
    let mut guards: Vec<String> = transition
        .consume
        .iter()
        .filter(|(place, _)| transition.at_most.iter().all(|(p, _)| p != place))
        .map(|(place, n)| Ok(format!("{} >= {}", name(place), number(n)?)))
        .collect::<Result<_, String>>()?;
    for (place, most) in &transition.at_most {
        let low = transition.consume.get(*place);
        number((*most).max(low))?;
        guards.push(if low == *most {
            format!("{} = {low}", name(*place))
        } else {
            format!("{} in [{low}, {most}]", name(*place))
        });
    }
    if guards.is_empty() {
        guards.push("true".into());
    }
    let mut places: Vec<Place> = transition.displacement().iter().map(|(place, _)| *place).collect();
    places.extend(transition.moves.iter().flat_map(|moved| moved.to.iter().chain([&moved.from])));
    places.sort_unstable();
    places.dedup();
    let mut effects = Vec::new();
    for place in places {
        let mut sources: Vec<Place> = Vec::new();
        if transition.move_of(place).is_none() {
            sources.push(place);
        }
        for moved in &transition.moves {
            sources.extend(moved.to.iter().filter(|to| **to == place).map(|_| moved.from));
        }
        let given: i128 = sources.iter().map(|from| i128::from(transition.consume.get(*from))).sum();
        let constant = number(i128::from(transition.produce.get(place)) - given)?;
        let sum: Vec<&str> = sources.iter().map(|from| name(*from).as_str()).collect();
        let sum = sum.join(" + ");
        effects.push(match (sum.is_empty(), constant) {
            (true, _) => format!("{}' = {constant}", name(place)),
            (false, 0) => format!("{}' = {sum}", name(place)),
            (false, 1..) => format!("{}' = {sum} + {constant}", name(place)),
            (false, _) => format!("{}' = {sum} - {}", name(place), constant.unsigned_abs()),
        });
    }
    let _ = writeln!(text, "  {} ->\n    {};", guards.join(", "), effects.join(", "));
    Ok(())
}

const RESERVED: [&str; 7] = ["vars", "rules", "init", "target", "invariants", "true", "in"];

/// Letters, digits and `_`, not reserved, and all different.
fn names(places: &[String]) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(places.len());
    for place in places {
        let mut name: String =
            place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if name.is_empty()
            || name.starts_with(|c: char| c.is_ascii_digit())
            || RESERVED.contains(&name.as_str())
        {
            name.insert(0, '_');
        }
        while !used.insert(name.clone()) {
            name.push('_');
        }
        names.push(name);
    }
    names
}
