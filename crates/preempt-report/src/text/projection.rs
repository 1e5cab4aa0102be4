//! The source with its margin: which lines lie on some error trace.

use super::words::clean;
use preempt_core::ErrorProjection;
use std::fmt::Write;

/// How much of it lies on error traces.
pub(crate) fn title(projection: &ErrorProjection) -> String {
    let on = projection.statements.iter().filter(|statement| statement.on_error_trace).count();
    let contexts = match projection.contexts {
        1 => "1 context".to_string(),
        more => format!("{more} contexts"),
    };
    format!(
        "{on} of {} statements lie on some error trace with {contexts} of each thread",
        projection.statements.len()
    )
}

/// An annotated listing. `!` is a line with a statement on some error trace, `-` one whose statements are on none.
pub fn listing(projection: &ErrorProjection) -> String {
    let mut text = format!("\n{} (!), the others on none (-):\n", title(projection));
    let width = projection.lines.len().to_string().len();
    for (number, (line, mark)) in projection.lines.iter().zip(projection.marks()).enumerate() {
        let sign = match mark {
            Some(true) => '!',
            Some(false) => '-',
            None => ' ',
        };
        let shown = format!("{sign} {:>width$} | {}", number + 1, clean(line));
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::{Location, ProjectedStatement};

    #[test]
    fn lines_are_marked_in_the_margin() {
        let statement = |line: u32, on_error_trace: bool| ProjectedStatement {
            location: Location { file: "p.bp".into(), line, column: 1 },
            procedure: "main".into(),
            text: "skip".into(),
            on_error_trace,
        };
        let projection = ErrorProjection {
            contexts: 2,
            statements: vec![statement(2, true), statement(3, false)],
            lines: ["begin", "  x := T;", "  y := T;", "end"].map(String::from).into(),
        };
        let expected = "
1 of 2 statements lie on some error trace with 2 contexts of each thread (!), the others on none (-):
  1 | begin
! 2 |   x := T;
- 3 |   y := T;
  4 | end
";
        assert_eq!(listing(&projection), expected);
    }
}
