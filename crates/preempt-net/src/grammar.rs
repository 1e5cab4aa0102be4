//! Context-free grammars as well-structured systems (Bingham and Hu 2005, paper 004, section 3): a state is a sentential form,
//! a word of terminals and nonterminals, and a step replaces one nonterminal. A word lies below another if it is a subword, and
//! its weight is its length. What is asked is whether a word can be derived that has one of the given words as a subword.
//!
//! `.grammar`:
//!
//! ```text
//! start S
//! S -> a S b | S S | eps        # a letter that has a rule is a nonterminal
//! bad b a
//! ```

use crate::channels::subword;
use crate::scan::{Cursor, Items, Lexis, Read, Token};
use crate::wsts::WellStructured;
use foldhash::{HashMap, HashMapExt};
use preempt_core::{Budget, Diagnostic, SourceId, Span};

/// A letter, by its number.
pub type Letter = u32;

/// Letters, rules, where derivations begin, and what must not be derived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grammar {
    /// Their names.
    pub letters: Vec<String>,
    /// A letter becomes a word.
    pub rules: Vec<(Letter, Vec<Letter>)>,
    /// Where each rule is written.
    pub spans: Vec<Span>,
    /// What a derivation begins with.
    pub start: Letter,
    /// No word that is derived has one of these as a subword.
    pub bad: Vec<Vec<Letter>>,
}

const LEXIS: Lexis = Lexis {
    quotes: &[('"', '"')],
    in_word: |letter| letter.is_alphanumeric() || "_'".contains(letter),
    signs: &["->", "|"],
    lines: true,
    ..Lexis::PLAIN
};

/// Reads a grammar. It is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::grammar;
///
/// let text = "start S\nS -> a S b | eps\nbad b a";
/// let (grammar, mistakes) = grammar::read_within(SourceMap::new().add("x.grammar", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!((grammar.rules.len(), grammar.bad.len()), (2, 1));
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Grammar, Vec<Diagnostic>) {
    let cursor = Cursor::new(source, text, &LEXIS);
    let mut reader = Reader { cursor, grammar: Grammar::default(), index: HashMap::new(), start: None };
    reader.read_items(budget);
    let Reader { cursor: Cursor { mut diagnostics, .. }, mut grammar, start, .. } = reader;
    let missing = match (start, grammar.bad.is_empty()) {
        (None, _) => Some(("it is not said what a derivation begins with", "as in `start S`")),
        (_, true) => Some(("nothing is bad in this file", "say what must not be derived, as in `bad b a`")),
        _ => None,
    };
    grammar.start = start.unwrap_or(0);
    if let (Some((message, hint)), true) = (missing, diagnostics.is_empty()) {
        diagnostics.push(Diagnostic::global_error(message).hint(hint));
    }
    (grammar, diagnostics)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    grammar: Grammar,
    index: HashMap<&'a str, Letter>,
    start: Option<Letter>,
}

impl<'a> Items<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        token == Token::Line
    }

    fn item(&mut self) -> Read<()> {
        if self.cursor.accept(Token::Line) {
            return Ok(());
        }
        let start = self.cursor.peek().1;
        let arrow = self.cursor.second() == Token::Sign("->");
        if !arrow && self.cursor.accept_word("start") {
            let (name, span) = self.cursor.name("a letter")?;
            let letter = self.letter(name);
            if self.start.replace(letter).is_some() {
                return Err(self.cursor.error(span, "there is a start already", None));
            }
        } else if !arrow && self.cursor.accept_word("bad") {
            let word = self.word();
            self.grammar.bad.push(word);
        } else {
            let (name, _) = self.cursor.name("a letter, `start` or `bad`")?;
            let from = self.letter(name);
            self.cursor.need_sign("->", Some("a rule is written `S -> a S b | eps`"))?;
            loop {
                let word = self.word();
                self.grammar.rules.push((from, word));
                self.grammar.spans.push(start.to(self.cursor.last()));
                if !self.cursor.accept_sign("|") {
                    break;
                }
            }
        }
        self.cursor.end_of_line()
    }
}

impl<'a> Reader<'a> {
    fn letter(&mut self, name: &'a str) -> Letter {
        let letters = &mut self.grammar.letters;
        *self.index.entry(name).or_insert_with(|| {
            letters.push(name.to_string());
            letters.len() as Letter - 1
        })
    }

    fn word(&mut self) -> Vec<Letter> {
        let mut word = Vec::new();
        while let (Token::Word(name) | Token::Quoted(name), _) = self.cursor.peek() {
            self.cursor.next();
            if name != "eps" {
                let letter = self.letter(name);
                word.push(letter);
            }
        }
        word
    }
}

impl Grammar {
    /// The letters with spaces between them; `eps` for none.
    pub fn show(&self, word: &[Letter]) -> String {
        let name = |letter: &Letter| self.letters.get(*letter as usize).map_or("?", String::as_str);
        match word.is_empty() {
            true => "eps".into(),
            false => word.iter().map(name).collect::<Vec<_>>().join(" "),
        }
    }

    /// The rules that no derivation uses: what they replace is in no word that comes from the start.
    pub fn unused_rules(&self) -> Vec<usize> {
        let mut occurs = vec![false; self.letters.len()];
        let mut waiting = vec![self.start];
        while let Some(letter) = waiting.pop() {
            if occurs.get(letter as usize) != Some(&false) {
                continue;
            }
            occurs[letter as usize] = true;
            let rules = self.rules.iter().filter(|(from, _)| *from == letter);
            waiting.extend(rules.flat_map(|(_, to)| to));
        }
        let is_unused = |rule: &usize| !occurs[self.rules[*rule].0 as usize];
        (0..self.rules.len()).filter(is_unused).collect()
    }

    /// Every word that comes from replacing one letter by the rule.
    pub fn replaced(&self, word: &[Letter], rule: usize) -> Vec<Vec<Letter>> {
        let Some((from, to)) = self.rules.get(rule) else { return Vec::new() };
        let at = (0..word.len()).filter(|at| word[*at] == *from);
        at.map(|at| [&word[..at], to.as_slice(), &word[at + 1..]].concat()).collect()
    }
}

impl WellStructured for Grammar {
    type State = Vec<Letter>;
    type Rule = usize;

    fn below(&self, small: &Vec<Letter>, large: &Vec<Letter>) -> bool {
        subword(small, large)
    }

    fn weight(&self, state: &Vec<Letter>) -> u64 {
        state.len() as u64
    }

    fn rules(&self) -> Vec<usize> {
        (0..self.rules.len()).collect()
    }

    fn fire(&self, state: &Vec<Letter>, rule: &usize) -> Vec<Vec<Letter>> {
        self.replaced(state, *rule)
    }

    /// A factor of the word, perhaps an empty one, that is a subword of what the rule writes, comes from the letter that it
    /// replaces. Longer factors give smaller words, and all that are not the word itself with a letter added are given.
    fn predecessor_basis(&self, state: &Vec<Letter>, rule: &usize) -> Vec<Vec<Letter>> {
        let (from, to) = &self.rules[*rule];
        let mut found: Vec<Vec<Letter>> = Vec::new();
        for begin in 0..state.len() {
            for end in begin + 1..=state.len() {
                if !subword(&state[begin..end], to) {
                    break;
                }
                found.push([&state[..begin], &[*from], &state[end..]].concat());
            }
        }
        found
    }

    fn lift(&self, state: &Vec<Letter>) -> Vec<Vec<Letter>> {
        let mut above = Vec::new();
        for letter in 0..self.letters.len() as Letter {
            for at in 0..=state.len() {
                let mut more = state.clone();
                more.insert(at, letter);
                above.push(more);
            }
        }
        above
    }

    /// The letter that is replaced, and what it becomes, beside what the word has of it already.
    fn deflation(&self) -> Option<u64> {
        Some(self.rules.iter().map(|(_, to)| (to.len() as u64).saturating_sub(1)).max().unwrap_or(0))
    }

    fn respects_weight(&self) -> bool {
        true
    }
}
