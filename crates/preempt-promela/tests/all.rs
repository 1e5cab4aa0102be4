//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod claims;
mod diagnostics;
mod grammar;
mod limits;
mod mutation;
mod random_programs;
mod robustness;
mod spin_bugs;
mod spin_counts;
mod trails;
