//! mist's `.spec`, the format in which coverability problems are exchanged.
//!
//! Points where tools differ, and what is done here:
//! - a variable that `init` does not mention may have any number of tokens, as in mist;
//! - `x = 3` in a target means `x >= 3` (the upward closure), as in most tools, with a warning;
//! - `x' = x - 1` without a guard needs a token all the same, and a variable that is assigned twice gets the terms of both,
//!   as in mist; both with a warning;
//! - guards with an upper bound (`x = 0`, `x in [1, 3]`) are kept for the exact firing rule, and are relaxed to a
//!   reset for the engines: "safe" is then a proof, and "unsafe" only with a run that replays exactly. The same
//!   idea, for protocols, is the conjunctive guard reduction of Bingham and Hu 2005 (paper 004), section 6.

mod lower;
mod parser;
mod print;

pub use print::print;

use crate::problem::Problem;
use preempt_core::{Budget, Diagnostic, SourceId};

/// Reads a problem. It is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_net::{Range, spec};
///
/// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a >= 1, b = 0 target b >= 2";
/// let (problem, mistakes) = spec::read(SourceMap::new().add("net.spec", text), text);
/// assert!(mistakes.is_empty());
/// assert_eq!(problem.initial, [Range::at_least(1), Range::exactly(0)]);
/// ```
pub fn read(source: SourceId, text: &str) -> (Problem, Vec<Diagnostic>) {
    read_within(source, text, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, an error says so.
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parser::parse(source, text);
    let problem = lower::lower(&file, budget, &mut diagnostics);
    if budget.exhausted().is_some() {
        diagnostics.push(crate::stopped());
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    (problem, diagnostics)
}
