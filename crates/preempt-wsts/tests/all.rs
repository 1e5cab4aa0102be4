//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod certificates;
mod channels;
mod conversions;
mod facts;
mod grammars;
mod limits;
mod models;
mod properties;
mod protocols;
mod random_nets;
mod random_protocols;
mod small_nets;
mod support;
mod weight;
