//! Error projection against brute force, on programs without recursion: every edge of every run that goes wrong within so many
//! rounds, by listing the runs' states forward and backward.

use crate::common::cases;
use crate::programs::{model, sample};
use preempt_boolean::generator::{self, Shape};
use preempt_boolean::print;
use preempt_core::{Silent, SourceMap};
use preempt_model::interpreter::State;
use preempt_model::{CodeId, Interpreter, LocationId, Model, System};
use preempt_pushdown::PushdownOptions;
use preempt_pushdown::projection::project;
use std::collections::{BTreeSet, HashMap};

type EdgeAt = (CodeId, LocationId, u32);

fn projected((model, sources): &(Model, SourceMap), contexts: u32) -> BTreeSet<EdgeAt> {
    let table = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 14 };
    let options = PushdownOptions { contexts: Some(contexts), table, ..PushdownOptions::default() };
    project(model, sources, &options, &mut Silent).expect("supported").expect("no limit is reached")
}

/// The state, whose turn it is, and in which round.
type Node = (State, usize, u32);

/// `None` if there are too many states.
fn brute_force((model, sources): &(Model, SourceMap), rounds: u32) -> Option<BTreeSet<EdgeAt>> {
    let interpreter = Interpreter::new(model, sources).ok()?;
    let mut numbers: HashMap<Node, usize> = HashMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    // From, to (none if it goes wrong), and what was executed (none for a switch).
    let mut arcs: Vec<(usize, Option<usize>, Option<EdgeAt>)> = Vec::new();
    let mut number = |node: Node, nodes: &mut Vec<Node>| {
        *numbers.entry(node.clone()).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    };
    number((interpreter.initial_states().swap_remove(0), 0, 0), &mut nodes);
    let mut at = 0;
    while at < nodes.len() {
        if nodes.len() > 60_000 {
            return None;
        }
        let (state, process, round) = nodes[at].clone();
        let count = interpreter.process_count(&state);
        let steps = if process < count { interpreter.successors(&state, process) } else { Vec::new() };
        let free = match interpreter.exclusive(&state) {
            None => Some(state.clone()),
            Some(_) if steps.is_empty() => Some(interpreter.release(&state)),
            Some(_) => None,
        };
        if let Some(free) = free {
            if free != state {
                let to = number((free.clone(), process, round), &mut nodes);
                arcs.push((at, Some(to), None));
            }
            let next = if process + 1 < count { (process + 1, round) } else { (0, round + 1) };
            if next.1 < rounds {
                let to = number((free, next.0, next.1), &mut nodes);
                arcs.push((at, Some(to), None));
            }
        }
        let place = interpreter.place_of(&state, process);
        for step in steps {
            let edge = place.map(|(code, location)| (code, location, step.action.edge));
            let to = match (step.violation, step.state) {
                (None, Some(next)) => Some(number((next, process, round), &mut nodes)),
                _ => None,
            };
            arcs.push((at, to, edge));
        }
        at += 1;
    }
    let mut wrong = vec![false; nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (from, to, _) in arcs.iter().rev() {
            if !wrong[*from] && to.is_none_or(|to| wrong[to]) {
                wrong[*from] = true;
                changed = true;
            }
        }
    }
    let on_a_trace = arcs.iter().filter(|(_, to, _)| to.is_none_or(|to| wrong[to]));
    Some(on_a_trace.filter_map(|(_, _, edge)| *edge).collect())
}

#[test]
fn projections_are_those_of_brute_force() {
    let (mut compared, mut partly) = (0, 0);
    for seed in 0..cases(40) {
        for (threads, contexts) in [(1, 1), (2, 1), (2, 2), (3, 2)] {
            let shape = Shape { statements: 4, ..Shape::small(threads) };
            let text = print::program(&generator::program(seed, &shape));
            let program = model(&text);
            let Some(expected) = brute_force(&program, contexts) else { continue };
            let found = projected(&program, contexts);
            let told = |edges: &BTreeSet<EdgeAt>| {
                let told = |(code, location, edge): &EdgeAt| {
                    let code = program.0.code(*code);
                    format!("{}: {}", code.name, code.location(*location).edges[*edge as usize].text)
                };
                edges.iter().map(told).collect::<Vec<_>>()
            };
            let more: BTreeSet<_> = found.difference(&expected).copied().collect();
            let less: BTreeSet<_> = expected.difference(&found).copied().collect();
            assert!(
                more.is_empty() && less.is_empty(),
                "seed {seed}, K = {contexts}: too many {:?}, missing {:?}\n{text}",
                told(&more),
                told(&less)
            );
            compared += 1;
            partly += usize::from(!found.is_empty());
        }
    }
    println!("{compared} compared, {partly} with errors");
    assert!(partly > compared / 10);
}

/// With recursion: what comes after a call that never returns lies on no trace.
#[test]
fn calls_and_returns_are_matched() {
    let text = "decl x;
        void main() begin x := F; f(); x := T; g(); assert(!x); end
        void f() begin if * then f(); x := F; fi end
        void g() begin h(); skip; end
        void h() begin h(); end";
    let never = model(text);
    assert!(projected(&never, 1).is_empty(), "g never returns");
    let returns = model(&text.replace("void h() begin h(); end", "void h() begin if * then h(); fi end"));
    let found = projected(&returns, 1);
    let has = |wanted: &str| {
        found.iter().any(|(code, location, edge)| {
            returns.0.code(*code).location(*location).edges[*edge as usize].text == wanted
        })
    };
    assert!(has("x := T") && has("x := F") && has("skip"), "{found:?}");
}

#[test]
fn a_sample_driver_has_statements_that_matter_and_others() {
    let program = sample("bluetooth_v1_1a1s");
    let found = projected(&program, 2);
    let all: usize = program.0.codes.iter().flat_map(|code| &code.locations).map(|it| it.edges.len()).sum();
    assert!(!found.is_empty() && found.len() < all, "{} of {all}", found.len());
    assert!(projected(&program, 1).is_empty(), "one context is not enough");
}
