//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod agreement;
mod limits;
mod models;
mod portfolio;
