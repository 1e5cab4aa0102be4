//! Nets as data, the problem whether a marking can be covered, and the formats they are written in: mist's
//! [`spec`], [`pnml`], [`lola`], [`tina`], [`tpn`] and thread-transition systems ([`tts`]); [`promela`] is for writing only.
//! Properties come from the Model Checking Contest ([`mcc`]), as text ([`query`]) or as targets of thread-transition systems.
//! [`protocol`]: any number of equal processes with local variables, and their formats.
//!
//! [`WellStructured`] is what the algorithms of Bingham and Hu 2005 (paper 004) need of a system; [`Net`] is one.
//!
//! Reading never fails and never panics: it returns what it understood and everything there is to say about it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod builder;
pub mod channels;
pub mod complement;
pub mod dead;
pub mod formula;
pub mod grammar;
pub mod lola;
pub mod marking;
pub mod mcc;
pub mod net;
pub mod pnml;
pub mod predecessor;
pub mod problem;
pub mod promela;
pub mod property;
pub mod protocol;
pub mod query;
mod scan;
pub mod spec;
pub mod tina;
pub mod tpn;
pub mod tts;
pub mod wsts;
mod xml;

use preempt_core::Diagnostic;

pub use marking::{Marking, Place};
pub use net::{Move, Net, Transition};
pub use problem::{Problem, Range};
pub use property::{NetProperty, Quantifier, Question};
pub use wsts::WellStructured;

/// What a reader adds when its budget is exhausted: what it returns is not whole.
pub(crate) fn stopped() -> Diagnostic {
    Diagnostic::global_error("reading ended before the whole text was understood: a limit was reached")
}

/// The same, unless it has been said.
pub(crate) fn say_stopped(diagnostics: &mut Vec<Diagnostic>) {
    let stopped = stopped();
    if diagnostics.iter().all(|said| said.message != stopped.message) {
        diagnostics.push(stopped);
    }
}

/// After so many mistakes the rest of a text is not looked at.
const MOST_MISTAKES: usize = 100;

/// Are there too many errors? Then one more says so. `counted`: how many diagnostics there were at the last count.
pub(crate) fn too_many_mistakes(diagnostics: &mut Vec<Diagnostic>, counted: &mut usize) -> bool {
    if diagnostics.len() < *counted + MOST_MISTAKES {
        return false;
    }
    *counted = diagnostics.len();
    let too_many = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count() >= MOST_MISTAKES;
    if too_many {
        let message = "there are too many mistakes; the rest of the text was not looked at";
        diagnostics.push(Diagnostic::global_error(message));
    }
    too_many
}

/// Only so many mistakes get a hint about what may have been meant: it is looked for among all names.
pub(crate) const MOST_HINTS: usize = 20;

/// The text of a file whose encoding nobody wrote down: UTF-8 if it is that, or else Latin-1.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_string(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
