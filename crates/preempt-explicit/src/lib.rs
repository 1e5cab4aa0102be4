//! States one by one: successors in machine code, a compressed store, and the search in order of cost.
//!
//! * [`layout`], [`slots`], [`convert`]: a state as a flat byte vector;
//! * [`successors`]: what a search asks; answered by [`native`] machine code, with an observer by [`watched`], and for
//!   any system by [`interned`];
//! * [`store`]: every state once, compressed; [`search`]: the searches; [`reduction`]: what they may leave out;
//! * [`question`]: how each question about a model is answered.
#![deny(unsafe_code)]

mod convert;
mod interned;
mod layout;
mod native;
mod question;
mod reduction;
mod search;
mod slots;
mod store;
mod successors;
mod watched;

pub use interned::Interned;
pub use native::Native;
pub use question::{answer, check, count, explore, explore_system};
pub use reduction::Reduction;
pub use search::{Error, Goal, Options, Order, Report, Source, search};
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
