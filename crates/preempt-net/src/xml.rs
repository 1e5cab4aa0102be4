//! An XML text as a tree with positions: what PNML and the properties of the contest are read from.

use foldhash::{HashSet, HashSetExt};
use preempt_core::{Budget, Diagnostic, SourceId, Span};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// Trees deeper than this are refused, since they are walked by recursion.
const DEEPEST: usize = 400;

#[derive(Debug, Default)]
pub(crate) struct Element {
    /// Without the prefix of a namespace.
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    /// All text directly inside, white space at the ends removed.
    pub text: String,
    pub span: Option<Span>,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        match self.span {
            Some(span) => Diagnostic::error(span, message),
            None => Diagnostic::global_error(message),
        }
    }

    pub fn warning(&self, message: impl Into<String>) -> Option<Diagnostic> {
        self.span.map(|span| Diagnostic::warning(span, message))
    }
}

/// The root element, with what could be read if the text is broken.
pub(crate) fn parse(
    source: SourceId,
    text: &str,
    budget: &Budget,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Element> {
    let mut reader = Reader::from_str(text);
    let mut events = 0u32;
    let span = |start: u64, end: u64| Span::new(source, start as u32, end as u32);
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        events = events.wrapping_add(1);
        if events.is_multiple_of(1024) && budget.exhausted().is_some() {
            diagnostics.push(crate::stopped());
            return None;
        }
        let start = reader.buffer_position();
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                let at = reader.error_position();
                diagnostics.push(Diagnostic::error(
                    span(at, reader.buffer_position().max(at)),
                    format!("this is not well-formed XML: {error}"),
                ));
                return None;
            }
        };
        let end = reader.buffer_position();
        match event {
            Event::Start(tag) => {
                if open.len() == DEEPEST {
                    diagnostics.push(Diagnostic::error(span(start, end), "elements are nested too deeply"));
                    return None;
                }
                open.push(element(&tag, span(start, end), diagnostics));
            }
            Event::Empty(tag) => {
                let leaf = element(&tag, span(start, end), diagnostics);
                match open.last_mut() {
                    Some(parent) => parent.children.push(leaf),
                    None => root = Some(leaf),
                }
            }
            Event::End(_) => {
                let Some(mut closed) = open.pop() else { continue };
                closed.text = closed.text.trim().to_string();
                match open.last_mut() {
                    Some(parent) => parent.children.push(closed),
                    None => root = Some(closed),
                }
            }
            Event::Text(content) => {
                if let Some(parent) = open.last_mut() {
                    parent.text.push_str(&content.xml10_content());
                }
            }
            Event::CData(content) => {
                if let Some(parent) = open.last_mut() {
                    parent.text.push_str(&content.xml10_content());
                }
            }
            Event::GeneralRef(reference) => {
                if let Some(parent) = open.last_mut() {
                    let raw = format!("&{};", reference.xml10_content());
                    match unescape(&raw) {
                        Ok(meant) => parent.text.push_str(&meant),
                        Err(_) => diagnostics.push(unknown_entity(&raw, span(start, end))),
                    }
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if let Some(unclosed) = open.last() {
        let end = Span::new(source, text.len() as u32, text.len() as u32);
        let error = Diagnostic::error(end, "the file ends too early");
        diagnostics.push(match unclosed.span {
            Some(span) => error.label(span, format!("`{}` is not closed", unclosed.name)),
            None => error,
        });
        return None;
    }
    if root.is_none() {
        diagnostics.push(Diagnostic::error(span(0, 0), "there is no XML element here"));
    }
    root
}

/// Entities that a file defines itself are not expanded: one line of them can stand for gigabytes.
fn unknown_entity(text: &str, span: Span) -> Diagnostic {
    let shown: String = text.chars().take(40).collect();
    Diagnostic::error(span, format!("`{shown}` is not an entity that is known"))
        .hint("`&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and numbers such as `&#38;` are")
}

fn element(tag: &BytesStart<'_>, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Element {
    let mut element =
        Element { name: tag.local_name().as_ref().to_string(), span: Some(span), ..Element::default() };
    let mut seen = HashSet::new();
    // Its own check compares each with each.
    for attribute in tag.attributes().with_checks(false) {
        match attribute {
            Ok(attribute) => {
                let key = attribute.key.as_ref().to_string();
                if !seen.insert(key.clone()) {
                    let shown: String = key.chars().take(40).collect();
                    diagnostics
                        .push(Diagnostic::error(span, format!("the attribute `{shown}` is there twice")));
                }
                match unescape(&attribute.value) {
                    Ok(meant) => element.attributes.push((key, meant.into_owned())),
                    Err(error) => {
                        diagnostics
                            .push(Diagnostic::error(span, format!("in the attribute `{key}`: {error}")));
                    }
                }
            }
            Err(error) => diagnostics.push(Diagnostic::error(span, format!("a broken attribute: {error}"))),
        }
    }
    element
}
