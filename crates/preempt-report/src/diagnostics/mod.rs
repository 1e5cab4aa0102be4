//! Diagnostics for people: the source line, the mark under it, and how the text got there.

mod marks;

use crate::style::{Ink, Style};
use annotate_snippets::{Group, Level, Renderer, Snippet};
use marks::{Mark, marks};
use preempt_core::{Diagnostic, Severity, SourceMap};

/// Nobody reads more; errors go before warnings when not all can be shown.
const MOST_SHOWN: usize = 50;

/// In the order of the text, and then how many there are ("2 errors, 1 warning").
///
/// The empty string if there are none. Spans may be anything: what lies outside of its text is cut to fit.
pub fn render_diagnostics(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    width: usize,
    style: Style,
) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    // A marked line must stay recognisable, however narrow the terminal.
    let width = width.max(40);
    let renderer = if style.is_coloured() { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut in_order: Vec<&Diagnostic> = diagnostics.iter().collect();
    if in_order.len() > MOST_SHOWN {
        in_order.sort_by_key(|diagnostic| !diagnostic.is_error());
        in_order.truncate(MOST_SHOWN);
    }
    // What is about the whole input comes first: it may explain the rest.
    in_order.sort_by_key(|diagnostic| {
        diagnostic.span.map(|span| sources.visible(span)).map(|span| (span.source, span.start, span.end))
    });
    let mut text = String::new();
    for diagnostic in in_order {
        text.push_str(&renderer.render(&[group(diagnostic, sources)]));
        text.push_str("\n\n");
    }
    text.push_str(&count(diagnostics, style));
    text.push('\n');
    text
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(one_line(&diagnostic.message)));
    let mut marks = marks(diagnostic, sources);
    while let Some(first) = marks.first() {
        let source = first.source;
        let (here, elsewhere): (Vec<Mark>, Vec<Mark>) =
            marks.into_iter().partition(|mark| mark.source == source);
        marks = elsewhere;
        if let Some(source) = sources.get(source) {
            let annotations = here.into_iter().map(|mark| mark.annotation(&source.text));
            group =
                group.element(Snippet::source(&*source.text).path(&*source.name).annotations(annotations));
        }
    }
    if diagnostic.span.is_none()
        && let Some(note) = &diagnostic.note
    {
        group = group.element(Level::NOTE.message(one_line(note)));
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(one_line(hint)));
    }
    group
}

/// Messages quote the input, which may hold anything; a title is one line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn count(diagnostics: &[Diagnostic], style: Style) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(style.paint(Ink::Bad, &counted(errors, "error")));
    }
    if warnings > 0 {
        parts.push(style.paint(Ink::Doubtful, &counted(warnings, "warning")));
    }
    let all = parts.join(", ");
    if diagnostics.len() > MOST_SHOWN { format!("{all} ({MOST_SHOWN} are shown)") } else { all }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
