//! Automata of known formulas do not grow.

use crate::formulas::{CLASSIC, PATTERNS, Row};
use crate::parse;
use preempt_model::ltl::to_automaton;
use preempt_model::property::Ltl;

fn states(formula: &Ltl) -> usize {
    to_automaton(formula).unwrap().states.len()
}

fn check(rows: &[Row]) {
    let grown: Vec<String> = rows
        .iter()
        .filter_map(|&(text, positive, negative)| {
            let formula = parse::formula(text);
            let now = (states(&formula), states(&formula.negated()));
            (now.0 > positive || now.1 > negative)
                .then(|| format!("{text}: {now:?} instead of {:?}", (positive, negative)))
        })
        .collect();
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

#[test]
fn classic_formulas_have_small_automata() {
    check(CLASSIC);
}

#[test]
fn specification_patterns_have_small_automata() {
    check(PATTERNS);
}

/// Prints a line for each known formula and its negation: states, edges, microseconds and the formula in Spin's
/// syntax, to be compared with another translation.
#[test]
#[ignore = "prints a table"]
fn print_sizes() {
    for (text, ..) in CLASSIC.iter().chain(PATTERNS) {
        let formula = parse::formula(text);
        for formula in [formula.clone(), formula.negated()] {
            let start = std::time::Instant::now();
            let automaton = to_automaton(&formula).unwrap();
            let time = start.elapsed().as_micros();
            let edges: usize = automaton.states.iter().map(|state| state.edges.len()).sum();
            println!("SIZE {} {edges} {time} {}", automaton.states.len(), formula.display(parse::name));
        }
    }
}
