//! Random small concurrent programs, for the tests of every crate.
//!
//! A [`Program`] is a small syntax tree. It can be printed as Promela ([`Program::to_promela`]) and built directly
//! as a model ([`Program::to_model`]), and both mean the same: a front end is tested by comparing the model that it
//! reads with the one built here, an engine by comparing its answers with the oracle's.
//!
//! * [`syntax`]: the tree;
//! * [`strategy`]: random trees, whose parts shrink independently;
//! * [`normal`]: turns any tree into one that means something, so that every shrunk tree is a program too;
//! * [`print`]: the text, and where each statement stands in it;
//! * [`build`]: the model; [`graph`], [`block`] and [`terms`]: its processes.

mod block;
mod build;
mod graph;
mod normal;
mod print;
mod strategy;
mod syntax;
mod terms;

pub use strategy::{faulty_programs, programs};
pub use syntax::{
    Channel, Domain, Expression, Loop, Operator, Pattern, Place, Process, Program, Question, Statement,
    Variable,
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

    #[test]
    fn a_seed_names_one_program() {
        assert_eq!(program_from_seed(7), program_from_seed(7));
        assert_ne!(program_from_seed(7), program_from_seed(8));
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
