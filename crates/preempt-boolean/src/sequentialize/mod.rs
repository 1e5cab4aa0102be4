//! From a concurrent program and a bound to a sequential program: Lal and Reps 2009 (paper 002), section 2 and Fig. 1.
//!
//! The sequential program runs the threads one after the other, each from its beginning to its end. There are K copies
//! of the shared variables, one for each round of the round-robin schedule; a thread works on the copy of its current
//! round `k`. Round 1 begins with the initial values, the others with guesses; after the last thread the checker assumes
//! that every guess was the outcome of the round before. What is left are the runs of the concurrent program with at
//! most K contexts per thread, the threads taking turns in a fixed order.
//!
//! Fig. 1 as printed increments `k` at most once per statement and never before the first, so that some schedules are
//! lost; here the increment is a loop, and it stands before every statement. A thread that gives up (the paper's `k = K +
//! 1`) leaves the calls that it is in: `gone` is tested after each. A failed assertion is recorded, and asserted only
//! after the checker: before, the guesses may be wrong.
//!
//! The program grows with K, and what analyses it sees K copies of the shared state, which is where the cost lies: the number
//! of shared states to the power of K. On random recursive programs the verdicts are those of the symbolic engine, eager
//! and lazy (`preempt-symbolic/tests/agreement.rs`).
//!
//! * `threads`: which threads there are; `limits`: what cannot be reduced; `slots`: variables by name;
//! * `skeleton`: the control flow of the sequential program, the same for every language, with the
//!   `d_step` sequences in `deterministic`;
//! * `boolean` with `writer`: as a Boolean program; `blaster`, `bits`, `arithmetic`: integers bit by bit;
//! * `c`: as C for CBMC and its kind;
//! * `flat`: without procedures, for programs without recursion; `promela` and `smv` write it for Spin and NuSMV.

mod arithmetic;
mod bits;
mod blaster;
mod boolean;
mod c;
mod deterministic;
mod flat;
mod limits;
mod promela;
mod skeleton;
mod slots;
mod smv;
mod terms;
mod threads;
mod writer;

use crate::ast::Program;
use preempt_core::{Budget, Diagnostic, SourceMap, Span};
use preempt_model::{Command, Interpreter, Model, Scope};
use skeleton::Skeleton;

/// More contexts than this are refused: the program grows with each.
pub const MAX_CONTEXTS: usize = 64;

/// The sequential program as a Boolean program. The error says why there is none; if the budget was exhausted, it is only
/// that.
///
/// ```
/// use preempt_boolean::{load, print, sequentialize::to_boolean};
/// use preempt_core::Budget;
///
/// let text = "decl x; void main() begin x := F; start_thread t(); assert(!x); end void t() begin x := T; end";
/// let loaded = load("p.bp", text, &Default::default());
/// let model = loaded.model.expect("no mistakes");
/// let program = to_boolean(&model, &loaded.sources, 2, &Budget::unlimited()).expect("it can be done");
/// assert!(print::program(&program).contains("round_2"));
/// ```
pub fn to_boolean(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    budget: &Budget,
) -> Result<Program, Diagnostic> {
    // A procedure of the Boolean program returns truth values.
    for edge in model.edges() {
        if let Command::Call { results, .. } = &edge.command
            && results.iter().any(|place| place.scope != Scope::Nowhere && place.ty.bits > 1)
        {
            return Err(refused(edge.span, "a procedure returns a number").hint("C can do that: --to c"));
        }
    }
    boolean::program(&skeleton(model, sources, contexts, budget)?, budget)
}

/// The sequential program as C: assumptions and nondeterministic values as CBMC has them, integers as they are.
pub fn to_c(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    budget: &Budget,
) -> Result<String, Diagnostic> {
    c::program(&skeleton(model, sources, contexts, budget)?, budget)
}

/// The sequential program as Promela, for Spin and its kind. Fails if a procedure calls itself.
pub fn to_promela(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    budget: &Budget,
) -> Result<String, Diagnostic> {
    promela::program(&skeleton(model, sources, contexts, budget)?, budget)
}

/// The sequential program in the language of NuSMV, with one invariant. Fails if a procedure calls itself.
pub fn to_smv(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    budget: &Budget,
) -> Result<String, Diagnostic> {
    smv::program(&skeleton(model, sources, contexts, budget)?, budget)
}

/// The threads of a model in the order of their turns, as the sequential program has them.
pub fn thread_names(model: &Model) -> Result<Vec<String>, Diagnostic> {
    let threads = threads::threads(model, &Budget::unlimited())?;
    Ok(threads.iter().map(|thread| model.code(thread.code).name.clone()).collect())
}

fn skeleton(
    model: &Model,
    sources: &SourceMap,
    contexts: usize,
    budget: &Budget,
) -> Result<Skeleton, Diagnostic> {
    if contexts == 0 || contexts > MAX_CONTEXTS {
        let message = format!("the number of contexts must lie between 1 and {MAX_CONTEXTS}");
        return Err(Diagnostic::global_error(message));
    }
    limits::check(model)?;
    let interpreter = Interpreter::new(model, sources)
        .map_err(|fault| Diagnostic::global_error(format!("in an initial value: {}", fault.0)))?;
    Skeleton::new(model, &interpreter, contexts, budget)
}

/// To be called in every loop that the size of the program makes long.
fn go_on(budget: &Budget) -> Result<(), Diagnostic> {
    match budget.exhausted() {
        Some(_) => {
            Err(Diagnostic::global_error("a limit was reached before the sequential program was made"))
        }
        None => Ok(()),
    }
}

/// Why a program cannot be made sequential.
fn refused(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(span, format!("this cannot be made sequential: {what}"))
}
