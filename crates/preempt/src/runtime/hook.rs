//! Panics inside a run are noted, not printed: most of them are part of a search.

use super::context::try_with;
use super::failure::Failed;
use std::sync::Once;

static INSTALLED: Once = Once::new();

pub(crate) fn install() {
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let noted = try_with(|context| {
                if context.threads.is_empty() || context.cutting {
                    return;
                }
                let payload = info.payload();
                let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
                    (Some(text), _) => (*text).to_string(),
                    (_, Some(text)) => text.clone(),
                    _ => "a panic with a payload that is no text".into(),
                };
                let location =
                    info.location().map(|at| format!("{}:{}:{}", at.file(), at.line(), at.column()));
                let thread = context.current;
                context.failed.push(Failed::Panic { thread, message, location });
            });
            if noted.is_none() {
                before(info);
            }
        }));
    });
}
