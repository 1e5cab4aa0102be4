//! Front ends and engines, under the names that the commands use.
//!
//! Everything that the commands know of them goes through here.

pub use preempt_model::Model;
pub use preempt_promela::{Loaded, load};

/// The reference engine.
pub mod reference {
    pub use preempt_model::search::Options;

    use preempt_core::{Observer, Outcome, Property, PropertyKind, SourceMap, Verdict};
    use preempt_model::{Interpreter, Model, search};

    pub fn check(
        model: &Model,
        sources: &SourceMap,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Outcome {
        with_interpreter(model, sources, options, |interpreter| search::check(interpreter, options, observer))
    }

    pub fn count(
        model: &Model,
        sources: &SourceMap,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Outcome {
        with_interpreter(model, sources, options, |interpreter| search::count(interpreter, options, observer))
    }

    /// Initial values that cannot be computed are a run-time error before the first step.
    fn with_interpreter(
        model: &Model,
        sources: &SourceMap,
        options: &Options,
        explore: impl FnOnce(&Interpreter<'_>) -> Outcome,
    ) -> Outcome {
        match Interpreter::new(model, sources) {
            Ok(interpreter) => explore(&interpreter),
            Err(fault) => {
                let mut stats = preempt_core::Stats::default();
                stats.violations.insert(PropertyKind::RuntimeError, 1);
                let name = format!("in an initial value: {}", fault.0);
                Outcome {
                    verdict: Verdict::Violated,
                    guarantee: search::guarantee(options),
                    violation: Some(Property { kind: PropertyKind::RuntimeError, name, location: None }),
                    counterexample: Some(preempt_core::Trace::default()),
                    stats,
                }
            }
        }
    }
}
