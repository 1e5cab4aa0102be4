use super::*;
use crate::fixtures::{Run, holds, lost_mutex, violated};
use preempt_core::{
    Awaited, Bound, Call, CertificateText, Cost, Coverage, Guarantee, Location, Measure, Minimality,
    OptionValue, PropertyKind, Report, RunInfo, StopReason, Trace, Value, Verdict, Waiting,
};
use serde_json::{Value as Json, json};

fn named(report: Report) -> Report {
    let run = RunInfo {
        file: "models/broken.pml".into(),
        engine: "reference".into(),
        answered_by: None,
        options: vec![
            ("search", OptionValue::Text("fewest-preemptions".into())),
            ("bound", OptionValue::Unset),
            ("fair_switch", OptionValue::Flag(false)),
        ],
    };
    Report { run, ..report }
}

fn written(report: &Report) -> String {
    to_json(&named(report.clone()))
}

fn parsed(report: &Report) -> Json {
    serde_json::from_str(&written(report)).unwrap()
}

fn read(text: &str) -> Result<Recorded, String> {
    read_counterexample(text).map_err(|error| error.to_string())
}

#[test]
fn a_bounded_holds_says_its_bound_and_has_null_for_what_does_not_apply() {
    let json = parsed(&holds(Some(2)));
    assert_eq!(json["schema"], 2);
    assert_eq!(json["tool"], concat!("preempt ", env!("CARGO_PKG_VERSION")));
    assert_eq!(
        json["options"],
        json!({ "search": "fewest-preemptions", "bound": null, "fair_switch": false })
    );
    assert_eq!(json["verdict"], "holds");
    assert_eq!(
        json["guarantee"],
        json!({ "kind": "bounded", "bound": 2, "unit": "preemptions", "probability": null, "instances": null })
    );
    let absent =
        ["reason", "statement", "property", "minimality", "counterexample", "certificate", "properties"];
    for field in absent.iter().chain(&["errors", "answered_by"]) {
        assert_eq!(json.get(field), Some(&Json::Null), "{field}");
    }
    assert_eq!(json["stats"]["states"], 12345);
    assert_eq!(json["stats"]["bdd_nodes"], Json::Null);
    assert_eq!(json["notes"], json!([]));
    assert_eq!(json["stats"]["seconds"], 1.25);
    assert_eq!(json["stats"]["per_level"][1], json!({ "level": 1, "states": 10000, "transitions": 20000 }));
}

#[test]
fn a_violation_has_the_run_with_its_counts() {
    let mut outcome = violated(PropertyKind::Assertion, "assert(inside == 1)", lost_mutex());
    outcome.statistics.violations = Some([(PropertyKind::Assertion, 3)].into());
    outcome.minimality = Minimality::Simplest;
    let json = parsed(&outcome);
    assert_eq!(json["minimality"], "simplest");
    assert_eq!(
        json["property"],
        json!({ "kind": "assertion", "name": "assert(inside == 1)", "location": "models/broken.pml:10:5", "waiting": null })
    );
    assert_eq!(json["stats"]["violations"], json!({ "assertion": 3 }));
    let run = &json["counterexample"];
    assert_eq!(run["initial"], json!({ "busy": 0, "inside": 0 }));
    assert_eq!(
        run["steps"][2],
        json!({ "process": "P(1)", "pid": 1, "location": "models/broken.pml:8:5", "calls": [], "text": "busy = 1",
                "choice": null, "switch": "none", "changed": { "busy": 1 }, "output": null, "partner": null })
    );
    assert_eq!(run["steps"][1]["switch"], "preemption");
    let counts = ["preemptions", "switches", "contexts", "length", "processes"].map(|name| &run[name]);
    assert_eq!(counts, [&json!(2), &json!(2), &json!(3), &json!(8), &json!(2)]);
}

#[test]
fn what_a_partial_search_saw_is_told() {
    let mut outcome = holds(None);
    assert_eq!(parsed(&outcome)["stats"]["coverage"], Json::Null);
    outcome.verdict = Verdict::Inconclusive(StopReason::Partial);
    outcome.statistics.coverage = Some(Coverage {
        hash_factor: Some(2.5),
        share: Some(f64::NAN),
        states_are_estimated: false,
        searches: vec![("random".into(), 5)],
    });
    let json = parsed(&outcome);
    assert_eq!(json["reason"], "partial");
    let want = json!({ "hash_factor": 2.5, "share": null, "states_are_estimated": false, "searches": { "random": 5 } });
    assert_eq!(json["stats"]["coverage"], want);
    let bound = Some(Bound { unit: Cost::Switches, most: 3 });
    let guarantee = Guarantee::Approximate { probability: 0.5, bound };
    let json = parsed(&Report { guarantee, ..holds(None) });
    let want = json!({ "kind": "approximate", "bound": 3, "unit": "switches", "probability": 0.5, "instances": null });
    assert_eq!(json["guarantee"], want);
}

/// An engine has the numbers that it has; the others are absent, and none of them stands for another.
#[test]
fn a_proof_has_its_certificate_and_its_own_numbers() {
    let mut report = Report::new(Verdict::Holds, Guarantee::Parameterised);
    report.statement = Some("the target cannot be covered".into());
    report.run.answered_by = Some("basis".into());
    report.certificate = Some(CertificateText { text: "c".into(), summary: vec!["a basis".into()] });
    report.statistics.set(Measure::BasisElements, 7);
    report.note("look at this");
    let json = parsed(&Report { run: report.run.clone(), ..report.clone() });
    assert_eq!(
        (&json["statement"], &json["certificate"]),
        (&json!("the target cannot be covered"), &json!(["a basis"]))
    );
    assert_eq!((&json["stats"]["basis_elements"], &json["stats"]["states"]), (&json!(7), &Json::Null));
    assert_eq!(json["notes"], json!([{ "kind": "note", "text": "look at this" }]));
    for field in ["seconds", "peak_bytes", "memory", "per_level", "violations", "coverage"] {
        assert_eq!(json["stats"].get(field), Some(&Json::Null), "{field}");
    }
}

/// What older versions wrote can be replayed.
#[test]
fn results_of_the_first_schema_are_read() {
    let text = written(&violated(PropertyKind::Assertion, "a", lost_mutex()));
    let older = text.replace("\"schema\": 2", "\"schema\": 1");
    assert_ne!(text, older);
    assert_eq!(read(&older).unwrap(), read(&text).unwrap());
}

#[test]
fn a_run_without_steps_has_no_context() {
    let json = parsed(&violated(PropertyKind::Deadlock, "deadlock", Trace::default()));
    assert_eq!(json["counterexample"]["contexts"], 0);
}

#[test]
fn an_inconclusive_result_says_why_and_guarantees_nothing() {
    let outcome = Report { verdict: Verdict::Inconclusive(StopReason::Time), ..holds(None) };
    let json = parsed(&outcome);
    assert_eq!((&json["verdict"], &json["reason"]), (&json!("inconclusive"), &json!("time")));
    assert_eq!(json["guarantee"], Json::Null);
}

#[test]
fn variables_keep_their_order() {
    let trace = Run::new(&[("zebra", 1), ("ant", 2), ("middle", 3)]).trace;
    let text = written(&violated(PropertyKind::Deadlock, "deadlock", trace));
    let places = ["\"zebra\"", "\"ant\"", "\"middle\""].map(|name| text.find(name).unwrap());
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn what_is_written_is_read_back_as_it_was() {
    let trace = Run::new(&[("x", 0)])
        .step(0, 1, "q!x", &[])
        .received_by(1, 2, "q?y")
        .changing("q", Value::List(vec![Value::Number(-1), Value::List(vec![Value::Name("ack".into())])]))
        .printing("über\n")
        .step(2, 3, "skip", &[])
        .preempting()
        .changing("P(1).y", Value::Gone)
        .looping_to(1)
        .trace;
    let mut outcome = violated(PropertyKind::NonProgress, "no \"progress\"", trace);
    let location = Location { file: "a:b.pml".into(), line: 3, column: 4 };
    let first = &mut outcome.counterexample.as_mut().unwrap().steps[0];
    first.choice = Some("2".into());
    first.calls = vec![Call { name: "pick".into(), location }];
    let recorded = read(&written(&outcome)).unwrap();
    assert_eq!(recorded.file.as_deref(), Some("models/broken.pml"));
    assert_eq!(recorded.property, outcome.violation);
    assert_eq!(Some(recorded.trace), outcome.counterexample);
}

#[test]
fn who_is_stuck_is_written_and_read_back() {
    let mut outcome = violated(PropertyKind::Deadlock, "P(1) waits", Trace::default());
    let property = outcome.violation.as_mut().unwrap();
    let statements = vec![Awaited { location: property.location.clone(), text: "m == 1".into() }];
    property.waiting = vec![Waiting { process: "P(1)".into(), pid: 1, may_end: false, statements }];
    let text = written(&outcome);
    let json: Json = serde_json::from_str(&text).unwrap();
    let statement = json!({ "location": "models/broken.pml:10:5", "text": "m == 1" });
    let waiting = json!([{ "process": "P(1)", "pid": 1, "may_end": false, "statements": [statement] }]);
    assert_eq!(json["property"]["waiting"], waiting);
    assert_eq!(read(&text).unwrap().property, outcome.violation);
}

#[test]
fn a_place_may_have_colons_in_its_file_name() {
    let mut outcome = violated(PropertyKind::Assertion, "a", lost_mutex());
    outcome.violation.as_mut().unwrap().location.as_mut().unwrap().file = "C:\\a:1:2".into();
    assert_eq!(read(&written(&outcome)).unwrap().property, outcome.violation);
}

#[test]
fn counts_that_follow_from_the_steps_may_be_missing() {
    let text = r#"{ "schema": 1, "counterexample": { "steps": [
        { "process": "P(3)", "pid": 3, "text": "skip", "switch": "none" } ] } }"#;
    let recorded = read(text).unwrap();
    assert_eq!((recorded.trace.steps.len(), recorded.trace.processes), (1, 1));
}

#[test]
fn every_mistake_in_a_file_is_named() {
    let step = |step: &str| format!(r#"{{"schema":1,"counterexample":{{"steps":[{step}]}}}}"#);
    let cases = [
        ("".to_string(), "not a result of preempt in JSON: EOF"),
        ("{".to_string(), "not a result of preempt in JSON: EOF while parsing an object at line 1 column 1"),
        ("[1]".to_string(), "not a result of preempt in JSON"),
        ("{}".to_string(), "no field `schema`"),
        (r#"{"schema": 3}"#.to_string(), "has schema 3; this version of preempt reads schema 1 and 2"),
        (r#"{"schema": "new"}"#.to_string(), "has schema \"new\""),
        (r#"{"schema": 1}"#.to_string(), "holds no counterexample"),
        (r#"{"schema": 1, "counterexample": null}"#.to_string(), "holds no counterexample"),
        (r#"{"schema": 1, "counterexample": {}}"#.to_string(), "missing field `steps`"),
        (step("{}"), "missing field `process`"),
        (step(r#"{"process":"P","pid":-1,"text":"","switch":"none"}"#), "invalid value: integer `-1`"),
        (step(r#"{"process":"P","pid":0,"text":"","switch":"maybe"}"#), "unknown variant `maybe`"),
        (
            step(r#"{"process":"P","pid":0,"text":"","switch":"none","changed":{"x":1.5}}"#),
            "a value is a number of at most 64 bits",
        ),
        (
            step(r#"{"process":"P","pid":0,"text":"","switch":"none","changed":{"x":99999999999999999999}}"#),
            "a value is a number of at most 64 bits",
        ),
        (
            step(r#"{"process":"P","pid":0,"text":"","switch":"none","location":"nowhere"}"#),
            "step 1: `nowhere` is not a place of the form file:line:column",
        ),
        (
            r#"{"schema":1,"property":{"kind":"wish","name":""},"counterexample":{"steps":[]}}"#.to_string(),
            "`wish` is not a kind of property",
        ),
        (
            r#"{"schema":1,"counterexample":{"steps":[],"loop_start":1}}"#.to_string(),
            "its loop starts at step 1, but it has 0 steps",
        ),
        (
            step(&format!(
                r#"{{"process":"P","pid":0,"text":"","switch":"none","changed":{{"x":{}{}}}}}"#,
                "[".repeat(5000),
                "]".repeat(5000)
            )),
            "recursion limit exceeded",
        ),
    ];
    for (text, want) in cases {
        let error = read(&text).unwrap_err();
        assert!(error.contains(want), "{text:.200}\n  gave: {error}\n  want: {want}");
    }
}

#[test]
fn no_prefix_of_a_result_is_read_as_a_counterexample_or_panics() {
    let text = written(&violated(PropertyKind::Assertion, "a", lost_mutex()));
    for end in 0..text.trim_end().len() {
        assert!(read(&text[..end]).is_err(), "{end}");
    }
}
