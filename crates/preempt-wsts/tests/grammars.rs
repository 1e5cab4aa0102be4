//! Context-free grammars: the models, both sides of a doubling, and random grammars against derivations one by one.

use crate::support::cases;
use preempt_core::{Budget, Limits, Rng, SourceMap};
use preempt_net::channels::subword;
use preempt_net::grammar::{Grammar, read_within};
use preempt_wsts::grammars::{GrammarEngine, GrammarVerdict, check, is_derivation, verify};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

fn read(text: &str) -> Grammar {
    let mut map = SourceMap::new();
    let (grammar, mistakes) = read_within(map.add("x.grammar", text), text, &Budget::unlimited());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    grammar
}

fn decide(grammar: &Grammar, engine: GrammarEngine) -> GrammarVerdict {
    let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
    check(grammar, engine, &Budget::within(&limits)).expect("nothing is wrong inside")
}

#[test]
fn every_model_is_what_its_header_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/grammars");
    for entry in std::fs::read_dir(folder).expect("there are models") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let safe = text.contains("# expect: safe");
        assert!(safe || text.contains("# expect: unsafe"), "{path:?}");
        let grammar = read(&text);
        for engine in [GrammarEngine::Basis, GrammarEngine::Weight] {
            match decide(&grammar, engine) {
                GrammarVerdict::Safe(basis) => assert!(safe && verify(&grammar, &basis).is_ok(), "{path:?}"),
                GrammarVerdict::Derived(words) => {
                    assert!(!safe && is_derivation(&grammar, &words), "{path:?}")
                }
                GrammarVerdict::Unknown(reason) => panic!("{path:?} by {engine:?}: {reason:?}"),
            }
        }
    }
}

#[test]
fn the_bases_are_those_that_were_computed_by_hand() {
    let basis = |text: &str| {
        let grammar = read(text);
        let GrammarVerdict::Safe(basis) = decide(&grammar, GrammarEngine::Basis) else { panic!("{text}") };
        basis.iter().map(|word| grammar.show(word)).collect::<BTreeSet<String>>()
    };
    let set = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<BTreeSet<String>>();
    let nested = "start S\nS -> a S b | a b\n";
    assert_eq!(basis(&format!("{nested}bad b a")), set(&["b a", "b S", "S a", "S S"]));
    let palindromes = "start S\nS -> a S a | b S b | c\n";
    assert_eq!(basis(&format!("{palindromes}bad c c")), set(&["c c", "S c", "c S", "S S"]));
    assert_eq!(basis(&format!("{palindromes}bad S S")), set(&["S S"]));
}

/// X_i -> X_{i+1} X_{i+1}: as many of the last letter as two to the depth.
#[test]
fn a_doubling_has_two_sides() {
    for depth in 2..=4u32 {
        let rules: String = (1..depth).map(|at| format!("X{at} -> X{0} X{0}\n", at + 1)).collect();
        let most = 1usize << (depth - 1);
        for count in [most, most + 1] {
            let grammar = read(&format!("start X1\n{rules}bad {}", format!("X{depth} ").repeat(count)));
            let derived = matches!(decide(&grammar, GrammarEngine::Basis), GrammarVerdict::Derived(_));
            assert_eq!(derived, count == most, "{depth} {count}");
        }
    }
}

fn random_grammar(rng: &mut Rng) -> Grammar {
    let letters = 2 + rng.below(3) as u32;
    let word = |rng: &mut Rng, most: usize| {
        (0..rng.below(most + 1)).map(|_| rng.below(letters as usize) as u32).collect()
    };
    let rules: Vec<(u32, Vec<u32>)> =
        (0..1 + rng.below(4)).map(|_| (rng.below(2) as u32, word(rng, 3))).collect();
    let mut bad: Vec<u32> = word(rng, 2);
    bad.push(rng.below(letters as usize) as u32);
    Grammar {
        letters: (0..letters).map(|at| format!("x{at}")).collect(),
        rules,
        spans: Vec::new(),
        start: 0,
        bad: vec![bad],
    }
}

/// Everything that is derived from words of at most this length.
fn brute_force(grammar: &Grammar, most: usize) -> BTreeSet<Vec<u32>> {
    let mut seen = BTreeSet::from([vec![grammar.start]]);
    let mut open = vec![vec![grammar.start]];
    while let Some(word) = open.pop() {
        for after in (0..grammar.rules.len()).flat_map(|rule| grammar.replaced(&word, rule)) {
            if after.len() <= most && seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    seen
}

#[test]
fn random_grammars_agree_with_brute_force() {
    let cases = cases(1000);
    let [mut derived, mut safe, mut by_weight, mut exact] = [0; 4];
    for seed in 0..cases {
        let grammar = random_grammar(&mut Rng::new(seed));
        let bad = |word: &Vec<u32>| grammar.bad.iter().any(|bad| subword(bad, word));
        let there = brute_force(&grammar, 6).iter().any(bad);
        let words = brute_force(&grammar, 4);
        let used = |rule: &usize| words.iter().any(|word| !grammar.replaced(word, *rule).is_empty());
        let unused: Vec<usize> = (0..grammar.rules.len()).filter(|rule| !used(rule)).collect();
        assert!(grammar.unused_rules().iter().all(|rule| unused.contains(rule)), "seed {seed}: {grammar:?}");
        exact += u64::from(grammar.unused_rules() == unused);
        let basis = decide(&grammar, GrammarEngine::Basis);
        match &basis {
            GrammarVerdict::Derived(_) => derived += 1,
            GrammarVerdict::Safe(words) => {
                safe += 1;
                assert!(!there, "seed {seed}: {grammar:?}");
                for at in 0..words.len() {
                    let mut fewer = words.clone();
                    fewer.remove(at);
                    assert!(verify(&grammar, &fewer).is_err(), "seed {seed}");
                }
            }
            GrammarVerdict::Unknown(reason) => panic!("seed {seed}: {reason:?}"),
        }
        // Word by word: every tenth will do.
        if seed % 10 != 0 {
            continue;
        }
        match (decide(&grammar, GrammarEngine::Weight), &basis) {
            (GrammarVerdict::Unknown(_), _) => {}
            (GrammarVerdict::Safe(mut ours), GrammarVerdict::Safe(theirs)) => {
                let mut theirs = theirs.clone();
                ours.sort();
                theirs.sort();
                assert_eq!(ours, theirs, "seed {seed}");
                by_weight += 1;
            }
            (GrammarVerdict::Derived(_), GrammarVerdict::Derived(_)) => by_weight += 1,
            (ours, theirs) => panic!("seed {seed}: {ours:?} {theirs:?}"),
        }
    }
    assert!(
        derived > cases / 8 && safe > cases / 8 && by_weight > cases / 50,
        "{derived} {safe} {by_weight}"
    );
    // A word that is longer than four letters may be needed on the way.
    assert!(exact > cases * 9 / 10, "{exact}");
}

#[test]
fn mistakes_have_a_place() {
    for (text, expected) in [
        ("", "it is not said what a derivation begins with"),
        ("start S\nS -> a", "nothing is bad in this file"),
        ("start S\nS = a\nbad a", "`=` has no meaning here"),
        ("start S\nS a\nbad a", "expected `->`"),
        ("start S\nstart T\nbad a", "there is a start already"),
        ("start\nbad a", "expected a letter, but the line ends"),
        ("start S ) \nbad a", "`)` has no meaning here"),
        ("start S | \nbad a", "expected the end of the line"),
        ("start \"S\nbad a", "`\"` is missing behind this name"),
    ] {
        let mut map = SourceMap::new();
        let (_, mistakes) = read_within(map.add("x", text), text, &Budget::unlimited());
        assert!(mistakes.iter().any(|mistake| mistake.message == expected), "{text}: {mistakes:?}");
    }
}
