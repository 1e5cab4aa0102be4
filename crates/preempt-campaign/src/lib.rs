//! Every engine and option against the definition, on random programs that cover the grammar.
//!
//! A comparison takes a program and says how much it compared, or in words what is different. Tests run some hundred
//! programs; the program `campaign` runs as many as there is time for, in processes of their own, and shrinks what
//! differs.
//!
//! * [`successors`]: machine code against the interpreter, state by state;
//! * [`safety`]: every option of the explicit engine against the oracle, by what each of them promises;
//! * [`liveness`]: claims, formulas, labels and traces against the reference engine;
//! * [`chance`]: random walks and swarms, by what little they promise;
//! * [`stateless`]: every algorithm of the stateless engine against brute force;
//! * [`recursive`]: every method for programs with recursion, against each other;
//! * [`sequential`]: explicit rounds, the symbolic engine and sequentialized programs, also for Boolean programs.
#![forbid(unsafe_code)]

pub mod chance;
pub mod liveness;
pub mod recursive;
pub mod safety;
pub mod sequential;
pub mod stateless;
pub mod successors;

use preempt_core::SourceMap;
use preempt_model::Model;
use preempt_model::generator::census::Census;

/// How much was compared, or what is different.
pub type Compared = Result<u64, String>;

/// A model and where its text stands.
#[derive(Debug)]
pub struct Program {
    pub model: Model,
    pub sources: SourceMap,
}

/// Which comparisons are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Successors,
    Safety,
    Liveness,
    Walks,
    Swarm,
    Stateless,
    Sequential,
    Boolean,
    Recursive,
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::Successors,
        Kind::Safety,
        Kind::Liveness,
        Kind::Walks,
        Kind::Swarm,
        Kind::Stateless,
        Kind::Sequential,
        Kind::Boolean,
        Kind::Recursive,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Successors => "successors",
            Kind::Safety => "safety",
            Kind::Liveness => "liveness",
            Kind::Walks => "walks",
            Kind::Swarm => "swarm",
            Kind::Stateless => "stateless",
            Kind::Sequential => "sequential",
            Kind::Boolean => "boolean",
            Kind::Recursive => "recursive",
        }
    }

    /// The text of a seed: Promela, or a Boolean program.
    pub fn lines(self, seed: u64) -> Vec<preempt_promela::generator::Line> {
        match self {
            Kind::Boolean => sequential::boolean_lines(seed),
            Kind::Recursive => recursive::lines(seed),
            _ => preempt_promela::generator::program(seed),
        }
    }

    /// `None` if the text is no program.
    pub fn compare(self, text: &str, seed: u64) -> Option<Compared> {
        match self {
            Kind::Boolean => return sequential::boolean(text, seed),
            Kind::Recursive => return recursive::compare(text, seed),
            _ => {}
        }
        let program = promela(text)?;
        Some(match self {
            Kind::Successors => successors::compare(&program, if seed.is_multiple_of(8) { 600 } else { 120 }),
            Kind::Safety => safety::compare(&program, seed),
            Kind::Liveness => liveness::compare(&program, seed),
            Kind::Walks => chance::compare_walks(&program, seed),
            Kind::Swarm => chance::compare_swarms(&program, seed),
            Kind::Stateless => stateless::compare(&program, seed),
            Kind::Sequential | Kind::Boolean | Kind::Recursive => sequential::compare(&program, seed),
        })
    }
}

/// Reads Promela that includes nothing.
pub fn promela(text: &str) -> Option<Program> {
    let mut read = |name: &str| Err(format!("no {name}"));
    let loaded = preempt_promela::load("generated.pml", text, &Default::default(), &mut read);
    Some(Program { model: loaded.model?, sources: loaded.sources })
}

/// Counts what a text and its model exercise.
pub fn count_features(text: &str, texts: &mut Census, models: &mut Census) {
    let Some(program) = promela(text) else { return };
    let mut sources = SourceMap::new();
    let mut read = |name: &str| Err(format!("no {name}"));
    let (tree, _) = preempt_promela::parse(&mut sources, "generated.pml", text, &[], &mut read);
    preempt_promela::generator::census::count(text, &tree, texts);
    preempt_model::generator::census::count(&program.model, models);
}

/// Says that two things should have been equal.
fn same<T: PartialEq + std::fmt::Debug>(
    what: impl Fn() -> String,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{}: {found:?}, but {expected:?} is right", what()))
}
