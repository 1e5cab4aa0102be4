//! Random small concurrent programs, for the tests of every crate.
//!
//! A [`Program`] is a small syntax tree. It can be printed as Promela ([`Program::to_promela`]) and built directly
//! as a model ([`Program::to_model`]), and both mean the same: a front end is tested by comparing the model that it
//! reads with the one built here, an engine by comparing its answers with the oracle's.
//!
//! * `syntax`: the tree;
//! * `strategy`: random trees, whose parts shrink independently;
//! * `normal` and `names`: turn any tree into one that means something, so that every shrunk tree is a program too;
//! * `print`: the text, and where each statement stands in it;
//! * `build`: the model; `graph`, `block` and `terms`: its processes;
//! * `formulas`: random formulas about a model;
//! * [`census`]: what a model exercises.

mod block;
mod build;
pub mod census;
mod formulas;
mod graph;
mod names;
mod normal;
mod print;
mod strategy;
#[allow(missing_docs, reason = "the constructs of Promela under their names, for tests")]
mod syntax;
mod terms;

pub use formulas::formula_from_seed;
pub use strategy::{faulty_programs, programs};
pub use syntax::{
    Channel, Check, Domain, Expression, Loop, Operator, Pattern, Place, Process, Program, Statement, Variable,
};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The same program for the same seed: for runs longer than a test, and to name a program in a message.
pub fn program_from_seed(seed: u64) -> Program {
    pick(programs(), seed)
}

/// As [`program_from_seed`], but the program may also do what has no meaning: see [`faulty_programs`].
pub fn faulty_program_from_seed(seed: u64) -> Program {
    pick(faulty_programs(), seed)
}

fn pick(strategy: impl Strategy<Value = Program>, seed: u64) -> Program {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    strategy.new_tree(&mut runner).expect("no program is rejected").current()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interpreter;
    use crate::search::{self, ReferenceOptions};
    use preempt_core::Silent;

    #[test]
    fn a_seed_names_one_program() {
        assert_eq!(program_from_seed(7), program_from_seed(7));
        assert_ne!(program_from_seed(7), program_from_seed(8));
    }

    #[test]
    fn every_step_stands_where_its_text_is() {
        for seed in 0..200 {
            let program = program_from_seed(seed);
            let (model, sources) = program.to_model();
            let written = model.edges().filter(|edge| edge.span.end > 0);
            for edge in written {
                assert_eq!(sources.text(edge.span), edge.text);
            }
            assert_eq!(sources.sources().next().unwrap().1.text, program.to_promela());
        }
    }

    /// The state spaces are worth exploring, and not too large to be explored by brute force.
    #[test]
    fn most_state_spaces_are_small_but_not_tiny() {
        let states = |seed: u64| {
            let (model, sources) = program_from_seed(seed).to_model();
            let system = Interpreter::new(&model, &sources).unwrap();
            let mut options = ReferenceOptions::default();
            options.limits.states = Some(2000);
            search::count(&system, &options, &mut Silent).stats.states
        };
        let counts: Vec<u64> = (0..300).map(states).collect();
        let share = |test: fn(u64) -> bool| counts.iter().filter(|count| test(**count)).count();
        assert!(share(|count| count >= 10) >= 200, "{counts:?}");
        assert!(share(|count| count > 2000) <= 15, "{counts:?}");
    }

    #[test]
    fn every_feature_is_met() {
        let texts: Vec<String> = (0..2000).map(|seed| program_from_seed(seed).to_promela()).collect();
        let features = [
            "bit ",
            "byte ",
            "short ",
            "unsigned ",
            "[2]",
            "[0] of",
            "[1] of",
            "[2] of",
            "active ",
            "atomic {",
            "d_step {",
            "if\n",
            "do\n",
            "::\telse",
            "break",
            "unless",
            "provided",
            "priority",
            "run ",
            "assert(",
            "timeout",
            "!!",
            "??",
            "?<",
            "?[",
            "eval(",
            "_nr_pr",
            "_pid",
            "len(",
            "nempty(",
            "full(",
            "end0:",
            "->",
        ];
        for feature in features {
            let count = texts.iter().filter(|text| text.contains(feature)).count();
            assert!(count >= 20, "{feature} is in {count} of 2000 programs");
        }
    }
}
