//! Whatever is fed to the reader, it answers, and soon.

#[path = "../../preempt-promela/tests/mutation/mod.rs"]
mod mutation;

use mutation::{mutate, pieces};
use preempt_boolean::{BooleanOptions, load, sequentialize};
use preempt_core::{Budget, Rng};
use preempt_model::inline;

const MODELS: [(&str, &str); 4] = [
    ("bluetooth", include_str!("../../../models/boolean/bluetooth_v3_2a2s.bp")),
    ("recursion", include_str!("../../../models/boolean/mutual_recursion.bp")),
    ("locks", include_str!("../../../models/boolean/two_locks.bp")),
    ("everything", EVERYTHING),
];

/// What the models do not use.
const EVERYTHING: &str = "
decl a, {x==0} := 1, c := *;
decl thread_local mine;
/* everything
   else */
bool<2> f(p, q) begin
  decl l := p;
  enforce a => (p | q);
  abortif mine & !mine;
  l, _ := *, schoose[a, q] constrain ('l = !l) ^ {x==0};
  if (l) then goto 7, out; elsif ? then skip; else a := l ? p : q; fi
  7: print(l, a);
  while (a != c) do dead c, l; od;
  out: return !l, ~p;
end
dfs void main() begin
  a, c := f(a, T);
  ASYNC_1: g();
  start_thread goto new;
  goto old;
  new: mine := F; end_thread;
  old: atomic_begin; a := F; f(a, c); atomic_end;
  constrain(a); assume a;
  SLIC_ERROR: skip
end
void g() begin start_thread h(a); end
void h(x) begin assert(x || a && !x); end
";

/// Reads, and gives the number of errors. What was understood must also go on to the other forms.
fn errors(text: &str) -> usize {
    let loaded = load("model", text, &BooleanOptions::default());
    for diagnostic in &loaded.diagnostics {
        for span in diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)) {
            // Every place that is named must exist.
            let _ = loaded.sources.location(*span);
            assert!(span.end as usize <= loaded.sources.source(span.source).text.len(), "{diagnostic:?}");
        }
    }
    if let Some(model) = &loaded.model {
        let _ = inline::inline(model);
        let _ = sequentialize::to_boolean(model, &loaded.sources, 2, &Budget::unlimited());
        let _ = sequentialize::to_c(model, &loaded.sources, 2, &Budget::unlimited());
    }
    let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    assert_eq!(errors == 0, loaded.model.is_some());
    errors
}

#[test]
fn the_models_are_correct() {
    for (name, text) in MODELS {
        assert_eq!(errors(text), 0, "{name}: {:?}", load(name, text, &BooleanOptions::default()).diagnostics);
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
    let (mut total, mut runs) = (0, 0);
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
    let signs: Vec<char> = "(){}[];:,<>=!?&|^~*/#\"'\\$ \n01aé_TF".chars().collect();
    for round in 0..6_000 {
        let mut text = MODELS[round % MODELS.len()].1.to_string();
        for _ in 0..=rng.below(3) {
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
        "decl",
        "decl ;",
        "bool<99999999999999999999> f() begin end",
        "bool<9999> main() begin main(); end",
        "void main() begin",
        "void main() begin if if if while while",
        "void main() begin atomic_begin; atomic_begin; end",
        "void main() begin a: a: a: goto a, a; end",
        "void main() begin start_thread main(); main(); end",
        "void main(main) begin main := main; end",
        "{",
        "{}",
        "/*",
        "'",
        "void main() begin x := ; := ; , , end",
        "end end end",
        "void void void",
        "void main() begin goto main; end",
    ] {
        errors(text);
        errors(&text.repeat(50));
    }
}

#[test]
fn deep_and_long_things_are_one_error() {
    let main = |body: String| format!("decl x; void main() begin {body} end");
    for (open, close) in [("(", ")"), ("!", ""), ("x ? ", ": x"), ("schoose[", ", x]")] {
        let text = main(format!("assume {}x{};", open.repeat(10_000), close.repeat(10_000)));
        assert_eq!(errors(&text), 1, "{open}");
    }
    for (open, close) in [("if x then ", " fi"), ("while x do ", " od")] {
        let text = main(format!("{}skip;{}", open.repeat(10_000), close.repeat(10_000)));
        assert_eq!(errors(&text), 1, "{open}");
        assert!(errors(&main(open.repeat(10_000))) >= 1);
    }
    assert_eq!(errors(&main(format!("assume x{};", " & x".repeat(100_000)))), 1);
    assert_eq!(errors(&main(format!("assume x{};", " & x".repeat(900)))), 0);
    let chain = " & x".repeat(900);
    assert_eq!(errors(&main(format!("assume {}x{};", "(".repeat(100), format!("{chain})").repeat(100)))), 1);
}
