//! 255 processes can live at a time, as in Spin. One more is a run-time error; the tests of the explicit engine ask in every
//! order and of every store, here it is asked of the command.

use crate::common;

use common::{file, folder, preempt};

fn model(children: u32) -> String {
    format!(
        "proctype C() {{ end: false }}
init {{ byte n; do :: n < {children} -> run C(); n++ :: else -> break od; end: false }}
"
    )
}

#[test]
fn one_process_too_many() {
    let folder = folder("processes");
    let (enough, more) = (file(&folder, "enough.pml", &model(254)), file(&folder, "more.pml", &model(255)));
    let trace = folder.join("run.json");
    let trace = trace.to_str().expect("a name in Unicode");
    let ways: [&[&str]; 3] = [&["check"], &["count"], &["simulate", "--steps", "1000"]];
    for way in ways {
        let run = |file: &str| preempt(&[&[way[0], file], &way[1..]].concat());
        assert_eq!(run(&enough).status.code(), Some(0), "{way:?}");
        let found = run(&more);
        assert_eq!(found.status.code(), Some(1), "{way:?}");
        let said = String::from_utf8_lossy(&found.stdout).into_owned();
        let expected =
            if way[0] == "count" { "1 × runtime-error" } else { "too many processes: there can be 255" };
        assert!(said.contains(expected), "{way:?}: {said}");
    }
    assert_eq!(preempt(&["check", &more, "--trace", trace]).status.code(), Some(1));
    let again = preempt(&["replay", &more, trace]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stdout).contains("too many processes: there can be 255"));
}
