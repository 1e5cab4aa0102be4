//! `.pds` files: what they mean, and what is said about mistakes in them.

use crate::common::{cases, random_pds};
use crate::programs::{answer, pushdown};
use preempt_core::{Budget, Diagnostic, Rng, Silent, SourceId};
use preempt_pushdown::format::{concurrent, load, parse};
use preempt_pushdown::symbolic::analysis::analyse;
use preempt_pushdown::{Direction, Word};
use std::fmt::Write;

fn print(rng: &mut Rng, threads: usize) -> String {
    let mut text = String::new();
    for thread in 0..threads {
        let rules = 1 + rng.below(6);
        let pds = random_pds(rng, 3, 3, rules);
        let _ = writeln!(text, "thread t{thread} (p0 <s0 s{}>) {{", rng.below(3));
        for rule in &pds.rules {
            let word = match rule.word {
                Word::Pop => String::new(),
                Word::Step(only) => format!("s{only}"),
                Word::Push(top, below) => format!("s{top} s{below}"),
            };
            let _ = writeln!(text, "  p{} <s{}> --> p{} <{word}>", rule.from.0, rule.from.1, rule.to);
        }
        text.push_str("}\n");
    }
    let _ = match rng.below(2) {
        0 => writeln!(text, "error p{}", rng.below(3)),
        _ => writeln!(text, "error p{} <s{}>", rng.below(3), rng.below(3)),
    };
    text
}

/// The rules themselves, and the model that the other engines see: the same verdicts and contexts.
#[test]
fn a_file_means_the_same_as_rules_and_as_a_model() {
    let table = preempt_bdd::TableOptions { nodes: 1 << 16, cache: 1 << 12 };
    let (mut failing, mut right) = (0, 0);
    for seed in 0..cases(60) {
        let mut rng = Rng::new(seed);
        let threads = 1 + rng.below(3);
        let text = print(&mut rng, threads);
        let (file, diagnostics) = parse(&text, SourceId(0));
        assert!(!diagnostics.iter().any(Diagnostic::is_error), "{diagnostics:?}\n{text}");
        let loaded = load("x.pds", &text);
        let program = (loaded.model.expect("no error"), loaded.sources);
        let system = concurrent(&file);
        let most = if threads == 1 { 1 } else { 2 };
        let mut native = None;
        for contexts in 1..=most {
            let analysed = analyse(&system, contexts, Direction::Forward, table, &Budget::unlimited());
            if analysed.expect("it ends").failure.is_some() {
                native = native.or(Some(contexts as u32));
            }
        }
        for direction in [Direction::Forward, Direction::Backward] {
            let report = pushdown(&program, Some(most as u32), direction);
            assert_eq!(answer(&report), native, "seed {seed} {direction:?}\n{text}");
        }
        let options = preempt_symbolic::SymbolicOptions {
            contexts: Some(most as u32),
            table,
            ..preempt_symbolic::SymbolicOptions::default()
        };
        let report =
            preempt_symbolic::check(&program.0, &program.1, &options, &mut Silent).expect("supported");
        let found = (report.outcome.verdict == preempt_core::Verdict::Violated).then_some(report.contexts);
        assert_eq!(found, native, "the symbolic engine, seed {seed}\n{text}");
        failing += usize::from(native.is_some());
        right += usize::from(native.is_none());
    }
    assert!(failing > 5 && right > 5, "{failing} {right}");
}

fn messages(text: &str) -> Vec<(String, u32)> {
    let (_, diagnostics) = parse(text, SourceId(0));
    let errors = diagnostics.into_iter().filter(Diagnostic::is_error);
    errors.map(|it| (it.message, it.span.map_or(u32::MAX, |span| span.start))).collect()
}

#[test]
fn mistakes_are_named_with_their_places() {
    for (text, message, place) in [
        ("(p <e>) p <e> --> q <a b c>", "a rule puts at most two symbols on the stack, and this has 3", 21),
        ("(p <e>) p <e> -> q <a>", "unknown character `-`", 14),
        ("(p <e>) p <e> --> q", "expected `<`, found the end of the file", 19),
        ("(p <e>) p <e f> --> q <>", "expected `>`, found `f`", 13),
        ("p <e> --> q <>", "nothing says where the system begins", 0),
        ("(p <>)", "the stack is empty", 4),
        ("(p <e>) (q <e>)", "a second configuration to begin with", 8),
        ("states p q; (p <e>) p <e> --> r <>", "the state `r` is not declared", 30),
        ("symbols e f; (p <e>) p <e> --> p <g>", "the symbol `g` is not declared", 34),
        ("states p p; (p <e>)", "`p` is declared twice", 9),
        ("states ;", "no name is declared", 7),
        ("thread t (p <e>) { p <e> --> p <> ", "expected `}`, found the end of the file", 34),
        ("thread t (p <e>) {} thread t (p <e>) {}", "there are two threads `t`", 27),
        (
            "thread t (p <e>) {} thread u (q <e>) {}",
            "the threads share one state, and `t` begins with `p`",
            20,
        ),
        ("thread t (p <e>) {} p <e> --> p <>", "a rule outside of the threads", 20),
        ("(p <e>) p <e> --> p <> \"open", "this label is never closed", 23),
        ("(p <e>) error", "expected a state, found the end of the file", 13),
        ("(p <e>) error p <e f>", "expected `>`, found `f`", 19),
        ("(p <e>) thread <e>", "expected the name of the thread, found `<`", 15),
    ] {
        let found = messages(text);
        assert!(found.contains(&(message.to_string(), place)), "{text}: {found:?}");
    }
}

#[test]
fn an_error_that_no_rule_leads_to_is_a_warning() {
    let loaded = load("x.pds", "(open <e>) open <e> --> closed <e> error close <e>");
    assert!(loaded.model.is_some());
    let [warning] = loaded.diagnostics.as_slice() else { panic!("{:?}", loaded.diagnostics) };
    assert_eq!(warning.message, "no rule leads to the state `close`");
    assert!(load("x.pds", "(open <e>) open <e> --> open <e> error open <f>").diagnostics.is_empty());
}

#[test]
fn cut_anywhere_a_file_is_read_without_a_panic() {
    let text =
        "states p q; # x\nthread t (p <e>) { p <e> --> q <f e> \"call\"; q <f> --> p <> }\nerror q <e>";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let loaded = load("x.pds", &text[..end]);
        assert!(loaded.model.is_some() || loaded.diagnostics.iter().any(Diagnostic::is_error));
    }
    for start in 0..text.len() {
        load("x.pds", &text[start..]);
    }
}

/// Every file in `models/pds` says in its first line what to expect of it.
#[test]
fn the_sample_systems_are_as_their_first_lines_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/pds");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("there are samples").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "pds") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let expected =
            text.lines().next().and_then(|line| line.strip_prefix("# expect: ")).expect("a first line");
        let loaded = load("sample.pds", &text);
        assert!(loaded.diagnostics.is_empty(), "{}: {:?}", path.display(), loaded.diagnostics);
        let program = (loaded.model.expect("no error"), loaded.sources);
        let contexts = expected.split("contexts=").nth(1).and_then(|number| number.parse().ok());
        for direction in [Direction::Forward, Direction::Backward] {
            let report = pushdown(&program, contexts, direction);
            let found = match (answer(&report), report.outcome.guarantee) {
                (Some(contexts), _) => format!("violated contexts={contexts}"),
                (None, preempt_core::Guarantee::Exhaustive) => "holds exhaustive".into(),
                (None, _) => format!("holds contexts={}", report.contexts),
            };
            assert_eq!(found, expected, "{} {direction:?}", path.display());
        }
        count += 1;
    }
    assert!(count >= 4);
}
