//! Automata against the plain meaning of formulas, on words that repeat.

use super::formulas::{CLASSIC, PATTERNS};
use super::parse;
use preempt_model::Expr;
use preempt_model::ltl::to_automaton;
use preempt_model::ltl::word::{Word, read_bits};
use preempt_model::property::{Automaton, Ltl};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;

const WORDS: usize = 200;

/// Formulas of the normal run; `PREEMPT_CASES` says another number.
fn cases(normal: u32) -> u32 {
    std::env::var("PREEMPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(normal)
}

/// Formulas of at most this depth that mostly use it: one side of a binary operator is deep.
fn formulas(atoms: u32, depth: u32) -> BoxedStrategy<Ltl> {
    let leaf = prop_oneof![
        30 => (0..atoms).prop_map(|number| Ltl::Atom(parse::atom(number))),
        1 => any::<bool>().prop_map(|value| Ltl::Atom(Expr::Const(value.into()))),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let deep = formulas(atoms, depth - 1);
    let pairs = (deep.clone(), formulas(atoms, (depth - 1) / 2), any::<bool>(), 0..7);
    let unary = (deep, 0..4).prop_map(|(part, op)| {
        let part = Box::new(part);
        match op {
            0 => Ltl::Not(part),
            1 => Ltl::Next(part),
            2 => Ltl::Always(part),
            _ => Ltl::Eventually(part),
        }
    });
    let binary = pairs.prop_map(|(left, right, swap, op)| {
        let (left, right) = if swap { (right, left) } else { (left, right) };
        let (left, right) = (Box::new(left), Box::new(right));
        match op {
            0 => Ltl::And(left, right),
            1 => Ltl::Or(left, right),
            2 => Ltl::Implies(left, right),
            3 => Ltl::Equivalent(left, right),
            4 => Ltl::Until(left, right),
            5 => Ltl::Release(left, right),
            _ => Ltl::WeakUntil(left, right),
        }
    });
    prop_oneof![1 => leaf, 4 => unary, 10 => binary].boxed()
}

fn words(atoms: u32) -> impl Strategy<Value = Word<u64>> {
    let letters = 0..1u64 << atoms;
    (prop::collection::vec(letters.clone(), 0..=4), prop::collection::vec(letters, 1..=4))
        .prop_map(|(stem, cycle)| Word { stem, cycle })
}

/// All words with up to this many letters in the stem and in the cycle.
fn all_words(atoms: u32, stem: u32, cycle: u32) -> Vec<Word<u64>> {
    let letters = 1u64 << atoms;
    let lists = |len: u32| {
        (0..letters.pow(len))
            .map(move |code| -> Vec<u64> { (0..len).map(|at| code / letters.pow(at) % letters).collect() })
    };
    (0..=stem)
        .flat_map(|s| (1..=cycle).map(move |c| (s, c)))
        .flat_map(|(s, c)| {
            lists(s).flat_map(move |stem| lists(c).map(move |cycle| Word { stem: stem.clone(), cycle }))
        })
        .collect()
}

/// The automata of a formula and of its negation.
struct Both {
    formula: Ltl,
    positive: Automaton,
    negative: Automaton,
}

impl Both {
    fn of(formula: Ltl) -> Both {
        let translate = |formula: &Ltl| {
            let shown = formula.display(parse::name).to_string();
            let automaton = to_automaton(formula).unwrap_or_else(|error| panic!("{error}: {shown}"));
            well_formed(&automaton).unwrap_or_else(|fault| panic!("{fault}: {shown}"));
            automaton
        };
        Both { positive: translate(&formula), negative: translate(&formula.negated()), formula }
    }

    fn check(&self, word: &Word<u64>, atoms: &[Expr]) -> Result<(), String> {
        let read = |letter: &u64, expr: &Expr| read_bits(atoms, *letter, expr);
        let holds = word.satisfies(&self.formula, &read);
        let accepted = (word.is_accepted(&self.positive, &read), word.is_accepted(&self.negative, &read));
        if accepted == (holds, !holds) {
            return Ok(());
        }
        Err(format!(
            "{} on {word:?}: holds {holds}, accepted {accepted:?}",
            self.formula.display(parse::name)
        ))
    }
}

fn well_formed(automaton: &Automaton) -> Result<(), String> {
    let count = automaton.states.len();
    if automaton.initial >= count {
        return Err("no initial state".into());
    }
    for (number, state) in automaton.states.iter().enumerate() {
        let mut targets = state.edges.iter().map(|(_, target)| *target);
        if targets.any(|target| target >= count) {
            return Err(format!("state {number} leads nowhere"));
        }
        let mut open: Vec<usize> = state.edges.iter().map(|(_, target)| *target).collect();
        let mut seen = vec![false; count];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(automaton.states[at].edges.iter().map(|(_, target)| *target));
            }
        }
        if state.accepting && !seen[number] {
            return Err(format!("accepting state {number} is on no cycle"));
        }
        if count > 1 && !(0..count).any(|at| seen[at] && automaton.states[at].accepting) {
            return Err(format!("state {number} reaches no accepting state"));
        }
    }
    Ok(())
}

#[test]
fn random_formulas_accept_the_words_they_hold_of() {
    for atoms in 1..=3 {
        let exprs = parse::atoms(atoms);
        let mut runner = TestRunner::new(Config {
            cases: cases(300).div_ceil(3),
            failure_persistence: None,
            ..Config::default()
        });
        let sizes = Cell::new((0, 0, 0));
        let strategy = (formulas(atoms, 6), prop::collection::vec(words(atoms), WORDS));
        let result = runner.run(&strategy, |(formula, words)| {
            let both = Both::of(formula);
            let (count, sum, most) = sizes.get();
            let states = both.positive.states.len();
            sizes.set((count + 1, sum + states, most.max(states)));
            for word in &words {
                both.check(word, &exprs).map_err(TestCaseError::fail)?;
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{error}");
        }
        let (count, sum, most) = sizes.get();
        println!("{count} formulas over {atoms} atoms on {WORDS} words: {sum} states, at most {most}");
    }
}

#[test]
fn small_formulas_accept_exactly_the_words_they_hold_of() {
    let mut layers = vec![vec![Ltl::Atom(parse::atom(0)), Ltl::Atom(parse::atom(1))]];
    for _ in 0..2 {
        let known: Vec<Ltl> = layers.concat();
        let last = layers.last().cloned().unwrap_or_default();
        let mut next = Vec::new();
        for part in &last {
            let part = || Box::new(part.clone());
            next.extend([Ltl::Not(part()), Ltl::Next(part()), Ltl::Always(part()), Ltl::Eventually(part())]);
            for other in &known {
                let other = || Box::new(other.clone());
                next.extend([
                    Ltl::And(part(), other()),
                    Ltl::Equivalent(part(), other()),
                    Ltl::Until(part(), other()),
                    Ltl::Until(other(), part()),
                    Ltl::Release(part(), other()),
                    Ltl::WeakUntil(other(), part()),
                ]);
            }
        }
        layers.push(next);
    }
    let exprs = parse::atoms(2);
    // The third layer has thousands of formulas; the normal run takes every thirteenth, and fewer words.
    let (words, step) = if cases(0) > 0 { (all_words(2, 2, 3), 1) } else { (all_words(2, 1, 2), 13) };
    let third = layers.pop().unwrap_or_default();
    let mut checked = 0;
    for formula in layers.into_iter().flatten().chain(third.into_iter().step_by(step)) {
        let both = Both::of(formula);
        words.iter().for_each(|word| both.check(word, &exprs).unwrap());
        checked += 1;
    }
    println!("{checked} formulas on {} words", words.len());
}

#[test]
fn known_formulas_accept_the_words_they_hold_of() {
    let mut runner = TestRunner::deterministic();
    for (text, ..) in CLASSIC.iter().chain(PATTERNS) {
        let both = Both::of(parse::formula(text));
        let words = prop::collection::vec(words(26), WORDS).new_tree(&mut runner).unwrap().current();
        words.iter().for_each(|word| both.check(word, &parse::atoms(26)).unwrap());
    }
}

#[test]
fn atoms_that_deny_each_other_are_one() {
    let compare = |op| Expr::binary(op, parse::atom(0), Expr::Const(1));
    use preempt_model::BinaryOp::{Eq, Ge, Lt, Ne};
    let never = |left, right| {
        let both = Ltl::And(Box::new(Ltl::Atom(left)), Box::new(Ltl::Atom(right)));
        to_automaton(&Ltl::Eventually(Box::new(both))).unwrap()
    };
    for automaton in [never(compare(Eq), compare(Ne)), never(compare(Lt), compare(Ge))] {
        assert_eq!(automaton.states.len(), 1);
        assert!(automaton.states[0].edges.is_empty() && !automaton.states[0].accepting);
    }
    let stays = to_automaton(&Ltl::Always(Box::new(Ltl::Atom(compare(Ne))))).unwrap();
    assert_eq!(stays.states[0].edges, [(compare(Ne), 0)]);
}
