//! Models as an independent check: the states in which runs end within each bound are those of exhaustive search over
//! (state, last process), which knows nothing of graphs.

use preempt_core::SourceMap;
use preempt_model::generator::program_from_seed;
use preempt_model::interpreter::Interpreter;
use preempt_model::system::System;
use preempt_stateless::system::{Unfit, explore_system};
use preempt_stateless::{Limits, Strategy};
use std::collections::{HashMap, HashSet};

/// The states in which runs with at most `most` preemptions end, each with the fewest; `None` if there are too many
/// states or a step fails.
fn ends<S: System>(system: &S, most: u32) -> Option<HashMap<S::State, u32>> {
    let mut found = HashMap::new();
    let mut seen: HashMap<(S::State, Option<usize>), u32> = HashMap::new();
    let mut levels: Vec<Vec<(S::State, Option<usize>)>> = vec![Vec::new(); most as usize + 2];
    levels[0].extend(system.initial_states().into_iter().map(|state| (state, None)));
    for cost in 0..=most {
        while let Some((state, last)) = levels[cost as usize].pop() {
            if seen.len() > 2_000 {
                return None;
            }
            let known = seen.entry((state.clone(), last)).or_insert(u32::MAX);
            if *known <= cost {
                continue;
            }
            *known = cost;
            let mut here = state;
            let mut alone = system.exclusive(&here);
            if alone.is_some_and(|alone| system.successors(&here, alone).is_empty()) {
                (here, alone) = (system.release(&here), None);
            }
            let moves: Vec<usize> = (0..system.process_count(&here))
                .filter(|process| alone.is_none_or(|alone| alone == *process))
                .filter(|&process| !system.successors(&here, process).is_empty())
                .collect();
            if moves.is_empty() {
                let least = found.entry(here).or_insert(cost);
                *least = cost.min(*least);
                continue;
            }
            for &process in &moves {
                let price = u32::from(last.is_some_and(|last| last != process && moves.contains(&last)));
                for successor in system.successors(&here, process) {
                    match (successor.state, successor.violation) {
                        (Some(after), None) => levels[(cost + price) as usize].push((after, Some(process))),
                        // A step that ends the run depends on every other step, which no graph says.
                        _ => return None,
                    }
                }
            }
        }
    }
    Some(found)
}

/// False if the system does not fit or is too large.
fn agrees<S: System>(system: &S, name: &str) -> bool {
    let limits = |bound| Limits {
        preemptions: Some(bound),
        steps: 60,
        executions: Some(400),
        stop_at_failure: false,
        ..Limits::default()
    };
    for bound in 0..4 {
        let Some(expected) = ends(system, bound) else { return false };
        let want: HashSet<S::State> = expected.into_keys().collect();
        for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
            match explore_system(system, strategy, &limits(bound), &mut ()) {
                Err(_) => return false,
                // Cut off, or a run without end.
                Ok((found, _))
                    if found.stop.is_some() || found.failure.as_ref().is_some_and(|f| f.livelock) =>
                {
                    return false;
                }
                Ok((_, ends)) => {
                    let found: HashSet<S::State> = ends.into_iter().collect();
                    let (missing, beyond) =
                        (want.difference(&found).count(), found.difference(&want).count());
                    assert_eq!(
                        (missing, beyond),
                        (0, 0),
                        "{name}, bound {bound}, {strategy:?}: {} ends",
                        want.len()
                    );
                }
            }
        }
    }
    true
}

#[test]
fn random_models() {
    let mut agreed = 0;
    for seed in 0..160 {
        let (model, sources) = program_from_seed(seed).to_model();
        let Ok(interpreter) = Interpreter::new(&model, &sources) else { continue };
        agreed += u32::from(agrees(&interpreter, &format!("seed {seed}")));
    }
    println!("{agreed} models");
    assert!(agreed > 15, "only {agreed} models fit");
}

fn promela(text: &str) -> (preempt_model::program::Model, SourceMap) {
    let nothing = &mut |path: &str| Err(format!("no {path}"));
    let loaded = preempt_promela::load("model.pml", text, &preempt_promela::Additions::default(), nothing);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    (model, loaded.sources)
}

#[test]
fn promela_models() {
    let texts = [
        // An update may be lost: two end states.
        "byte n; active [2] proctype P() { byte t; t = n; n = t + 1 }",
        "byte n; active [3] proctype P() { byte t; atomic { t = n; n = t + 1 } n = n + t }",
        "chan c = [1] of { byte }; byte got;
         active proctype S() { c!1; c!2; c!3 }
         active proctype R() { byte x; c?x; got = got + x; c?x; got = got * x; c?x; got = got + x }
         active proctype Q() { got = 1 }",
        "bool a, b; byte in;
         active proctype A() { a = 1; b == 0; in++; in-- ; a = 0 }
         active proctype B() { b = 1; a == 0; in++; in-- ; b = 0 }",
        "byte n; proctype W(byte k) { n = n * 2 + k } init { atomic { run W(1); run W(2) } n == 0 -> n = 7 }",
    ];
    for text in texts {
        let (model, sources) = promela(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
        let result = explore_system(&interpreter, Strategy::Marking, &Limits::default(), &mut ());
        assert!(result.is_ok(), "{text}: {result:?}");
        assert!(agrees(&interpreter, text), "{text}");
    }
    let (model, sources) = promela("byte n; active proctype P() { if :: n = 1 :: n = 2 fi }");
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    let result = explore_system(&interpreter, Strategy::Marking, &Limits::default(), &mut ());
    assert_eq!(result.err(), Some(Unfit::Choice));
}
