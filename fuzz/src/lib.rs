//! Every reader of Preempt, fed with bytes that anybody may have written. Each function reads what it is given, follows
//! what was understood as far as the command would, and panics if something is wrong: a crash, a place in the text that does
//! not exist, a text that is not read back as it was written, a proof of what is not so.
//!
//! The targets in `fuzz_targets/` hand them what libFuzzer makes up; a test of the command hands them the files in
//! `corpus/` and changes of these (`crates/preempt-cli/tests/readers.rs`).

mod nets;
mod programs;
mod protocols;
mod runs;
mod systems;

pub use nets::{certificate, lola, mcc, pnml, query, spec, tina, tpn, tts};
pub use programs::{boolean, pds, promela, remopla};
pub use protocols::{cubicle, protocol, protocol_certificate};
pub use runs::{checkpoint, schedule, trace};
pub use systems::{channels, grammar};

use preempt_core::{Budget, Diagnostic, Limits, SourceMap};
use std::time::Duration;

/// A function for what it reads. Was it understood?
pub type Reader = fn(&[u8]) -> bool;

/// All of them, by the name of their target.
pub const READERS: [(&str, Reader); 21] = [
    ("boolean", boolean),
    ("certificate", certificate),
    ("channels", channels),
    ("checkpoint", checkpoint),
    ("cubicle", cubicle),
    ("grammar", grammar),
    ("lola", lola),
    ("mcc", mcc),
    ("pds", pds),
    ("pnml", pnml),
    ("promela", promela),
    ("protocol", protocol),
    ("protocol_certificate", protocol_certificate),
    ("query", query),
    ("remopla", remopla),
    ("schedule", schedule),
    ("spec", spec),
    ("tina", tina),
    ("tpn", tpn),
    ("trace", trace),
    ("tts", tts),
];

/// As for a user who does not wait long.
fn budget() -> Budget {
    let (time, memory_bytes) = (Some(Duration::from_secs(2)), Some(256 << 20));
    Budget::within(&Limits { time, memory_bytes, ..Limits::default() })
}

/// Every place that is named must exist.
fn places_exist(diagnostics: &[Diagnostic], sources: &SourceMap) {
    for diagnostic in diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            let _ = sources.location(*span);
            assert!(span.end as usize <= sources.source(span.source).text.len(), "{diagnostic:?}");
        }
    }
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}
