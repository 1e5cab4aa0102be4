//! The generator by the grammar reaches the whole language: every word, sign and directive, every kind of node that
//! the parser makes, and everything that a model made from Promela can have.

use preempt_model::generator::census as model_census;
use preempt_promela::generator::{census, program, text_of};
use preempt_promela::{Additions, load, parse};

/// `PREEMPT_CASES=20000` for a long run.
fn cases() -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

/// Boolean programs have these; Promela has not.
const NOT_IN_PROMELA: &[&str] = &[
    "code of a procedure",
    "command assign several",
    "command call",
    "command return",
    "expression any value",
];

#[test]
fn every_production_is_made() {
    let mut census = census::Census::new();
    let mut models = model_census::Census::new();
    let (mut valid, mut reasons) = (0, std::collections::BTreeMap::<String, (u64, u64)>::new());
    for seed in 0..cases() {
        let text = text_of(&program(seed));
        let mut read = |name: &str| Err(format!("no {name}"));
        let loaded = load("generated.pml", &text, &Additions::default(), &mut read);
        match loaded.model {
            Some(model) => {
                valid += 1;
                let mut sources = preempt_core::SourceMap::new();
                let (tree, _) = parse(&mut sources, "generated.pml", &text, &[], &mut read);
                census::count(&text, &tree, &mut census);
                model_census::count(&model, &mut models);
            }
            None => {
                let errors = loaded.diagnostics.into_iter().filter(|diagnostic| diagnostic.is_error());
                for error in errors {
                    reasons.entry(error.message).or_insert((0, seed)).0 += 1;
                }
            }
        }
    }
    assert!(valid * 10 >= cases() * 9, "only {valid} of {} are programs: {reasons:#?}", cases());
    let missing = |all: Vec<&'static str>, met: &census::Census| -> Vec<&str> {
        all.into_iter().filter(|feature| !met.contains_key(feature)).collect()
    };
    assert_eq!(missing(census::features(), &census), [""; 0], "never made");
    let mut gaps = missing(model_census::features(), &models);
    gaps.retain(|feature| !NOT_IN_PROMELA.contains(feature));
    assert_eq!(gaps, [""; 0], "never in a model");
    for feature in NOT_IN_PROMELA {
        assert!(!models.contains_key(feature), "Promela has {feature} after all");
    }
}

#[test]
fn a_seed_names_one_program() {
    assert_eq!(program(7), program(7));
    assert_ne!(program(7), program(8));
}
