//! From tokens to a file: recursive descent. After a mistake it goes on with the next rule or item.

use super::lexer::{Kind, Token, lex};
use super::{PdsFile, PdsRule, PdsThread};
use crate::system::Word;
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, SourceId, Span};
use std::collections::HashMap;

/// The mistake has been reported.
struct Reported;

const WORDS: [&str; 4] = ["states", "symbols", "error", "thread"];
/// A model has no more codes than this, and two of them for every thread.
const MOST_THREADS: usize = 250;
/// More mistakes do not help anybody.
const MOST_ERRORS: usize = 100;

/// The file is whole only if none of the diagnostics is an error.
pub fn parse(text: &str, source: SourceId) -> (PdsFile, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(text, source);
    let end = Span::new(source, text.len() as u32, text.len() as u32);
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        diagnostics,
        file: PdsFile::default(),
        states: Names::new("state"),
        symbols: Names::new("symbol"),
        alone: None,
        loose: Vec::new(),
    };
    while parser.at < parser.tokens.len() && parser.diagnostics.len() < MOST_ERRORS {
        if parser.item().is_err() {
            parser.skip();
        }
    }
    parser.finish()
}

/// Names of one kind, by their numbers.
struct Names {
    what: &'static str,
    all: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Other names are mistakes.
    declared: bool,
}

impl Names {
    fn new(what: &'static str) -> Names {
        Names { what, all: Vec::new(), numbers: HashMap::new(), declared: false }
    }

    fn number(&mut self, name: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.declared {
            let what = self.what;
            let error = Diagnostic::error(span, format!("the {what} `{name}` is not declared"));
            diagnostics.push(match nearest(name, self.all.iter().map(String::as_str)) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("add it after `{what}s`")),
            });
        }
        self.add(name)
    }

    fn add(&mut self, name: &str) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: Span,
    diagnostics: Vec<Diagnostic>,
    file: PdsFile,
    states: Names,
    symbols: Names,
    /// The configuration that a file without threads begins with.
    alone: Option<((u32, Vec<u32>), Span)>,
    /// Rules outside of threads.
    loose: Vec<PdsRule>,
}

impl Parser {
    fn error(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Reported {
        self.diagnostics.push(Diagnostic::error(span, message).hint(hint));
        Reported
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token { kind: Kind::Sign(here), .. }) if *here == sign)
    }

    fn word(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some(Token { kind: Kind::Name(name), .. }) => Some(name),
            _ => None,
        }
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end of the file".into(),
            Some(Token { kind: Kind::Name(name), .. }) => format!("`{name}`"),
            Some(Token { kind: Kind::Text, .. }) => "a label".into(),
            Some(Token { kind: Kind::Sign(sign), .. }) => format!("`{sign}`"),
        }
    }

    fn expect(&mut self, sign: &'static str, hint: &str) -> Result<Span, Reported> {
        let span = self.here();
        if self.is(sign) {
            self.at += 1;
            return Ok(span);
        }
        let message = format!("expected `{sign}`, found {}", self.found());
        Err(self.error(span, message, hint))
    }

    fn name(&mut self, what: &str, hint: &str) -> Result<(String, Span), Reported> {
        let span = self.here();
        match self.word().map(str::to_string) {
            Some(name) if !WORDS.contains(&name.as_str()) => {
                self.at += 1;
                Ok((name, span))
            }
            Some(name) => {
                let message = format!("expected {what}, found the word `{name}`");
                Err(self.error(span, message, "states, symbols, error and thread are no names"))
            }
            None => {
                let message = format!("expected {what}, found {}", self.found());
                Err(self.error(span, message, hint))
            }
        }
    }

    fn state(&mut self, hint: &str) -> Result<u32, Reported> {
        let (name, span) = self.name("a state", hint)?;
        Ok(self.states.number(&name, span, &mut self.diagnostics))
    }

    fn symbol(&mut self, hint: &str) -> Result<u32, Reported> {
        let (name, span) = self.name("a symbol of the stack", hint)?;
        Ok(self.symbols.number(&name, span, &mut self.diagnostics))
    }

    /// To where another item may begin.
    fn skip(&mut self) {
        self.at += 1;
        while let Some(token) = self.tokens.get(self.at) {
            let starts = match &token.kind {
                Kind::Sign(sign) => *sign == "(",
                Kind::Name(name) => {
                    WORDS.contains(&name.as_str())
                        || matches!(self.tokens.get(self.at + 3), Some(Token { kind: Kind::Sign(">"), .. }))
                            && matches!(
                                self.tokens.get(self.at + 1),
                                Some(Token { kind: Kind::Sign("<"), .. })
                            )
                            && matches!(
                                self.tokens.get(self.at + 4),
                                Some(Token { kind: Kind::Sign("-->"), .. })
                            )
                }
                Kind::Text => false,
            };
            if starts {
                return;
            }
            self.at += 1;
        }
    }

    fn item(&mut self) -> Result<(), Reported> {
        match self.word() {
            Some("states") => self.declarations(true),
            Some("symbols") => self.declarations(false),
            Some("error") => self.target(),
            Some("thread") => self.thread(),
            _ if self.is("(") => {
                let span = self.here();
                let start = self.start()?;
                if self.alone.is_some() {
                    let hint = "several systems are written `thread name (p <e>) { ... }`";
                    return Err(self.error(span, "a second configuration to begin with", hint));
                }
                self.alone = Some((start, span));
                Ok(())
            }
            Some(_) => {
                let rule = self.rule()?;
                self.loose.push(rule);
                Ok(())
            }
            None => {
                let message = format!("expected a rule, found {}", self.found());
                Err(self.error(self.here(), message, "a rule is written `p <g> --> q <a b>`"))
            }
        }
    }

    fn declarations(&mut self, states: bool) -> Result<(), Reported> {
        self.at += 1;
        let mut count = 0;
        while !self.is(";") {
            let hint = "the names end with `;`";
            let (name, span) = self.name(if states { "a state" } else { "a symbol" }, hint)?;
            let names = if states { &mut self.states } else { &mut self.symbols };
            let known = names.numbers.contains_key(&name);
            let twice = known && names.declared;
            names.declared = true;
            if !known {
                names.add(&name);
            }
            if twice {
                self.error(span, format!("`{name}` is declared twice"), "once is enough");
            }
            count += 1;
            if self.is(",") {
                self.at += 1;
            }
        }
        let span = self.here();
        self.at += 1;
        if count == 0 {
            return Err(self.error(span, "no name is declared", "write them before the `;`"));
        }
        Ok(())
    }

    fn target(&mut self) -> Result<(), Reported> {
        let span = self.here();
        self.at += 1;
        let hint = "an error is a state, as in `error q`, or a state with a top, as in `error q <g>`";
        let state = self.state(hint)?;
        let mut symbol = None;
        if self.is("<") {
            self.at += 1;
            symbol = Some(self.symbol(hint)?);
            self.expect(">", "only the top of the stack is looked at")?;
        }
        if self.is(";") {
            self.at += 1;
        }
        self.file.errors.push((state, symbol, span));
        Ok(())
    }

    fn start(&mut self) -> Result<(u32, Vec<u32>), Reported> {
        let hint = "a system begins with a configuration, as in `(p <e>)`";
        self.expect("(", hint)?;
        let state = self.state(hint)?;
        self.expect("<", hint)?;
        let mut stack = Vec::new();
        while !self.is(">") {
            stack.push(self.symbol(hint)?);
        }
        let span = self.here();
        self.at += 1;
        self.expect(")", hint)?;
        if stack.is_empty() {
            return Err(self.error(span, "the stack is empty", "without a symbol no rule can be applied"));
        }
        Ok((state, stack))
    }

    fn thread(&mut self) -> Result<(), Reported> {
        let span = self.here();
        self.at += 1;
        let (name, place) = self.name("the name of the thread", "as in `thread reader (p <e>) { ... }`")?;
        if self.file.threads.iter().any(|thread| thread.name == name) {
            self.error(place, format!("there are two threads `{name}`"), "give them different names");
        }
        if self.file.threads.len() >= MOST_THREADS {
            return Err(self.error(place, format!("more than {MOST_THREADS} threads"), "leave some out"));
        }
        let start = self.start()?;
        self.expect("{", "the rules of a thread stand in braces")?;
        let mut rules = Vec::new();
        while !self.is("}") && self.at < self.tokens.len() {
            rules.push(self.rule()?);
        }
        self.expect("}", "the thread's rules end here; close them")?;
        self.file.threads.push(PdsThread { name, start, rules, span });
        Ok(())
    }

    fn rule(&mut self) -> Result<PdsRule, Reported> {
        let hint = "a rule is written `p <g> --> q <a b>`";
        let first = self.here();
        let state = self.state(hint)?;
        self.expect("<", hint)?;
        let symbol = self.symbol(hint)?;
        self.expect(">", "a rule looks at one symbol, the top of the stack")?;
        self.expect("-->", hint)?;
        let to = self.state(hint)?;
        self.expect("<", hint)?;
        let mut symbols = Vec::new();
        let begin = self.here();
        while !self.is(">") {
            symbols.push(self.symbol(hint)?);
        }
        let mut last = self.here();
        self.at += 1;
        let word = match symbols.as_slice() {
            [] => Word::Pop,
            [only] => Word::Step(*only),
            [top, below] => Word::Push(*top, *below),
            more => {
                let message =
                    format!("a rule puts at most two symbols on the stack, and this has {}", more.len());
                let hint = "push them one after the other, with a symbol of its own in between";
                return Err(self.error(begin, message, hint));
            }
        };
        if let Some(Token { kind: Kind::Text, span }) = self.tokens.get(self.at) {
            last = *span;
            self.at += 1;
        }
        if self.is(";") {
            self.at += 1;
        }
        let span = Span::new(first.source, first.start, last.end);
        Ok(PdsRule { from: (state, symbol), to, word, span })
    }

    /// An error in a state that no rule leads to is most often a name that was misspelt.
    fn errors_out_of_reach(&mut self) {
        let known: Vec<u32> = self
            .file
            .threads
            .iter()
            .flat_map(|thread| thread.rules.iter().map(|rule| rule.to).chain([thread.start.0]))
            .collect();
        for &(state, _, span) in self.file.errors.iter().filter(|(state, ..)| !known.contains(state)) {
            let name = &self.states.all[state as usize];
            let warning = Diagnostic::warning(span, format!("no rule leads to the state `{name}`"));
            let names = known.iter().map(|state| self.states.all[*state as usize].as_str());
            self.diagnostics.push(match nearest(name, names) {
                Some(near) => warning.hint(format!("did you mean `{near}`?")),
                None => warning.hint("so that this error is never reached"),
            });
        }
    }

    fn finish(mut self) -> (PdsFile, Vec<Diagnostic>) {
        let sound = !self.diagnostics.iter().any(Diagnostic::is_error);
        let in_threads = !self.file.threads.is_empty();
        match (self.alone.take(), in_threads) {
            (Some((start, span)), false) => {
                let rules = std::mem::take(&mut self.loose);
                self.file.threads.push(PdsThread { name: "main".into(), start, rules, span });
            }
            (None, true) => {}
            (Some((_, span)), true) => {
                let hint = "a file has either threads, or one configuration and rules";
                self.error(span, "a configuration outside of the threads", hint);
            }
            (None, false) if sound => {
                let span = self.loose.first().map_or(self.end, |rule| rule.span);
                self.error(span, "nothing says where the system begins", "add it, as in `(p <e>)`");
            }
            (None, false) => {}
        }
        if let Some(rule) = self.loose.first().filter(|_| sound && in_threads) {
            let span = rule.span;
            self.error(span, "a rule outside of the threads", "put it into the braces of one");
        }
        if let [first, others @ ..] = self.file.threads.as_slice()
            && let Some(other) = others.iter().find(|other| other.start.0 != first.start.0)
        {
            let name = &self.states.all[first.start.0 as usize];
            let message = format!("the threads share one state, and `{}` begins with `{name}`", first.name);
            let error = Diagnostic::error(other.span, message).label(first.span, "it begins here");
            self.diagnostics.push(error.hint("let all of them begin with the same state"));
        }
        if sound {
            self.errors_out_of_reach();
        }
        if sound && self.file.errors.is_empty() {
            let mut warning = Diagnostic::warning(self.end, "nothing in this file is an error");
            warning.span = None;
            self.diagnostics.push(warning.hint("say what must not be reached, as in `error q <g>`"));
        }
        self.file.states = self.states.all;
        self.file.symbols = self.symbols.all;
        self.diagnostics.sort_by_key(|it| it.span.map_or(u32::MAX, |span| span.start));
        (self.file, self.diagnostics)
    }
}
