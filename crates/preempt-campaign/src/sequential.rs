//! Explicit rounds, the symbolic engine, lazy and eager, and programs made sequential, against brute force on the
//! interpreter: within so many rounds in which the threads take turns, does something go wrong?

use crate::{Compared, Program, same};
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{print, sequentialize};
use preempt_core::{Budget, Limits, Silent, Verdict};
use preempt_model::{Interpreter, Model, System};
use preempt_promela::generator::Line;
use preempt_rounds::{Caps, RoundsOptions};
use preempt_symbolic::{Method, SharedStates, SymbolicOptions, VariableOrder, check};
use std::collections::HashSet;
use std::time::Duration;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 18, cache: 1 << 14 };

/// Brute force gives up beyond so many states.
const LARGEST: usize = 5_000;

/// Every way to ask the symbolic engine; they take turns.
pub fn table() -> Vec<SymbolicOptions> {
    let mut table = Vec::new();
    for contexts in [1, 2, 3] {
        for method in [Method::Lazy, Method::Eager] {
            for order in [VariableOrder::Dependencies, VariableOrder::Declared] {
                for instances in [1, 4] {
                    let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
                    table.push(SymbolicOptions {
                        contexts: Some(contexts),
                        method,
                        order,
                        instances,
                        shared: if instances == 1 { SharedStates::Numbers } else { SharedStates::Auto },
                        table: TABLE,
                        limits,
                    });
                }
            }
        }
    }
    table
}

/// Every way to ask explicit rounds; they take turns.
pub fn rounds_table() -> Vec<RoundsOptions> {
    let mut table = Vec::new();
    for contexts in [Some(1), Some(2), Some(3), None] {
        for symmetry in [true, false] {
            for caps in [Caps { depth: 4, bytes: 1 << 16 }, Caps { depth: 40, bytes: 1 << 28 }] {
                for instances in [1, 4] {
                    let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
                    table.push(RoundsOptions { contexts, instances, symmetry, caps, limits });
                }
            }
        }
    }
    table
}

/// The program of a seed as lines, which are not shrunk but as wholes: a procedure is a line.
pub fn boolean_lines(seed: u64) -> Vec<Line> {
    let threads = 1 + (seed % 3) as usize;
    let shape = Shape { statements: 3, everything: seed.is_multiple_of(4), ..Shape::small(threads) };
    let text = print::program(&generator::program(seed, &shape));
    text.lines().map(Line::new).collect()
}

/// A Boolean program in text: symbolic and sequentialized as well as state by state. `None` if it is no program.
pub fn boolean(text: &str, seed: u64) -> Option<Compared> {
    let loaded = preempt_boolean::load("generated.bp", text, &preempt_boolean::BooleanOptions::default());
    let program = Program { model: loaded.model?, sources: loaded.sources };
    Some(state_by_state(&program, seed).and_then(|so_far| Ok(so_far + compare(&program, seed)?)))
}

/// Machine code and searches, for programs without calls: inlined where there are some.
fn state_by_state(program: &Program, seed: u64) -> Compared {
    if preempt_model::inline::has_procedures(&program.model) {
        let Ok(model) = preempt_model::inline::inline(&program.model) else { return Ok(0) };
        return state_by_state(&Program { model, sources: program.sources.clone() }, seed);
    }
    Ok(crate::successors::compare(program, 300)? + crate::safety::compare(program, seed)?)
}

/// Programs that the symbolic engine does not take compare nothing.
pub fn compare(program: &Program, seed: u64) -> Compared {
    let mut compared = 0;
    for (number, options) in rounds_table().iter().enumerate() {
        if (number as u64 + seed).is_multiple_of(8) && state_rounds(program, options)? {
            compared += 1;
        }
    }
    for (number, options) in table().iter().enumerate() {
        if (number as u64 + seed).is_multiple_of(12) && rounds(program, options)? {
            compared += 1;
        }
    }
    Ok(compared)
}

fn rounds(program: &Program, options: &SymbolicOptions) -> Result<bool, String> {
    let Program { model, sources } = program;
    let contexts = options.contexts.unwrap_or(1);
    let Ok(interpreter) = Interpreter::new(model, sources) else { return Ok(false) };
    let Some(fails) = fails_within(&interpreter, contexts as usize) else { return Ok(false) };
    let Ok(report) = check(model, sources, options, &mut Silent) else { return Ok(false) };
    let name = || format!("symbolic with {options:?}");
    let expected = if fails { Verdict::Violated } else { Verdict::Holds };
    let decided = !matches!(report.outcome.verdict, Verdict::Inconclusive(_));
    // Threads beyond those that it makes are not looked at, and it says so.
    let complete = report.complete || report.outcome.verdict == Verdict::Violated;
    if decided && complete {
        same(name, &report.outcome.verdict, &expected)?;
    }
    let Ok(sequential) = sequentialize::to_boolean(model, sources, contexts as usize, &Budget::unlimited())
    else {
        return Ok(decided);
    };
    let text = print::program(&sequential);
    let loaded = preempt_boolean::load("sequential.bp", &text, &preempt_boolean::BooleanOptions::default());
    let Some(again) = loaded.model else {
        return Err(format!("the sequential program is none: {:?}\n{text}", loaded.diagnostics));
    };
    let found = sequential_fails(&again, &loaded.sources, options);
    if let Some(found) = found {
        same(|| format!("sequentialized with {contexts} contexts"), &found, &fails)?;
    }
    Ok(true)
}

/// Explicit rounds: the verdict within a bound, and without one the smallest number of rounds as far as brute force goes.
fn state_rounds(program: &Program, options: &RoundsOptions) -> Result<bool, String> {
    let Program { model, sources } = program;
    let Ok(interpreter) = Interpreter::new(model, sources) else { return Ok(false) };
    let mut first = None;
    for rounds in 1..=options.contexts.unwrap_or(3) {
        let Some(fails) = fails_within(&interpreter, rounds as usize) else { return Ok(false) };
        first = first.or(fails.then_some(rounds));
    }
    let Ok(report) = preempt_rounds::check(model, sources, options, &mut Silent) else { return Ok(false) };
    let name = || format!("rounds with {options:?}");
    match (&report.outcome.verdict, first) {
        (Verdict::Inconclusive(_), _) => return Ok(false),
        (Verdict::Violated, None) if options.contexts.is_none() => {
            same(name, &(report.contexts > 3), &true)?;
        }
        (verdict, _) => {
            let found = (*verdict == Verdict::Violated).then_some(report.contexts);
            same(name, &found, &first)?;
        }
    }
    Ok(true)
}

fn sequential_fails(
    model: &Model,
    sources: &preempt_core::SourceMap,
    options: &SymbolicOptions,
) -> Option<bool> {
    let options = SymbolicOptions { contexts: Some(1), ..options.clone() };
    match check(model, sources, &options, &mut Silent).ok()?.outcome.verdict {
        Verdict::Violated => Some(true),
        Verdict::Holds => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// Is something wrong in a run of at most so many rounds, the processes taking turns in the order of their numbers?
/// `None` if there are too many states.
pub(crate) fn fails_within(interpreter: &Interpreter<'_>, rounds: usize) -> Option<bool> {
    let mut states: HashSet<_> = interpreter.initial_states().into_iter().collect();
    for _ in 0..rounds {
        let mut process = 0;
        // Processes that were started in this round have their turn in it too.
        while states.iter().any(|state| interpreter.process_count(state) > process) {
            let mut open: Vec<_> = states.drain().collect();
            let mut met: HashSet<_> = open.iter().cloned().collect();
            while let Some(state) = open.pop() {
                let moves = match process < interpreter.process_count(&state) {
                    true => interpreter.successors(&state, process),
                    false => Vec::new(),
                };
                if interpreter.exclusive(&state).is_none() {
                    states.insert(state.clone());
                } else if moves.is_empty() {
                    let free = interpreter.release(&state);
                    if met.insert(free.clone()) {
                        open.push(free);
                    }
                }
                for successor in moves {
                    if let Some(violation) = successor.violation {
                        // The interpreter's stack has an end, and the program's has not.
                        return (!violation.name.contains("nested deeper")).then_some(true);
                    }
                    if let Some(next) = successor.state
                        && met.insert(next.clone())
                    {
                        open.push(next);
                    }
                }
                if met.len() > LARGEST {
                    return None;
                }
            }
            process += 1;
        }
    }
    Some(false)
}
