//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod bounds;
mod common;
mod counts;
mod models;
mod pct;
mod soundness;
