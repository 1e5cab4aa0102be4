//! Families of formulas that grow, and formulas that are too large.

use super::parse;
use preempt_model::Expr;
use preempt_model::ltl::{MAX_ATOMS, MAX_DEPTH, TooLarge, is_stutter_invariant_syntactically, to_automaton};
use preempt_model::property::Ltl;
use std::time::{Duration, Instant};

/// Generous, for machines that do other things at the same time.
const LIMIT: Duration = Duration::from_secs(5);

fn fold(texts: impl Iterator<Item = String>, join: fn(String, String) -> String) -> String {
    texts.reduce(join).unwrap_or_default()
}

fn letters(count: usize) -> impl Iterator<Item = String> {
    ('a'..='z').take(count).map(|letter| letter.to_string())
}

#[test]
fn growing_formulas_translate_quickly() {
    let left = |l: String, r: String| format!("({l} U {r})");
    let right = |l: String, r: String| format!("({r} U {l})");
    let and = |l: String, r: String| format!("{l} && {r}");
    let or = |l: String, r: String| format!("{l} || {r}");
    let mut texts = Vec::new();
    for count in 1..=6 {
        texts.push(fold(letters(count).map(|p| format!("[]<>{p}")), and));
        texts.push(fold(letters(count).map(|p| format!("<>[]{p}")), or));
        texts.push(fold(letters(count).map(|p| format!("<>{p}")), and));
        texts.push(fold(letters(count).map(|p| format!("[]({p} -> <>z)")), and));
    }
    for count in 1..=8 {
        texts.push(fold(letters(count), right));
        texts.push(fold(letters(count), left));
        texts.push(fold(letters(count), |l, r| format!("({r} V {l})")));
        texts.push(fold(letters(count), |l, r| format!("({r} && X {l})")));
        texts.push(fold(letters(count), |l, r| format!("<>({r} && {l})")));
    }
    for count in 2..=4 {
        let pairs = letters(count).zip(letters(2 * count).skip(count));
        texts.push(fold(pairs.map(|(p, q)| format!("([]<>{p} -> []<>{q})")), and));
        let pairs = letters(count).zip(letters(count + 1).skip(1));
        texts.push(fold(pairs.map(|(p, q)| format!("[]({p} -> <>{q})")), and));
    }
    for text in texts {
        let formula = parse::formula(&text);
        for formula in [formula.clone(), formula.negated()] {
            let start = Instant::now();
            let automaton = to_automaton(&formula).unwrap();
            let time = start.elapsed();
            println!("{} states in {time:?}: {}", automaton.states.len(), formula.display(parse::name));
            assert!(time < LIMIT, "{time:?} for {text}");
        }
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let chain = |count: u32, join: fn(Box<Ltl>, Box<Ltl>) -> Ltl| {
        let atoms = (0..count).map(|number| Ltl::Atom(parse::atom(number)));
        atoms.reduce(|left, right| join(Box::new(left), Box::new(right))).unwrap()
    };
    let max = MAX_ATOMS as u32;
    assert_eq!(to_automaton(&chain(max, Ltl::And)).unwrap().states.len(), 2);
    assert_eq!(to_automaton(&chain(max + 1, Ltl::And)), Err(TooLarge::Atoms));
    let deep = (0..MAX_DEPTH + 1).fold(Ltl::Atom(parse::atom(0)), |inner, _| Ltl::Not(Box::new(inner)));
    assert_eq!(to_automaton(&deep), Err(TooLarge::Depth));
    let start = Instant::now();
    let parity = chain(60, Ltl::Equivalent);
    assert_eq!(to_automaton(&parity), Err(TooLarge::States));
    assert!(start.elapsed() < 4 * LIMIT, "{:?}", start.elapsed());
}

#[test]
fn deep_formulas_neither_overflow_nor_hang() {
    let atom = |number: usize| Box::new(Ltl::Atom(parse::atom(number as u32 % 7)));
    type Step = fn(Box<Ltl>, Box<Ltl>) -> Ltl;
    let steps: [Step; 5] = [
        |_, inner| Ltl::Next(inner),
        |atom, inner| Ltl::Until(atom, inner),
        |atom, inner| Ltl::Release(inner, atom),
        |atom, inner| Ltl::Eventually(Box::new(Ltl::And(atom, Box::new(Ltl::Next(inner))))),
        |atom, inner| Ltl::Equivalent(Box::new(Ltl::Next(inner)), atom),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        let levels = if number < 3 { MAX_DEPTH } else { MAX_DEPTH / 3 };
        let deep = (0..levels).fold(*atom(0), |inner, level| step(atom(level), Box::new(inner)));
        let start = Instant::now();
        let states = to_automaton(&deep).map(|automaton| automaton.states.len());
        println!("{levels} levels of step {number}: {states:?} in {:?}", start.elapsed());
        assert!(start.elapsed() < 4 * LIMIT, "{:?}", start.elapsed());
    }
}

#[test]
fn stuttering_is_seen_with_next_only() {
    assert!(is_stutter_invariant_syntactically(&parse::formula("[](p -> (q U !r)) <-> (p W q)")));
    assert!(!is_stutter_invariant_syntactically(&parse::formula("[](p -> (q V X r))")));
}

#[test]
fn constants_need_one_state() {
    for (value, edges) in [(1, 1), (0, 0)] {
        let automaton = to_automaton(&Ltl::Atom(Expr::Const(value))).unwrap();
        assert_eq!(automaton.states.len(), 1);
        assert_eq!(automaton.states[0].edges.len(), edges);
        assert_eq!(automaton.states[0].accepting, value == 1);
    }
}
