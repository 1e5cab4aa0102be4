//! Panics inside a run are recorded, not printed: most of them are part of a search.
//!
//! A panic that must not unwind (a destructor that panics while its thread is panicking) makes std call the hook once more
//! and then abort the process. `trap.rs` lets that end the run instead, as a failure. What std counts of panics stays
//! behind, so the OS thread is not used for another run ([`crate::supervise`] takes a fresh one for the replay).

use super::context::Context;
use super::current::try_with;
use super::failure::RunFailure;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Once};

static INSTALLED: Once = Once::new();

pub(crate) fn install() {
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if try_with(|context| record_panic(context, info)) != Some(true) {
                before(info);
            }
        }));
    });
}

/// Records a panic. False if it will not be reported.
fn record_panic(context: &mut Context, info: &PanicHookInfo<'_>) -> bool {
    if context.threads.is_empty() || context.cutting {
        return true;
    }
    let payload = info.payload();
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a panic with a payload that is no text".into(),
    };
    let location = info.location().map(|at| format!("{}:{}:{}", at.file(), at.line(), at.column()));
    let thread = context.current;
    let last_words = message == "panic in a destructor during cleanup"
        || message == "panic in a function that cannot unwind";
    if last_words && info.location().is_some_and(|at| at.file().contains("core/src/panicking.rs")) {
        context.threads[thread].panicked = true;
        context.doomed = true;
        return super::trap::expect_abort();
    }
    let ending = context.threads[thread].locals.ending;
    let backtrace = if context.replay { Some(Arc::new(Backtrace::capture())) } else { None };
    context.failed.push(RunFailure::Panic { thread, message, location, ending, backtrace });
    true
}
