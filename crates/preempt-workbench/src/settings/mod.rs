//! What can be set: a table with one row for each option ([`settings`]), and what the options say in types ([`Settings`]).
//!
//! A row has everything there is to know about an option: its name and value, its text for people, the verbs, inputs and
//! engines that it is for, what it needs and what excludes it, and whether it decides which run is found. Help, manual
//! page, completions, refusals and the line "see it again" of the command are made from it, and a user of the library is
//! refused by the same rows.

mod choices;
mod rules;
mod table;
pub mod units;

pub use choices::{
    CostUnit, Dialect, Method, Reduction, SearchOrder, Simplify, StoreKind, SuccessorsKind, VariableOrder,
};
pub(crate) use rules::Taken;
pub use rules::{Again, Engines, Inputs, Rule, RuleKind, Taker};
pub use table::{setting, settings};

use crate::engine::Engine;
use crate::verb::Verb;
use preempt_core::Limits;

/// One option: everything there is to know about it.
#[derive(Debug)]
pub struct Setting {
    /// As in `max-states`.
    pub name: &'static str,
    /// For an option that has nothing but a letter: how it is written.
    pub short: Option<char>,
    /// An older name that is still understood.
    pub alias: Option<&'static str>,
    pub value: Value,
    /// What it is if nobody says otherwise, where that is a value.
    pub default: Option<&'static str>,
    /// One line.
    pub help: &'static str,
    /// The rest of what there is to say.
    pub details: &'static str,
    pub group: Group,
    /// The verbs that have it.
    pub verbs: &'static [Verb],
    /// Does nothing go without it?
    pub required: bool,
    /// Is it one of those that everybody should know?
    pub common: bool,
    pub inputs: Inputs,
    pub engines: Engines,
    pub rules: &'static [Rule],
    /// Values that say what happens anyway.
    pub usual: &'static [&'static str],
    pub again: Again,
    /// A value for tests.
    pub example: &'static str,
    /// Puts a value that [`Value::check`] has accepted among the settings.
    pub apply: fn(&mut Settings, &str) -> Result<(), String>,
}

impl Setting {
    /// For everything, without rules, and of no matter to which run is found.
    pub const fn new(name: &'static str, value: Value, help: &'static str, details: &'static str) -> Setting {
        Setting {
            name,
            short: None,
            alias: None,
            value,
            default: None,
            help,
            details,
            group: Group::Search,
            verbs: &[Verb::Check],
            required: false,
            common: false,
            inputs: Inputs::Any,
            engines: Engines::Any,
            rules: &[],
            usual: &[],
            again: Again::Dropped,
            example: "",
            apply: |_, _| Ok(()),
        }
    }

    /// As it is typed: `--max-states` or `-D`.
    pub fn flag(&self) -> String {
        match self.short {
            Some(letter) => format!("-{letter}"),
            None => format!("--{}", self.name),
        }
    }
}

/// What an option is given.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// Nothing: it is there or not.
    Flag,
    /// A number within bounds, under this name.
    Number(&'static str, u64, u64),
    /// A number of things, as in `10M`.
    Count(&'static str),
    /// As in `1h30m`.
    Time,
    /// As in `512M`.
    Size,
    Text(&'static str),
    File(&'static str),
    OneOf(&'static str, &'static [&'static str]),
    /// One of the names in a registry, each with another name that is understood.
    Registered(&'static str, fn() -> Vec<(&'static str, Option<&'static str>)>),
    /// A macro with or without a value.
    Definition,
}

impl Value {
    /// What stands for the value in a line of help.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Value::Flag => None,
            Value::Number(name, ..)
            | Value::Count(name)
            | Value::Text(name)
            | Value::File(name)
            | Value::OneOf(name, _)
            | Value::Registered(name, _) => Some(name),
            Value::Time => Some("TIME"),
            Value::Size => Some("SIZE"),
            Value::Definition => Some("NAME[=VALUE]"),
        }
    }

    /// All values, if there are few, each with another name that is understood.
    pub fn choices(&self) -> Option<Vec<(&'static str, Option<&'static str>)>> {
        match self {
            Value::OneOf(_, names) => Some(names.iter().map(|name| (*name, None)).collect()),
            Value::Registered(_, names) => Some(names()),
            _ => None,
        }
    }

    /// What is wrong with the text, if something is.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self {
            Value::Flag | Value::Text(_) | Value::File(_) => Ok(()),
            Value::Number(_, least, most) => units::number(text, *least, *most).map(drop),
            Value::Count(_) => units::count(text).map(drop),
            Value::Time => units::duration(text).map(drop),
            Value::Size => units::bytes(text).map(drop),
            Value::Definition => units::definition(text).map(drop),
            Value::OneOf(..) | Value::Registered(..) => {
                let names = self.choices().unwrap_or_default();
                if names.iter().any(|(name, alias)| *name == text || *alias == Some(text)) {
                    return Ok(());
                }
                let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                Err(format!("`{text}` is none of {}", names.join(", ")))
            }
        }
    }
}

/// What an option is about; the headings of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    Input,
    Promela,
    Boolean,
    Nets,
    Search,
    Symbolic,
    Limits,
    Output,
}

impl Group {
    /// In the order of the help.
    pub const ALL: [Group; 8] = [
        Group::Input,
        Group::Promela,
        Group::Boolean,
        Group::Nets,
        Group::Search,
        Group::Symbolic,
        Group::Limits,
        Group::Output,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Group::Input => "Input",
            Group::Promela => "Promela models",
            Group::Boolean => "Boolean programs",
            Group::Nets => "Nets",
            Group::Search => "Search",
            Group::Symbolic => "Symbolic engine",
            Group::Limits => "Limits",
            Group::Output => "Output",
        }
    }
}

/// What the options say, in types. `None` is what nobody has said anything about.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Macros of a Promela model, with their values.
    pub defines: Vec<(String, String)>,
    pub dialect: Option<Dialect>,
    pub error_label: Option<String>,
    /// Only the property of this name.
    pub property: Option<String>,
    pub ltl: Option<String>,
    pub non_progress: bool,
    pub weak_fairness: bool,
    pub all_errors: bool,
    /// `None` for the one that suits.
    pub engine: Option<&'static Engine>,
    pub bound: Option<u32>,
    pub search: Option<SearchOrder>,
    pub store: Option<StoreKind>,
    pub fingerprint_bits: Option<u32>,
    pub hashes: Option<u32>,
    pub seed: Option<u64>,
    pub walks: Option<u64>,
    pub cost: Option<CostUnit>,
    pub paper_cycles: bool,
    pub iterative_shortening: bool,
    pub successors: Option<SuccessorsKind>,
    pub simplify: Option<Simplify>,
    pub fair_switch: bool,
    pub reduction: Option<Reduction>,
    pub stutter_invariant: bool,
    pub shortest: bool,
    pub contexts: Option<u32>,
    pub method: Option<Method>,
    pub instances: Option<u32>,
    pub bdd_nodes: Option<u64>,
    pub bdd_cache: Option<u64>,
    pub bdd_order: Option<VariableOrder>,
    pub limits: Limits,
}
