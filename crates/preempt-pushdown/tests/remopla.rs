//! Remopla: pushdown systems and diagrams agree on the sample programs, which are as their first lines say.

use crate::programs::{answer, pushdown};
use preempt_core::{Budget, Guarantee, Silent, Verdict};
use preempt_pushdown::Direction;

#[test]
fn the_sample_programs_are_as_their_first_lines_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/remopla");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("there are samples").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "rem") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let expected =
            text.lines().next().and_then(|line| line.strip_prefix("// expect: ")).expect("a first line");
        let loaded = preempt_remopla::load("sample.rem", &text, &Default::default(), &Budget::unlimited());
        assert!(loaded.diagnostics.is_empty(), "{}: {:?}", path.display(), loaded.diagnostics);
        let program = (loaded.model.expect("no error"), loaded.sources);
        let contexts = expected.split("contexts=").nth(1).and_then(|number| number.parse().ok());
        let told = |found: Option<u32>, guarantee: Guarantee| match (found, guarantee) {
            (Some(contexts), _) => format!("violated contexts={contexts}"),
            (None, Guarantee::Exhaustive) => "holds exhaustive".into(),
            (None, _) => format!("holds contexts={}", contexts.unwrap_or(0)),
        };
        for direction in [Direction::Forward, Direction::Backward] {
            let report = pushdown(&program, contexts, direction);
            assert_eq!(
                told(answer(&report), report.outcome.guarantee),
                expected,
                "{} {direction:?}",
                path.display()
            );
        }
        let table = preempt_bdd::TableOptions { nodes: 1 << 20, cache: 1 << 16 };
        let options = preempt_symbolic::SymbolicOptions { contexts, table, ..Default::default() };
        let report =
            preempt_symbolic::check(&program.0, &program.1, &options, &mut Silent).expect("supported");
        let found = (report.outcome.verdict == Verdict::Violated).then_some(report.contexts);
        assert_eq!(told(found, report.outcome.guarantee), expected, "{} by diagrams", path.display());
        count += 1;
    }
    assert!(count >= 6);
}
