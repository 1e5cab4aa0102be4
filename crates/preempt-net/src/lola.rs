//! LoLA's nets: `PLACE a, b; MARKING a: 1; TRANSITION t CONSUME a: 1; PRODUCE b: 2;`.
//!
//! Names may have any letters but `,`, `;`, braces and white space: dots, and colons too. Therefore an item of a list is read
//! as a whole, and is split at its last colon only if it is not itself the name of a place.

use crate::builder::{Arcs, Builder};
use crate::marking::{Marking, Place};
use crate::problem::Problem;
use crate::scan::{Cursor, Items, Lexis, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId, Span};

const LEXIS: Lexis = Lexis {
    comments: &[("{", "}"), ("//", "\n"), ("/*", "*/")],
    in_word: |letter| !letter.is_whitespace() && !",;{}".contains(letter),
    signs: &[",", ";"],
    ..Lexis::PLAIN
};

/// Reads a net with its initial marking; its targets come from a file of properties. The problem is whole only if no
/// diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::lola;
///
/// let text = "PLACE a.x, b:y; MARKING a.x: 2; TRANSITION t CONSUME a.x: 1; PRODUCE b:y: 3;";
/// let (problem, mistakes) = lola::read_within(SourceMap::new().add("n.lola", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!(problem.net.transitions[0].produce.get(1), 3);
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let mut reader = Reader { cursor: Cursor::new(source, text, &LEXIS), builder: Builder::new() };
    if reader.places_and_marking(budget).is_ok() {
        reader.read_items(budget);
    }
    (reader.builder.problem, reader.cursor.diagnostics)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
}

/// One entry of a list: its words without the white space between them.
struct Item {
    text: String,
    span: Span,
}

impl<'a> Items<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("TRANSITION"))
    }

    fn item(&mut self) -> Read<()> {
        let start = self.cursor.peek().1;
        self.cursor.need_word("TRANSITION", "as in `TRANSITION t CONSUME a: 1; PRODUCE b: 1;`")?;
        let (name, _) = self.cursor.name("the name of a transition")?;
        for word in ["STRONG", "WEAK", "FAIR"] {
            self.cursor.accept_word(word);
        }
        let mut arcs = Arcs::default();
        for (word, arcs) in [("CONSUME", &mut arcs.consume), ("PRODUCE", &mut arcs.produce)] {
            self.cursor.need_word(word, "what is consumed stands before what is produced")?;
            for item in self.list()? {
                arcs.extend(self.weighted(&item)?);
            }
        }
        let span = start.to(self.cursor.last());
        let (number, twice) = self.builder.transition(name, span);
        if twice {
            return Err(self.cursor.error(span, format!("the transition `{name}` is declared twice"), None));
        }
        let transition = &mut self.builder.problem.net.transitions[number];
        transition.consume = Marking::from_pairs(arcs.consume);
        transition.produce = Marking::from_pairs(arcs.produce);
        Ok(())
    }
}

impl Reader<'_> {
    fn places_and_marking(&mut self, budget: &Budget) -> Read<()> {
        self.cursor.need_word("PLACE", "a net begins with its places, as in `PLACE a, b;`")?;
        // `SAFE 1: a, b; SAFE: c; d;` promises bounds, which are not used: lists go on as long as no other section begins.
        while !self.cursor.is_word("MARKING")
            && !self.cursor.is_word("TRANSITION")
            && self.cursor.peek().0 != Token::End
        {
            for item in self.list()? {
                let name = without_bound(&item.text);
                self.builder.declare(name, item.span, &mut self.cursor.diagnostics);
            }
            if budget.exhausted().is_some() {
                return Ok(());
            }
        }
        if self.cursor.accept_word("MARKING") {
            for item in self.list()? {
                if let Some((place, tokens)) = self.weighted(&item)? {
                    self.builder.add_tokens(place, tokens);
                }
            }
        }
        Ok(())
    }

    /// Items up to a semicolon.
    fn list(&mut self) -> Read<Vec<Item>> {
        let mut items = Vec::new();
        let mut item: Option<Item> = None;
        loop {
            match self.cursor.peek() {
                (Token::Word(word), span) => {
                    let item = item.get_or_insert(Item { text: String::new(), span });
                    // A section that begins here says that a semicolon is missing.
                    if ["TRANSITION", "CONSUME", "PRODUCE", "MARKING"]
                        .iter()
                        .any(|it| it.eq_ignore_ascii_case(word))
                    {
                        return self.cursor.expected("`;`", None);
                    }
                    if item.text.eq_ignore_ascii_case("SAFE") {
                        item.text.push(' ');
                    }
                    item.text.push_str(word);
                    item.span = item.span.to(span);
                }
                (Token::Sign(","), _) => items.extend(item.take()),
                (Token::Sign(";"), _) => {
                    items.extend(item.take());
                    self.cursor.next();
                    return Ok(items);
                }
                _ => return self.cursor.expected("`,` or `;`", None),
            }
            self.cursor.next();
        }
    }

    /// `p: 3`, or `p`, which is once. Nothing if there is no such place, which has been said.
    fn weighted(&mut self, item: &Item) -> Read<Option<(Place, u64)>> {
        if let Some(place) = self.builder.find(&item.text) {
            return Ok(Some((place, 1)));
        }
        let (name, weight) = match item.text.rsplit_once(':') {
            Some((name, digits)) => (name, self.cursor.count(digits, item.span)?),
            None => (item.text.as_str(), 1),
        };
        Ok(self.builder.known(name, item.span, &mut self.cursor.diagnostics).map(|place| (place, weight)))
    }
}

/// `SAFE 3:name` promises a bound.
fn without_bound(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("SAFE ") else { return text };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(':').unwrap_or(text)
}
