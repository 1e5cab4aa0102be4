//! TINA's `.net`: a line for each place (`pl p (3)`) and each transition (`tr t p q*2 -> r s?1`).
//!
//! `*n` is a weight, `?n` a read arc and `?-n` an inhibitor arc. What is left out on purpose: times (only `[0,w[`, which is
//! none), priorities and stopwatches are refused, because without them the net would be another.

use crate::builder::Builder;
use crate::marking::{Marking, Place};
use crate::net::Move;
use crate::problem::Problem;
use crate::scan::{Cursor, Items, LARGEST, Lexis, Read, Token};
use preempt_core::{Budget, Diagnostic, SourceId};

const LEXIS: Lexis = Lexis {
    quotes: &[('{', '}')],
    in_word: |letter| letter.is_alphanumeric() || "_'.".contains(letter),
    signs: &["->", "(", ")", "[", "]", ",", ":", "*", "?", "-", "!"],
    lines: true,
    ..Lexis::PLAIN
};

/// Arcs of each transition, as they come: from places, and to places.
#[derive(Default)]
struct Weights {
    consume: Vec<(Place, u64)>,
    produce: Vec<(Place, u64)>,
    at_most: Vec<(Place, u64)>,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
    weights: Vec<Weights>,
}

enum Arc {
    Normal(u64),
    Read(u64),
    Inhibitor(u64),
}

/// Reads a net; its targets come from a file of properties. The problem is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::tina;
///
/// let text = "net n\npl p (2)\ntr t [0,w[ p*2 -> {the end}\n";
/// let (problem, mistakes) = tina::read_within(SourceMap::new().add("n.net", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!(problem.net.places, ["p", "the end"]);
/// assert_eq!(problem.net.transitions[0].consume.get(0), 2);
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let cursor = Cursor::new(source, text, &LEXIS);
    let mut reader = Reader { cursor, builder: Builder::new(), weights: Vec::new() };
    reader.read_items(budget);
    let Reader { cursor: Cursor { mut diagnostics, .. }, mut builder, weights } = reader;
    for (transition, weights) in builder.problem.net.transitions.iter_mut().zip(weights) {
        transition.consume = Marking::from_pairs(weights.consume);
        transition.produce = Marking::from_pairs(weights.produce);
        transition.at_most = weights.at_most;
        transition.at_most.sort_unstable();
        // Of two limits for one place the smaller one.
        transition.at_most.dedup_by_key(|(place, _)| *place);
        // No tokens at all: a relaxation may lose them.
        let empty = transition.at_most.iter().filter(|(_, most)| *most == 0);
        transition.moves = empty.map(|(from, _)| Move { from: *from, to: Vec::new() }).collect();
    }
    if builder.problem.net.places.is_empty() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::global_error("there is no place in this file"));
    }
    (builder.problem, diagnostics)
}

impl<'a> Items<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        token == Token::Line
    }

    fn item(&mut self) -> Read<()> {
        let start = self.cursor.peek().1;
        if self.cursor.accept(Token::Line) {
            return Ok(());
        }
        if self.cursor.accept_word("net") {
            self.cursor.name("the name of the net")?;
        } else if self.cursor.accept_word("pl") {
            let (name, _) = self.cursor.name("the name of a place")?;
            let place = self.builder.place(name);
            self.label()?;
            if self.cursor.accept_sign("(") {
                let tokens = self.weight()?;
                self.cursor.need_sign(")", None)?;
                self.builder.add_tokens(place, tokens);
            }
            // Arcs of the place: from transitions, and to transitions.
            for before in [true, false] {
                while let Token::Word(_) | Token::Quoted(_) = self.cursor.peek().0 {
                    let (name, span) = self.cursor.name("the name of a transition")?;
                    let number = self.transition(name, span);
                    let arc = self.arc()?;
                    self.add(number, place, arc, !before)?;
                }
                if before && !self.cursor.accept_sign("->") {
                    break;
                }
            }
        } else if self.cursor.accept_word("tr") {
            let (name, span) = self.cursor.name("the name of a transition")?;
            let number = self.transition(name, span);
            self.label()?;
            self.interval()?;
            for before in [true, false] {
                while let Token::Word(_) | Token::Quoted(_) = self.cursor.peek().0 {
                    let (name, _) = self.cursor.name("the name of a place")?;
                    let place = self.builder.place(name);
                    let arc = self.arc()?;
                    self.add(number, place, arc, before)?;
                }
                if before && !self.cursor.accept_sign("->") {
                    break;
                }
            }
            self.builder.problem.spans[number] = start.to(self.cursor.last());
        } else if self.cursor.is_word("nt") || self.cursor.is_word("lb") {
            self.cursor.skip_until(|token| token == Token::Line);
        } else if self.cursor.is_word("pr") {
            let hint = "without its priorities the net would be another";
            return Err(self.cursor.error(start, "priorities are not supported", Some(hint)));
        } else {
            return self.cursor.expected("`net`, `pl` or `tr`", Some("as in `pl p (1)` or `tr t p -> q`"));
        }
        self.cursor.end_of_line()
    }
}

impl Reader<'_> {
    fn transition(&mut self, name: &str, span: preempt_core::Span) -> usize {
        let (number, there) = self.builder.transition(name, span);
        if !there {
            self.weights.push(Weights::default());
        }
        number
    }

    /// `: label`, which means nothing here.
    fn label(&mut self) -> Read<()> {
        if self.cursor.accept_sign(":") {
            self.cursor.name("a label")?;
        }
        Ok(())
    }

    /// `[0,w[`, and no other.
    fn interval(&mut self) -> Read<()> {
        let start = self.cursor.peek().1;
        if !matches!(self.cursor.peek().0, Token::Sign("[" | "]")) {
            return Ok(());
        }
        let open = self.cursor.next().0;
        let (low, _) = self.cursor.name("a time")?;
        self.cursor.need_sign(",", Some("an interval is written `[0,w[`"))?;
        let (high, _) = self.cursor.name("a time")?;
        let close = self.cursor.next().0;
        if (open, low, high, close) != (Token::Sign("["), "0", "w", Token::Sign("[")) {
            let hint = "only `[0,w[`, which is no limit, can be left out";
            return Err(self.cursor.error(
                start.to(self.cursor.last()),
                "times are not supported",
                Some(hint),
            ));
        }
        Ok(())
    }

    /// `4`, `4K`, `4M` and so on.
    fn weight(&mut self) -> Read<u64> {
        let (word, span) = self.cursor.name("a number")?;
        let units = [("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
        let unit = units.iter().find_map(|(unit, by)| Some((word.strip_suffix(unit)?, *by)));
        let (digits, by) = unit.unwrap_or((word, 1));
        let number: u64 = self.cursor.count(digits, span)?;
        match number.checked_mul(by).filter(|number| *number <= LARGEST) {
            Some(number) => Ok(number),
            None => Err(self.cursor.error(span, "this number is too large", None)),
        }
    }

    fn arc(&mut self) -> Read<Arc> {
        if self.cursor.accept_sign("*") {
            return Ok(Arc::Normal(self.weight()?));
        }
        if self.cursor.accept_sign("?") {
            let inhibits = self.cursor.accept_sign("-");
            let weight = self.weight()?;
            return Ok(if inhibits { Arc::Inhibitor(weight) } else { Arc::Read(weight) });
        }
        if self.cursor.peek().0 == Token::Sign("!") {
            let span = self.cursor.peek().1;
            return Err(self.cursor.error(span, "stopwatches are not supported", None));
        }
        Ok(Arc::Normal(1))
    }

    fn add(&mut self, number: usize, place: Place, arc: Arc, into_transition: bool) -> Read<()> {
        let weights = &mut self.weights[number];
        match (arc, into_transition) {
            (Arc::Normal(weight), true) => weights.consume.push((place, weight)),
            (Arc::Normal(weight), false) => weights.produce.push((place, weight)),
            (Arc::Read(weight), true) => {
                weights.consume.push((place, weight));
                weights.produce.push((place, weight));
            }
            (Arc::Inhibitor(weight @ 1..), true) => weights.at_most.push((place, weight - 1)),
            (Arc::Inhibitor(0), true) => {
                let span = self.cursor.last();
                return Err(self.cursor.error(span, "a place never has fewer than no tokens", None));
            }
            (Arc::Read(_) | Arc::Inhibitor(_), false) => {
                let span = self.cursor.last();
                return Err(self.cursor.error(
                    span,
                    "an arc of this kind leads from a place to a transition",
                    None,
                ));
            }
        }
        Ok(())
    }
}
