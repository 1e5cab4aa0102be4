//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod again;
mod boolean_models;
mod checkpoint;
#[cfg(target_os = "linux")]
mod cluster;
mod common;
mod files;
mod json_page;
mod layering;
mod links;
mod mistakes;
mod options;
mod processes;
mod promises;
mod readers;
mod replay;
mod schema;
mod smallest_inputs;
