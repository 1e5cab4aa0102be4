//! Properties as text, as LoLA writes them: `EF (a + 2 * b >= 3 AND NOT FIREABLE(t))`, for nets of any format.
//!
//! A file has one or more, separated by `;` and each perhaps with its name, as in `PROPERTY mutex: AG (critical <= 1)`; without
//! one they are called `1`, `2` and so on. A formula without EF or AG asks whether it can be reached, as in LoLA's tasks
//! (`FORMULA (a > 1)`). `DEADLOCK` and `FIREABLE(t)` may be parts, and `ONESAFE` says that no place has two tokens.

use crate::MOST_HINTS;
use crate::formula::{Formula, Linear};
use crate::marking::Place;
use crate::net::Net;
use crate::property::{Collected, NetProperty, Quantifier};
use crate::scan::{Cursor, Lexis, Read, Reported, Token};
use foldhash::HashMap;
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, SourceId, Span};

const LEXIS: Lexis = Lexis {
    comments: &[("{", "}"), ("//", "\n")],
    quotes: &[('"', '"')],
    in_word: |letter| !letter.is_whitespace() && !"()<>=!#+*-,;:{}\"&|".contains(letter),
    signs: &[
        "->", "<=", ">=", "<>", "!=", "==", "&&", "||", "(", ")", "<", ">", "=", "#", "+", "*", "-", ";",
        ":", "!", "&", "|",
    ],
    ..Lexis::PLAIN
};

/// Formulas nested deeper than this are refused, since they are walked by recursion.
const DEEPEST: usize = 300;

/// Reads all properties, or only the one that is wanted. Those that are not understood say so, each with a warning; or with
/// an error, if none is understood.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::{Marking, Net, query};
///
/// let net = Net { places: vec!["a".into(), "b".into()], ..Net::default() };
/// let text = "EF (a >= 1 AND b > 1)";
/// let source = SourceMap::new().add("p.formula", text);
/// let (properties, mistakes) = query::read_within(&net, source, text, None, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!(properties[0].targets(), [Marking::from_pairs([(0, 1), (1, 2)])]);
/// ```
pub fn read_within(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
    budget: &Budget,
) -> (Vec<NetProperty>, Vec<Diagnostic>) {
    let mut cursor = Cursor::new(source, text, &LEXIS);
    let lexical = std::mem::take(&mut cursor.diagnostics);
    let (places, transitions) = (net.place_index(), net.transition_index());
    let mut reader = Reader { cursor, net, places, transitions, depth: 0 };
    let mut collected = Collected::default();
    let (mut number, mut found) = (0, wanted.is_none());
    while reader.cursor.peek().0 != Token::End {
        if reader.cursor.accept_sign(";") {
            continue;
        }
        if budget.exhausted().is_some() {
            collected.diagnostics.push(crate::stopped());
            break;
        }
        number += 1;
        let id = reader.id(number);
        let read = reader.quantified();
        let read = read.and_then(|body| match reader.cursor.peek().0 {
            Token::Sign(";") | Token::End => Ok(body),
            _ => reader
                .cursor
                .expected("`;` between two properties", Some("or `AND` or `OR` between two parts of one")),
        });
        let mistakes = std::mem::take(&mut reader.cursor.diagnostics);
        if read.is_err() {
            reader.cursor.skip_until(|token| token == Token::Sign(";"));
            reader.depth = 0;
        }
        if wanted.is_some_and(|wanted| wanted != id) {
            continue;
        }
        found = true;
        let property = match read {
            Ok((quantifier, body)) => NetProperty::new(net, id.clone(), quantifier, body, budget),
            Err(Reported) => Err(mistakes.into_iter().next().unwrap_or_else(crate::stopped)),
        };
        collected.add(id, property);
    }
    let empty = collected.properties.is_empty() && wanted.is_none();
    let (properties, mut diagnostics) = collected.finish();
    if let Some(wanted) = wanted.filter(|_| !found) {
        diagnostics.push(Diagnostic::global_error(format!("there is no property `{wanted}`")));
    } else if empty {
        let error = Diagnostic::global_error("there is no property in this file");
        diagnostics.push(error.hint("as in `EF (a >= 1 AND b >= 2)`"));
    }
    diagnostics.extend(lexical);
    (properties, diagnostics)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    net: &'a Net,
    places: HashMap<&'a str, Place>,
    transitions: HashMap<&'a str, Vec<usize>>,
    depth: usize,
}

/// Tokens with their weights, and a number.
type Sum = (Vec<(Place, i64)>, i64);

impl Reader<'_> {
    fn id(&mut self, number: usize) -> String {
        if self.cursor.accept_word("PROPERTY")
            && let (Token::Word(name) | Token::Quoted(name), _) = self.cursor.next()
        {
            self.cursor.accept_sign(":");
            return name.to_string();
        }
        self.cursor.accept_word("FORMULA");
        number.to_string()
    }

    fn quantified(&mut self) -> Read<(Quantifier, Formula)> {
        let words = [("EF", Quantifier::Reachable), ("AG", Quantifier::Invariant)];
        for (word, quantifier) in words {
            if self.cursor.accept_word(word) {
                return Ok((quantifier, self.formula()?));
            }
        }
        // As LoLA 1 writes them.
        let paths =
            [("EXPATH", "EVENTUALLY", Quantifier::Reachable), ("ALLPATH", "ALWAYS", Quantifier::Invariant)];
        for (path, when, quantifier) in paths {
            if self.cursor.is_word(path)
                && matches!(self.cursor.second(), Token::Word(w) if w.eq_ignore_ascii_case(when))
            {
                self.cursor.next();
                self.cursor.next();
                return Ok((quantifier, self.formula()?));
            }
        }
        for word in ["A", "E", "AF", "EG", "EX", "AX", "EXPATH", "ALLPATH", "G", "F", "ALWAYS", "EVENTUALLY"]
        {
            if self.cursor.is_word(word) && !self.places.contains_key(word) {
                let span = self.cursor.peek().1;
                let hint = Some("EF and AG at the top are supported");
                return Err(self.cursor.error(span, "this formula is not about reachability", hint));
            }
        }
        let negated = self.cursor.is_word("NOT")
            && matches!(self.cursor.second(), Token::Word(w) if w.eq_ignore_ascii_case("EF") || w.eq_ignore_ascii_case("AG"));
        if negated {
            self.cursor.next();
            let (quantifier, body) = self.quantified()?;
            return Ok((quantifier.other(), body.negated()));
        }
        Ok((Quantifier::Reachable, self.formula()?))
    }

    /// Loosest first: `->`, OR, AND, NOT.
    fn formula(&mut self) -> Read<Formula> {
        let left = self.any()?;
        if self.cursor.accept_sign("->") {
            self.deeper()?;
            let right = self.formula()?;
            self.depth -= 1;
            return Ok(Formula::Any(vec![left.negated(), right]));
        }
        Ok(left)
    }

    fn any(&mut self) -> Read<Formula> {
        let mut parts = vec![self.all()?];
        while self.cursor.accept_word("OR") || self.cursor.accept_sign("||") || self.cursor.accept_sign("|") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Formula::Any))
    }

    fn all(&mut self) -> Read<Formula> {
        let mut parts = vec![self.literal()?];
        while self.cursor.accept_word("AND") || self.cursor.accept_sign("&&") || self.cursor.accept_sign("&")
        {
            parts.push(self.literal()?);
        }
        Ok(one_or(parts, Formula::All))
    }

    fn deeper(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let span = self.cursor.peek().1;
            return Err(self.cursor.error(span, "formulas are nested too deeply", None));
        }
        Ok(())
    }

    fn literal(&mut self) -> Read<Formula> {
        self.deeper()?;
        let formula = self.atom()?;
        self.depth -= 1;
        Ok(formula)
    }

    fn atom(&mut self) -> Read<Formula> {
        if self.cursor.accept_word("NOT") || self.cursor.accept_sign("!") {
            return Ok(self.literal()?.negated());
        }
        if self.cursor.accept_sign("(") {
            let inner = self.formula()?;
            self.cursor.need_sign(")", None)?;
            return Ok(inner);
        }
        for (word, formula) in [("TRUE", Formula::Constant(true)), ("FALSE", Formula::Constant(false))] {
            if self.cursor.accept_word(word) {
                return Ok(formula);
            }
        }
        if self.cursor.accept_word("DEADLOCK") {
            return Ok(Formula::Deadlock);
        }
        if self.cursor.accept_word("ONESAFE") {
            let one = |place| Formula::AtMost(Linear::new([(place, 1)], 1));
            return Ok(Formula::All((0..self.net.places.len() as Place).map(one).collect()));
        }
        if self.cursor.is_word("FIREABLE") && self.cursor.second() == Token::Sign("(") {
            self.cursor.next();
            self.cursor.next();
            let (name, span) = self.cursor.name("the name of a transition")?;
            self.cursor.need_sign(")", None)?;
            return match self.transitions.get(name) {
                Some(numbers) => {
                    Ok(Formula::Any(numbers.iter().map(|number| Formula::Fireable(*number)).collect()))
                }
                None => Err(self.unknown("transition", name, span)),
            };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Read<Formula> {
        let (mut weights, left) = self.sum()?;
        let (token, _) = self.cursor.peek();
        let Token::Sign(sign @ ("<=" | "<" | ">=" | ">" | "=" | "==" | "#" | "!=" | "<>")) = token else {
            return self.cursor.expected("`<=`, `<`, `>=`, `>`, `=` or `!=`", Some("as in `a + 2 * b >= 3`"));
        };
        self.cursor.next();
        let (other, right) = self.sum()?;
        weights.extend(other.into_iter().map(|(place, weight)| (place, -weight)));
        // weights + left (sign) right
        let limit = right - left;
        let below = |most: i64| Formula::AtMost(Linear::new(weights.iter().copied(), most));
        let above = |least: i64| below(least - 1).negated();
        Ok(match sign {
            "<=" => below(limit),
            "<" => below(limit - 1),
            ">=" => above(limit),
            ">" => above(limit + 1),
            "=" | "==" => Formula::All(vec![below(limit), above(limit)]),
            _ => Formula::Any(vec![below(limit - 1), above(limit + 1)]),
        })
    }

    fn sum(&mut self) -> Read<Sum> {
        let (mut weights, mut constant) = (Vec::new(), 0i64);
        let mut sign = if self.cursor.accept_sign("-") { -1 } else { 1 };
        loop {
            let (word, span) = self.cursor.name("a place or a number")?;
            match self.places.get(word) {
                Some(place) => weights.push((*place, sign)),
                None if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                    let number = sign * self.cursor.count(word, span)? as i64;
                    let times = self.cursor.accept_sign("*");
                    match self.cursor.peek() {
                        // `2 * a`, or `2 a`.
                        (Token::Word(name) | Token::Quoted(name), span)
                            if times || self.places.contains_key(name) =>
                        {
                            self.cursor.next();
                            match self.places.get(name) {
                                Some(place) => weights.push((*place, number)),
                                None => return Err(self.unknown("place", name, span)),
                            }
                        }
                        _ if times => return self.cursor.expected("the name of a place", None),
                        _ => constant += number,
                    }
                }
                None => return Err(self.unknown("place", word, span)),
            }
            sign = match self.cursor.peek().0 {
                Token::Sign("+") => 1,
                Token::Sign("-") => -1,
                _ => return Ok((weights, constant)),
            };
            self.cursor.next();
        }
    }

    fn unknown(&mut self, kind: &str, name: &str, span: Span) -> Reported {
        let few = self.cursor.diagnostics.len() < MOST_HINTS;
        let near = match (few, kind) {
            (true, "place") => nearest(name, self.places.keys().copied()),
            (true, _) => nearest(name, self.transitions.keys().copied()),
            (false, _) => None,
        };
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        self.cursor.error(span, format!("there is no {kind} `{name}`"), hint.as_deref())
    }
}

fn one_or(mut parts: Vec<Formula>, joined: fn(Vec<Formula>) -> Formula) -> Formula {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => joined(parts.into_iter().chain(last).collect()),
    }
}
