//! What a front end has to say about a text: errors and warnings with their place and a hint.

use crate::source::Span;

/// Does the message keep the input from being used?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input can be used, and means perhaps something else than it seems to.
    Warning,
    /// The input cannot be used.
    Error,
}

/// One message. Rendering (source lines, macro back-traces) is the reader's work, not the front end's:
/// a span inside a macro or inline carries its expansion, and the renderer shows use and definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a full stop, beginning in lower case.
    pub message: String,
    /// The place that the message is about; `None` if it is about the whole input.
    pub span: Option<Span>,
    /// What to write under the marked place, if it adds something.
    pub note: Option<String>,
    /// Other places that matter, each with what it has to do with the message.
    pub labels: Vec<Label>,
    /// How to mend it.
    pub hint: Option<String>,
}

/// Another place that matters to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What it has to do with the message.
    pub text: String,
}

impl Diagnostic {
    /// An error about a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, Some(span), message.into())
    }

    /// A warning about a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, Some(span), message.into())
    }

    /// An error about the input as a whole, such as a file that cannot be read.
    pub fn global_error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, None, message.into())
    }

    fn new(severity: Severity, span: Option<Span>, message: String) -> Diagnostic {
        Diagnostic { severity, message, span, note: None, labels: Vec::new(), hint: None }
    }

    /// With these words under the marked place.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.note = Some(note.into());
        self
    }

    /// With another place that matters.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// With a way to mend it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// Does it keep the input from being used?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Longer words are not mistyped by hand, and comparing them would take long.
const LONGEST_TYPED: usize = 60;

/// The candidate nearest to `wanted`, if it is near enough to be a typing mistake ("did you mean").
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wanted.chars().count();
    if length > LONGEST_TYPED {
        return None;
    }
    // One letter is as near to every other: only the same one, small or large, can have been meant.
    let other_letter = |candidate: &str| length == 1 && !candidate.eq_ignore_ascii_case(wanted);
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| {
            *candidate != wanted
                && !other_letter(candidate)
                && candidate.chars().take(length + limit + 1).count() <= length + limit
        })
        .map(|candidate| (edit_distance(wanted, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitute = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = substitute.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["turn", "flag", "counter"];
        assert_eq!(nearest("trun", names), Some("turn"));
        assert_eq!(nearest("flags", names), Some("flag"));
        assert_eq!(nearest("conter", names), Some("counter"));
        assert_eq!(nearest("xyzzy", names), None);
        assert_eq!(nearest("turn", ["turn"]), None);
        assert_eq!(nearest("d", ["a", "b", "dd"]), None, "one letter is as near to every other");
        assert_eq!(nearest("X", ["a", "x"]), Some("x"));
        let long = "a".repeat(1_000_000);
        assert_eq!((nearest(&long, names), nearest("turn", [&*long])), (None, None));
    }
}
