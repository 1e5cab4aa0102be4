//! Claims, formulas, labels and trace assertions against the reference engine: the verdict by each algorithm, fair and
//! not, with each reduction; and the cost of the simplest run within each bound.

use crate::{Compared, Program, same};
use preempt_core::{Limits, Outcome, Silent, Trace, Verdict};
use preempt_explicit::{CycleMethod, Reduction, SearchOptions, SuccessorSource, answer, decide_cycles};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_model::search::{self, RunCost};

/// A way to ask a question.
#[derive(Debug, Clone)]
pub struct Entry {
    pub options: SearchOptions,
    pub weakly_fair: bool,
    /// Only the verdict about runs without end, by one algorithm.
    pub method: Option<CycleMethod>,
}

/// The ways that are compared.
pub fn table() -> Vec<Entry> {
    let mut table = Vec::new();
    for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
        for fair_switch in [false, true] {
            for bound in [None, Some(0), Some(1), Some(2), Some(3)] {
                let options = SearchOptions { bound, fair_switch, reduction, ..SearchOptions::default() };
                table.push(Entry { options, weakly_fair: false, method: None });
            }
        }
        for method in [CycleMethod::NestedDepthFirst, CycleMethod::Components] {
            for weakly_fair in [false, true] {
                let options = SearchOptions { reduction, ..SearchOptions::default() };
                table.push(Entry { options, weakly_fair, method: Some(method) });
            }
        }
        let options = SearchOptions { reduction, ..SearchOptions::default() };
        table.push(Entry { options, weakly_fair: true, method: None });
    }
    for (weakly_fair, bound) in [(false, None), (false, Some(1)), (true, None)] {
        let options =
            SearchOptions { successors: SuccessorSource::Interpreted, bound, ..SearchOptions::default() };
        table.push(Entry { options, weakly_fair, method: None });
    }
    // With several threads from the first state on.
    for reduction in [Reduction::None, Reduction::Strong] {
        for (threads, bound) in [(2, None), (3, None), (2, Some(1))] {
            let options =
                SearchOptions { reduction, threads, bound, in_order_first: 0, ..SearchOptions::default() };
            table.push(Entry { options: options.clone(), weakly_fair: false, method: None });
            if bound.is_none() {
                for (weakly_fair, method) in [
                    (false, Some(CycleMethod::NestedDepthFirst)),
                    (true, Some(CycleMethod::Components)),
                    (true, None),
                ] {
                    table.push(Entry { options: options.clone(), weakly_fair, method });
                }
            }
            let fair_switch = true;
            let options = SearchOptions { fair_switch, ..options.clone() };
            table.push(Entry { options: options.clone(), weakly_fair: false, method: None });
            let successors = SuccessorSource::Interpreted;
            table.push(Entry {
                options: SearchOptions { successors, ..options },
                weakly_fair: false,
                method: None,
            });
        }
    }
    // Whoever vouches that nobody counts repetitions gets a reduction; where there is none, that changes nothing.
    let options = SearchOptions { stutter_invariant: true, ..SearchOptions::default() };
    table.push(Entry { options, weakly_fair: false, method: None });
    table
}

/// Graphs with more nodes than this are left out: the reference is slow.
const LARGEST: u64 = 800;

/// One of so many entries is compared for each question of each program: they take turns.
const TURNS: u64 = 10;

/// Compares with the entries whose turn it is; says how many there were.
pub fn compare(program: &Program, seed: u64) -> Compared {
    compare_those(program, |place, number| (number + seed + 3 * place).is_multiple_of(TURNS))
}

/// Compares with the whole table.
pub fn compare_all(program: &Program) -> Compared {
    compare_those(program, |_, _| true)
}

fn compare_those(program: &Program, is_asked: impl Fn(u64, u64) -> bool) -> Compared {
    let Ok(interpreter) = Interpreter::new(&program.model, &program.sources) else { return Ok(0) };
    let mut questions = Check::all(&program.model);
    questions.push(Check::Progress);
    questions.retain(|question| *question != Check::Safety);
    let mut compared = 0;
    for (place, question) in questions.iter().enumerate() {
        for (number, entry) in table().iter().enumerate() {
            if is_asked(place as u64, number as u64) && ask(program, &interpreter, question, entry)? {
                compared += 1;
            }
        }
    }
    Ok(compared)
}

/// False if the question was too large.
fn ask(
    program: &Program,
    interpreter: &Interpreter<'_>,
    question: &Check,
    entry: &Entry,
) -> Result<bool, String> {
    let Program { model, sources } = program;
    let own = question.model_of(model);
    let Ok(interpreter) = &interpreter.of(&own) else { return Ok(false) };
    let Entry { options, weakly_fair, method } = entry;
    // Machine code answers it by the interpreter, in the order of cost only.
    let strong = options.reduction == Reduction::Strong;
    if *question == Check::Trace && (strong || *weakly_fair || method.is_some()) {
        return Ok(false);
    }
    let SearchOptions { bound, fair_switch, .. } = *options;
    let limits = Limits { states: Some(LARGEST), ..Limits::default() };
    let asking = CheckOptions {
        search: search::ReferenceOptions { bound, fair_switch, limits },
        weakly_fair: *weakly_fair,
    };
    let Ok(mut expected) = question.check(interpreter, &asking, &mut Silent) else { return Ok(false) };
    if method.is_some() {
        // What goes wrong in a finite run is not asked of those who decide about runs without end.
        if expected.counterexample.as_ref().is_some_and(|trace| trace.loop_start.is_none()) {
            return Ok(false);
        }
        expected = match question.check_infinite(interpreter, &asking, &mut Silent) {
            Ok(expected) => expected,
            Err(_) => return Ok(false),
        };
    }
    if matches!(expected.verdict, Verdict::Inconclusive(_)) {
        return Ok(false);
    }
    let name = || format!("{} with {entry:?}", question.name(model));
    let failed = |refusal| format!("{}: {refusal}", name());
    if let Some(method) = method {
        let how = (*method, *weakly_fair);
        let found = decide_cycles(question, model, sources, options, how, &mut Silent)
            .map_err(|refusal| failed(refusal.to_string()))?;
        let Some(found) = found else { return Ok(false) };
        same(name, &found.outcome.verdict, &expected.verdict)?;
        return Ok(true);
    }
    let found = answer(question, model, sources, options, *weakly_fair, &mut Silent)
        .map_err(|refusal| failed(refusal.to_string()))?;
    if *weakly_fair {
        same(name, &found.outcome.verdict, &expected.verdict)?;
        return Ok(true);
    }
    let right = shown(interpreter, &expected, fair_switch).map_err(failed)?;
    let got = shown(interpreter, &found.outcome, fair_switch).map_err(failed)?;
    if got != right {
        // What the reference knows when it reaches its limit need not be the simplest: it may go further.
        let limits = Limits { states: Some(40 * LARGEST), ..limits };
        let asking = CheckOptions {
            search: search::ReferenceOptions { bound, fair_switch, limits },
            weakly_fair: *weakly_fair,
        };
        let Ok(expected) = question.check(interpreter, &asking, &mut Silent) else { return Ok(false) };
        let right = shown(interpreter, &expected, fair_switch).map_err(failed)?;
        same(name, &got, &right)?;
    }
    Ok(true)
}

type Shown = (Verdict, Option<(RunCost, bool)>);

fn shown(interpreter: &Interpreter<'_>, outcome: &Outcome, fair_switch: bool) -> Result<Shown, String> {
    let cost = match &outcome.counterexample {
        Some(trace) => Some((cost(interpreter, trace, fair_switch)?, trace.loop_start.is_some())),
        None => None,
    };
    Ok((outcome.verdict, cost))
}

/// What a run costs: for one without end, its stem and a second round of its loop, so that the switch that closes the
/// loop is counted even if there is no stem.
fn cost(interpreter: &Interpreter<'_>, trace: &Trace, fair_switch: bool) -> Result<RunCost, String> {
    let start = trace.loop_start.unwrap_or(trace.steps.len());
    let mut twice = trace.clone();
    twice.steps.extend_from_within(start..);
    let known = search::recognise(interpreter, &twice).map_err(|error| format!("no run: {error:?}"))?;
    let run = search::replay(interpreter, &known.initial, &known.steps, fair_switch)
        .map_err(|error| format!("no replay: {error:?}"))?;
    let mut once = run.trace;
    once.steps.drain(start..trace.steps.len());
    Ok(RunCost { preemptions: once.preemptions() as u32, steps: once.steps.len() as u64 })
}
