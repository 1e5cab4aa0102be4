//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod ahead;
mod all_questions;
mod atomic_sequences;
mod by_bucket;
mod by_chance;
mod by_level;
mod checkpoints;
mod counted_claim;
mod coverage;
mod deadlocks;
mod limits;
mod liveness;
mod native_successors;
mod observers;
mod on_disk;
mod parts;
mod remembered;
mod sample_models;
mod search_vs_oracle;
mod stores_vs_oracle;
mod strong_reduction;
mod symmetry;
mod theorems;
mod threads;
