//! Programs: Promela with its formulas, Boolean programs, Remopla and pushdown systems.

use super::{budget, has_error, places_exist};
use preempt_boolean::{Dialect, print, sequentialize};
use preempt_core::SourceMap;
use preempt_model::inline;
use preempt_promela::Additions;

/// A model; every file that it includes is itself. And a formula for it.
pub fn promela(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let mut read = |_: &str| Ok(text.to_string());
    let mut sources = SourceMap::new();
    let parsed = preempt_promela::parse_model(&mut sources, "model", &text, &[], &mut read);
    places_exist(&parsed.diagnostics, &sources);
    let (_, diagnostics) = preempt_promela::parse_ltl(&mut sources, "formula", &text, &parsed.macros);
    places_exist(&diagnostics, &sources);

    let additions = Additions { budget: budget(), ..Additions::default() };
    let loaded = preempt_promela::load("model", &text, &additions, &mut read);
    places_exist(&loaded.diagnostics, &loaded.sources);
    let understood = loaded.stopped.is_none() && !has_error(&loaded.diagnostics);
    assert_eq!(loaded.model.is_some(), understood);
    understood
}

/// A program of some dialect. What was understood is printed and read again, and goes on to the other forms.
pub fn boolean(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    for dialect in Dialect::ALL {
        let mut sources = SourceMap::new();
        let (program, diagnostics) = preempt_boolean::parse(&mut sources, "program", &text, Some(dialect));
        places_exist(&diagnostics, &sources);
        if !has_error(&diagnostics) {
            let printed = print::program(&program);
            let (again, told) = preempt_boolean::parse(&mut sources, "printed", &printed, Some(dialect));
            assert!(!has_error(&told), "{told:?}\n{printed}");
            assert!(again == program, "{printed}\n{}", print::program(&again));
        }
    }
    let budget = budget();
    let loaded = preempt_boolean::load_within("program", &text, &Default::default(), &budget);
    places_exist(&loaded.diagnostics, &loaded.sources);
    assert_eq!(loaded.model.is_some(), !has_error(&loaded.diagnostics));
    if let Some(model) = &loaded.model {
        let _ = inline::inline_within(model, &budget);
        let _ = sequentialize::to_boolean(model, &loaded.sources, 2, &budget);
        let _ = sequentialize::to_c(model, &loaded.sources, 2, &budget);
        let _ = sequentialize::to_promela(model, &loaded.sources, 2, &budget);
        let _ = sequentialize::to_smv(model, &loaded.sources, 2, &budget);
    }
    loaded.model.is_some()
}

/// Pushdown systems, as rules and as a model.
pub fn pds(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let loaded = preempt_pushdown::format::load("system", &text);
    places_exist(&loaded.diagnostics, &loaded.sources);
    assert_eq!(loaded.model.is_some(), !has_error(&loaded.diagnostics));
    let (file, _) = preempt_pushdown::format::parse(&text, preempt_core::SourceId(0));
    if loaded.model.is_some() {
        let system = preempt_pushdown::format::concurrent(&file);
        assert_eq!(system.threads.len(), file.threads.len());
    }
    loaded.model.is_some()
}

/// Remopla.
pub fn remopla(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let loaded = preempt_remopla::load("program", &text, &Default::default(), &budget());
    places_exist(&loaded.diagnostics, &loaded.sources);
    assert_eq!(loaded.model.is_some(), !has_error(&loaded.diagnostics));
    loaded.model.is_some()
}
