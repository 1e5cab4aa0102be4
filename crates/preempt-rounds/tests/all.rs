//! All tests of the crate in one program.

mod agreement;
mod library;
mod models;
