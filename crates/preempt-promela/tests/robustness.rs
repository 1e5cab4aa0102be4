//! Whatever is fed to the parser, it answers, and soon.

use crate::mutation;

use mutation::{mutate, pieces};
use preempt_core::{Rng, SourceMap};

const MODELS: [(&str, &str); 5] = [
    ("ring", include_str!("models/ring.pml")),
    ("memory", include_str!("models/memory.pml")),
    ("bridge", include_str!("models/bridge.pml")),
    ("sorter", include_str!("models/sorter.pml")),
    ("locks", include_str!("models/locks.pml")),
];

/// Parses and gives the number of errors.
fn errors(text: &str) -> usize {
    let mut sources = SourceMap::new();
    // Every file can be included, but only itself: includes must end too.
    let mut read = |_: &str| Ok(text.to_string());
    let (_, diagnostics) = preempt_promela::parse(&mut sources, "model", text, &[], &mut read);
    for diagnostic in &diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            // Every place that is named must exist.
            let _ = sources.location(*span);
            assert!(span.end as usize <= sources.source(span.source).text.len(), "{diagnostic:?}");
        }
    }
    diagnostics.iter().filter(|d| d.is_error()).count()
}

#[test]
fn the_models_are_correct() {
    for (name, text) in MODELS {
        assert_eq!(errors(text), 0, "{name}");
    }
}

#[test]
fn every_prefix_is_answered() {
    for (_, text) in MODELS {
        for (end, _) in text.char_indices() {
            errors(&text[..end]);
        }
    }
}

#[test]
fn every_deletion_of_one_token_is_answered_briefly() {
    let mut total = 0;
    let mut runs = 0;
    for (name, text) in MODELS {
        for (start, end) in pieces(text) {
            let mutated = format!("{}{}", &text[..start], &text[end..]);
            let errors = errors(&mutated);
            let line = text[..start].matches('\n').count() + 1;
            assert!(errors <= 12, "{name}:{line}: {errors} errors without `{}`", &text[start..end]);
            total += errors;
            runs += 1;
        }
    }
    // One mistake is normally one error: a missing token must not set off an avalanche.
    assert!(total <= runs * 3 / 2, "{total} errors in {runs} texts");
}

#[test]
fn random_mutations_are_answered() {
    let mut rng = Rng::new(0x9E37_79B9_7F4A_7C15);
    let signs: Vec<char> = "(){}[];:,.-><=!?&|^~+*/%#\"'\\@$ \n0aé_".chars().collect();
    let split: Vec<_> = MODELS.iter().map(|(_, text)| pieces(text)).collect();
    for round in 0..100_000 {
        let (_, model) = MODELS[round % MODELS.len()];
        let tokens = &split[round % MODELS.len()];
        // Mutate a window of the text, so that many mutations are affordable.
        let first = rng.below(tokens.len());
        let last = (first + 20 + rng.below(80)).min(tokens.len() - 1);
        let mut text = model[tokens[first].0..tokens[last].1].to_string();
        if round % 10 == 0 {
            text = model.to_string();
        }
        for _ in 0..=rng.below(4) {
            mutate(&mut text, &mut rng, &signs);
        }
        errors(&text);
    }
}

#[test]
fn hostile_texts_are_answered() {
    for text in [
        "",
        "\0",
        "\u{feff}",
        "#",
        "#define",
        "#define f(x) f(f(x))\nf(f(f(f(1))))",
        "#include \"x\"",
        "#if\n#if\n#else",
        "inline f(",
        "inline f(a) { f(a) } init { f(1) }",
        "ltl { [",
        "ltl {",
        "init { :: :: fi od } } }",
        "init { if if if do do { { (",
        "init { c_code {",
        "\"",
        "'",
        "/*",
        "/",
        "\\",
        "init { x = y = z = ; ; ; }",
        "typedef T { T x } T t",
        "proctype P(P p) { P: P@P }",
        "mtype = { mtype }",
        "init { P[P[P[0]@L]@L]@L }",
    ] {
        errors(text);
        errors(&text.repeat(50));
    }
}
