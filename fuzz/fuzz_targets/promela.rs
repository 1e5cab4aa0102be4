//! Any text is answered: no panic, no endless loop, and every place that is named exists.
#![no_main]

use libfuzzer_sys::fuzz_target;
use preempt_core::SourceMap;

fuzz_target!(|text: &str| {
    let mut sources = SourceMap::new();
    let mut read = |_: &str| Ok(text.to_string());
    let parsed = preempt_promela::parse_model(&mut sources, "model", text, &[], &mut read);
    for diagnostic in &parsed.diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            let _ = sources.location(*span);
        }
    }
    let _ = preempt_promela::parse_ltl(&mut sources, "formula", text, &parsed.macros);
});
