//! Cubicle's `.cub`, as far as it is a protocol of this class: global variables and arrays over processes with enumerations and
//! Booleans as values, transitions of up to two processes, universal guards and updates of all processes. The rest (pointers to
//! processes, numbers, arrays over pairs, random values, unknown types) is refused by its name and at its place.
//!
//! `lower` says how a transition becomes a rule.

mod lower;
mod parser;

use super::Protocol;
use preempt_core::{Budget, Diagnostic, SourceId};

/// Reads a `.cub`; there are no constants to define.
pub fn read_within(
    source: SourceId,
    text: &str,
    definitions: &[(String, String)],
    budget: &Budget,
) -> (Protocol, Vec<Diagnostic>) {
    let (items, mut diagnostics) = parser::parse(source, text, budget);
    for (name, _) in definitions {
        let message = format!("there is no constant `{name}` to define");
        diagnostics.push(Diagnostic::global_error(message));
    }
    let protocol = lower::lower(&items, &mut diagnostics);
    if budget.exhausted().is_some() {
        crate::say_stopped(&mut diagnostics);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    (protocol, diagnostics)
}
