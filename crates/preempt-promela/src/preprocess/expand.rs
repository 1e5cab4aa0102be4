//! Macro expansion: a macro's body takes the place of its use, arguments are expanded first, and a macro does not
//! expand within itself.

use std::collections::HashMap;
use std::rc::Rc;

use preempt_core::{Diagnostic, Expansion, ExpansionId, ExpansionKind, SourceId, SourceMap, Span};

use super::{Macro, Preprocessor};
use crate::lexer::lex;
use crate::token::{Punct, Token, TokenKind};

/// How deep macros may expand inside each other, and how deep calls may stand in each other's arguments.
const MAX_DEPTH: usize = 500;
const MAX_ARGUMENT_DEPTH: usize = 100;
/// After so many unclosed calls the rest of the file is not searched for a parenthesis any more.
const MAX_UNCLOSED_CALLS: usize = 20;

/// Where tokens come from: expansions that are still to be rescanned, then the file.
pub struct Feed<'t> {
    frames: Vec<Frame>,
    file: &'t [Token],
    pos: usize,
    /// The next token of the file starts a line because a call before it spanned lines.
    line_break: bool,
}

struct Frame {
    tokens: std::vec::IntoIter<Token>,
    /// Counts as being expanded until the frame is used up.
    expanding: Option<Rc<str>>,
}

impl<'t> Feed<'t> {
    pub fn of_file(file: &'t [Token]) -> Feed<'t> {
        Feed { frames: Vec::new(), file, pos: 0, line_break: false }
    }

    fn of_tokens(tokens: Vec<Token>) -> Feed<'static> {
        let frame = Frame { tokens: tokens.into_iter(), expanding: None };
        Feed { frames: vec![frame], file: &[], pos: 0, line_break: false }
    }

    pub fn file_token(&mut self) -> Option<Token> {
        let mut token = self.file.get(self.pos)?.clone();
        self.pos += 1;
        token.newline |= std::mem::take(&mut self.line_break);
        Some(token)
    }

    pub fn rest_of_line(&mut self) -> &'t [Token] {
        let rest = &self.file[self.pos..];
        let length = rest.iter().position(|token| token.newline).unwrap_or(rest.len());
        self.pos += length;
        &rest[..length]
    }

    /// A token of an expansion, and whether there is one; used-up frames end their macros.
    fn frame_token(&mut self, active: &mut Vec<Rc<str>>) -> Option<Token> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(token) = frame.tokens.next() {
                return Some(token);
            }
            if let Some(name) = self.frames.pop().and_then(|frame| frame.expanding)
                && let Some(at) = active.iter().rposition(|n| *n == name)
            {
                active.remove(at);
            }
        }
        None
    }

    fn token(&mut self, active: &mut Vec<Rc<str>>) -> Option<Token> {
        self.frame_token(active).or_else(|| {
            let next = self.file.get(self.pos)?;
            if next.newline && next.is(Punct::Hash) { None } else { self.file_token() }
        })
    }

    fn next_is_parenthesis(&self) -> bool {
        let in_frames = self.frames.iter().rev().find_map(|frame| frame.tokens.as_slice().first());
        in_frames.or(self.file.get(self.pos)).is_some_and(|token| token.is(Punct::LParen))
    }
}

impl Preprocessor<'_> {
    /// Expands one token and everything that its expansion starts.
    pub(super) fn expand_one(&mut self, token: Token, feed: &mut Feed, out: &mut Vec<Token>) {
        let mut line_break = false;
        let mut next = Some(token);
        while let Some(mut token) = next {
            self.stopped |= self.budget.exhausted().is_some();
            token.newline |= std::mem::take(&mut line_break);
            line_break = self.step(token, feed, out);
            if self.stopped {
                feed.frames.clear();
                return;
            }
            next = feed.frame_token(&mut self.active);
        }
        feed.line_break |= line_break;
    }

    /// Expands or passes on one token; true if it left nothing but its line break.
    fn step(&mut self, mut token: Token, feed: &mut Feed, out: &mut Vec<Token>) -> bool {
        let definition = match &token.kind {
            TokenKind::Ident(name) if !token.painted => self.macros.get(name).cloned(),
            _ => None,
        };
        let Some(definition) = definition else {
            out.push(token);
            return false;
        };
        if self.active.contains(&definition.name) {
            token.painted = true;
            out.push(token);
            return false;
        }
        let mut arguments = Vec::new();
        if definition.parameters.is_some() {
            if !feed.next_is_parenthesis() || self.unclosed_calls >= MAX_UNCLOSED_CALLS {
                out.push(token);
                return false;
            }
            match self.arguments(&token, &definition, feed) {
                Some(found) => arguments = found,
                None => {
                    out.push(token);
                    return false;
                }
            }
        }
        if self.active.len() >= MAX_DEPTH {
            self.stop(Diagnostic::error(token.span, format!("macros are nested more than {MAX_DEPTH} deep")));
            return false;
        }
        let mut tokens = self.substitute(&token, &definition, &arguments);
        if !self.count(tokens.len(), token.span) {
            return false;
        }
        let empty = tokens.is_empty();
        if let Some(first) = tokens.first_mut() {
            first.newline = token.newline;
            first.space = token.space;
        }
        self.active.push(Rc::clone(&definition.name));
        let expanding = Some(Rc::clone(&definition.name));
        feed.frames.push(Frame { tokens: tokens.into_iter(), expanding });
        empty && token.newline
    }

    /// Expands a list of tokens on its own: an argument, or the condition of an `#if`.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut out = Vec::with_capacity(tokens.len());
        let mut feed = Feed::of_tokens(tokens);
        while let Some(token) = feed.frame_token(&mut self.active) {
            self.expand_one(token, &mut feed, &mut out);
            if self.stopped {
                break;
            }
        }
        out
    }

    /// Reads the arguments of a call; `None` (already reported) if there are none to be had.
    fn arguments(&mut self, name: &Token, definition: &Macro, feed: &mut Feed) -> Option<Vec<Vec<Token>>> {
        let start = feed.pos;
        let wanted = definition.parameters.as_ref().map_or(0, Vec::len);
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        let mut line_break = false;
        loop {
            let Some(mut token) = feed.token(&mut self.active) else {
                let message = format!("the arguments of `{}` are never closed", definition.name);
                self.error(
                    Diagnostic::error(name.span, message).label(definition.definition, "defined here"),
                );
                self.unreliable = true;
                self.unclosed_calls += 1;
                feed.pos = start;
                return None;
            };
            line_break |= token.newline;
            token.newline = false;
            match token.kind {
                TokenKind::Punct(Punct::LParen) => {
                    depth += 1;
                    if depth == 1 {
                        continue;
                    }
                }
                TokenKind::Punct(Punct::RParen) => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                TokenKind::Punct(Punct::Comma)
                    if depth == 1 && !(definition.variadic && arguments.len() == wanted) =>
                {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
        feed.line_break |= line_break;
        if definition.variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() != wanted {
            let message = format!(
                "`{}` takes {wanted} argument{}, here are {}",
                definition.name,
                if wanted == 1 { "" } else { "s" },
                arguments.len()
            );
            self.error(Diagnostic::error(name.span, message).label(definition.definition, "defined here"));
            self.unreliable = true;
            arguments.resize(wanted, Vec::new());
        }
        Some(arguments)
    }

    fn substitute(&mut self, call: &Token, definition: &Macro, arguments: &[Vec<Token>]) -> Vec<Token> {
        let id = self.sources.add_expansion(Expansion {
            kind: ExpansionKind::Macro,
            name: definition.name.to_string(),
            call: call.span,
            definition: definition.definition,
        });
        let mut reparent = Reparent { from: call.span.expansion, to: id, known: HashMap::new() };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let parameter = |token: &Token| {
            let name = token.ident()?;
            definition.parameters.as_ref()?.iter().position(|p| p == name)
        };
        let body = &definition.body;
        let mut out: Vec<Token> = Vec::with_capacity(body.len());
        // Whether the next piece is glued to what stands at the end of `out`.
        let mut paste = false;
        // An empty argument leaves nothing to be glued to.
        let mut nothing = false;
        let mut at = 0;
        while at < body.len() {
            let token = &body[at];
            at += 1;
            if token.is(Punct::HashHash) && at > 1 && at < body.len() {
                // GNU's `, ## __VA_ARGS__`: nothing is glued, and the comma goes if there are no arguments.
                let rest = definition.variadic.then(|| arguments.len() - 1);
                if rest.is_some()
                    && parameter(&body[at]) == rest
                    && out.last().is_some_and(|t| t.is(Punct::Comma))
                {
                    if arguments.last().is_some_and(Vec::is_empty) {
                        out.pop();
                    }
                    continue;
                }
                paste = true;
                continue;
            }
            let mut here = token.clone();
            here.span.expansion = id;
            here.newline = false;
            let stringized = (token.is(Punct::Hash) && definition.parameters.is_some())
                .then(|| body.get(at).and_then(parameter))
                .flatten();
            let piece = if let Some(index) = stringized {
                at += 1;
                here.kind = TokenKind::Str(stringize(&self.spelled(&arguments[index])));
                vec![here]
            } else if let Some(index) = parameter(token) {
                let glued = paste || body.get(at).is_some_and(|next| next.is(Punct::HashHash));
                let mut piece = if glued {
                    arguments[index].clone()
                } else {
                    match &expanded[index] {
                        Some(piece) => piece.clone(),
                        None => {
                            let piece = self.expand_argument(call.span, &arguments[index]);
                            expanded[index] = Some(piece.clone());
                            piece
                        }
                    }
                };
                if let Some(first) = piece.first_mut() {
                    first.space = token.space;
                }
                for token in &mut piece {
                    token.span.expansion = reparent.of(self.sources, token.span.expansion);
                }
                piece
            } else {
                vec![here]
            };
            let empty = piece.is_empty();
            let mut piece = piece.into_iter();
            if std::mem::take(&mut paste)
                && !nothing
                && let Some(right) = piece.next()
            {
                match out.pop() {
                    Some(left) => self.paste(left, right, &mut out),
                    None => out.push(right),
                }
            }
            out.extend(piece);
            nothing = empty;
            if !self.count(0, call.span) || out.len() > super::MAX_TOKENS {
                self.count(out.len(), call.span);
                return Vec::new();
            }
        }
        out
    }

    fn expand_argument(&mut self, call: Span, argument: &[Token]) -> Vec<Token> {
        self.argument_depth += 1;
        let expanded = if self.argument_depth > MAX_ARGUMENT_DEPTH {
            let message =
                format!("macro calls stand in each other's arguments more than {MAX_ARGUMENT_DEPTH} deep");
            self.stop(Diagnostic::error(call, message));
            Vec::new()
        } else {
            self.expand_list(argument.to_vec())
        };
        self.argument_depth -= 1;
        self.count(expanded.len(), call);
        expanded
    }

    /// `left ## right`
    fn paste(&mut self, left: Token, right: Token, out: &mut Vec<Token>) {
        let text = format!(
            "{}{}",
            left.kind.spelling(self.sources.text(left.span)),
            right.kind.spelling(self.sources.text(right.span))
        );
        let mut tokens = lex(&text, SourceId(0), self.budget).into_iter();
        match (tokens.next(), tokens.next()) {
            (Some(one), None) if !matches!(one.kind, TokenKind::Bad(_)) => {
                out.push(Token { kind: one.kind, painted: false, ..left });
            }
            _ => {
                self.error(Diagnostic::error(
                    right.span,
                    format!("`##` makes `{text}`, which is not one word"),
                ));
                out.extend([left, right]);
            }
        }
    }
}

fn stringize(text: &str) -> Rc<str> {
    let mut string = String::from("\"");
    // Only what stands in quotes needs escapes; elsewhere a backslash is no token anyway.
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            string.push('\\');
        }
        string.push(c);
    }
    string.push('"');
    Rc::from(string)
}

/// Moves tokens from the text around a call into the call's expansion: what stood directly there now belongs to
/// it, and expansions that happened there get copies which do.
#[derive(Debug)]
pub struct Reparent {
    pub from: ExpansionId,
    pub to: ExpansionId,
    pub known: HashMap<ExpansionId, ExpansionId>,
}

impl Reparent {
    pub fn of(&mut self, sources: &mut SourceMap, id: ExpansionId) -> ExpansionId {
        // Outermost last, so that copies are made from the outside in.
        let mut chain = Vec::new();
        let mut at = id;
        let mut moved = loop {
            if at == self.from || at == ExpansionId::NONE || at == self.to {
                break self.to;
            }
            if let Some(known) = self.known.get(&at) {
                break *known;
            }
            match sources.expansion(at) {
                Some(expansion) => {
                    let outer = expansion.call.expansion;
                    chain.push((at, expansion.clone()));
                    at = outer;
                }
                None => break self.to,
            }
        };
        for (old, mut expansion) in chain.into_iter().rev() {
            expansion.call.expansion = moved;
            moved = sources.add_expansion(expansion);
            self.known.insert(old, moved);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use preempt_core::SourceMap;

    use super::super::tests::run;
    use super::*;

    #[track_caller]
    fn gives(text: &str, expected: &str) {
        assert_eq!(run(text, &[], &[]), (expected.to_string(), Vec::new()));
    }

    #[test]
    fn bodies_replace_names() {
        gives("#define A B + 1\n#define B 2\nA;", "2 + 1 ;");
        gives("#define f(x, y) (x) * y\nf(1 + 2, (3, 4)) f", "( 1 + 2 ) * ( 3 , 4 ) f");
        gives("#define f() 1\nf() f ( ) f", "1 1 f");
        gives("#define g (x)\ng", "( x )");
    }

    #[test]
    fn the_last_parameter_may_take_all_that_is_left() {
        gives("#define f(x, ...) x [__VA_ARGS__]\nf(1, 2, (3, 4)) f(1)", "1 [ 2 , ( 3 , 4 ) ] 1 [ ]");
        gives("#define f(...) <__VA_ARGS__>\nf() f(a; b, c)", "< > < a ; b , c >");
        gives("#define f(all...) #all\nf(1, 2)", "\"1, 2\"");
        gives("#define f(x, ...) x, ## __VA_ARGS__\nf(1) f(1, 2, 3)", "1 1 , 2 , 3");
        assert_eq!(run("#define f(..., x) x\n", &[], &[]).1, ["the parameters of `f` are malformed"]);
    }

    #[test]
    fn a_macro_does_not_expand_within_itself() {
        gives("#define A A + B\n#define B A\nA", "A + A");
        gives("#define f(x) f(x) + x\nf(f(1))", "f ( f ( 1 ) + 1 ) + f ( 1 ) + 1");
        gives("#define foo(x) bar x\nfoo(foo) (2)", "bar foo ( 2 )");
    }

    #[test]
    fn calls_may_come_together_only_after_expansion() {
        gives("#define f(x) [x]\n#define g f\ng(1)", "[ 1 ]");
        gives("#define EMPTY\n#define f(x) <x>\nf EMPTY (1)", "f ( 1 )");
    }

    #[test]
    fn strings_and_pastes() {
        gives("#define s(x) #x\ns(a  + \"b\\n\")", r#""a + \"b\\n\"""#);
        gives(
            "#define cat(a, b) a##b\n#define xy 7\ncat(x, y) cat(1, 2) cat(-, >) cat(,q)\n#define t(a) z a##w\nt()",
            "7 12 -> q\nz w",
        );
    }

    #[test]
    fn line_breaks_are_where_the_call_stood() {
        gives("#define two a; \\\n b\nx\ntwo\ny", "x\na ; b\ny");
        gives("#define f(x) x x\nf(1 +\n 2) y\nz", "1 + 2 1 + 2\ny\nz");
        gives("#define E\nx\nE y", "x\ny");
        gives("#define E\nx\nE\ny", "x\ny");
    }

    #[test]
    fn exponential_macros_are_stopped() {
        let mut text = String::from("#define A0 x x x x x x x x x x\n");
        for i in 1..10 {
            let before = format!("A{}", i - 1);
            text += &format!("#define A{i} {}\n", [before.as_str(); 10].join(" "));
        }
        text += "A9";
        let (_, messages) = run(&text, &[], &[]);
        assert_eq!(messages, ["macros expand to more than four million tokens"]);
        let mut text = String::from("#define f(x) x x\n");
        text += &"f(".repeat(60);
        text += &")".repeat(60);
        assert_eq!(run(&text, &[], &[]).1.len(), 0);
        let text = text.replace("((", "(a(").replace("()", "(x)");
        let _ = run(&text, &[], &[]);
    }

    #[test]
    fn deep_nesting_is_stopped() {
        let text = format!("#define f(x) x\n{}1{}", "f(".repeat(5000), ")".repeat(5000));
        assert_eq!(run(&text, &[], &[]).1.len(), 1);
        let mut text = String::new();
        for i in 0..5000 {
            text += &format!("#define A{} A{i}\n", i + 1);
        }
        assert_eq!(run(&(text + "A5000"), &[], &[]).1, ["macros are nested more than 500 deep"]);
    }

    #[test]
    fn tokens_know_the_macros_they_came_from() {
        let mut sources = SourceMap::new();
        let mut read = |_: &str| Err(String::new());
        let budget = preempt_core::Budget::unlimited();
        let mut pre = Preprocessor::new(&mut sources, Default::default(), &mut read, &budget);
        pre.text("a", "#define ONE 1\n#define inc(x) x + ONE\n  inc(n * ONE)\n");
        let out = std::mem::take(&mut pre.output);
        let names = |mut id: ExpansionId| {
            let mut names = Vec::new();
            while let Some(expansion) = pre.sources.expansion(id) {
                names.push(expansion.name.clone());
                id = expansion.call.expansion;
            }
            names.join("<")
        };
        let chains: Vec<_> = out.iter().map(|t| names(t.span.expansion)).collect();
        assert_eq!(chains, ["inc", "inc", "ONE<inc", "inc", "ONE<inc"]);
        assert_eq!(pre.sources.text(out[0].span), "n");
        assert_eq!(pre.sources.text(out[2].span), "1");
        for token in &out {
            assert_eq!(pre.sources.location(token.span).to_string(), "a:3:3");
        }
    }
}
