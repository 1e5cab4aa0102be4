//! The model as machine code, made by Cranelift when a search begins.
//!
//! Machine code answers two questions for each edge: can it be taken now (`ready`), and what does it do (`apply`);
//! for a receive also whether it takes an offered message (`accept`, `take`). The order of edges, `else`, escapes,
//! who may run, the partners of a rendezvous and atomic sequences are Rust around it. Where a step has no meaning
//! machine code says only that; the words for it come from the interpreter.
//!
//! * [`emit`]: the tools; [`places`], [`expressions`], [`channels`], [`commands`], [`blocks`], [`rendezvous`]: what
//!   is written with them; [`facts`]: channels known beforehand;
//! * [`context`]: what machine code and Rust tell each other; [`helpers`]: what it calls;
//! * [`program`]: everything compiled; [`moves`]: the steps of one process; [`expansion`]: up to stable states.

mod blocks;
mod channels;
mod commands;
mod context;
mod emit;
mod expansion;
mod expressions;
mod facts;
mod helpers;
mod moves;
mod places;
mod program;
mod rendezvous;
mod sequence;

pub use expansion::Native;
