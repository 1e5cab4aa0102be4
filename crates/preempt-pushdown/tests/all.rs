//! The tests of this crate as one program.

mod common;
mod format;
mod programs;
mod projection;
mod remopla;
mod saturation;
mod table_1;
mod theorem_1;
mod witnesses;
