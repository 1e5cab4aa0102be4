//! Rounds and diagrams in turns: who answers, and what the answer rests on.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{load, print};
use preempt_core::{Guarantee, Limits, Silent, SourceMap, StopReason, Verdict};
use preempt_model::Model;
use preempt_rounds::{Cap, Caps, RoundsOptions};
use preempt_symbolic::portfolio::{self, Answered, PortfolioReport};
use preempt_symbolic::{Method, SymbolicOptions};
use std::path::Path;
use std::time::Duration;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 22, cache: 1 << 16 };

fn boolean(text: &str) -> (Model, SourceMap) {
    let loaded = load("test.bp", text, &preempt_boolean::BooleanOptions::default());
    (loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics)), loaded.sources)
}

fn sample(name: &str) -> (Model, SourceMap) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    let path = folder.join(name).with_extension("bp");
    boolean(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn options(contexts: Option<u32>) -> SymbolicOptions {
    SymbolicOptions { contexts, table: TABLE, ..SymbolicOptions::default() }
}

fn answer((model, sources): &(Model, SourceMap), contexts: Option<u32>, caps: Caps) -> PortfolioReport {
    portfolio::check(model, sources, &options(contexts), &caps, &mut Silent).unwrap()
}

#[test]
fn few_states_are_decided_by_rounds_without_a_diagram() {
    let found = answer(&sample("bluetooth_v3_2a1s"), None, Caps::default());
    assert_eq!(found.report.outcome.verdict, Verdict::Holds);
    assert_eq!(found.report.outcome.guarantee, Guarantee::Exhaustive);
    assert!(matches!(found.answered, Answered::Rounds(_)));
    assert_eq!(found.report.nodes, 0);
}

#[test]
fn deep_recursion_is_left_to_the_diagrams() {
    let found = answer(&sample("mutual_recursion_broken"), None, Caps::default());
    assert_eq!((found.report.outcome.verdict, found.report.contexts), (Verdict::Violated, 1));
    assert_eq!((found.answered, found.too_much), (Answered::Diagrams, Some(Cap::Depth)));
    let found = answer(&sample("mutual_recursion"), Some(2), Caps::default());
    assert_eq!(found.report.outcome.guarantee, Guarantee::Contexts(2));
    assert_eq!((found.report.outcome.verdict, found.answered), (Verdict::Holds, Answered::Diagrams));
}

/// However many threads a loop starts, nothing in them can go wrong: rounds cannot tell, diagrams can.
#[test]
fn threads_in_which_nothing_can_go_wrong_may_be_any_number() {
    let text =
        "decl x; void main() begin x := F; while (T) do start_thread a(); od end void a() begin x := !x; end";
    let found = answer(&boolean(text), None, Caps::default());
    assert_eq!((found.report.outcome.verdict, found.answered), (Verdict::Holds, Answered::Diagrams));
    let could = text
        .replace("decl x;", "decl x, y;")
        .replace("x := F;", "x, y := F, F;")
        .replace("x := !x;", "assert(!y);");
    let found = answer(&boolean(&could), Some(1), Caps::default());
    assert_eq!(found.report.outcome.verdict, Verdict::Inconclusive(StopReason::Partial));
}

/// Too many states for rounds, and yet an answer with the same K.
#[test]
fn what_is_too_much_for_rounds_has_the_same_answer() {
    for (name, contexts) in [("bluetooth_v1_2a1s", 2), ("peterson_3_broken", 2), ("bluetooth_v2_2a1s", 3)] {
        for bytes in [0, 1 << 16, 1 << 30] {
            let found = answer(&sample(name), None, Caps { bytes, ..Caps::default() });
            let report = &found.report;
            assert_eq!(
                (&report.outcome.verdict, report.contexts),
                (&Verdict::Violated, contexts),
                "{name} {bytes}"
            );
            assert!(report.outcome.counterexample.is_some() && found.fewest, "{name} {bytes}");
        }
    }
}

/// Recursion that never ends, and no bound: inconclusive within the limits, not out of memory.
#[test]
fn recursion_without_end_and_without_a_bound_ends_with_its_limits() {
    let text = "decl x, y; void main() begin x := F; y := F; start_thread f(); start_thread g(); end
                void f() begin if * then f(); x := !x; f(); fi y := x; end
                void g() begin if * then g(); y := !y; fi assert(x | !x | y); end";
    let (model, sources) = boolean(text);
    let limits =
        Limits { time: Some(Duration::from_secs(2)), memory_bytes: Some(200 << 20), ..Limits::default() };
    let options = SymbolicOptions { limits, ..options(None) };
    let found = portfolio::check(&model, &sources, &options, &Caps::default(), &mut Silent).unwrap();
    assert!(matches!(
        found.report.outcome.verdict,
        Verdict::Inconclusive(StopReason::Time | StopReason::Memory) | Verdict::Holds
    ));
}

/// Verdict and smallest K: rounds, diagrams lazy and eager, and the portfolio with any cap.
#[test]
fn everybody_says_the_same_about_random_programs() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..cases {
        let threads = 2 + (seed % 2) as usize;
        let shape = match seed % 3 {
            0 => Shape { statements: 3, everything: true, ..Shape::small(threads) },
            _ => Shape { statements: 2, ..Shape::recursive(threads) },
        };
        let text = print::program(&generator::program(1000 + seed, &shape));
        let (model, sources) = boolean(&text);
        let contexts = if threads == 2 { 3 } else { 2 };
        let limits = Limits { time: Some(Duration::from_secs(3)), ..Limits::default() };
        let options = SymbolicOptions { limits, ..options(Some(contexts)) };
        let lazy = preempt_symbolic::check(&model, &sources, &options, &mut Silent).unwrap();
        let expected = (lazy.outcome.verdict, lazy.contexts);
        if matches!(expected.0, Verdict::Inconclusive(_)) {
            continue;
        }
        let eager = SymbolicOptions { method: Method::Eager, ..options.clone() };
        let eager = preempt_symbolic::check(&model, &sources, &eager, &mut Silent).unwrap();
        let agrees = |name: &str, verdict: Verdict, found: u32| {
            if matches!(verdict, Verdict::Inconclusive(_)) {
                return;
            }
            assert_eq!(verdict, expected.0, "{name}, seed {seed}\n{text}");
            if verdict == Verdict::Violated {
                assert_eq!(found, expected.1, "{name}, seed {seed}\n{text}");
            }
        };
        agrees("eager", eager.outcome.verdict, eager.contexts);
        for symmetry in [false, true] {
            let options =
                RoundsOptions { contexts: Some(contexts), symmetry, limits, ..RoundsOptions::default() };
            let rounds = preempt_rounds::check(&model, &sources, &options, &mut Silent).unwrap();
            if !matches!(rounds.outcome.verdict, Verdict::Inconclusive(_)) {
                agrees("rounds", rounds.outcome.verdict, rounds.contexts);
                compared += 1;
            }
        }
        let caps = Caps { depth: 3, bytes: [0, 1 << 12, 1 << 30][seed as usize % 3] };
        let found = portfolio::check(&model, &sources, &options, &caps, &mut Silent).unwrap().report;
        agrees("portfolio", found.outcome.verdict, found.contexts);
        failing += usize::from(expected.0 == Verdict::Violated);
    }
    println!("{cases} programs, {compared} times by rounds, {failing} failing");
    assert!(compared > cases as usize / 2 && failing > 0 && failing < cases as usize);
}
