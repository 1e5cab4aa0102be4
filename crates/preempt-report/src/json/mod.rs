//! The result as JSON, and a counterexample back from it.
//!
//! The wire types in [`wire`] are the format; they are no one's internal types, so that those may change
//! without breaking a reader. A change that a reader could notice raises [`SCHEMA`].

mod read;
mod wire;
mod write;

pub use read::{ReadError, Recorded, read_counterexample};
pub use write::to_json;

/// The version of the format that is written.
///
/// In version 1, `stats.states` and `stats.transitions` of the symbolic engine and of those for nets counted other things,
/// and numbers that an engine does not have were 0.
pub const SCHEMA: u32 = 2;

/// Versions whose counterexamples can be read; what is read of them has the same fields.
pub const READABLE: [u32; 2] = [1, SCHEMA];

#[cfg(test)]
mod tests;
