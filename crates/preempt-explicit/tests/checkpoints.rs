//! A checkpoint that is not what was written is refused, whatever happened to it; and one that was changed with care, so
//! that its sum is right, never ends the process.

use preempt_core::{Limits, Outcome, Silent, SourceMap, StopReason, Verdict};
use preempt_explicit::{CheckError, Checkpoints, Goal, Native, Save, SearchOptions};
use preempt_model::Model;
use std::io::{Cursor, Read};

/// Processes that come and go, channels, a deadlock, and enough states to be stopped among them.
const TEXT: &str = "
    byte x; chan c = [1] of { byte, bit };
    proctype W(byte n) {
        byte i;
        do :: c!n,i; break :: c?x,_ -> i++ :: x > 1 -> x-- :: i > 0 -> break od;
        assert(x < 2)
    }
    init { run W(1); run W(2); x = 1 }";

fn load(text: &str) -> (Model, SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("saved.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.expect("it is a model"), loaded.sources)
}

/// In memory.
#[derive(Default)]
struct Kept {
    saved: Option<Vec<u8>>,
    resume: Option<Vec<u8>>,
}

impl Checkpoints for Kept {
    fn is_due(&mut self) -> bool {
        false
    }

    fn save(&mut self, write: &mut Save<'_>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory can be written");
        self.saved = Some(bytes);
    }

    fn resume(&mut self) -> Option<Box<dyn Read>> {
        self.resume.take().map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>)
    }
}

fn run(
    native: &mut Native<'_>,
    goal: Goal,
    limits: Limits,
    resume: Option<Vec<u8>>,
) -> (Result<Outcome, CheckError>, Option<Vec<u8>>) {
    let mut kept = Kept { saved: None, resume };
    let options = SearchOptions { limits, ..SearchOptions::default() };
    let result = native.explore(&options, goal, &mut kept, &mut Silent);
    (result.map(|report| report.outcome), kept.saved)
}

/// What does not depend on when it was done.
fn numbers(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug {
    let stats = &outcome.stats;
    let cost = outcome.counterexample.as_ref().map(|trace| (trace.preemptions(), trace.steps.len()));
    (outcome.verdict, cost, stats.states, stats.transitions, stats.levels.clone(), stats.violations.clone())
}

fn states(most: u64) -> Limits {
    Limits { states: Some(most), ..Limits::default() }
}

#[test]
fn whatever_happened_to_it_is_noticed() {
    let (model, sources) = load(TEXT);
    let mut native = Native::new(&model, &sources).expect("it is supported");
    let whole = run(&mut native, Goal::Count, Limits::default(), None).0.expect("nothing is wrong");
    let (_, saved) = run(&mut native, Goal::Count, states(60), None);
    let saved = saved.expect("it was stopped");
    let resumed = run(&mut native, Goal::Count, Limits::default(), Some(saved.clone())).0;
    assert_eq!(numbers(&resumed.expect("it is as it was written")), numbers(&whole));
    let mut refused = |bytes: Vec<u8>, what: &str, at: usize| {
        let result = run(&mut native, Goal::Count, Limits::default(), Some(bytes)).0;
        assert!(matches!(result, Err(CheckError::Checkpoint(_))), "{what} {at}: {result:?}");
    };
    for at in 0..saved.len() {
        let mut changed = saved.clone();
        changed[at] ^= 1 << (at % 8);
        refused(changed, "changed at", at);
    }
    for length in (0..saved.len()).step_by(3) {
        refused(saved[..length].to_vec(), "cut to", length);
    }
    for more in [1, 8, 16, 1000] {
        refused([saved.clone(), vec![0; more]].concat(), "longer by", more);
        refused([saved.clone(), saved[..more].to_vec()].concat(), "with itself again, longer by", more);
    }
    let middle = saved.len() / 2;
    refused([&saved[..middle], &saved[middle + 1..]].concat(), "without the byte at", middle);
    refused([&saved[..middle], &[0], &saved[middle..]].concat(), "with one more byte at", middle);
}

/// The sum that a checkpoint has at its end (FNV-1a).
fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, add)
}

#[test]
fn one_that_was_made_to_fit_never_ends_the_process() {
    let (model, sources) = load(TEXT);
    let mut native = Native::new(&model, &sources).expect("it is supported");
    for (goal, limit) in [(Goal::Count, 60), (Goal::First, 10), (Goal::All, 100)] {
        let whole = run(&mut native, goal, Limits::default(), None).0.expect("nothing is wrong");
        let saved = run(&mut native, goal, states(limit), None).1.expect("it was stopped");
        let content = saved.len() - 16;
        assert_eq!(saved[content + 8..], sum(&saved[..content]).to_le_bytes());
        let (mut refused, mut same, mut other) = (0, 0, 0);
        for at in 0..content {
            let mut forged = saved.clone();
            forged[at] ^= [0x01, 0x80, 0xFF, 0x10, 0x04][at % 5];
            let sum = sum(&forged[..content]);
            forged[content + 8..].copy_from_slice(&sum.to_le_bytes());
            match run(&mut native, goal, states(2000), Some(forged)).0 {
                Err(CheckError::Checkpoint(_)) => refused += 1,
                Err(why @ (CheckError::Unsupported(_) | CheckError::Parts(_))) => panic!("{at}: {why}"),
                Ok(outcome) if numbers(&outcome) == numbers(&whole) => same += 1,
                Ok(_) => other += 1,
            }
        }
        // Values of variables and marks cannot be told from those that were meant; what must fit together is.
        assert!(refused > 3 * other, "{goal:?}: {refused} refused, {same} the same, {other} other");
    }
}

/// `--max-depth`: the checkpoint is that of a search without the limit, so that any other one can follow.
#[test]
fn a_search_that_the_depth_cut_goes_on_with_another() {
    let (model, sources) = load(TEXT);
    let mut native = Native::new(&model, &sources).expect("it is supported");
    let depth = |most| Limits { depth: Some(most), ..Limits::default() };
    for goal in [Goal::Count, Goal::First, Goal::All] {
        let whole = run(&mut native, goal, Limits::default(), None).0.expect("nothing is wrong");
        let (cut, mut saved) = run(&mut native, goal, depth(2), None);
        assert_eq!(cut.expect("nothing is wrong").verdict, Verdict::Inconclusive(StopReason::Depth));
        for most in [2, 3, 6] {
            let (expected, _) = run(&mut native, goal, depth(most), None);
            let (resumed, again) = run(&mut native, goal, depth(most), saved.clone());
            let (expected, resumed) =
                (expected.expect("nothing is wrong"), resumed.expect("nothing is wrong"));
            assert_eq!(numbers(&resumed), numbers(&expected), "{goal:?}, {most}");
            saved = again.or(saved);
        }
        let resumed = run(&mut native, goal, Limits::default(), saved).0.expect("nothing is wrong");
        assert_eq!(numbers(&resumed), numbers(&whole), "{goal:?}");
    }
}
