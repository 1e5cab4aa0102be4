//! Engines: who answers. Each is a file that exports its constants and turns settings into the engine's own options and
//! its result into the one [`Report`]; a new one is a file and a line in [`ENGINES`].

mod any_number;
mod coverability;
mod explicit;
mod in_parts;
mod pushdown;
mod reference;
mod symbolic;

pub(crate) use coverability::summary as certificate_summary;
pub(crate) use explicit::check_system;
pub use in_parts::{Together, search_together};

use crate::error::Error;
use crate::frontend::{Input, Kind};
use crate::plan::Plan;
use crate::verb::Verb;
use preempt_core::{Measure, OptionValue, Progress, Report, Snapshot, Statistics};
use preempt_explicit::{Checkpoints, Scratch};
use std::sync::Arc;

/// Every engine, in the order of the tables.
pub const ENGINES: &[&Engine] = &[
    &reference::REFERENCE,
    &explicit::EXPLICIT,
    &symbolic::SYMBOLIC,
    &pushdown::PUSHDOWN,
    &coverability::COVERABILITY,
    &coverability::PRECHECKS,
    &coverability::BASIS,
    &coverability::WEIGHT,
    &coverability::WEIGHT_PLAIN,
    &coverability::FORWARD,
];

/// Somebody who answers.
#[derive(Debug)]
pub struct Engine {
    /// As in `--engine explicit`.
    pub name: &'static str,
    /// One line.
    pub description: &'static str,
    /// What it does with an input of this kind; or why nothing.
    pub takes: fn(Kind) -> Result<&'static [Verb], &'static str>,
    /// Looks for a violation, or proves that there is none.
    pub check: Search,
    /// Counts states, if it can.
    pub count: Option<Search>,
    /// What its [`Snapshot::states`] and [`Snapshot::transitions`] count while it works.
    pub counts: [Option<Measure>; 2],
}

/// Does what is planned with an input.
pub type Search = fn(&Plan, &Input, &mut Context<'_>) -> Result<Report, Error>;

/// Whoever waits for the answer.
#[allow(missing_debug_implementations, reason = "a listener need not have one")]
pub struct Context<'a> {
    /// Hears how far the engine is, and may end it.
    pub progress: &'a mut dyn Progress,
    /// Where a search is saved and continued from, if that is wanted.
    pub checkpoints: Option<&'a mut dyn Checkpoints>,
    /// Where a search goes on that outgrows its memory, if that is wanted.
    pub scratch: Option<Arc<dyn Scratch>>,
}

impl Engine {
    /// Can it do this with an input of this kind? If not, why?
    pub fn takes_verb(&self, kind: Kind, verb: Verb) -> Result<(), String> {
        let verbs = (self.takes)(kind)?;
        match verbs.contains(&verb) {
            true => Ok(()),
            false => Err(format!("it does not {}", verb.name())),
        }
    }

    /// What is known of a search that is under way.
    pub fn statistics(&self, snapshot: &Snapshot) -> Statistics {
        let mut statistics = Statistics::default();
        for (measure, number) in self.counts.into_iter().zip([snapshot.states, snapshot.transitions]) {
            if let Some(measure) = measure {
                statistics.set(measure, number);
            }
        }
        if self.counts[0] == Some(Measure::States) {
            statistics.set(Measure::Depth, snapshot.depth);
        }
        statistics.peak_bytes = (snapshot.bytes > 0).then_some(snapshot.bytes);
        statistics
    }
}

/// Compared by name: each has its own.
impl PartialEq for Engine {
    fn eq(&self, other: &Engine) -> bool {
        self.name == other.name
    }
}

/// The word for the engine that suits.
pub const AUTO: &str = "auto";

/// The engine with this name; `None` for [`AUTO`].
pub fn find(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().copied().find(|engine| engine.name == name)
}

/// Every name that an engine can be asked for by.
pub fn names() -> Vec<(&'static str, Option<&'static str>)> {
    std::iter::once(AUTO).chain(ENGINES.iter().map(|engine| engine.name)).map(|name| (name, None)).collect()
}

/// The settings that a report has, in its order.
pub const REPORTED: &[&str] = &[
    "search",
    "store",
    "reduction",
    "simplify",
    "successors",
    "bound",
    "fair_switch",
    "weak_fairness",
    "contexts",
    "method",
    "direction",
    "instances",
    "bdd_order",
    "threads",
];

/// All of them, null but for those that the engine has used.
pub fn reported(used: &[(&'static str, OptionValue)]) -> Vec<(&'static str, OptionValue)> {
    debug_assert!(used.iter().all(|(name, _)| REPORTED.contains(name)));
    let value = |name: &str| used.iter().find(|(it, _)| *it == name).map(|(_, value)| value.clone());
    REPORTED.iter().map(|name| (*name, value(name).unwrap_or(OptionValue::Unset))).collect()
}

fn word(text: &str) -> OptionValue {
    OptionValue::Text(text.to_string())
}

fn number(number: Option<u32>) -> OptionValue {
    number.map_or(OptionValue::Unset, |number| OptionValue::Number(number.into()))
}
