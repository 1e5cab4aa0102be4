//! Models as an independent check: the states in which runs end within each bound, and what was wrong there, are those of
//! exhaustive search over (state, last process), which knows nothing of graphs.

use preempt_core::SourceMap;
use preempt_model::generator::program_from_seed;
use preempt_model::interpreter::Interpreter;
use preempt_model::program::Model;
use preempt_model::system::{Description, Successor, System};
use preempt_stateless::system::{FinalState, SystemRun, SystemRunError, explore_system};
use preempt_stateless::{
    BoundFunction, Counts, Executable, ExplorationLimits, ExplorationStop, Flow, Graph, Move, Strategy,
    explore,
};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

const MOST: u32 = 3;

/// Where runs with at most [`MOST`] preemptions end, each with the fewest; `None` if there are too many states,
/// or runs without end.
fn ends<S: System>(system: &S, most: usize) -> Option<HashMap<FinalState<S::State>, u32>> {
    let mut found = HashMap::new();
    let mut end = |state, violation, cost: u32| {
        let least = found.entry(FinalState { state, violation }).or_insert(cost);
        *least = cost.min(*least);
    };
    let mut followers: HashMap<S::State, HashSet<S::State>> = HashMap::new();
    let mut seen: HashMap<(S::State, Option<usize>), u32> = HashMap::new();
    let mut levels: Vec<Vec<(S::State, Option<usize>)>> = vec![Vec::new(); MOST as usize + 2];
    levels[0].extend(system.initial_states().into_iter().map(|state| (state, None)));
    for cost in 0..=MOST {
        while let Some((state, last)) = levels[cost as usize].pop() {
            if seen.len() > most {
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
                end(here, None, cost);
                continue;
            }
            for &process in &moves {
                let price = u32::from(last.is_some_and(|last| last != process && moves.contains(&last)));
                for Successor { state, violation, runs, .. } in system.successors(&here, process) {
                    match (state, violation) {
                        (Some(after), None) => {
                            followers.entry(here.clone()).or_default().insert(after.clone());
                            levels[(cost + price) as usize].push((after, Some(runs)));
                        }
                        (after, violation) => {
                            end(after.unwrap_or_else(|| here.clone()), violation, cost + price);
                        }
                    }
                }
            }
        }
    }
    // What is left when states without followers are taken away again and again lies on a cycle, or before one.
    while !followers.is_empty() {
        let last: HashSet<_> =
            followers.iter().filter(|(_, after)| after.is_empty()).map(|(s, _)| s.clone()).collect();
        let before = followers.len();
        let with: HashSet<S::State> = followers.keys().cloned().collect();
        followers.retain(|state, _| !last.contains(state));
        followers
            .values_mut()
            .for_each(|after| after.retain(|state| with.contains(state) && !last.contains(state)));
        let waiting = followers.values().any(HashSet::is_empty);
        if followers.len() == before && !waiting {
            return None;
        }
    }
    Some(found)
}

/// What a model was good for.
#[derive(Debug, Default)]
struct Use {
    failures: usize,
    /// Some step had several choices.
    choices: bool,
    /// Some graph has several orders.
    reduced: bool,
}

/// `None` if the system does not fit or is too large.
fn agrees<S: System>(system: &S, name: &str, most: u64) -> Option<Use> {
    let expected = ends(system, most as usize)?;
    let mut used = Use::default();
    for bound in 0..=MOST {
        let want: HashSet<_> =
            expected.iter().filter(|(_, cost)| **cost <= bound).map(|(end, _)| end).collect();
        let mut graphs = 0;
        for strategy in [Strategy::Marking, Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
            // Its runs are too many for more.
            if strategy == Strategy::CbDfs && bound > 2 {
                continue;
            }
            let limits = ExplorationLimits {
                preemptions: Some(bound),
                steps: 50,
                executions: Some(if strategy == Strategy::Marking { most } else { 10 * most }),
                stop_at_failure: false,
                ..ExplorationLimits::default()
            };
            let choices = &mut used.choices;
            let terminal = &mut |graph: &Graph| {
                *choices |= graph.threads().iter().flat_map(|log| &log.events).any(|event| event.choice > 0);
            };
            let (exploration, ends) = explore_system(system, strategy, &limits, terminal).ok()?;
            // Cut off, or a run without end.
            if exploration.stop.is_some() || exploration.failure.as_ref().is_some_and(|f| f.livelock) {
                return None;
            }
            match strategy {
                Strategy::Marking => graphs = exploration.executions,
                Strategy::CbDfs => used.reduced |= exploration.executions > graphs,
                _ => {}
            }
            let found: HashSet<_> = ends.iter().collect();
            let (missing, beyond) = (want.difference(&found).count(), found.difference(&want).count());
            assert_eq!((missing, beyond), (0, 0), "{name}, bound {bound}, {strategy:?}: {} ends", want.len());
        }
        used.failures = want.iter().filter(|end| end.violation.is_some()).count();
    }
    Some(used)
}

#[test]
fn random_models() {
    let (mut agreed, mut failing, mut choosing, mut reduced) = (0, 0, 0, 0);
    for seed in 0..250 {
        let (model, sources) = program_from_seed(seed).to_model();
        let Ok(interpreter) = Interpreter::new(&model, &sources) else { continue };
        let Some(used) = agrees(&interpreter, &format!("seed {seed}"), 100) else { continue };
        agreed += 1;
        failing += u32::from(used.failures > 0);
        choosing += u32::from(used.choices);
        reduced += u32::from(used.reduced);
    }
    println!("{agreed} models, {failing} that fail, {choosing} with choices, {reduced} reduced");
    assert!(agreed > 90 && failing > 25 && choosing > 8 && reduced > 45);
}

fn promela(text: &str) -> (Model, SourceMap) {
    let nothing = &mut |path: &str| Err(format!("no {path}"));
    let loaded = preempt_promela::load("model.pml", text, &preempt_promela::Additions::default(), nothing);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    (model, loaded.sources)
}

/// In every prefix of a graph, whatever the order of its steps, those can move who the graph says can.
fn understands_prefixes<S: System>(run: &mut SystemRun<'_, S>, graph: &Graph, text: &str) {
    let mut seen: HashSet<Counts> = HashSet::new();
    let mut work = vec![(Counts::zero(graph.threads().len()), Vec::new())];
    while let Some((counts, path)) = work.pop() {
        if !seen.insert(counts.clone()) {
            continue;
        }
        run.start();
        let flows: Vec<Flow> = path.iter().map(|&step| run.step(step)).collect();
        if flows.last() == Some(&Flow::Stop) {
            assert_eq!(path.len(), graph.path().len(), "{text}: stopped early by {path:?}");
            continue;
        }
        let threads = 0..run.threads();
        let usual = threads.clone().filter(|&thread| run.enabled(thread)).map(Move::from);
        let other =
            threads.flat_map(|thread| run.other_choices(thread).map(move |choice| Move { thread, choice }));
        let moves: HashSet<Move> = usual.chain(other).collect();
        let by_graph: HashSet<Move> = graph.moves_in(&counts).into_iter().collect();
        assert_eq!(by_graph, moves, "{text}: after {path:?} of {:?}", graph.path());
        for (thread, log) in graph.threads().iter().enumerate() {
            let Some(event) = log.events.get(counts[thread] as usize) else { continue };
            let mut after = counts.clone();
            after[thread] += 1;
            if event.clock.iter().zip(&*after).all(|(needed, done)| needed <= done) {
                let step = Move { thread, choice: event.choice };
                work.push((after, path.iter().copied().chain([step]).collect()));
            }
        }
    }
}

/// Agrees, and whether a coarse run was needed.
fn check(text: &str) -> (Use, bool) {
    let (model, sources) = promela(text);
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    let used = agrees(&interpreter, text, 4000).unwrap_or_else(|| panic!("does not fit: {text}"));
    let mut run = SystemRun::new(&interpreter, false);
    let (mut graphs, limits) =
        (Vec::new(), ExplorationLimits { stop_at_failure: false, ..ExplorationLimits::default() });
    explore(&mut run, Strategy::Basic, &limits, &mut |graph: &Graph| graphs.push(graph.clone()));
    if run.error().is_none() {
        graphs.iter().take(60).for_each(|graph| understands_prefixes(&mut run, graph, text));
    }
    (used, run.error() == Some(SystemRunError::Coarse))
}

#[test]
fn values_and_channels() {
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
        // A process that blocks in the middle of an atomic sequence lets the others run.
        "byte n; active proctype A() { byte t; atomic { t = 1; n == 2; t = n; n = 3 } n = t + n }
         active proctype B() { byte t; t = 1; n = t + 1; t = n; n = n + t }",
    ];
    for text in texts {
        assert!(!check(text).1, "{text}");
    }
}

#[test]
fn choices() {
    let texts = [
        "byte n; active proctype P() { if :: n = 1 :: n = 2 :: n = 3 fi }",
        // What can be chosen depends on the others.
        "byte n; active proctype P() { byte t; if :: n == 0 -> t = 1 :: n < 2 -> t = 2 :: else -> t = 3 fi; n = n + t }
         active proctype Q() { byte t; t = 1; n = n + t; t = 2; n = n + t }",
        "byte n; byte m; active [2] proctype P() { do :: n < 2 -> n++ :: n < 2 -> n = n + 2; m = n :: n > 1 -> break od }",
        // A choice among local steps: independent of what the other does.
        "byte n; active [2] proctype P() { byte t; if :: t = 1 :: t = 2 fi; if :: t++ :: skip fi; n = n + t }",
    ];
    for text in texts {
        let (used, coarse) = check(text);
        assert!(used.choices && !coarse, "{text}: {used:?}");
    }
}

#[test]
fn rendezvous() {
    let texts = [
        "chan c = [0] of { byte }; byte n;
         active proctype S() { byte t; t = 1; c!t; n = n + t }
         active proctype R() { byte t; c?t; t = n; n = t + 2 }",
        // Both arrive by themselves, in either order.
        "chan c = [0] of { byte }; byte n;
         active proctype S() { byte t; t = 1; if :: c!t :: n == 1 -> t = 4 fi; n = n + t }
         active proctype R() { byte t; t = n; if :: c?t :: n == 1 -> t = 7 fi; t++; n = n + t }
         active proctype Q() { n = 1 }",
        // Several receivers, some of which arrive late and by themselves.
        "chan c = [0] of { byte }; byte n;
         active proctype S() { c!3 }
         active [2] proctype R() { byte t; t = 1; if :: c?t :: n == 1 -> t = 7 fi; n = n + t }
         active proctype Q() { byte t; t = 1; n = t }",
        // Both sides in atomic sequences: the receiver goes on alone.
        "chan c = [0] of { byte }; byte n;
         active proctype S() { byte t; atomic { t = n; c!t; n = t + 1 } n = n * 2 }
         active proctype R() { byte t; atomic { c?t; n = n + 5; t = n } n = n + t }
         active proctype Q() { byte t; t = n; n = t + 3 }",
        // A step that has begun with a rendezvous fails.
        "chan c = [0] of { byte }; byte n;
         active proctype S() { byte t; t = n; c!t; n = 2 }
         active proctype R() { byte t; d_step { c?t; assert(t == 0) } n = 9 }
         active proctype Q() { n = 1; n = 4 }",
        // Who could not be received waits for ever.
        "chan c = [0] of { byte }; byte n;
         active [2] proctype S() { c!_pid; n = n + 1 + _pid }
         active proctype R() { byte t; c?t; n = n * (t + 2) }",
    ];
    for text in texts {
        assert!(!check(text).1, "{text}");
    }
}

/// The number of a process that has ended is given to another.
#[test]
fn numbers_that_are_used_again() {
    let texts = [
        "byte n; byte pids; proctype W(byte k) { n = n * 2 + k; pids = pids * 2 + _pid }
         init { run W(1); _nr_pr == 1; run W(2); n = n + 1; _nr_pr == 1; run W(3) }",
        // Two that start others: who comes first decides who gets which number.
        "byte n; proctype W(byte k) { byte t; t = n; n = t + k * _pid }
         active [2] proctype P() { run W(1) }",
    ];
    for text in texts {
        assert!(!check(text).1, "{text}");
    }
}

/// The run ends in a failing step, whatever else could have been done.
#[test]
fn failing_steps() {
    let texts = [
        "byte n; active proctype A() { byte t; t = 1; assert(n == 0) } active proctype B() { n = 1; n = 0; n = 2 }",
        "byte n; active [2] proctype A() { byte t; t = n; n = 6 / (3 - n); n++ }",
    ];
    for text in texts {
        let (used, coarse) = check(text);
        assert!(used.failures > 1 && !coarse, "{text}: {used:?}");
    }
}

/// What depends on the places of others is run with every step depending on every other.
#[test]
fn coarse_runs() {
    let texts = [
        "byte n; active proctype A() { byte t; t = 1; l: t = 2; n = n + 1 }
         active proctype B() { byte t; t = 1; A@l; n = n * 2 + t }",
        "byte n; active proctype A() { byte t; t = 1; n == 1; n = 3 } active proctype B() { timeout; n = 1 }",
        "byte n; active proctype A() { byte t; t = 5; n = 1 } active proctype B() { n = A:t + 1 }",
    ];
    for text in texts {
        assert!(check(text).1, "{text}");
    }
}

/// That a coarse run is needed may turn out in the middle: then no further run is begun.
#[test]
fn runs_that_turn_out_to_be_too_fine() {
    let (model, sources) = promela(
        "byte n; active proctype A() { byte t; t = 1; l: n = n + 1 }
         active proctype B() { n == 1; if :: A@l -> n = 5 :: else fi }",
    );
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    for strategy in [
        Strategy::Marking,
        Strategy::Basic,
        Strategy::Bpor,
        Strategy::Dpor,
        Strategy::CbDfs,
        Strategy::Random(1),
        Strategy::Pct { seed: 1, depth: 2 },
    ] {
        let limits = ExplorationLimits { stop_at_failure: false, ..ExplorationLimits::default() };
        let mut run = SystemRun::new(&interpreter, false);
        let found = explore(&mut run, strategy, &limits, &mut ());
        assert_eq!(run.error(), Some(SystemRunError::Coarse), "{strategy:?}");
        assert_eq!(found.stop, Some(ExplorationStop::GaveUp), "{strategy:?}");
        assert!(found.executions <= 1, "{strategy:?}: {found:?}");
        assert!(explore_system(&interpreter, strategy, &limits, &mut ()).is_ok(), "{strategy:?}");
    }
}

/// A run that fails early lies beside one that is cut by its depth: the steps of the one do not show up in the other.
#[test]
fn a_short_run_that_fails_beside_a_long_one() {
    let (model, sources) = promela(
        "byte x; active proctype P() { byte l; l = 1; l = 2; l = 3 } active proctype Q() { assert(x) }",
    );
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    for depth in 1..6 {
        let limits = ExplorationLimits { preemptions: Some(depth), ..ExplorationLimits::default() };
        let strategy = Strategy::BporBy(BoundFunction::Depth);
        let (found, _) = explore_system(&interpreter, strategy, &limits, &mut ()).expect("it fits");
        assert_eq!(found.failure.expect("Q alone fails").schedule, [Move::from(1)], "depth {depth}");
    }
}

/// Runs that are cut by their depth never complete, and the clock is looked at nevertheless.
#[test]
fn runs_that_are_cut_keep_the_limit_of_time() {
    let (model, sources) = promela("byte x; active [4] proctype P() { do :: x++ :: x-- :: x = 7 od }");
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    let time = Duration::from_millis(200);
    let limits =
        ExplorationLimits { preemptions: Some(30), time: Some(time), ..ExplorationLimits::default() };
    let since = Instant::now();
    let strategy = Strategy::BporBy(BoundFunction::Depth);
    let (found, _) = explore_system(&interpreter, strategy, &limits, &mut ()).expect("it fits");
    assert_eq!(found.stop, Some(ExplorationStop::Time));
    assert!(since.elapsed() < 50 * time, "{:?}", since.elapsed());
}

/// So many transitions from one state that no byte counts them.
struct Wide(usize);

impl System for Wide {
    type State = usize;
    type Action = usize;

    fn initial_states(&self) -> Vec<usize> {
        vec![0]
    }

    fn process_count(&self, _: &usize) -> usize {
        1
    }

    fn successors(&self, state: &usize, _: usize) -> Vec<Successor<usize, usize>> {
        let all = if *state == 0 { self.0 } else { 0 };
        (1..=all).map(|action| Successor { action, state: Some(action), runs: 0, violation: None }).collect()
    }

    fn process_name(&self, _: &usize, _: usize) -> String {
        "chooser".into()
    }

    fn describe(&self, _: &usize, _: usize, _: &usize) -> Description {
        Description::default()
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let limits = ExplorationLimits::default();
    let explored = |choices| explore_system(&Wide(choices), Strategy::Marking, &limits, &mut ());
    assert_eq!(explored(255).map(|(_, ends)| ends.len()), Ok(255));
    assert_eq!(explored(256).err(), Some(SystemRunError::Choice));
    let (model, sources) = promela("active [49] proctype P() { skip }");
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    let refused = explore_system(&interpreter, Strategy::Marking, &limits, &mut ());
    assert_eq!(refused.err(), Some(SystemRunError::Processes));
    assert_eq!(SystemRunError::Processes.to_string(), "more than 48 processes live at a time");
    assert!(SystemRun::new(&interpreter, true).next(48).is_some());
}

/// A step that has no end: the clock is looked at inside.
#[test]
fn a_step_keeps_the_limit_of_time() {
    let time = Duration::from_millis(300);
    let limits = ExplorationLimits { time: Some(time), ..ExplorationLimits::default() };
    for text in [
        "int x; active proctype P() { d_step { do :: x < 2 -> x = 1 - x od } }",
        "int x; active [2] proctype P() { d_step { do :: x >= 0 -> x = 1 - x :: else -> break od }; assert(false) }",
    ] {
        let (model, sources) = promela(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
        let since = Instant::now();
        let (found, ends) =
            explore_system(&interpreter, Strategy::Marking, &limits, &mut ()).expect("it fits");
        assert!(since.elapsed() < 10 * time, "{text}");
        assert_eq!(
            (found.stop, found.failure, found.exhaustive),
            (Some(ExplorationStop::Time), None, false),
            "{text}"
        );
        assert!(ends.is_empty(), "{text}");
    }
    // The budget was the exploration's own.
    let (model, sources) = promela("int x; active proctype P() { x = 1 }");
    let interpreter = Interpreter::new(&model, &sources).expect("initial values are constants");
    let (found, ends) = explore_system(&interpreter, Strategy::Marking, &limits, &mut ()).expect("it fits");
    assert!(found.exhaustive && ends.len() == 1 && interpreter.budget().stopped().is_none());
}
