//! Which edges were taken, against every step of every state, listed by brute force: with every source of successors, every
//! reduction and several threads. And which guards were refused, where no state is left out.

use preempt_core::{Silent, SourceMap, Verdict};
use preempt_explicit::{Order, Reduction, SearchOptions, SuccessorSource, check, count};
use preempt_model::coverage::{Marks, REFUSED, TAKEN};
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use preempt_model::{CodeKind, Command, Interpreter, Model, System};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering::Relaxed;

/// Code, location, edge.
type EdgeName = (usize, usize, usize);

#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    taken: BTreeSet<EdgeName>,
    refused: BTreeSet<EdgeName>,
    /// Of edges inside deterministic blocks.
    inner: BTreeSet<(EdgeName, usize)>,
}

const LARGEST: usize = 3000;

/// Every step of every process in every state; `None` if there are too many states. What is inside a deterministic block only
/// the interpreter knows.
fn brute_force(model: &Model, sources: &SourceMap) -> Option<Facts> {
    let model = &Model { marks: Some(Marks::of(model)), ..model.clone() };
    let interpreter = Interpreter::new(model, sources).ok()?;
    let mut waiting = interpreter.initial_states();
    let mut seen: HashSet<_> = waiting.iter().cloned().collect();
    let mut facts = Facts { inner: BTreeSet::new(), ..Facts::default() };
    while let Some(state) = waiting.pop() {
        for process in 0..interpreter.process_count(&state) {
            if interpreter.exclusive(&state).is_some_and(|holder| holder != process) {
                continue;
            }
            let (code, location) = interpreter.place_of(&state, process)?;
            let own = |edge: usize| (usize::from(code.0), location.0 as usize, edge);
            let steps = interpreter.successors(&state, process);
            let taken: BTreeSet<usize> = steps.iter().map(|step| step.action.edge as usize).collect();
            for edge in 0..model.code(code).location(location).edges.len() {
                match taken.contains(&edge) {
                    true => facts.taken.insert(own(edge)),
                    false => facts.refused.insert(own(edge)),
                };
            }
            for (partner, edge) in steps.iter().filter_map(|step| step.action.partner) {
                let (code, location) = interpreter.place_of(&state, partner as usize)?;
                facts.taken.insert((usize::from(code.0), location.0 as usize, edge as usize));
            }
            let stuck = steps.is_empty() && interpreter.exclusive(&state) == Some(process);
            let released = stuck.then(|| interpreter.release(&state));
            for next in steps.into_iter().filter_map(|step| step.state).chain(released) {
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
            if seen.len() > LARGEST {
                return None;
            }
        }
    }
    facts.inner = noted(model).inner;
    Some(facts)
}

fn noted(model: &Model) -> Facts {
    let marks = model.marks.as_ref().expect("the model has marks");
    let mut facts = Facts::default();
    for (code, body) in model.codes.iter().enumerate().filter(|(_, code)| code.kind == CodeKind::Process) {
        for (location, place) in body.locations.iter().enumerate() {
            for edge in 0..place.edges.len() {
                let (name, edge) =
                    ((code, location, edge), marks.edge(code, location, edge).expect("it has marks"));
                if edge.seen() & TAKEN != 0 {
                    facts.taken.insert(name);
                }
                if edge.seen() & REFUSED != 0 {
                    facts.refused.insert(name);
                }
                let inner = edge.inner().iter().enumerate().filter(|(_, mark)| mark.load(Relaxed) != 0);
                facts.inner.extend(inner.map(|(number, _)| (name, number)));
            }
        }
    }
    facts
}

/// Guards about which it is simple to say when they are asked: not those that wait for a timeout, that may be interrupted or
/// held back.
fn plain_guards(model: &Model) -> BTreeSet<EdgeName> {
    let mut guards = BTreeSet::new();
    let is_held_back = model.has_priorities || model.codes.iter().any(|code| code.provided.is_some());
    for (code, body) in model.codes.iter().enumerate().filter(|_| !is_held_back) {
        for (location, place) in body.locations.iter().enumerate() {
            if place.edges.iter().any(|edge| edge.escape.is_some()) {
                continue;
            }
            for (number, edge) in place.edges.iter().enumerate() {
                let mut plain = matches!(edge.command, Command::Guard(_));
                edge.command.visit(&mut |expr| plain &= *expr != preempt_model::Expr::Timeout);
                if plain {
                    guards.insert((code, location, number));
                }
            }
        }
    }
    guards
}

/// True if the model was small enough to be compared.
pub fn compare(model: &Model, sources: &SourceMap, name: &str) -> bool {
    let Some(expected) = brute_force(model, sources) else { return false };
    let guards = plain_guards(model);
    let marked = || Model { marks: Some(Marks::of(model)), ..model.clone() };
    for (successors, threads) in
        [(SuccessorSource::Native, 1), (SuccessorSource::Native, 2), (SuccessorSource::Interpreted, 1)]
    {
        for levels in [false, true] {
            let model = marked();
            let options = SearchOptions { successors, threads, levels, ..SearchOptions::default() };
            let options = SearchOptions { in_order_first: if levels { 8 } else { 1 << 15 }, ..options };
            count(&model, sources, &options, &mut Silent).expect("a supported model");
            let found = noted(&model);
            assert_eq!(found.taken, expected.taken, "{name}: {successors:?}");
            assert_eq!(found.inner, expected.inner, "{name}: {successors:?}, inside blocks");
            let refused = |facts: &Facts| facts.refused.intersection(&guards).copied().collect::<Vec<_>>();
            assert_eq!(refused(&found), refused(&expected), "{name}: {successors:?}, refused guards");
        }
    }
    for (reduction, order) in [
        (Reduction::None, Order::ByCost),
        (Reduction::Exact, Order::ByCost),
        (Reduction::Strong, Order::DepthFirst),
    ] {
        for simplify in [false, true] {
            let model = marked();
            let options = SearchOptions { reduction, order, simplify, ..SearchOptions::default() };
            let outcome = check(&model, sources, &options, &mut Silent).expect("a supported model");
            if outcome.verdict == Verdict::Holds {
                let found = noted(&model);
                assert_eq!(found.taken, expected.taken, "{name}: {reduction:?}, simplify {simplify}");
                assert_eq!(found.inner, expected.inner, "{name}: {reduction:?}, simplify {simplify}");
            }
        }
    }
    true
}

#[test]
fn random_programs() {
    let programs = std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok());
    let mut compared = 0;
    for seed in 0..programs.unwrap_or(40u64) {
        for (kind, program) in
            [("plain", program_from_seed(seed)), ("faulty", faulty_program_from_seed(seed))]
        {
            let (model, sources) = program.to_model();
            let name = format!("{kind} program {seed}\n{}", program.to_promela());
            compared += u64::from(compare(&model, &sources, &name));
        }
    }
    assert!(compared > 20, "only {compared} were small enough");
}

#[test]
fn atomic_sequences_rendezvous_blocks_and_processes_that_never_start() {
    for text in [
        "byte x; active [2] proctype P() { atomic { x == 0; x = 1 } d_step { if :: x == 2 -> x = 3 :: else -> x = 0 fi } }",
        "chan c = [0] of { byte }; active proctype S() { c!1; c!2 }
         active proctype R() { byte v; c?v; if :: v == 1 -> skip :: v == 2 -> v = 7 fi; c?eval(v); c?2 }",
        "byte x; proctype Q() { x = 9 } active proctype P() { do :: x < 3 -> x++ :: x == 9 -> run Q() :: else -> break od }",
        "byte x; active proctype P() { { do :: x < 5 -> x++ od } unless { x == 4 -> x = 0; x == 1 } }",
        "byte x; active proctype P() { timeout -> x = 1 } active proctype Q() { x == 1; x == 2; x = 3 }",
    ] {
        let mut read = |_: &str| Err(String::new());
        let loaded =
            preempt_promela::load("test.pml", text, &preempt_promela::Additions::default(), &mut read);
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
        assert!(compare(&model, &loaded.sources, text), "{text}");
    }
}
