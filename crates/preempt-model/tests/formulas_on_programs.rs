//! Random formulas on random programs: the reference engine's verdict must be that of a brute-force evaluation, which
//! shares nothing with it: no automaton, no observer, no translation. It guesses for every state which parts of the
//! formula hold from there on, and looks for a component of the graph of guesses that keeps its promises
//! (Lichtenstein and Pnueli's tableau, written down as it stands).

use preempt_core::{PropertyKind, Silent, Span, Verdict};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::generator::{formula_from_seed, program_from_seed};
use preempt_model::property::{Formula, Ltl};
use preempt_model::search::ReferenceOptions;
use preempt_model::{Expr, Interpreter, System};
use std::collections::HashMap;

/// `PREEMPT_CASES=20000` for a long run.
fn cases() -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

#[test]
fn verdicts_equal_those_of_brute_force() {
    let (mut asked, mut violated) = (0, 0);
    for seed in 0.. {
        let program = program_from_seed(seed);
        let (model, sources) = program.to_model();
        // The graph of the model while a claim watches; what goes wrong in its processes is another matter.
        let model = model.counting_claim(true);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let Some(graph) = StateGraph::of(&interpreter, 100) else { continue };
        let Some(formula) = formula_from_seed(&model, seed) else { continue };
        let Some(expected) = brute_force_violated(&interpreter, &graph, &formula) else { continue };
        let span = Span::new(preempt_core::SourceId(0), 0, 0);
        let question = Check::Formula(Formula { name: "random".into(), formula: formula.clone(), span });
        let asking = |bound| CheckOptions {
            search: ReferenceOptions { bound, ..ReferenceOptions::default() },
            weakly_fair: false,
        };
        let ask = |bound| question.check(&interpreter, &asking(bound), &mut Silent).expect("a small formula");
        let outcome = ask(None);
        if outcome.violation.as_ref().is_some_and(|property| property.kind != PropertyKind::Ltl) {
            continue;
        }
        assert_eq!(
            outcome.verdict == Verdict::Violated,
            expected,
            "seed {seed}: {formula:?}\n{}",
            program.to_promela()
        );
        if let Some(trace) = &outcome.counterexample {
            // The fewest preemptions are where the bound begins to be violated; the switch that closes a loop
            // without a stem is not seen in the trace.
            let shown = trace.preemptions() as u32;
            let first = (0..).find(|bound| ask(Some(*bound)).verdict == Verdict::Violated);
            assert!(
                first.is_some_and(|first| first == shown || first == shown + 1),
                "seed {seed}: {first:?} {shown}"
            );
        }
        asked += 1;
        violated += u64::from(expected);
        if asked >= cases() {
            break;
        }
    }
    assert!(
        violated * 10 > asked && violated < asked * 9 / 10 + 1,
        "{violated} of {asked} violated: a poor mix"
    );
}

/// Everything that can be reached, one node a stable state; a state of rest repeats itself.
struct StateGraph {
    states: Vec<preempt_model::interpreter::State>,
    edges: Vec<Vec<usize>>,
}

impl StateGraph {
    /// `None` if there are more states than `most`.
    fn of(system: &Interpreter<'_>, most: usize) -> Option<StateGraph> {
        let mut graph = StateGraph { states: system.initial_states(), edges: Vec::new() };
        let mut numbers: HashMap<_, _> = graph.states.iter().cloned().zip(0..).collect();
        while graph.edges.len() < graph.states.len() {
            let state = graph.states[graph.edges.len()].clone();
            let mut targets = Vec::new();
            let mut moved = false;
            for process in 0..system.process_count(&state) {
                for successor in system.successors(&state, process) {
                    moved = true;
                    // Through an atomic sequence, every way, until everybody may run again.
                    let mut waiting: Vec<_> = successor.state.into_iter().collect();
                    let mut passed = std::collections::HashSet::new();
                    while let Some(next) = waiting.pop() {
                        match system.exclusive(&next) {
                            None => targets.push(next),
                            Some(holder) if passed.insert(next.clone()) => {
                                let inside = system.successors(&next, holder);
                                if inside.is_empty() {
                                    targets.push(system.release(&next));
                                }
                                waiting.extend(inside.into_iter().filter_map(|it| it.state));
                            }
                            Some(_) => {}
                        }
                    }
                }
            }
            if !moved {
                targets.push(state);
            }
            let mut edges = Vec::new();
            for target in targets {
                edges.push(*numbers.entry(target.clone()).or_insert_with(|| {
                    graph.states.push(target);
                    graph.states.len() - 1
                }));
            }
            if graph.states.len() > most {
                return None;
            }
            graph.edges.push(edges);
        }
        Some(graph)
    }
}

/// Formulas by number, in the few operators that the tableau knows; a part comes before what it is part of.
#[derive(Clone, PartialEq)]
enum Core {
    True,
    Atom(Expr),
    Not(usize),
    And(usize, usize),
    Next(usize),
    Until(usize, usize),
}

fn core(formula: &Ltl, parts: &mut Vec<Core>) -> usize {
    let add = |part: Core, parts: &mut Vec<Core>| {
        parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            parts.push(part);
            parts.len() - 1
        })
    };
    match formula {
        Ltl::Atom(expr) => add(Core::Atom(expr.clone()), parts),
        Ltl::Not(inner) => {
            let inner = core(inner, parts);
            add(Core::Not(inner), parts)
        }
        Ltl::And(left, right) => {
            let (left, right) = (core(left, parts), core(right, parts));
            add(Core::And(left, right), parts)
        }
        Ltl::Next(inner) => {
            let inner = core(inner, parts);
            add(Core::Next(inner), parts)
        }
        Ltl::Until(left, right) => {
            let (left, right) = (core(left, parts), core(right, parts));
            add(Core::Until(left, right), parts)
        }
        Ltl::Or(left, right) => {
            let both = Ltl::And(negated(left), negated(right));
            core(&Ltl::Not(Box::new(both)), parts)
        }
        Ltl::Implies(left, right) => core(&Ltl::Or(negated(left), right.clone()), parts),
        Ltl::Equivalent(left, right) => {
            let both = Ltl::And(left.clone(), right.clone());
            let neither = Ltl::And(negated(left), negated(right));
            core(&Ltl::Or(Box::new(both), Box::new(neither)), parts)
        }
        Ltl::Eventually(inner) => {
            let anything = add(Core::True, parts);
            let inner = core(inner, parts);
            add(Core::Until(anything, inner), parts)
        }
        Ltl::Always(inner) => core(&Ltl::Not(Box::new(Ltl::Eventually(negated(inner)))), parts),
        Ltl::Release(left, right) => {
            core(&Ltl::Not(Box::new(Ltl::Until(negated(left), negated(right)))), parts)
        }
        Ltl::WeakUntil(left, right) => {
            let until = Ltl::Until(left.clone(), right.clone());
            core(&Ltl::Or(Box::new(until), Box::new(Ltl::Always(left.clone()))), parts)
        }
    }
}

fn negated(formula: &Ltl) -> Box<Ltl> {
    Box::new(Ltl::Not(Box::new(formula.clone())))
}

/// Its work grows with the square of this.
const MOST_GUESSES: usize = 2_000;

/// `None` if there is too much to guess.
fn brute_force_violated(system: &Interpreter<'_>, graph: &StateGraph, formula: &Ltl) -> Option<bool> {
    let mut parts = Vec::new();
    let root = core(&Ltl::Not(Box::new(formula.clone())), &mut parts);
    // What is guessed: whether the argument of each `Next`, and each `Until` itself, holds in the next state.
    let guessed: Vec<usize> =
        (0..parts.len()).filter(|part| matches!(parts[*part], Core::Next(_) | Core::Until(..))).collect();
    let guesses = 1usize << guessed.len();
    if graph.states.len() * guesses > MOST_GUESSES {
        return None;
    }
    let values: Vec<Vec<bool>> = (0..graph.states.len() * guesses)
        .map(|node| {
            let (state, guess) = (&graph.states[node / guesses], node % guesses);
            let bit = |part: usize| {
                guess >> guessed.iter().position(|it| *it == part).expect("a guessed part") & 1 == 1
            };
            let mut values: Vec<bool> = Vec::new();
            for (number, part) in parts.iter().enumerate() {
                values.push(match part {
                    Core::True => true,
                    Core::Atom(expr) => system.holds(state, expr).expect("an expression with a meaning"),
                    Core::Not(inner) => !values[*inner],
                    Core::And(left, right) => values[*left] && values[*right],
                    Core::Next(_) => bit(number),
                    Core::Until(left, right) => values[*right] || (values[*left] && bit(number)),
                });
            }
            values
        })
        .collect();
    let promised = |node: usize, next: usize| {
        guessed.iter().enumerate().all(|(bit, part)| {
            let argument = if let Core::Next(inner) = parts[*part] { inner } else { *part };
            ((node % guesses) >> bit & 1 == 1) == values[next][argument]
        })
    };
    let successors = |node: usize| -> Vec<usize> {
        let targets = graph.edges[node / guesses].iter();
        targets.flat_map(|to| to * guesses..(to + 1) * guesses).filter(|next| promised(node, *next)).collect()
    };
    let reachable = |from: Vec<usize>| {
        let mut met = vec![false; values.len()];
        let mut waiting = from;
        while let Some(node) = waiting.pop() {
            for next in successors(node) {
                if !std::mem::replace(&mut met[next], true) {
                    waiting.push(next);
                }
            }
        }
        met
    };
    let beginnings: Vec<usize> = (0..guesses).filter(|node| values[*node][root]).collect();
    let mut candidates = reachable(beginnings.clone());
    beginnings.into_iter().for_each(|node| candidates[node] = true);
    // A component in which every `Until` is fulfilled or not promised: all that a node reaches and that reaches it.
    let mut done = vec![false; values.len()];
    for node in 0..values.len() {
        if !candidates[node] || done[node] {
            continue;
        }
        let forward = reachable(vec![node]);
        if !forward[node] {
            continue;
        }
        let component: Vec<usize> = (0..values.len())
            .filter(|other| forward[*other] && (*other == node || reachable(vec![*other])[node]))
            .collect();
        component.iter().for_each(|member| done[*member] = true);
        let fulfilled = guessed.iter().all(|part| match parts[*part] {
            Core::Until(_, right) => {
                component.iter().any(|member| values[*member][right] || !values[*member][*part])
            }
            _ => true,
        });
        if fulfilled {
            return Some(true);
        }
    }
    Some(false)
}
