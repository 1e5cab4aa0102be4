//! The result as JSON, and a counterexample back from it.
//!
//! The wire types in [`wire`] are the format; they are no one's internal types, so that those may change
//! without breaking a reader. A change that a reader could notice raises [`SCHEMA`].

mod read;
mod wire;
mod write;

pub use read::{ReadError, Recorded, read_counterexample};
pub use write::{RunInfo, Setting, properties_to_json, to_json};

/// The version of the format.
pub const SCHEMA: u32 = 1;

#[cfg(test)]
mod tests;
