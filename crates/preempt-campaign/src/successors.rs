//! Machine code and the interpreter list the same steps, in the same order, in every state that is reached.

use crate::{Compared, Program};
use preempt_core::SourceMap;
use preempt_explicit::Native;
use preempt_model::{Interpreter, Model, System};
use std::collections::HashSet;

/// Compares processes in states until none is left or so many states were met; says how many were compared. A model that
/// behaves otherwise while a claim watches is compared so, too.
pub fn compare(program: &Program, most_states: usize) -> Compared {
    let Program { model, sources } = program;
    let alone = compare_model(model, sources, most_states)?;
    let watched = match model.processes_count() {
        true => compare_model(&model.counting_claim(true), sources, most_states)?,
        false => 0,
    };
    Ok(alone + watched)
}

fn compare_model(model: &Model, sources: &SourceMap, most_states: usize) -> Compared {
    let Ok(interpreter) = Interpreter::new(model, sources) else { return Ok(0) };
    let mut native = match Native::new(model, sources) {
        Ok(native) => native,
        Err(unsupported) => return Err(format!("machine code cannot be made: {unsupported}")),
    };
    let mut waiting = interpreter.initial_states();
    let mut seen: HashSet<_> = waiting.iter().cloned().collect();
    let mut compared = 0;
    while let Some(state) = waiting.pop() {
        for process in 0..interpreter.process_count(&state) {
            let expected = interpreter.successors(&state, process);
            let found = match native.successors(&state, process) {
                Ok(found) => found,
                Err(unsupported) => return Err(format!("machine code gave up: {unsupported}")),
            };
            let right: Vec<_> = expected
                .iter()
                .map(|it| {
                    (&it.action, &it.state, it.runs, it.violation.as_ref().map(|violation| violation.kind))
                })
                .collect();
            let got: Vec<_> = found.iter().map(|it| (&it.action, &it.state, it.runs, it.violation)).collect();
            if got != right {
                let variables = interpreter.variables(&state);
                return Err(format!(
                    "process {process} in {variables:?}:\nmachine code {got:?}\ninterpreter  {right:?}"
                ));
            }
            compared += 1;
            let stuck = expected.is_empty() && interpreter.exclusive(&state) == Some(process);
            let released = stuck.then(|| interpreter.release(&state));
            for next in expected.into_iter().filter_map(|it| it.state).chain(released) {
                if seen.len() < most_states && seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
    }
    Ok(compared)
}
