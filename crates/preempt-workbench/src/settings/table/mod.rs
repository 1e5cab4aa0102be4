//! The table, a file for each group of rows.

mod checkpoints;
mod cluster;
mod input;
mod limits;
mod properties;
mod search;
mod states;
mod symbolic;

use super::{Engines, Setting, Taker};
use crate::verb::Verb;
use std::str::FromStr;

/// Every setting, in the order of the help.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    let groups = [
        input::ROWS,
        properties::ROWS,
        search::ROWS,
        states::ROWS,
        symbolic::ROWS,
        limits::ROWS,
        checkpoints::ROWS,
        cluster::ROWS,
    ];
    groups.into_iter().flatten()
}

/// The setting that a verb has under this name.
pub fn setting(verb: Verb, name: &str) -> Option<&'static Setting> {
    settings().find(|row| row.name == name && row.verbs.contains(&verb))
}

const EXPLICIT: Engines = Engines::Of(&[Taker::all("explicit")]);
/// Whoever looks at states one by one: it sees the whole of a property, and every run within a bound.
const ONE_BY_ONE: Engines = Engines::Of(&[Taker::all("explicit"), Taker::all("reference")]);

const CHECK: &[Verb] = &[Verb::Check];
const SEARCHES: &[Verb] = &[Verb::Check, Verb::Count];
/// By one process or by several.
const CHECK_OR_TOGETHER: &[Verb] = &[Verb::Check, Verb::Cluster];
const SEARCHES_OR_TOGETHER: &[Verb] = &[Verb::Check, Verb::Count, Verb::Cluster];

/// One of several words.
fn word<T: FromStr<Err = String>>(place: &mut Option<T>, text: &str) -> Result<(), String> {
    *place = Some(text.parse()?);
    Ok(())
}

fn flag(place: &mut bool) -> Result<(), String> {
    *place = true;
    Ok(())
}

fn text(place: &mut Option<String>, text: &str) -> Result<(), String> {
    *place = Some(text.to_string());
    Ok(())
}

/// What a unit has made of the text.
fn value<T, U: TryFrom<T>>(place: &mut Option<U>, read: Result<T, String>) -> Result<(), String> {
    *place = Some(U::try_from(read?).map_err(|_| "this number is too large".to_string())?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Again, Settings};

    #[test]
    fn every_row_is_whole() {
        for row in settings() {
            assert!(!row.help.is_empty() && !row.details.is_empty(), "{}: nobody knows what it is", row.name);
            assert!(row.help.len() <= 70 && !row.help.ends_with('.'), "{}: {}", row.name, row.help);
            assert!(row.details.ends_with('.'), "{}: {}", row.name, row.details);
            for verb in row.verbs {
                let same = settings().filter(|it| it.name == row.name && it.verbs.contains(verb));
                assert_eq!(same.count(), 1, "{} of {}", row.name, verb.name());
            }
            assert_eq!(row.value.check(row.example), Ok(()), "{}", row.name);
            assert_eq!((row.apply)(&mut Settings::default(), row.example), Ok(()), "{}", row.name);
            for word in row.usual {
                assert_eq!(row.value.check(word), Ok(()), "{}", row.name);
            }
        }
    }

    /// Options and values that a row names must exist.
    #[test]
    fn every_rule_is_about_something() {
        let known = |name: &str, values: &[&str]| {
            let row = settings().find(|row| row.name == name)?;
            values.iter().all(|value| row.value.check(value).is_ok()).then_some(())
        };
        for row in settings() {
            for rule in row.rules {
                assert_eq!(known(row.name, rule.own), Some(()), "{}: {rule:?}", row.name);
                // Files are the caller's.
                if !["trace", "trail"].contains(&rule.other) {
                    assert_eq!(known(rule.other, rule.values), Some(()), "{}: {rule:?}", row.name);
                }
            }
            if let Again::KeptWith(other, values) = row.again {
                assert_eq!(known(other, values), Some(()), "{}", row.name);
            }
        }
    }
}
