//! Pushdown systems: programs with procedures as rules on a stack, analysed without a bound on the stack.
//!
//! * [`system`]: pushdown systems, alone and concurrent; the definition of what they mean.
//! * [`automaton`], [`semiring`]: sets of configurations with weights; [`post_star()`], [`pre_star()`]: what can be reached, and what can reach;
//!   [`witness`]: the rules that lead there.
//! * [`reduction`]: A. Lal and T. Reps, "Reducing concurrent analysis under a context bound to sequential analysis" (2009, paper
//!   002), Fig. 4; [`stages`]: its Table 1; [`symbolic`]: section 5, with decision diagrams.
//! * [`projection`]: the statements on error traces. [`program`]: programs as pushdown systems; [`mod@check`]: the entry, with counterexamples that the interpreter has executed.
//!
//! Which configurations can be reached if a procedure calls itself any number of times and returns:
//!
//! ```
//! use preempt_core::Budget;
//! use preempt_pushdown::{Automaton, Boolean, Configuration, Pds, Rule, Word, post_star};
//!
//! let rules = vec![Rule::new((0, 0), 0, Word::Push(0, 1)), Rule::new((0, 0), 1, Word::Pop), Rule::new((1, 1), 1, Word::Pop)];
//! let pds = Pds { states: 2, symbols: 2, rules };
//! let start = Automaton::of(2, &Configuration { state: 0, stack: vec![0] }, (), ());
//! let reached = post_star(&pds, &Boolean, start, &Budget::unlimited()).unwrap().automaton;
//! assert!(reached.accepts(&Configuration { state: 0, stack: vec![0, 1, 1, 1] }));
//! assert!(reached.accepts(&Configuration { state: 1, stack: vec![1, 1] }));
//! assert!(!reached.accepts(&Configuration { state: 0, stack: vec![1, 1] }));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod automaton;
pub mod check;
pub mod format;
pub mod post_star;
pub mod pre_star;
pub mod program;
pub mod projection;
pub mod reduction;
mod replay;
pub mod semiring;
pub mod stages;
pub mod symbolic;
pub mod system;
pub mod witness;

pub use automaton::{Automaton, Transition};
pub use check::{PushdownOptions, PushdownReport, check};
pub use post_star::{PostStar, post_star};
pub use pre_star::pre_star;
pub use semiring::{Boolean, Semiring, Shortest, Unfinished};
pub use stages::Rounds;
pub use symbolic::analysis::Direction;
pub use system::{Concurrent, Configuration, Global, Interruption, Pds, Rule, State, Symbol, Thread, Word};
