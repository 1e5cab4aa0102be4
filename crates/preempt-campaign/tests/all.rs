//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod kept;
mod options;
mod programs;
