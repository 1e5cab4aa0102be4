//! Machine code and the interpreter list the same steps, in the same order, on random models.

use preempt_core::SourceMap;
use preempt_explicit::Native;
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use preempt_model::{Interpreter, Model, System};
use std::collections::HashSet;

/// How many programs: more in a long run.
fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

fn compare(model: &Model, sources: &SourceMap, most_states: usize, name: &str) -> usize {
    let Ok(interpreter) = Interpreter::new(model, sources) else { return 0 };
    let mut native = Native::new(model, sources).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut waiting = interpreter.initial_states();
    let mut seen: HashSet<_> = waiting.iter().cloned().collect();
    let mut compared = 0;
    while let Some(state) = waiting.pop() {
        for process in 0..interpreter.process_count(&state) {
            let expected = interpreter.successors(&state, process);
            let found = native.successors(&state, process).expect("it was supported a moment ago");
            let summary: Vec<_> = expected
                .iter()
                .map(|it| {
                    (&it.action, &it.state, it.runs, it.violation.as_ref().map(|violation| violation.kind))
                })
                .collect();
            let native: Vec<_> =
                found.iter().map(|it| (&it.action, &it.state, it.runs, it.violation)).collect();
            assert_eq!(native, summary, "{name}: process {process} in {:?}", interpreter.variables(&state));
            compared += 1;
            for next in expected.into_iter().filter_map(|it| it.state) {
                if seen.len() < most_states && seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
            if interpreter.exclusive(&state) == Some(process)
                && expected_is_blocked(&interpreter, &state, process)
            {
                let released = interpreter.release(&state);
                if seen.insert(released.clone()) {
                    waiting.push(released);
                }
            }
        }
    }
    compared
}

fn expected_is_blocked(
    interpreter: &Interpreter<'_>,
    state: &preempt_model::interpreter::State,
    process: usize,
) -> bool {
    interpreter.successors(state, process).is_empty()
}

#[test]
fn random_programs() {
    for seed in 0..programs(150) {
        let program = program_from_seed(seed);
        let (model, sources) = program.to_model();
        compare(&model, &sources, 300, &format!("program {seed}\n{}", program.to_promela()));
    }
}

#[test]
fn programs_that_do_what_has_no_meaning() {
    for seed in 0..programs(150) {
        let program = faulty_program_from_seed(seed);
        let (model, sources) = program.to_model();
        compare(&model, &sources, 300, &format!("faulty program {seed}\n{}", program.to_promela()));
    }
}

/// Models from files: every `.pml` under the folder that `PREEMPT_MODELS` names.
#[test]
fn promela_models() {
    let Ok(folder) = std::env::var("PREEMPT_MODELS") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder can be read")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    for path in files {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let folder = path.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
        let mut read =
            |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
        let name = path.display().to_string();
        let loaded = preempt_promela::load(&name, &text, &preempt_promela::Additions::default(), &mut read);
        let Some(model) = loaded.model else { continue };
        let compared = compare(&model, &loaded.sources, 2000, &name);
        println!("{name}: {compared} expansions are the same");
    }
}

/// Receives and polls of every form, with fewer fields than the channel has, as many, and more; of channels that are
/// known when code is made, and of such that are not.
#[test]
fn receives_and_polls_of_every_form() {
    let forms = [("?", ""), ("??", ""), ("?<", ">"), ("??<", ">"), ("?[", "]"), ("??[", "]")];
    let fields = ["1", "_", "v", "eval(v)"];
    let (mut compared, mut refused) = (0, 0);
    for (capacity, width) in [(0, 1), (0, 2), (1, 2), (2, 1), (2, 2), (2, 3)] {
        for ((open, close), asked) in forms.iter().flat_map(|form| (1..=3).map(move |asked| (form, asked))) {
            // Each field in turn is something else; the others are bound to nothing.
            for (at, field) in (0..asked).flat_map(|at| fields.map(|field| (at, field))) {
                let pattern: Vec<&str> = (0..asked).map(|i| if i == at { field } else { "_" }).collect();
                let receive = format!("c{open}{}{close}", pattern.join(","));
                let types = vec!["byte"; width].join(", ");
                let message = |value: usize| vec![value.to_string(); width].join(",");
                let sends = format!("do :: c!{} :: c!{} od", message(1), message(2));
                let body = format!("byte v = 1; do :: {receive} -> v = 3 - v od");
                for text in [
                    format!(
                        "chan c = [{capacity}] of {{ {types} }};\n\
                         active proctype S() {{ {sends} }} active proctype R() {{ {body} }}"
                    ),
                    format!(
                        "chan d = [{capacity}] of {{ {types} }};\n\
                         proctype S(chan c) {{ {sends} }} proctype R(chan c) {{ {body} }}\n\
                         init {{ atomic {{ run S(d); run R(d) }} }}"
                    ),
                ] {
                    let mut read = |_: &str| Err("there are no other files".to_string());
                    let additions = preempt_promela::Additions::default();
                    let loaded = preempt_promela::load("form.pml", &text, &additions, &mut read);
                    match loaded.model {
                        Some(model) => {
                            compared += usize::from(compare(&model, &loaded.sources, 40, &text) > 0)
                        }
                        None => refused += 1,
                    }
                }
            }
        }
    }
    assert!(compared > 500, "{compared} compared, {refused} refused");
}
