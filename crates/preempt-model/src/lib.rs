//! A concurrent program as data, what it means, and the brute-force answers that everything fast is tested against.
//!
//! * [`program`], [`command`], [`expr`], [`types`]: the program as plain data; [`footprint`]: what a command touches.
//! * [`system`]: anything that moves step by step, process by process.
//! * [`interpreter`]: the definition of what a program means, written to be read.
//! * [`monitor`]: observers of runs: never claims, automata, labels.
//! * [`ltl`]: formulas of linear temporal logic to automata.
//! * [`check`]: what can be asked of a model; [`check_all`]: all of it together.
//! * [`coverage`]: which edges were taken while a model was searched.
//! * [`inline`](mod@inline): copies of procedures in the place of calls.
//! * [`search`]: the reference search, the oracle it is compared with, and replay.
//! * [`symmetry`]: processes that can be interchanged.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod check;
pub mod check_all;
pub mod command;
pub mod coverage;
pub mod expr;
pub mod footprint;
#[cfg(feature = "generator")]
pub mod generator;
pub mod inline;
pub mod interpreter;
pub mod ltl;
pub mod monitor;
pub mod program;
pub mod property;
pub mod search;
pub mod symmetry;
pub mod system;
pub mod types;

pub use command::{Block, BlockEdge, Command, Pattern};
pub use expr::{BinaryOp, Expr, Index, Place, Probe, Scope, UnaryOp};
pub use footprint::Footprint;
pub use interpreter::Interpreter;
pub use program::{
    ChannelTemplate, Code, CodeId, CodeKind, Edge, Init, Location, LocationId, Model, Start, SymbolSet,
    TemplateId, Variable,
};
pub use system::{Successor, System, Violation};
pub use types::{Type, ValueKind};
