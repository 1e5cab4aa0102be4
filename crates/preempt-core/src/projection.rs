//! Error projection: which statements of a program lie on some error trace within a bound, and which on none.

use crate::source::Location;

/// Every statement of a program, and whether some run that goes wrong executes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorProjection {
    /// Contexts of each thread, at most.
    pub contexts: u32,
    /// In the order of the text.
    pub statements: Vec<ProjectedStatement>,
    /// The text itself, line by line.
    pub lines: Vec<String>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectedStatement {
    /// Where it stands.
    pub location: Location,
    /// In which procedure or process.
    pub procedure: String,
    /// As the user wrote it.
    pub text: String,
    /// Is it executed in some run that goes wrong?
    pub on_error_trace: bool,
}

impl ErrorProjection {
    /// For each line of the text: does a statement of it lie on an error trace? `None` if it has no statement.
    pub fn marks(&self) -> Vec<Option<bool>> {
        let mut marks = vec![None; self.lines.len()];
        for statement in &self.statements {
            if let Some(mark) = marks.get_mut(statement.location.line as usize - 1) {
                *mark = Some(*mark == Some(true) || statement.on_error_trace);
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_marked_by_any_of_its_statements() {
        let statement = |line: u32, on_error_trace: bool| ProjectedStatement {
            location: Location { file: "p".into(), line, column: 1 },
            procedure: "main".into(),
            text: "skip".into(),
            on_error_trace,
        };
        let statements = vec![statement(1, true), statement(1, false), statement(3, false)];
        let lines = vec![String::new(); 3];
        let projection = ErrorProjection { contexts: 1, statements, lines };
        assert_eq!(projection.marks(), [Some(true), None, Some(false)]);
    }
}
