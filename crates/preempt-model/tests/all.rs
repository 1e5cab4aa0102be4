//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod by_hand;
mod channels;
mod common;
mod control;
mod faults;
mod formulas_on_programs;
mod ltl;
mod search_vs_oracle;
mod values;
