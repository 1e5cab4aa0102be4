//! The model as machine code, made by Cranelift when a search begins.
//!
//! Every kind of process has a step function ([`step_function`]), with a switch on where to begin: what can be taken from a location, one edge
//! after the other, with the state that it leads to; can this edge be taken now; what does it do. For a receive there is also
//! whether it takes an offered message (`accept`, `take`). The order of edges, `else`, escapes,
//! who may run, the partners of a rendezvous and atomic sequences that go round are Rust around it. Where a step has no meaning
//! machine code says only that; the words for it come from the interpreter.
//!
//! * [`slots`], [`layout`]: a state as a flat byte vector; [`convert`]: from the interpreter's states and back;
//! * [`emitter`]: the tools; [`variables`], [`expressions`], [`channels`], [`commands`], [`blocks`], [`rendezvous`]: what
//!   is written with them; [`channel_facts`]: channels known beforehand; [`compiler`]: all of it, for a model;
//! * [`program`]: what was compiled; [`context`]: what machine code and Rust say to each other; [`helpers`]: what it calls;
//! * [`actor`]: a process in a state; [`direct`]: steps as the step function gives them, for the locations that
//!   [`direct_locations`] has found;
//! * [`moves`]: the steps of one process in any location, edge by edge, with [`offers`] and [`scheduling`]; [`sequence`]: up to stable states;
//! * [`compiled`]: a model in machine code; [`expansion`]: what searches ask of it.
//! * [`dependence`]: which bytes of a state decide what a process does;
//! * [`cells`]: what a permutation of processes moves in a state.

mod actor;
mod blocks;
mod cells;
mod channel_facts;
mod channels;
mod commands;
mod compiled;
mod compiler;
mod context;
mod convert;
mod dependence;
mod direct;
mod direct_locations;
mod emitter;
mod expansion;
mod expressions;
mod helpers;
mod layout;
mod moves;
mod offers;
mod own_elements;
mod program;
mod rendezvous;
mod scheduling;
mod sequence;
mod slots;
mod step_function;
mod variables;

pub(crate) use cells::{Cell, Cells, CellsByLayout};
pub use compiled::{Native, NativeSuccessor};
