//! Promela, as Spin 6.5.2 accepts it: from text to a model, with every mistake it can name.
#![forbid(unsafe_code)]

pub mod ast;
pub mod lexer;
pub mod preprocess;
pub mod token;
