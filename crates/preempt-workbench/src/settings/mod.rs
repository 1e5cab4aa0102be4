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
    CostUnit, Dialect, Direction, Method, Reduction, SearchOrder, Simplify, StoreKind, SuccessorsKind,
    Symmetry, VariableOrder,
};
pub(crate) use rules::Taken;
pub use rules::{Again, Engines, Inputs, Rule, RuleKind, Taker, Values};
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
    /// What it is given.
    pub value: Value,
    /// What it is if nobody says otherwise, where that is a value.
    pub default: Option<&'static str>,
    /// One line.
    pub help: &'static str,
    /// The rest of what there is to say.
    pub details: &'static str,
    /// The heading of the help under which it stands.
    pub group: Group,
    /// The verbs that have it.
    pub verbs: &'static [Verb],
    /// Does nothing go without it?
    pub required: bool,
    /// Is it one of those that everybody should know?
    pub common: bool,
    /// The inputs that it is for.
    pub inputs: Inputs,
    /// The engines that have it.
    pub engines: Engines,
    /// What it needs, and what excludes it.
    pub rules: &'static [Rule],
    /// Values that say what happens anyway.
    pub usual: &'static [&'static str],
    /// Whether it decides which run is found.
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
    /// The same, or this word.
    NumberOr(&'static str, u64, u64, &'static str),
    /// A number of things, as in `10M`.
    Count(&'static str),
    /// As in `1h30m`.
    Time,
    /// As in `512M`.
    Size,
    /// Any text, under this name.
    Text(&'static str),
    /// The name of a file, which need not be Unicode.
    File(&'static str),
    /// One of these words.
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
            | Value::NumberOr(name, ..)
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
            Value::NumberOr(_, _, _, word) if text == *word => Ok(()),
            Value::NumberOr(_, least, most, word) => {
                units::number(text, *least, *most).map(drop).map_err(|why| format!("{why}, or `{word}`"))
            }
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
    /// The input and who reads it.
    Input,
    /// Only for Promela models.
    Promela,
    /// Only for Boolean programs.
    Boolean,
    /// Only for nets.
    Nets,
    /// What is looked for, and how.
    Search,
    /// Only for the symbolic engine.
    Symbolic,
    /// What may be spent.
    Limits,
    /// What is shown and written.
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

    /// The heading.
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
    /// Macros of a Promela model or constants of a protocol, with their values.
    pub defines: Vec<(String, String)>,
    /// Who wrote a Boolean program.
    pub dialect: Option<Dialect>,
    /// The label of a Boolean program that must not be reached.
    pub error_label: Option<String>,
    /// Only the property of this name.
    pub property: Option<String>,
    /// With so many processes a system is written as a model.
    pub processes: Option<u32>,
    /// A formula in place of the model's own properties.
    pub ltl: Option<String>,
    /// Look for cycles without progress labels.
    pub non_progress: bool,
    /// Only runs in which whoever could always move does.
    pub weak_fairness: bool,
    /// Every different violation, each at its simplest.
    pub all_errors: bool,
    /// `None` for the one that suits.
    pub engine: Option<&'static Engine>,
    /// Only runs with at most so many preemptions, or of what `cost` counts.
    pub bound: Option<u32>,
    /// In which order states are visited.
    pub search: Option<SearchOrder>,
    /// What is kept of each state.
    pub store: Option<StoreKind>,
    /// Bits of a fingerprint in the store `compact`.
    pub fingerprint_bits: Option<u32>,
    /// Bits of a state in the store `bitstate`.
    pub hashes: Option<u32>,
    /// Of random walks and swarms.
    pub seed: Option<u64>,
    /// How many random walks.
    pub walks: Option<u64>,
    /// What is to be fewest.
    pub cost: Option<CostUnit>,
    /// Leaving a process that goes round is free, as Holzmann and Florian have it.
    pub paper_cycles: bool,
    /// Depth first: go on after an error, with shorter runs only.
    pub iterative_shortening: bool,
    /// How steps are computed.
    pub successors: Option<SuccessorsKind>,
    /// Forget dead variables and merge private steps.
    pub simplify: Option<Simplify>,
    /// States that differ in the order of interchangeable processes are one.
    pub symmetry: Option<Symmetry>,
    /// Leaving a process that only spins is no preemption.
    pub fair_switch: bool,
    /// Which steps need not be tried in every order.
    pub reduction: Option<Reduction>,
    /// No claim or formula counts how often a state is repeated.
    pub stutter_invariant: bool,
    /// The fewest steps, however long that takes.
    pub shortest: bool,
    /// Contexts of each thread, at most.
    pub contexts: Option<u32>,
    /// How threads are analysed.
    pub method: Option<Method>,
    /// Which statements lie on error traces.
    pub error_projection: bool,
    /// From which end pushdown systems are analysed.
    pub direction: Option<Direction>,
    /// How many threads a start inside a loop is good for.
    pub instances: Option<u32>,
    /// Most nodes of decision diagrams.
    pub bdd_nodes: Option<u64>,
    /// Entries of their cache.
    pub bdd_cache: Option<u64>,
    /// The order of their variables.
    pub bdd_order: Option<VariableOrder>,
    /// How many threads search; `None` for as many as the machine has.
    pub threads: Option<u32>,
    /// The program has any number of threads.
    pub any_threads: bool,
    /// What may be spent.
    pub limits: Limits,
}
