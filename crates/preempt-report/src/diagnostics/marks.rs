//! Which places of the text to mark for a diagnostic, and with what words.

use annotate_snippets::{Annotation, AnnotationKind};
use preempt_core::{Diagnostic, ExpansionKind, SourceId, SourceMap, Span};
use std::ops::Range;

/// Expansions form a chain that only leads to older ones; a longer chain is not readable anyway.
const LONGEST_CHAIN: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub source: SourceId,
    start: u32,
    end: u32,
    primary: bool,
    label: Option<String>,
}

impl Mark {
    fn new(span: Span, primary: bool, label: Option<String>) -> Mark {
        Mark { source: span.source, start: span.start, end: span.end, primary, label }
    }

    pub fn annotation(self, text: &str) -> Annotation<'static> {
        let kind = if self.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(fit(text, self.start, self.end)).label(self.label)
    }
}

/// The primary mark first, so that its file is shown first.
pub(super) fn marks(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Mark> {
    let mut marks = Vec::new();
    if let Some(span) = diagnostic.span {
        marks.push(Mark::new(sources.visible(span), true, diagnostic.note.clone()));
        explain_expansions(span, sources, &mut marks);
    }
    for label in &diagnostic.labels {
        let visible = sources.visible(label.span);
        marks.push(Mark::new(visible, false, Some(label.text.clone())));
    }
    let mut seen: Vec<Mark> = Vec::new();
    marks.retain(|mark| {
        !seen.contains(mark) && {
            seen.push(mark.clone());
            true
        }
    });
    marks
}

/// From the inside out: where each macro or inline was used, and where it was defined.
fn explain_expansions(span: Span, sources: &SourceMap, marks: &mut Vec<Mark>) {
    let visible = sources.visible(span);
    let mut inside = span;
    for _ in 0..LONGEST_CHAIN {
        let Some(expansion) = sources.expansion(inside.expansion) else { break };
        let what = match expansion.kind {
            ExpansionKind::Macro => "macro",
            ExpansionKind::Inline => "inline",
        };
        let used = format!("in this use of {what} `{}`", expansion.name);
        if same_place(expansion.call, visible) && marks[0].label.is_none() {
            marks[0].label = Some(used);
        } else {
            marks.push(Mark::new(expansion.call, false, Some(used)));
        }
        let defined = format!("`{}` is defined here", expansion.name);
        marks.push(Mark::new(expansion.definition, false, Some(defined)));
        inside = expansion.call;
    }
}

fn same_place(a: Span, b: Span) -> bool {
    (a.source, a.start, a.end) == (b.source, b.start, b.end)
}

/// The bytes to mark: within the text, in order, and on the boundaries of characters.
fn fit(text: &str, start: u32, end: u32) -> Range<usize> {
    let down = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = down(start);
    start..down(end).max(start)
}
