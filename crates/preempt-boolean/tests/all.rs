//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod common;
mod diagnostics;
mod flat;
mod grammar;
mod inlining;
mod models;
mod others;
mod printing;
mod robustness;
mod sequentialize;
mod sequentialize_promela;
mod verdicts;
