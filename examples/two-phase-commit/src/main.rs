//! Checks a protocol that is a Rust type: `impl System` is all that the engine needs.
//!
//! `cargo run -p two-phase-commit` shows the simplest run that breaks the impatient variant, and that the patient one
//! is right.
#![forbid(unsafe_code)]

mod protocol;

use preempt_workbench::check_system;
use protocol::{Patience, TwoPhaseCommit};

fn main() {
    for patience in [Patience::UntilTimeout, Patience::ForEver] {
        println!("three participants that wait {patience:?}\n");
        println!("{}", check_system(&TwoPhaseCommit { participants: 3, patience }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_workbench::Verdict;

    #[test]
    fn impatience_breaks_the_agreement() {
        let report = check_system(&TwoPhaseCommit { participants: 2, patience: Patience::UntilTimeout });
        assert_eq!(report.verdict, Verdict::Violated);
        let trace = report.counterexample.as_ref().expect("a violation comes with its run");
        let texts: Vec<&str> = trace.steps.iter().map(|step| step.text.as_str()).collect();
        assert!(texts.contains(&"lose patience and abort"), "{texts:?}");
        assert!(trace.steps.iter().any(|step| step.process == "participant 2"));
    }

    #[test]
    fn patience_keeps_it() {
        for participants in 1..=4 {
            let report = check_system(&TwoPhaseCommit { participants, patience: Patience::ForEver });
            assert_eq!(report.verdict, Verdict::Holds, "{participants}");
        }
    }
}
