//! All tests of the crate in one program.

mod agreement;
mod any_number;
mod library;
mod models;
