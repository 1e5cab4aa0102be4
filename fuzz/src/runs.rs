//! Runs and searches that were kept: counterexamples, schedules, checkpoints.

use super::budget;
use preempt_core::{Limits, Silent, SourceMap};
use preempt_explicit::{Checkpoints, Goal, Native, Save, SearchOptions};
use preempt_model::{Interpreter, Model, System, search};
use std::io::{Cursor, Read};
use std::sync::OnceLock;

// Not part of the interface of the crate, which panics on a schedule that is none, and says why.
#[path = "../../crates/preempt/src/schedule.rs"]
mod schedules;

/// Processes that come and go, channels, a deadlock and a failing assertion.
const MODEL: &str = "byte x; chan c = [1] of { byte, bit };
proctype W(byte n) {
    byte i;
    do :: c!n,i; break :: c?x,_ -> i++ :: x > 1 -> x-- :: i > 0 -> break od;
    assert(x < 2)
}
init { run W(1); run W(2); x = 1 }";

fn model() -> (Model, SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("model.pml", MODEL, &Default::default(), &mut read);
    (loaded.model.expect("it is a model"), loaded.sources)
}

/// A result as JSON, with a counterexample for the model above.
pub fn trace(data: &[u8]) -> bool {
    let recorded = match preempt_report::read_counterexample(&String::from_utf8_lossy(data)) {
        Ok(recorded) => recorded,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return false;
        }
    };
    let (model, sources) = model();
    let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
    interpreter.work_within(&budget());
    let Ok(found) = search::recognise(&interpreter, &recorded.trace) else { return false };
    search::replay(&interpreter, &found.initial, &found.steps, false).is_ok()
}

/// As in `PREEMPT_REPLAY`.
pub fn schedule(data: &[u8]) -> bool {
    let Ok(moves) = schedules::decode(&String::from_utf8_lossy(data)) else { return false };
    let written = schedules::encode(&moves);
    assert_eq!(schedules::decode(&written).as_ref(), Ok(&moves), "{written}");
    true
}

/// A checkpoint of a search in the model above, changed: three bytes say where, and what to. As no sum would be right, it
/// is put right; what is there as it stands is read too.
pub fn checkpoint(data: &[u8]) -> bool {
    static SAVED: OnceLock<Vec<u8>> = OnceLock::new();
    let saved = SAVED.get_or_init(|| resumed(None, 60).1.expect("it was stopped"));
    let content = saved.len() - SUM_BYTES;
    let mut forged = saved.clone();
    for change in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % content;
        forged[at] = change[2];
    }
    let sum = sum(&forged[..content]);
    forged[content + SUM_BYTES / 2..].copy_from_slice(&sum.to_le_bytes());
    assert!(!resumed(Some(data.to_vec()), 500).0, "its sum is right by chance");
    resumed(Some(forged), 500).0
}

/// The length and the sum stand at the end.
const SUM_BYTES: usize = 16;

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, add)
}

/// Goes on with a search. Was the checkpoint taken, and what is saved when it is stopped after so many states?
fn resumed(from: Option<Vec<u8>>, states: u64) -> (bool, Option<Vec<u8>>) {
    let (model, sources) = model();
    let mut native = Native::new(&model, &sources).expect("it is supported");
    let limits = Limits { states: Some(states), ..Limits::default() };
    let mut kept = Kept { saved: None, resume: from };
    let options = SearchOptions { limits, ..SearchOptions::default() };
    let result = native.explore(&options, Goal::Count, &mut kept, &mut Silent);
    (result.is_ok(), kept.saved)
}

/// In memory.
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
