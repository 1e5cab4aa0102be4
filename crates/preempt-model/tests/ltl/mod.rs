//! The translation of formulas to automata: that it is right, small and fast.

mod formulas;
mod limits;
mod parse;
mod sizes;
mod words;
