//! Woflan's `.tpn`: `place "i" init 1;` and `trans "t" in "a" out "b" "c";`. A place that is named twice by an arc has weight two.

use crate::builder::Builder;
use crate::marking::Marking;
use crate::problem::Problem;
use crate::scan::{Cursor, Items, Lexis, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId};

const LEXIS: Lexis = Lexis {
    comments: &[("--", "\n")],
    quotes: &[('"', '"')],
    in_word: |letter| letter.is_alphanumeric() || "_.#/-:".contains(letter),
    signs: &[";", "~"],
    ..Lexis::PLAIN
};

/// Reads a net; its targets come from a file of properties. The problem is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::tpn;
///
/// let text = "place \"in\" init 1; place \"out\"; trans \"work\" in \"in\" out \"out\";";
/// let (problem, mistakes) = tpn::read_within(SourceMap::new().add("net.tpn", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!((problem.net.places.len(), problem.net.transitions[0].name.as_str()), (2, "work"));
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let mut reader = Reader { cursor: Cursor::new(source, text, &LEXIS), builder: Builder::new() };
    reader.read_items(budget);
    let Reader { cursor: Cursor { mut diagnostics, .. }, builder } = reader;
    if builder.problem.net.places.is_empty() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::global_error("there is no place in this file"));
    }
    (builder.problem, diagnostics)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
}

impl<'a> Items<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        token == Token::Sign(";")
    }

    fn item(&mut self) -> Read<()> {
        let start = self.cursor.peek().1;
        if self.cursor.accept_sign(";") {
            return Ok(());
        }
        if self.cursor.accept_word("place") {
            let (name, span) = self.cursor.name("the name of a place")?;
            let place = self.builder.declare(name, span, &mut self.cursor.diagnostics);
            if self.cursor.accept_word("init") {
                let tokens = self.cursor.number()?;
                self.builder.add_tokens(place, tokens);
            }
        } else if self.cursor.accept_word("trans") {
            let (name, span) = self.cursor.name("the name of a transition")?;
            if self.cursor.accept_sign("~") {
                self.cursor.name("what the transition stands for")?;
            }
            let (consume, produce) = (self.arcs("in")?, self.arcs("out")?);
            let (number, twice) = self.builder.transition(name, start.to(self.cursor.last()));
            if twice {
                let message = format!("the transition `{name}` is declared twice");
                return Err(self.cursor.error(span, message, None));
            }
            let transition = &mut self.builder.problem.net.transitions[number];
            (transition.consume, transition.produce) = (consume, produce);
        } else {
            return self.cursor.expected(
                "`place` or `trans`",
                Some("as in `place \"p\" init 1;` or `trans \"t\" in \"p\" out \"q\";`"),
            );
        }
        self.cursor.need_sign(";", None)
    }
}

impl Reader<'_> {
    fn arcs(&mut self, word: &str) -> Read<Marking> {
        let mut arcs = Vec::new();
        if self.cursor.accept_word(word) {
            while !self.cursor.is_word("out")
                && matches!(self.cursor.peek().0, Token::Word(_) | Token::Quoted(_))
            {
                let (name, span) = self.cursor.name("the name of a place")?;
                arcs.extend(
                    self.builder.known(name, span, &mut self.cursor.diagnostics).map(|place| (place, 1)),
                );
            }
        }
        Ok(Marking::from_pairs(arcs))
    }
}
