//! Checks a protocol that is a Rust type: `impl System` is all that the engine needs.
//!
//! `cargo run -p two-phase-commit` shows the simplest run that breaks the impatient variant, and that the patient one
//! is right.
#![forbid(unsafe_code)]

mod protocol;

use preempt_core::{Outcome, Silent};
use preempt_explicit::{Goal, SearchOptions, explore_system};
use preempt_report::{TextOptions, render_outcome};
use protocol::{Patience, TwoPhaseCommit};

fn main() {
    for patience in [Patience::UntilTimeout, Patience::ForEver] {
        let protocol = TwoPhaseCommit { participants: 3, patience };
        println!("three participants that wait {patience:?}\n");
        let promise = Some("the simplest run");
        let text = TextOptions { width: 110, promise, ..TextOptions::default() };
        println!("{}", render_outcome(&check(&protocol), &text));
    }
}

fn check(protocol: &TwoPhaseCommit) -> Outcome {
    // Only machine code can refuse a model, and there is none here.
    explore_system(protocol, &SearchOptions::default(), Goal::First, &mut Silent)
        .unwrap_or_else(|why| panic!("{why}"))
        .outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::Verdict;

    #[test]
    fn impatience_breaks_the_agreement() {
        let outcome = check(&TwoPhaseCommit { participants: 2, patience: Patience::UntilTimeout });
        assert_eq!(outcome.verdict, Verdict::Violated);
        let trace = outcome.counterexample.expect("a violation comes with its run");
        let texts: Vec<&str> = trace.steps.iter().map(|step| step.text.as_str()).collect();
        assert!(texts.contains(&"lose patience and abort"), "{texts:?}");
        assert!(trace.steps.iter().any(|step| step.process == "participant 2"));
    }

    #[test]
    fn patience_keeps_it() {
        for participants in 1..=4 {
            let outcome = check(&TwoPhaseCommit { participants, patience: Patience::ForEver });
            assert_eq!(outcome.verdict, Verdict::Holds, "{participants}");
        }
    }
}
