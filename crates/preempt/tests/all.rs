//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod bugs;
mod counts;
mod determinism;
mod endings;
mod failures;
mod mirrors;
mod races;
mod reports;
mod rest;
mod scheduled;
mod statics;
mod std_items;
mod words;
