//! The sample models, programs with special cases, and why sorted threads and rounds are never mixed.

use preempt_core::{Budget, Guarantee, Silent, SourceMap, StopReason, Verdict};
use preempt_model::Model;
use preempt_rounds::{Basis, Caps, RoundsOptions, RoundsReport, Setting, check, scout};
use std::path::Path;

fn boolean(text: &str) -> (Model, SourceMap) {
    let loaded = preempt_boolean::load("test.bp", text, &preempt_boolean::BooleanOptions::default());
    (loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)), loaded.sources)
}

fn sample(name: &str) -> (Model, SourceMap) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/boolean");
    let path = folder.join(name).with_extension("bp");
    boolean(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn promela(text: &str) -> (Model, SourceMap) {
    let loaded =
        preempt_promela::load("test.pml", text, &Default::default(), &mut |_| Err("no files".into()));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    (loaded.model.unwrap(), loaded.sources)
}

fn answer((model, sources): &(Model, SourceMap), options: &RoundsOptions) -> RoundsReport {
    check(model, sources, options, &mut Silent).unwrap()
}

fn without_bound(model: &(Model, SourceMap), symmetry: bool) -> RoundsReport {
    answer(model, &RoundsOptions { symmetry, ..RoundsOptions::default() })
}

#[test]
fn violations_take_the_known_contexts() {
    for (name, contexts) in [
        ("bluetooth_v1_1a1s", 2),
        ("bluetooth_v2_1a2s", 2),
        ("bluetooth_v2_2a1s", 3),
        ("bluetooth_v2_3a1s", 3),
        ("bluetooth_v3_1a2s", 2),
        ("anderson_6_broken", 2),
        ("bakery_3_3_broken", 1),
        ("peterson_3_broken", 2),
        ("peterson_3_broken_step", 1),
        ("msmie_2_7_6_broken", 2),
    ] {
        for symmetry in [false, true] {
            let report = without_bound(&sample(name), symmetry);
            assert_eq!(report.outcome.verdict, Verdict::Violated, "{name}");
            assert_eq!(report.contexts, contexts, "{name}");
            let trace = report.outcome.counterexample.expect("a violation has a run");
            assert!(trace.switches() <= report.threads.len() * contexts as usize, "{name}");
        }
        if contexts > 1 {
            let options =
                RoundsOptions { contexts: Some(contexts - 1), symmetry: false, ..RoundsOptions::default() };
            let report = answer(&sample(name), &options);
            assert_eq!(report.outcome.verdict, Verdict::Holds, "{name}");
            assert_eq!(report.outcome.guarantee, Guarantee::Contexts(contexts - 1), "{name}");
        }
    }
}

#[test]
fn what_is_safe_is_proved_without_a_bound() {
    for name in ["bluetooth_v2_1a1s", "bluetooth_v3_2a1s", "bluetooth_v3_3a1s", "search_tree_1_1"] {
        for symmetry in [false, true] {
            let report = without_bound(&sample(name), symmetry);
            assert_eq!(report.outcome.verdict, Verdict::Holds, "{name}");
            assert_eq!(report.outcome.guarantee, Guarantee::Exhaustive, "{name}");
        }
    }
}

/// Who adds first decides in which round the second addition sees the first: with equal threads sorted, "the second thread,
/// then the first" would count as one round, where it takes two.
#[test]
fn sorted_threads_do_not_tell_the_rounds() {
    let text = "decl turn, seen;
        void main() begin turn := F; seen := F; start_thread first(); start_thread second(); end
        void first() begin assume(turn); assert(F); end
        void second() begin turn := T; end";
    // the one that fails waits for the one after it: it takes a second round
    let report = without_bound(&boolean(text), false);
    assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 2));
    let swapped = text.replace(
        "start_thread first(); start_thread second();",
        "start_thread second(); start_thread first();",
    );
    let report = without_bound(&boolean(&swapped), false);
    assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 1));
    // The same with equal threads, which decide by chance what they are: the violation needs both orders, and which of them
    // comes first in the round robin is not for sorting to say.
    let equal = "decl a, b;
        void main() begin a := F; b := F; start_thread one(); start_thread one(); end
        void one() begin
            if * then atomic_begin; assume(!a); a := T; atomic_end; assume(b); assert(F);
            else assume(a); b := T; fi
        end";
    let rounds = without_bound(&boolean(equal), false);
    let both = without_bound(&boolean(equal), true);
    assert_eq!((rounds.outcome.verdict, rounds.contexts), (Verdict::Violated, 2));
    assert_eq!(
        (both.outcome.verdict, both.contexts),
        (Verdict::Violated, 2),
        "sorted threads do not change K"
    );
    assert!(both.fewest);
}

/// Equal threads sorted are fewer configurations, and the answer is the same.
#[test]
fn equal_threads_are_proved_by_symmetry() {
    let thread = "void worker() begin decl mine; mine := x; x := !mine; y := x != y; assert(x | !x); end";
    let starts = "start_thread worker(); ".repeat(6);
    let text = format!("decl x, y; void main() begin x := F; y := F; {starts} end {thread}");
    let (rounds, sorted) = (without_bound(&boolean(&text), false), without_bound(&boolean(&text), true));
    assert_eq!((rounds.outcome.verdict, sorted.outcome.verdict), (Verdict::Holds, Verdict::Holds));
    assert_eq!((rounds.basis, sorted.basis), (Some(Basis::NothingNew), Some(Basis::Symmetry)));
}

/// What a thread wrote is seen, even if it never comes to a stop again.
#[test]
fn a_thread_that_goes_on_privately_for_ever_has_written_before() {
    for rest in ["l: goto l;", "assume(F);", "while (T) do skip; od"] {
        let text = format!(
            "decl x; void main() begin x := F; start_thread a(); start_thread b(); end
             void a() begin x := T; {rest} end void b() begin assert(!x); end"
        );
        let report = without_bound(&boolean(&text), false);
        assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 1), "{rest}");
    }
}

#[test]
fn locals_without_a_value_take_every_value() {
    let text = "decl x; void main() begin decl l; x := F; start_thread a(); if l then x := T; fi end
                void a() begin decl m, n; assert(!(x & m & !n)); end";
    let report = without_bound(&boolean(text), false);
    assert_eq!(report.outcome.verdict, Verdict::Violated);
}

#[test]
fn recursion_without_end_is_left_to_others() {
    let text = "decl x; void main() begin x := F; start_thread f(); start_thread g(); end
                void f() begin if * then f(); fi x := !x; end void g() begin assert(x | !x); end";
    for depth in [5, 50, 500] {
        let options = RoundsOptions { caps: Caps { depth, ..Caps::default() }, ..RoundsOptions::default() };
        let report = answer(&boolean(text), &options);
        assert_eq!(report.outcome.verdict, Verdict::Inconclusive(StopReason::Depth));
    }
    let counting =
        "int x; active proctype P() { do :: x++ od } active proctype Q() { assert(x >= 0 || x < 0) }";
    let options =
        RoundsOptions { caps: Caps { bytes: 1 << 20, ..Caps::default() }, ..RoundsOptions::default() };
    let report = answer(&promela(counting), &options);
    assert_eq!(report.outcome.verdict, Verdict::Inconclusive(StopReason::States));
}

#[test]
fn a_short_search_collects_shared_states_also_where_recursion_never_ends() {
    let budget = Budget::unlimited();
    let collected = |(model, sources): &(Model, SourceMap), most| {
        let setting = Setting::new(model, sources, 4, &budget).expect("it can be executed");
        scout(&setting, most, &budget).map(|states| states.len() as u64)
    };
    let tree = sample("search_tree_1_1");
    let all = without_bound(&tree, false).shared_states;
    assert_eq!(collected(&tree, 1000), Some(all));
    assert_eq!(collected(&tree, all as usize - 1), None, "there are more than wanted");
    let endless = "decl x, y; void main() begin x, y := F, F; start_thread f(); start_thread g(); end
                   void f() begin if * then f(); fi x := !x; end void g() begin y := x; end";
    assert_eq!(collected(&boolean(endless), 1000), Some(4));
}

#[test]
fn atomic_sequences_are_left_where_they_block() {
    let blocks = "bit x, y; active proctype P() { atomic { x = 1; y == 1; assert(x == 1) } }
                  active proctype Q() { x == 1; x = 0; y = 1 }";
    let report = without_bound(&promela(blocks), false);
    assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 2));
    let whole =
        "bit x; active proctype P() { atomic { x = 1; x = 0 } } active proctype Q() { assert(x == 0) }";
    assert_eq!(without_bound(&promela(whole), false).outcome.verdict, Verdict::Holds);
}

#[test]
fn threads_are_started_where_the_program_says() {
    let later = "decl x, go; void main() begin x := F; go := F; start_thread a(); go := T; end
                 void a() begin assume(go); start_thread b(); x := T; end void b() begin assert(!x); end";
    let report = without_bound(&boolean(later), true);
    assert_eq!(report.outcome.verdict, Verdict::Violated);
    // as many as the loop starts: two, though the text does not say so
    let counted = "decl once, twice, x; void main() begin once := F; twice := F; x := F;
                     while (!twice) do start_thread a(); if once then twice := T; fi once := T; od end
                   void a() begin x := !x; assert(x | !x); end";
    let report = without_bound(&boolean(counted), true);
    assert_eq!((report.outcome.verdict, report.complete), (Verdict::Holds, true));
    let endless = "decl x; void main() begin x := F; while (T) do start_thread a(); od end
                   void a() begin x := !x; assert(x | !x); end";
    let report = without_bound(&boolean(endless), true);
    assert_eq!(
        (report.outcome.verdict, report.complete),
        (Verdict::Inconclusive(StopReason::Partial), false)
    );
}

#[test]
fn who_asks_for_its_number_is_not_exchanged() {
    let text = "byte x; active [3] proctype P() { x = _pid; assert(x != 2 || _pid != 0) }";
    for symmetry in [false, true] {
        let report = without_bound(&promela(text), symmetry);
        assert_eq!(report.outcome.verdict, Verdict::Violated);
    }
    let report = without_bound(&promela("byte x; active [3] proctype P() { x = _pid; assert(x < 3) }"), true);
    assert_eq!((report.outcome.verdict, report.basis), (Verdict::Holds, Some(Basis::NothingNew)));
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    for (text, reason) in [
        ("chan c = [1] of { byte }; active [2] proctype P() { c ! 1 }", "channels"),
        ("byte x; active [2] proctype P() { timeout -> assert(x) }", "timeout"),
        ("byte x; active [2] proctype P() { x = _nr_pr; assert(x) }", "_nr_pr"),
    ] {
        let (model, sources) = promela(text);
        let refused = check(&model, &sources, &RoundsOptions::default(), &mut Silent);
        assert!(refused.unwrap_err().to_string().contains(reason), "{text}");
    }
}

/// Whoever starts the others and then waits for something, or takes an `else`, does not do so before they have run.
#[test]
fn what_comes_after_the_starts_is_not_done_before_the_threads_run() {
    let begin = "byte x; proctype A() { x++ } init { run A(); run A();";
    for rest in [
        "if :: x == 2 -> assert(false) :: else -> skip fi }",
        "{ skip; skip } unless { x == 2; assert(false) } }",
        "do :: x == 2 -> assert(false) :: else -> break od }",
    ] {
        for symmetry in [false, true] {
            let report = without_bound(&promela(&format!("{begin} {rest}")), symmetry);
            assert_eq!((report.outcome.verdict, report.contexts), (Verdict::Violated, 2), "{rest}");
        }
    }
}

/// With equal threads sorted a run is found soon; that one context is not enough is known without all configurations of one.
#[test]
fn a_run_of_two_contexts_needs_no_whole_first_round() {
    let starts = "start_thread user(); ".repeat(6);
    let text = format!(
        "decl a, b; void main() begin a, b := F, F; {starts} end
         void user() begin decl h; h := *; a := h; skip; b := h; h := b; assert(a = h); h := a; a := h; b := a; end"
    );
    let (plain, sorted) = (without_bound(&boolean(&text), false), without_bound(&boolean(&text), true));
    for report in [&plain, &sorted] {
        assert_eq!((report.outcome.verdict, report.contexts, report.fewest), (Verdict::Violated, 2, true));
    }
    assert_eq!((plain.basis, sorted.basis), (Some(Basis::Rounds), Some(Basis::Symmetry)));
    assert!(
        sorted.configurations * 4 < plain.configurations,
        "{} {}",
        sorted.configurations,
        plain.configurations
    );
}
