use super::*;
use crate::fixtures::{Run, holds, lost_mutex, violated, without_colour};
use preempt_core::{
    Awaited, Bound, CertificateText, Cost, Coverage, Guarantee, Level, Measure, Minimality, Property,
    PropertyKind, PropertyResult, Report, Statistics, StopReason, Trace, TraceCost, Value, Verdict, Waiting,
};

#[track_caller]
fn check(got: &str, want: &str) {
    assert_eq!(got.trim_end(), want.trim_matches('\n').trim_end(), "\n{got}");
}

fn run_text(trace: &Trace) -> String {
    render_run(trace, None, &TextOptions::default())
}

#[test]
fn a_violation_shows_the_answer_the_run_and_the_cost() {
    let mut outcome = violated(PropertyKind::Assertion, "assert(inside == 1)", lost_mutex());
    outcome.minimality = Minimality::Simplest;
    let again = Some("preempt check models/broken.pml --bound 2".into());
    let options = TextOptions { again, ..Default::default() };
    check(
        &render_report(&outcome, &options),
        "
violated: assert(inside == 1) at models/broken.pml:10:5

  the simplest run: 8 steps, 2 preemptions, 0 forced switches, 2 processes
  see it again: preempt check models/broken.pml --bound 2

  start  busy = 0, inside = 0

  step  line  P(0)                │ P(1)                │ changed
──────────────────────────────────┼─────────────────────┼───────────
     1     7  busy == 0           │                     │
»    2     7  ▒ preempted         │ busy == 0           │
     3     8                      │ busy = 1            │ busy = 1
     4     9                      │ inside++            │ inside = 1
     5    10                      │ assert(inside == 1) │
»    6     8  busy = 1            │ ▒ preempted         │
     7     9  inside++            │                     │ inside = 2
     8    10  assert(inside == 1) │                     │
✗ assert(inside == 1)
  end    busy = 1, inside = 2

searched: 12,345 states, 23,456 transitions, depth 78, 1.25 s, 5.1 MiB
",
    );
    let coloured = render_report(&outcome, &TextOptions { style: Style::coloured(), ..options.clone() });
    assert!(coloured.contains("\x1b[1;35m▒ preempted\x1b[0m"), "{coloured}");
    assert_eq!(without_colour(&coloured), render_report(&outcome, &options));
}

#[test]
fn a_lasso_a_rendezvous_output_and_a_forced_switch_in_lanes() {
    let trace = Run::new(&[])
        .step(0, 4, "q!1", &[])
        .received_by(1, 9, "q?y")
        .changing("y", Value::Number(1))
        .step(1, 10, "printf(\"got it\\n\")", &[])
        .printing("got it\n")
        .step(1, 11, "y--", &[("y", 0)])
        .step(0, 5, "y == 0", &[])
        .step(1, 9, "y++", &[("y", 1)])
        .preempting()
        .looping_to(1)
        .trace;
    let outcome = violated(PropertyKind::NonProgress, "", trace);
    check(
        &render_run(
            outcome.counterexample.as_ref().unwrap(),
            outcome.violation.as_ref(),
            &TextOptions::default(),
        ),
        "
  5 steps, 1 preemption, 1 forced switch, 2 processes

    step  line  P(0)        │ P(1)               │ changed
────────────────────────────┼────────────────────┼────────
       1     4  q!1         │ q?y                │ y = 1
╭▶     2    10              │ printf(\"got it\\n\") │
│                           │ > got it           │
│      3    11              │ y--                │ y = 0
│ ›    4     5  y == 0      │ · cannot move      │
╰─»    5     9  ▒ preempted │ y++                │ y = 1
↺ steps 2 to 5 repeat for ever
✗ non-progress cycle
  end    y = 1
",
    );
}

#[test]
fn with_many_processes_a_map_replaces_the_lanes() {
    let mut run = Run::new(&[]);
    for pid in 0..6 {
        run = run.step(pid, 3, "atomic { forks[left] == 0 -> forks[left] = 1 }", &[("forks[left]", 1)]);
        run = if pid == 3 { run.preempting() } else { run };
    }
    check(
        &run_text(&run.received_by(0, 9, "ask?x").trace),
        "
  6 steps, 1 preemption, 4 forced switches, 6 processes

  ● moves   ▒ was preempted   ○ could not move   ◆ receives
  step  line          process  does                            │ changed
───────────────────────────────────────────────────────────────┼────────────────
     1     3  ●·····  P(0)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 }               │
›    2     3  ○●····  P(1)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 }               │
›    3     3  ·○●···  P(2)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 }               │
»    4     3  ··▒●··  P(3)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 }               │
›    5     3  ···○●·  P(4)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 }               │
›    6     3  ◆···○●  P(5)     atomic { forks[left] == 0 ->    │ forks[left] = 1
                               forks[left] = 1 } → P(0): ask?x │
  end    forks[left] = 1
",
    );
}

#[test]
fn a_long_run_of_one_process_folds_and_keeps_the_values() {
    let mut run = Run::new(&[("i", 0)]);
    for i in 0..300 {
        run = run.step(0, 2, "i++", &[("i", i + 1)]);
    }
    let trace = run.step(1, 7, "i > 7", &[]).preempting().trace;
    check(
        &run_text(&trace),
        "
  301 steps, 1 preemption, 0 forced switches, 2 processes

  start  i = 0

  step  line  P(0)           │ P(1)  │ changed
─────────────────────────────┼───────┼────────
     1     2  i++            │       │ i = 1
     2     2  i++            │       │ i = 2
     3     2  i++            │       │ i = 3
     4     2  i++            │       │ i = 4
     …        293 more steps │       │ i = 297
   298     2  i++            │       │ i = 298
   299     2  i++            │       │ i = 299
   300     2  i++            │       │ i = 300
»  301     7  ▒ preempted    │ i > 7 │
  end    i = 300
",
    );
    let full = render_run(&trace, None, &TextOptions { full: true, ..Default::default() });
    assert!(full.lines().count() > 300 && full.matches("step  line").count() > 3, "{full}");
}

#[test]
fn without_steps_the_initial_state_is_at_fault() {
    let outcome = violated(PropertyKind::Deadlock, "invalid end state", Trace::default());
    let text = render_report(&outcome, &TextOptions::default());
    assert!(text.contains("✗ deadlock: invalid end state (in the initial state)"), "{text}");
    assert!(text.contains("0 steps, 0 preemptions, 0 forced switches, 0 processes"), "{text}");
}

#[test]
fn holds_says_what_it_rests_on() {
    check(
        &render_report(&holds(Some(1)), &TextOptions::default()),
        "
holds: no violation with at most 1 preemption
complete up to this bound; runs with more preemptions were not considered

  states       12,345
  transitions  23,456
  depth        78
  time         1.25 s (9,876 states/s)
  memory       5.1 MiB

  preemptions      new states     transitions   states so far
            0           2,345           3,456           2,345
            1          10,000          20,000          12,345
",
    );
    let text = render_report(&holds(None), &TextOptions::default());
    assert!(
        text.starts_with("holds: no violation\nexhaustive: every reachable state was considered\n"),
        "{text}"
    );
}

#[test]
fn what_became_of_the_other_properties_is_told() {
    let answered = |name: &str, verdict| PropertyResult {
        name: name.into(),
        verdict,
        violation: None,
        cost: None,
        answer: None,
    };
    let violated_too = violated(PropertyKind::Assertion, "assert(x)", Trace::default()).violation;
    let cost = Some(TraceCost { preemptions: 1, steps: 3 });
    let properties = vec![
        PropertyResult { violation: violated_too, ..answered("safety", Verdict::Violated) },
        answered("ltl p", Verdict::Violated),
        PropertyResult { cost, ..answered("ltl q", Verdict::Violated) },
        answered("ltl r", Verdict::Holds),
        answered("ltl s", Verdict::Inconclusive(StopReason::States)),
    ];
    let report = Report { properties, shown: 1, ..violated(PropertyKind::Ltl, "p", lost_mutex()) };
    let text = render_report(&report, &TextOptions::default());
    let told = "violated: LTL property: p at models/broken.pml:10:5
also violated: assert(x) at models/broken.pml:10:5
also violated: ltl q (1 preemption, 3 steps)
holds: ltl r
not decided: ltl s

";
    assert!(text.starts_with(told), "{text}");
    let properties = vec![answered("safety", Verdict::Holds), answered("ltl p", Verdict::Holds)];
    let text = render_report(&Report { properties, ..holds(None) }, &TextOptions::default());
    assert!(text.contains("considered\nchecked: safety, ltl p\n"), "{text}");
}

#[test]
fn a_proof_says_what_it_is_made_of_and_what_it_counted() {
    let mut report = Report::new(Verdict::Holds, Guarantee::Parameterised);
    report.statement = Some("the target cannot be covered, whatever the number of tokens".into());
    report.run.answered_by = Some("basis".into());
    let summary = vec!["an inductive basis of 2 elements".into()];
    report.certificate = Some(CertificateText { text: String::new(), summary });
    report.statistics.set(Measure::BasisElements, 1234);
    report.statistics.set(Measure::DiagramHeightBound, 10);
    report.statistics.set(Measure::Markings, 0);
    check(
        &render_report(&report, &TextOptions::default()),
        "
holds: the target cannot be covered, whatever the number of tokens
certified by basis:
  an inductive basis of 2 elements

  basis elements       1,234
  diagram height bound 10
",
    );
}

#[test]
fn a_covering_run_says_how_many_tokens_it_has() {
    let mut report = violated(PropertyKind::Coverability, "the target", lost_mutex());
    report.minimality = Minimality::FewestTokens;
    report.run.answered_by = Some("weight-plain".into());
    report.statistics =
        Statistics::default().with([(Measure::Weight, 4), (Measure::BddNodes, 5000), (Measure::Tokens, 1)]);
    report.statistics.time = Some(std::time::Duration::from_millis(10));
    let text = render_report(&report, &TextOptions::default());
    assert!(text.contains("  a run with the fewest tokens: 8 steps, at most 1 token at once\n"), "{text}");
    assert!(text.ends_with("\nsearched by weight-plain: 5,000 BDD nodes, weight 4, 0.01 s\n"), "{text}");
}

#[test]
fn notes_are_told_apart_from_the_answer() {
    let mut report = holds(None);
    report.note("a\x1b[31m");
    report.warn("b");
    assert_eq!(render_notes(&report, 80, Style::plain()), "note: a [31m\nwarning: b\n");
    assert!(!render_report(&report, &TextOptions::default()).contains("note"));
}

/// Of every run something is known, or nothing; in words of its own.
#[test]
fn every_minimality_has_its_words() {
    let words: Vec<_> = Minimality::ALL.into_iter().map(|it| minimality(it, Cost::Preemptions)).collect();
    for (number, text) in words.iter().enumerate() {
        assert_eq!(words.iter().filter(|other| *other == text).count(), 1, "{number}: {text:?}");
    }
}

#[test]
fn inconclusive_says_why_and_what_was_seen() {
    let mut outcome = Report { verdict: Verdict::Inconclusive(StopReason::States), ..holds(None) };
    let text = render_report(&outcome, &TextOptions::default());
    let want = "inconclusive: the limit of states was reached (--max-states)\n\
                no violation among the 12,345 states visited; the others are unknown\n";
    assert!(text.starts_with(want), "{text}");
    outcome.statistics.violations = Some([(PropertyKind::Deadlock, 1)].into());
    let text = render_report(&outcome, &TextOptions::default());
    assert!(text.contains("found before that: 1 × deadlock"), "{text}");
}

/// A violation may have been found by then, and not be told yet.
#[test]
fn what_was_cut_short_says_nothing_of_what_was_seen() {
    let mut outcome = Report { verdict: Verdict::Inconclusive(StopReason::Time), ..holds(None) };
    let text = render_cut_short(&outcome, &TextOptions::default());
    let want = "inconclusive: the limit of time was reached (--max-time)\n\n  states       12,345\n";
    assert!(text.starts_with(want), "{text}");
    assert!(!text.contains("no violation"), "{text}");
    outcome.statistics = Statistics::default();
    let text = render_cut_short(&outcome, &TextOptions::default());
    assert!(text.ends_with("it was too early for numbers\n"), "{text}");
}

#[test]
fn a_deadlock_says_where_everybody_stands() {
    let at = |line| crate::fixtures::at(line);
    let stands = |pid: usize, may_end, statements: &[(u32, &str)]| Waiting {
        process: format!("P({pid})"),
        pid,
        may_end,
        statements: statements
            .iter()
            .map(|(line, text)| Awaited { location: at(*line), text: (*text).into() })
            .collect(),
    };
    let long = "m == 1 && a == b && mode == waiting && left?[3] && nempty(right) && len(right) > 0";
    let run = Run::new(&[]).step(0, 1, "skip", &[]).step(1, 2, "skip", &[]);
    let mut property = Property::new(PropertyKind::Deadlock, "P(1) waits".into(), at(3));
    property.waiting =
        vec![stands(1, false, &[(3, "c?x"), (3, "d?x"), (4, long)]), stands(2, true, &[(9, "c?y")])];
    let text = render_run(&run.trace, Some(&property), &TextOptions::default());
    let (_, end) = text.split_once('✗').expect("it ends somewhere");
    check(
        end,
        " deadlock
    P(1)  waits     line 3: c?x or d?x, line 4: m == 1 && a == b && mode ==
                    waiting && left?[3] && nempty(right) && len(right) > 0
    P(2)  may end   line 9: c?y
    P(0)  ended",
    );
    property.waiting = (0..40).map(|pid| stands(pid, false, &[(3, "c?x")])).collect();
    let text = render_run(&run.trace, Some(&property), &TextOptions::default());
    assert!(text.contains("    and 28 more processes (--full)\n"), "{text}");
    let mut report = violated(PropertyKind::Deadlock, "", run.trace);
    report.violation = Some(property);
    let text = render_report(&report, &TextOptions::default());
    assert!(text.contains("; and 38 more\n"), "{text}");
}

#[test]
fn what_saw_only_part_says_how_much() {
    let bound = Some(Bound { unit: Cost::Preemptions, most: 2 });
    let guarantee = Guarantee::Approximate { probability: 4.13e-12, bound };
    let text = render_report(&Report { guarantee, ..holds(None) }, &TextOptions::default());
    let want = "holds: no violation with at most 2 preemptions\n\
                approximate: states are known by fingerprints; the probability that one was\n\x20 missed is 4.1e-12\n";
    assert!(text.starts_with(want), "{text}");
    let mut outcome = Report { verdict: Verdict::Inconclusive(StopReason::Partial), ..holds(None) };
    outcome.statistics.coverage = Some(Coverage {
        hash_factor: Some(43.21),
        share: Some(0.987_654),
        states_are_estimated: true,
        searches: vec![("depth-first".into(), 1234), ("random".into(), 5)],
    });
    let text = render_report(&outcome, &TextOptions::default());
    for line in [
        "no violation among the about 12,345 states visited; the others are unknown\n",
        "  states       about 12,345\n",
        "  hash factor  43.2 bits a state\n",
        "  coverage     about 98.7654 % of what was met (estimated)\n",
        "  searches     1,234 × depth-first, 5 × random\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    outcome.statistics.coverage = Some(Coverage { share: Some(1.0), ..Coverage::default() });
    let text = render_report(&outcome, &TextOptions::default());
    assert!(text.contains("about 99.9999 %") && text.contains("the 12,345 states"), "{text}");
}

#[test]
fn counted_violations_are_named_when_there_is_no_single_run() {
    let mut outcome = Report { verdict: Verdict::Violated, ..holds(None) };
    outcome.statistics.violations =
        Some([(PropertyKind::Assertion, 1234), (PropertyKind::Deadlock, 1)].into());
    let text = render_report(&outcome, &TextOptions::default());
    assert!(text.starts_with("violated: 1,234 × assertion, 1 × deadlock\n"), "{text}");
}

/// Whatever the width, the number of processes and the text: no panic, and lines fit where they can.
#[test]
fn odd_runs_and_odd_pages() {
    for processes in [1, 2, 3, 5, 9, 40] {
        for width in [0, 10, 40, 60, 80, 200] {
            for text in ["", "x", "äöü 漢字 \x1b[31m\t\n", &"very_long_name".repeat(30)] {
                let mut run = Run::new(&[("a", 1)]);
                for i in 0..processes * 2 {
                    run = run.step(i % processes, 1, text, &[(text, 7)]).printing(text);
                }
                let trace = run.changing("gone", Value::Gone).looping_to(processes).trace;
                for full in [true, false] {
                    let shown = render_run(&trace, None, &TextOptions { width, full, ..Default::default() });
                    assert!(!shown.contains('\x1b'));
                    if width >= 40 {
                        let widest = shown.lines().map(words::width).max().unwrap();
                        assert!(widest <= width, "{widest} columns on a page of {width}:\n{shown}");
                    }
                    assert!(shown.lines().all(|line| line.trim_end() == line), "blanks at the end:\n{shown}");
                }
            }
        }
    }
}

/// The numbers of a search, too.
#[test]
fn a_narrow_page_is_kept() {
    let mut report = holds(Some(2));
    report.statistics.levels =
        Some((0..3).map(|level| Level { level, states: 1_234_567, transitions: 98_765_432 }).collect());
    for width in [40, 50, 61, 80] {
        let text = render_report(&report, &TextOptions { width, ..Default::default() });
        assert!(text.lines().all(|line| words::width(line) <= width), "{width}:\n{text}");
        assert!(text.contains("98,765,432"), "{text}");
    }
}

#[test]
fn places_in_several_files_are_told_apart() {
    let mut run = Run::new(&[]).step(0, 1, "a", &[]).step(0, 2, "b", &[]);
    run.last().location.as_mut().unwrap().file = "lib/a_rather_long_file_name.h".into();
    let text = run_text(&run.trace);
    assert!(text.contains("broken.pml:1") && text.contains("a_rather_long…:2"), "{text}");
}

#[test]
fn a_thousand_steps_that_always_switch_stay_one_line_each() {
    let run = (0..1000).fold(Run::new(&[]), |run, i| run.step(i % 2, 1, "turn = 1 - turn", &[]));
    let text = run_text(&run.trace);
    let rows = text.lines().filter(|line| line.contains("turn = 1")).count();
    assert_eq!(rows, 1000);
}

/// A receive from a long channel: what was received is not hidden behind what is left in the channel.
#[test]
fn what_was_received_is_shown_before_the_rest_of_the_channel() {
    let message = |number| Value::List(vec![Value::Name("request".into()), Value::Number(number)]);
    let contents = |from: i64| Value::List((from..40).map(message).collect());
    let run = Run::new(&[("x", 0)]).step(0, 1, "c!request,0", &[]).changing("c", contents(0));
    let run = run.step(1, 2, "c?request,x", &[]).changing("c", contents(1)).changing("x", Value::Number(77));
    let report = violated(PropertyKind::Assertion, "assert(x < 77)", run.trace);
    let text = render_report(&report, &TextOptions::default());
    let (_, step) = text.split_once("c?request,x").expect("the step is shown");
    assert!(step.lines().next().is_some_and(|line| line.contains("x = 77")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
