//! Automata of known formulas do not grow.

use super::formulas::{CLASSIC, PATTERNS, Row};
use super::parse;
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
