//! Nets as data, the question whether a marking can be covered, and the formats they are written in: mist's
//! `.spec`, and PNML with the properties of the Model Checking Contest.
//!
//! Reading never fails and never panics: it returns what it understood and everything there is to say about it.
#![forbid(unsafe_code)]

pub mod marking;
pub mod mcc;
pub mod net;
pub mod pnml;
pub mod predecessor;
pub mod problem;
pub mod promela;
pub mod spec;
pub mod wsts;
mod xml;

pub use marking::{Marking, Place};
pub use net::{Move, Net, Transition};
pub use problem::{Problem, Range};
pub use wsts::WellStructured;

/// The text of a file whose encoding nobody wrote down: UTF-8 if it is that, or else Latin-1.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_string(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
