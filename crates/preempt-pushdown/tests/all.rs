//! The tests of this crate as one program.

mod common;
mod format;
mod programs;
mod saturation;
mod theorem_1;
mod witnesses;
