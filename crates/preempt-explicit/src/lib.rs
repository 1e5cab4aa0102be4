//! States one by one: successors in machine code, a compressed store, and the search in order of cost.
//!
//! * [`layout`], [`slots`], [`convert`]: a state as a flat byte vector;
//! * [`successors`]: what a search asks; answered by [`native`] machine code or by the [`interpreted`] model;
//! * [`store`]: every state once, compressed; [`search`]: in order of cost.
#![deny(unsafe_code)]

mod convert;
mod interpreted;
mod layout;
mod native;
mod search;
mod slots;
mod store;
mod successors;

pub use interpreted::Interpreted;
pub use native::Native;
pub use search::{Error, Goal, Memory, Options, Report, Source, check, count, explore};
pub use successors::{Event, Piece, Successors};

/// Something in a model that the engine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not supported by the explicit engine: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}
