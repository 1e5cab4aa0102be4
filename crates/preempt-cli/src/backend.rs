//! Front ends and engines, under the names that the commands use.
//!
//! Everything that the commands know of them goes through here.

use preempt_core::{Diagnostic, SourceMap};

/// A program that the front end understood.
#[derive(Debug)]
pub struct Model;

/// What a front end returns: what it understood, and everything it has to say about it.
#[derive(Debug)]
pub struct Loaded {
    pub model: Option<Model>,
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads Promela. `read` gives the text of an included file; its name is relative to where the command runs.
pub fn load(
    name: &str,
    text: &str,
    _defines: &[(String, String)],
    _read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Loaded {
    let mut sources = SourceMap::new();
    sources.add(name, text);
    let missing = Diagnostic::global_error("this build has no Promela front end");
    Loaded { model: None, sources, diagnostics: vec![missing] }
}

/// The reference engine.
pub mod reference {
    use super::Model;
    use preempt_core::{
        Bound, Cost, Guarantee, Limits, Observer, Outcome, SourceMap, Stats, StopReason, Verdict,
    };

    #[derive(Debug, Clone, Default)]
    pub struct Options {
        pub bound: Option<u32>,
        pub fair_switch: bool,
        pub limits: Limits,
    }

    pub fn check(_: &Model, _: &SourceMap, options: &Options, observer: &mut dyn Observer) -> Outcome {
        nothing(options, observer)
    }

    pub fn count(_: &Model, _: &SourceMap, options: &Options, observer: &mut dyn Observer) -> Outcome {
        nothing(options, observer)
    }

    fn nothing(options: &Options, observer: &mut dyn Observer) -> Outcome {
        observer.progress(&preempt_core::Progress::default());
        let _ = (options.fair_switch, options.limits, observer.cancelled());
        Outcome {
            verdict: Verdict::Inconclusive(StopReason::Partial),
            guarantee: match options.bound {
                Some(most) => Guarantee::Bounded(Bound { unit: Cost::Preemptions, most }),
                None => Guarantee::Exhaustive,
            },
            violation: None,
            counterexample: None,
            stats: Stats::default(),
        }
    }
}
