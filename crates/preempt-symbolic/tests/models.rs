//! The sample models: the number of contexts that each violation takes, by both methods, with a run that replays.

use preempt_core::{Guarantee, PropertyKind, Silent, SourceMap, Verdict};
use preempt_model::Model;
use preempt_symbolic::{Method, SharedStates, SymbolicOptions, SymbolicReport, VariableOrder, check};
use std::path::Path;

const TABLE: preempt_bdd::TableOptions = preempt_bdd::TableOptions { nodes: 1 << 23, cache: 1 << 18 };

fn boolean(name: &str) -> (Model, SourceMap) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    let path = folder.join(name).with_extension("bp");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let loaded = preempt_boolean::load(name, &text, &preempt_boolean::BooleanOptions::default());
    (loaded.model.expect("a sample model has no errors"), loaded.sources)
}

fn promela(text: &str) -> (Model, SourceMap) {
    let loaded =
        preempt_promela::load("test.pml", text, &Default::default(), &mut |_| Err("no files".into()));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    (loaded.model.unwrap(), loaded.sources)
}

fn answer((model, sources): &(Model, SourceMap), contexts: Option<u32>, method: Method) -> SymbolicReport {
    let options = SymbolicOptions { contexts, method, table: TABLE, ..SymbolicOptions::default() };
    check(model, sources, &options, &mut Silent).unwrap()
}

/// Violated with K contexts of each thread and not with one less.
fn takes(name: &str, contexts: u32, methods: &[Method]) {
    let model = boolean(name);
    for &method in methods {
        let report = answer(&model, Some(contexts), method);
        assert_eq!(report.outcome.verdict, Verdict::Violated, "{name} {method:?}");
        assert_eq!(report.contexts, contexts, "{name} {method:?}");
        let trace = report.outcome.counterexample.expect("a violation has a run");
        // n threads that take turns K times switch fewer than n * K times; main may have started them before
        assert!(trace.switches() <= report.threads.len() * contexts as usize, "{name} {method:?}");
        if contexts > 1 {
            let report = answer(&model, Some(contexts - 1), method);
            assert_eq!(report.outcome.verdict, Verdict::Holds, "{name} {method:?}");
            assert_eq!(report.outcome.guarantee, Guarantee::Contexts(contexts - 1));
        }
    }
}

const BOTH: [Method; 2] = [Method::Lazy, Method::Eager];

#[test]
fn the_bluetooth_driver_fails_within_the_known_contexts() {
    for name in ["v1_1a1s", "v1_2a1s", "v1_1a2s", "v2_1a2s", "v3_1a2s"] {
        takes(&format!("bluetooth_{name}"), 2, &BOTH);
    }
    takes("bluetooth_v2_2a1s", 3, &BOTH);
    takes("bluetooth_v2_3a1s", 3, &[Method::Lazy]);
}

#[test]
fn the_safe_drivers_are_shown_to_be_safe_for_good() {
    for name in ["v2_1a1s", "v3_1a1s", "v3_2a1s"] {
        let report = answer(&boolean(&format!("bluetooth_{name}")), None, Method::Lazy);
        assert_eq!(report.outcome.verdict, Verdict::Holds, "{name}");
        assert_eq!(report.outcome.guarantee, Guarantee::Exhaustive, "{name}");
    }
}

/// As measured by an explicit round-robin search of the same protocols.
#[test]
fn errors_of_the_classic_protocols_take_few_contexts() {
    for (name, contexts) in [
        ("anderson_2_broken", 2),
        ("anderson_3_broken", 2),
        ("anderson_6_broken", 2),
        ("bakery_2_3_broken", 1),
        ("bakery_3_3_broken", 1),
        ("bakery_4_5_broken", 1),
        ("peterson_3_broken", 2),
        ("peterson_4_broken", 2),
        ("peterson_3_broken_step", 1),
        ("peterson_4_broken_step", 1),
        ("msmie_2_7_6_broken", 2),
    ] {
        takes(name, contexts, &[Method::Lazy]);
    }
}

#[test]
fn recursion_without_end_has_an_answer_within_a_bound() {
    takes("mutual_recursion_broken", 1, &BOTH);
    for method in BOTH {
        let report = answer(&boolean("mutual_recursion"), Some(2), method);
        assert_eq!(report.outcome.guarantee, Guarantee::Contexts(2));
        assert_eq!(report.outcome.verdict, Verdict::Holds);
    }
}

#[test]
fn a_promela_model_without_channels_is_analysed_too() {
    let model = promela(
        "byte x; byte a[3];
        proctype P(byte me) { byte t; t = x; x = t + 1; a[me] = x * 2 % 5; assert(x != 1 || a[0] + a[1] + a[2] < 6) }
        init { atomic { run P(0); run P(1); run P(2) } }",
    );
    let report = answer(&model, None, Method::Lazy);
    assert_eq!(report.outcome.verdict, Verdict::Violated);
    let eager = answer(&model, Some(report.contexts), Method::Eager);
    assert_eq!((eager.outcome.verdict, eager.contexts), (Verdict::Violated, report.contexts));
}

#[test]
fn run_time_errors_are_found() {
    let model =
        promela("byte x; byte a[3]; active proctype P() { x = 3; a[x] = 1 } active proctype Q() { x = 1 }");
    let report = answer(&model, None, Method::Lazy);
    assert_eq!(report.outcome.violation.unwrap().kind, PropertyKind::RuntimeError);
    let model = promela(
        "short x = 4; short y; active proctype P() { y = 7 / (x - 4) } active proctype Q() { x = 3 }",
    );
    let report = answer(&model, None, Method::Lazy);
    assert_eq!(report.outcome.violation.unwrap().name, "division by zero");
}

#[test]
fn what_is_not_supported_is_refused_with_a_reason() {
    for (text, reason) in [
        ("chan c = [1] of { byte }; active [2] proctype P() { c ! 1 }", "channels"),
        ("byte x; active [2] proctype P() { timeout -> assert(x) }", "timeout"),
        ("byte x; active [2] proctype P() { x = _nr_pr; assert(x) }", "_nr_pr"),
    ] {
        let (model, sources) = promela(text);
        let refused = check(
            &model,
            &sources,
            &SymbolicOptions { table: TABLE, ..SymbolicOptions::default() },
            &mut Silent,
        );
        assert!(refused.unwrap_err().to_string().contains(reason), "{text}");
    }
}

#[test]
fn a_full_table_is_no_answer_and_no_crash() {
    let (model, sources) = boolean("bluetooth_v2_2a1s");
    let table = preempt_bdd::TableOptions { nodes: 3000, cache: 1 << 10 };
    let options = SymbolicOptions { contexts: Some(3), table, ..SymbolicOptions::default() };
    let report = check(&model, &sources, &options, &mut Silent).unwrap();
    assert!(matches!(report.outcome.verdict, Verdict::Inconclusive(preempt_core::StopReason::Memory)));
}

/// The order of the variables changes what it costs, not what is found.
#[test]
fn orders_differ_only_in_size() {
    let (model, sources) = boolean("peterson_3_broken");
    let sizes = [VariableOrder::Dependencies, VariableOrder::Declared].map(|order| {
        let options =
            SymbolicOptions { contexts: Some(2), order, table: TABLE, ..SymbolicOptions::default() };
        let report = check(&model, &sources, &options, &mut Silent).unwrap();
        assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 2));
        report.nodes
    });
    assert_ne!(sizes[0], sizes[1]);
}

#[test]
fn few_shared_states_are_carried_by_number() {
    let (model, sources) = boolean("search_tree_1_1");
    let nodes = |shared| {
        let contexts = Some(2);
        let options = SymbolicOptions { contexts, shared, table: TABLE, ..SymbolicOptions::default() };
        let report = check(&model, &sources, &options, &mut Silent).unwrap();
        assert_eq!(report.outcome.verdict, Verdict::Holds, "{shared:?}");
        report.nodes
    };
    let (numbers, bits) = (nodes(SharedStates::Auto), nodes(SharedStates::Bits));
    assert!(numbers * 2 < bits, "{numbers} nodes by number, {bits} by bits");
}
