//! States one by one: successors in machine code, a compressed store, and the search in order of cost.
//!
//! * [`successors`]: what a search asks; answered by [`native`] machine code, with an observer by [`product`], and for
//!   any system by [`interned`];
//! * [`store`]: every state once, compressed; [`search`]: the searches; [`reduction`]: what they may leave out;
//! * [`symmetry`]: states up to the order of processes that can be interchanged;
//! * [`parts`]: a search in several processes, and who carries their mail;
//! * [`swarm`]: many searches at once, each of which sees only part;
//! * [`liveness`]: runs without end; [`check`]: how each question about a model is answered; [`portfolio`]: several
//!   questions at once.
#![deny(unsafe_code)]
#![warn(missing_docs)]
// Without machine code, what only it makes use of is not compiled out piece by piece.
#![cfg_attr(not(feature = "native"), allow(dead_code))]

mod budget;
mod check;
mod crew;
mod interned;
#[cfg(feature = "native")]
mod liveness;
#[cfg(feature = "native")]
mod native;
#[cfg(feature = "native")]
mod observed;
mod observer;
mod parts;
mod pool;
mod portfolio;
#[cfg(feature = "native")]
mod product;
mod reduction;
mod replay;
mod saved;
mod scratch;
mod search;
mod store;
mod successors;
mod swarm;
#[cfg(feature = "native")]
mod symmetry;

pub use check::{answer, check, count, explore, explore_system, why_not_reduced};
#[cfg(feature = "native")]
pub use check::{answer_in_parts, decide_cycles, published_visits};
#[cfg(feature = "native")]
pub use liveness::CycleMethod;
#[cfg(feature = "native")]
pub use native::{Native, NativeSuccessor};
pub use parts::{Exchange, Mail, Moment, NoPartFiles, Part, PartFiles, Post, Traffic};
#[doc(hidden)]
pub use pool::answers_of_others;
pub use portfolio::{Answers, Portfolio};
pub use reduction::Reduction;
pub use scratch::{InMemory, Scratch, ScratchFile};
pub use search::{
    Checkpoints, Counterexample, Figure, Goal, NoCheckpoints, Order, Published, Save, SearchOptions,
    SearchReport, Storage, SuccessorSource, Visit, Visits, Walks,
};
pub use search::{InParts, PartsReport};
pub use swarm::{SwarmSize, swarm};
#[cfg(feature = "native")]
pub use symmetry::why_no_symmetry;

/// Something in a model that the engine cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not supported by the explicit engine: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckError {
    /// The engine cannot do it.
    Unsupported(Unsupported),
    /// A search could not be continued from its checkpoint.
    Checkpoint(String),
    /// The parts of a search could not work together.
    Parts(String),
}

impl From<Unsupported> for CheckError {
    fn from(unsupported: Unsupported) -> CheckError {
        CheckError::Unsupported(unsupported)
    }
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CheckError::Unsupported(unsupported) => unsupported.fmt(f),
            CheckError::Parts(why) => f.write_str(why),
            CheckError::Checkpoint(why) => write!(f, "the checkpoint cannot be used: {why}"),
        }
    }
}

impl std::error::Error for CheckError {}
