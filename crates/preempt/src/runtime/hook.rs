//! Panics inside a run are noted, not printed: most of them are part of a search.
//!
//! A panic that must not unwind (a destructor that panics while its thread is panicking) makes std call the hook once more
//! and then abort the process. Then the hook does not return: it gives control back to the search, which ends the run as
//! a failure and leaves the stack as it is. What std counts of panics stays behind, so the OS thread is not used for
//! another run ([`crate::supervise`] takes a fresh one for the replay).

use super::context::{Context, try_with};
use super::failure::Failed;
use corosensei::Yielder;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Once};

static INSTALLED: Once = Once::new();

enum Heard {
    Noted,
    /// Returning would abort the process.
    Doomed(*const Yielder<(), ()>),
}

pub(crate) fn install() {
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match try_with(|context| hear(context, info)).flatten() {
            None => before(info),
            Some(Heard::Noted) => {}
            Some(Heard::Doomed(yielder)) => {
                // SAFETY: as in `operate::announce`: it is the yielder of the coroutine that is running, which is never
                // resumed, so nothing of what is on its stack is used again.
                #[allow(unsafe_code)]
                unsafe {
                    (*yielder).suspend(());
                }
            }
        }));
    });
}

/// `None` if it is none of ours.
fn hear(context: &mut Context, info: &PanicHookInfo<'_>) -> Option<Heard> {
    if context.threads.is_empty() || context.cutting {
        return Some(Heard::Noted);
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
        return Some(Heard::Doomed(context.threads[thread].yielder));
    }
    let ending = context.threads[thread].locals.ending;
    let backtrace = if context.replay { Some(Arc::new(Backtrace::capture())) } else { None };
    context.failed.push(Failed::Panic { thread, message, location, ending, backtrace });
    Some(Heard::Noted)
}
