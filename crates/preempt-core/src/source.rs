//! Source texts, places in them, and how a place came there through a macro or an inline.

use crate::trace::Call;

/// The texts of one run, and the macro expansions that happened while they were read.
#[derive(Debug, Default, Clone)]
pub struct SourceMap {
    sources: Vec<Source>,
    expansions: Vec<Expansion>,
}

/// One text: a file, or the command line's `-D` definitions.
#[derive(Debug, Clone)]
pub struct Source {
    /// As the user wrote it: a path relative to where the command runs.
    pub name: String,
    /// The whole text; spans count its bytes.
    pub text: String,
    /// Byte offset of the start of every line.
    line_starts: Vec<u32>,
}

/// The number of a text in its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// Which expansion a token came from; `ExpansionId::NONE` for text that stands where it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// The text stands where it was written.
    pub const NONE: ExpansionId = ExpansionId(0);
}

/// A half-open range of bytes in one source, with the expansion that put it into the token stream.
///
/// Two spans of the same bytes with different expansions are two uses of the same macro or inline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// The first byte behind it.
    pub end: u32,
    /// The macro or inline through which the bytes came where they were read.
    pub expansion: ExpansionId,
}

/// One use of a macro or an inline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    /// Which of the two it is.
    pub kind: ExpansionKind,
    /// The name that was expanded.
    pub name: String,
    /// Where the name was used; it may itself lie within another expansion.
    pub call: Span,
    /// Where the macro or inline was defined: its name.
    pub definition: Span,
}

/// By what a text was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpansionKind {
    /// A macro: for readers, its tokens stand where the macro is used.
    Macro,
    /// An inline: for readers, its statements stand in its body.
    Inline,
}

/// A place for people: one-based line and column (in characters).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The name of the source.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters and not in bytes.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Span {
    /// Text that stands where it was written.
    pub fn new(source: SourceId, start: u32, end: u32) -> Span {
        Span { source, start, end, expansion: ExpansionId::NONE }
    }

    /// The smallest span that covers both; `self` if they lie in different texts or expansions.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source || self.expansion != other.expansion {
            return self;
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }
}

impl Source {
    fn new(name: String, text: String) -> Source {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        Source { name, text, line_starts }
    }

    /// One-based line and column (in characters) of a byte offset; offsets beyond the end give the end.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = (offset as usize).min(self.text.len()) as u32;
        let line = self.line_starts.partition_point(|start| *start <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let column =
            self.text.as_bytes()[start..offset as usize].iter().filter(|b| (**b & 0xC0) != 0x80).count();
        (line as u32 + 1, column as u32 + 1)
    }
}

impl SourceMap {
    /// Without any text.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Takes in a text under the name that diagnostics show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.sources.push(Source::new(name.into(), text.into()));
        SourceId(self.sources.len() as u32 - 1)
    }

    /// The text with this number, which must be of this map.
    pub fn source(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// `None` for an id of another map.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }

    /// All texts, in the order in which they were added.
    pub fn sources(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources.iter().enumerate().map(|(i, s)| (SourceId(i as u32), s))
    }

    /// Notes a use of a macro or an inline, to mark the spans that came through it.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// `None` for [`ExpansionId::NONE`].
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        self.expansions.get((id.0 as usize).checked_sub(1)?)
    }

    /// The bytes of a span; nothing if they are not in the text.
    pub fn text(&self, span: Span) -> &str {
        self.source(span.source).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Where a person would look for this span: the use of a macro rather than its definition, but the body
    /// of an inline rather than its call, as Spin reports them.
    pub fn visible(&self, mut span: Span) -> Span {
        while let Some(expansion) = self.expansion(span.expansion) {
            match expansion.kind {
                ExpansionKind::Macro => span = expansion.call,
                ExpansionKind::Inline => return Span { expansion: ExpansionId::NONE, ..span },
            }
        }
        span
    }

    /// The inlines through which a span came where it is executed, the outermost first: each by its name, with the place where it
    /// is used.
    pub fn calls(&self, mut span: Span) -> Vec<Call> {
        let mut calls = Vec::new();
        while let Some(expansion) = self.expansion(span.expansion) {
            if expansion.kind == ExpansionKind::Inline {
                calls.push(Call { name: expansion.name.clone(), location: self.location(expansion.call) });
            }
            span = expansion.call;
        }
        calls.reverse();
        calls
    }

    /// File, line and column of the [`visible`](SourceMap::visible) place.
    pub fn location(&self, span: Span) -> Location {
        let span = self.visible(span);
        let source = self.source(span.source);
        let (line, column) = source.line_column(span.start);
        Location { file: source.name.clone(), line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let mut map = SourceMap::new();
        let id = map.add("a.pml", "ab\näé x\n");
        let at = |offset| map.source(id).line_column(offset);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(8), (2, 4));
        assert_eq!(at(1000), (3, 1));
    }

    #[test]
    fn a_macro_is_seen_at_its_use_and_an_inline_in_its_body() {
        let mut map = SourceMap::new();
        let id = map.add("a.pml", "define use body call");
        let define = Span::new(id, 0, 6);
        let used = map.add_expansion(Expansion {
            kind: ExpansionKind::Macro,
            name: "M".into(),
            call: Span::new(id, 7, 10),
            definition: define,
        });
        assert_eq!(map.location(Span { expansion: used, ..define }).column, 8);
        let inlined = map.add_expansion(Expansion {
            kind: ExpansionKind::Inline,
            name: "I".into(),
            call: Span::new(id, 16, 20),
            definition: define,
        });
        assert_eq!(map.location(Span { expansion: inlined, ..Span::new(id, 11, 15) }).column, 12);
    }
}
