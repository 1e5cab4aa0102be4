//! What is embedded in a page, and that nothing of it can be more than text.

use super::embedded::Data;
use super::{FRAME, Page, Points, SCRIPTS, Sample, data, render_html};
use crate::fixtures::{Run, holds, lost_mutex, violated};
use preempt_core::{
    Change, ErrorProjection, Location, ProjectedStatement, PropertyKind, Report, Unit, Value,
};
use std::time::Duration;

fn embedded(report: &Report, sources: &[(String, String)]) -> String {
    let page =
        Page { report, headline: None, sources, mover: "process", again: None, history: &[], points: None };
    let mut out = String::new();
    data::of_page(&page).write(&mut out);
    out
}

/// The data of one field, which stands in a line of its own.
fn field<'d>(data: &'d str, name: &str) -> &'d str {
    let start = format!("\"{name}\":");
    let line = data.lines().find_map(|line| line.strip_prefix(start.as_str()));
    line.unwrap_or_else(|| panic!("no {name} in {data}")).trim_end_matches([',', '}', ']'])
}

#[test]
fn a_run_is_embedded_step_by_step() {
    let report = violated(PropertyKind::Assertion, "assert(inside == 1)", lost_mutex());
    let sources = [("models/broken.pml".to_string(), "byte busy;\n".to_string())];
    let data = embedded(&report, &sources);
    assert_eq!(field(&data, "verdict"), "\"violated\"");
    assert_eq!(field(&data, "summary"), "[\"violated: assert(inside == 1) at models/broken.pml:10:5\"");
    assert_eq!(field(&data, "lanes"), "[\"P(0)\",\"P(1)\"");
    assert_eq!(field(&data, "preemptions"), "2");
    assert_eq!(field(&data, "initial"), "[[\"busy\",0],[\"inside\",0");
    assert!(
        field(&data, "steps").starts_with(
            "[[0,\"busy == 0\",0,[0,7],[],null,null],[1,\"busy == 0\",2,[0,7],[],null,null],\
             [1,\"busy = 1\",0,[0,8],[[\"busy\",1]],null,null]"
        ),
        "{data}"
    );
    assert_eq!(field(&data, "levels"), "[[0,2345,3456],[1,10000,20000");
    assert!(data.contains("\"name\":\"models/broken.pml\",\n\"text\":\"byte busy;\\n\""), "{data}");
}

#[test]
fn messages_and_rendezvous_are_embedded() {
    let mut run = Run::new(&[]);
    run.trace.initial.push(Change { name: "c".into(), value: Value::List(vec![]) });
    let message = Value::List(vec![Value::Name("ack".into()), Value::Number(7)]);
    let run = run
        .step(0, 1, "c!ack,7", &[])
        .changing("c", Value::List(vec![message]))
        .step(1, 2, "c?ack,x", &[])
        .changing("c", Value::List(vec![]))
        .step(1, 3, "r!1", &[])
        .received_by(0, 4, "r?1")
        .looping_to(1);
    let data = embedded(&violated(PropertyKind::Ltl, "p", run.trace), &[]);
    assert_eq!(field(&data, "messages"), "[[0,1,\"c\",\"ack, 7\"");
    assert!(field(&data, "steps").ends_with("[1,\"r!1\",0,[0,3],[],null,null,[0,\"r?1\",[0,4"), "{data}");
    assert_eq!(field(&data, "loop"), "1");
    assert!(data.contains("\"name\":\"models/broken.pml\",\n\"text\":null"), "its text was not given");
}

#[test]
fn a_proof_says_what_it_rests_on_and_has_no_run() {
    let page = |history| {
        let report = holds(Some(2));
        let mut out = String::new();
        let page = Page {
            report: &report,
            headline: None,
            sources: &[],
            mover: "process",
            again: Some("a".into()),
            history,
            points: None,
        };
        data::of_page(&page).write(&mut out);
        out
    };
    let sample = |seconds, states| Sample { time: Duration::from_secs(seconds), states, bytes: 8 };
    let data = page(&[sample(1, 5), sample(2, 9)]);
    assert_eq!(field(&data, "runs"), "[");
    assert!(field(&data, "summary").contains("complete up to this bound"), "{data}");
    assert_eq!(field(&data, "history"), "[[1,5,8],[2,9,8");
    assert_eq!(field(&data, "again"), "\"a\"");
}

/// Whatever a model is called, says or prints: the page has the same elements, and the script element ends where it did.
#[test]
fn what_a_model_says_is_never_markup() {
    let hostile =
        "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>&amp;\"'\\\u{2028}\u{0}@@data@@";
    let mut run = Run::new(&[]).step(0, 1, hostile, &[]).printing(hostile).step(1, 2, "x", &[]);
    run = run.received_by(0, 3, hostile).changing(hostile, Value::Name(hostile.into()));
    run.last().process = hostile.into();
    run.last().choice = Some(hostile.into());
    run.last().location.as_mut().unwrap().file = hostile.into();
    let mut report = violated(PropertyKind::Assertion, hostile, run.trace);
    report.run.file = hostile.into();
    report.note(hostile);
    let unit = Unit { location: None, text: hostile.into() };
    let told = Points { title: hostile.into(), parts: vec![(hostile.into(), vec![(unit, hostile.into())])] };
    let render = |report: &Report, sources: &[(String, String)]| {
        render_html(&Page {
            report,
            headline: None,
            sources,
            mover: "process",
            again: Some(hostile.into()),
            history: &[],
            points: Some(told.clone()),
        })
    };
    let page = render(&report, &[(hostile.into(), hostile.into())]);
    let harmless = render(&holds(None), &[]);
    for sign in ["<script", "</script", "<img", "<!--", "alert(1)>", "onerror", "@@"] {
        let known = harmless.matches(sign).count();
        match sign {
            // Words of the model that mean nothing without what makes them markup.
            "onerror" | "@@" => assert!(page.matches(sign).count() >= known),
            _ => assert_eq!(page.matches(sign).count(), known, "{sign}"),
        }
    }
    assert!(!page.contains('\u{0}') && !page.contains('\u{2028}'));
}

/// What is shown is put in as text, and nothing is loaded or sent.
#[test]
fn no_script_makes_markup_or_asks_for_anything() {
    let scripts = SCRIPTS.concat();
    let forbidden = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
        "http:",
        "https:",
        "javascript:",
        "srcdoc",
    ];
    for word in forbidden {
        let rest = scripts.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(word), "{word}");
    }
    assert!(FRAME.contains("default-src 'none'"));
}

#[test]
fn numbers_that_a_script_cannot_tell_apart_are_texts() {
    let mut out = String::new();
    Data::list([Data::Number(i64::MAX), Data::Number(i64::MIN), Data::Number(-3), Data::Real(f64::NAN)])
        .write(&mut out);
    assert_eq!(out, "[\"9223372036854775807\",\"-9223372036854775808\",-3,null]");
}

#[test]
fn lines_on_error_traces_are_embedded() {
    let at = |line, on_error_trace| ProjectedStatement {
        location: Location { file: "models/broken.pml".into(), line, column: 3 },
        procedure: "P".into(),
        text: "skip".into(),
        on_error_trace,
    };
    let statements = vec![at(7, false), at(8, true), at(8, false)];
    let projection = Some(ErrorProjection { contexts: 2, statements, lines: Vec::new() });
    let report = Report { projection, ..violated(PropertyKind::Assertion, "assert(0)", lost_mutex()) };
    let data = embedded(&report, &[]);
    assert_eq!(field(&data, "marks"), "[[[0,7],0],[[0,8],1");
    assert!(
        data.contains("1 of 3 statements lie on some error trace with 2 contexts of each thread"),
        "{data}"
    );
    assert_eq!(field(&embedded(&holds(None), &[]), "projection"), "null");
}
