//! Lines that start with `#`.

use std::rc::Rc;

use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, SourceId, Span};

use super::{MAX_INCLUDES, Macro, Preprocessor};
use crate::token::{Punct, Token, TokenKind};

/// An open `#if`.
pub struct Condition {
    pub span: Span,
    pub word: &'static str,
    /// The lines here count.
    pub taking: bool,
    /// A branch was taken, so no other will be.
    taken: bool,
    /// Whether the lines around count.
    outer: bool,
    closed: bool,
}

pub const DIRECTIVES: &[&str] = &[
    "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "line", "error",
    "warning", "pragma", "ident",
];

impl Preprocessor<'_> {
    pub(super) fn directive(
        &mut self,
        hash: &Token,
        line: &[Token],
        source: SourceId,
        conditions: &mut Vec<Condition>,
    ) {
        let taking = conditions.last().is_none_or(|c| c.taking);
        let Some(first) = line.first() else { return };
        let span = hash.span.to(first.span);
        let rest = &line[1..];
        let word = match &first.kind {
            TokenKind::Ident(word) => Rc::clone(word),
            // `# 12 "file"` marks of a text that was already preprocessed.
            TokenKind::Number(_) => return,
            _ if !taking => return,
            _ => {
                self.error(Diagnostic::error(span, "a directive's name must follow `#`"));
                return;
            }
        };
        match &*word {
            "if" => {
                let value = taking && self.condition(span, "if", rest);
                conditions.push(Condition::open(span, "if", value, taking));
            }
            "ifdef" | "ifndef" => {
                let name: &'static str = if &*word == "ifdef" { "ifdef" } else { "ifndef" };
                let defined = rest.first().and_then(Token::ident).map(|n| self.macros.contains_key(n));
                if defined.is_none() && taking {
                    self.error(Diagnostic::error(span, format!("`#{name}` needs a name")));
                }
                let value = taking && defined == Some(name == "ifdef");
                conditions.push(Condition::open(span, name, value, taking));
            }
            "elif" | "else" | "endif" => self.branch(&word, span, rest, conditions),
            _ if !taking => {}
            "define" => self.define(span, rest),
            "undef" => match rest.first().and_then(Token::ident) {
                Some(name) => {
                    self.macros.remove(name);
                }
                None => self.error(Diagnostic::error(span, "`#undef` needs a name")),
            },
            "include" => self.include(span, rest, source),
            "error" | "warning" => {
                let message = format!("#{word} {}", self.spelled(rest));
                let span = rest.iter().fold(span, |all, token| all.to(token.span));
                if &*word == "error" {
                    self.unreliable = true;
                    self.error(Diagnostic::error(span, message.trim_end()));
                } else {
                    self.error(Diagnostic::warning(span, message.trim_end()));
                }
            }
            "line" | "pragma" | "ident" => {}
            _ => {
                let mut error = Diagnostic::error(span, format!("unknown directive `#{word}`"));
                if let Some(near) = nearest(&word, DIRECTIVES.iter().copied()) {
                    error = error.hint(format!("did you mean `#{near}`?"));
                }
                self.error(error);
            }
        }
    }

    fn branch(&mut self, word: &str, span: Span, rest: &[Token], conditions: &mut Vec<Condition>) {
        let Some(mut open) = conditions.pop() else {
            self.error(Diagnostic::error(span, format!("`#{word}` without `#if`")));
            return;
        };
        if word == "endif" {
            return;
        }
        if open.closed {
            let message = if word == "else" { "a second `#else`" } else { "`#elif` after `#else`" };
            self.error(Diagnostic::error(span, message).label(open.span, "of this condition"));
        }
        let value = if word == "else" {
            open.closed = true;
            true
        } else {
            open.outer && !open.taken && self.condition(span, "elif", rest)
        };
        open.taking = open.outer && !open.taken && value;
        open.taken |= open.taking;
        conditions.push(open);
    }

    fn define(&mut self, span: Span, rest: &[Token]) {
        let Some((first, mut body)) = rest.split_first() else {
            self.error(Diagnostic::error(span, "`#define` needs a name"));
            return;
        };
        let Some(name) = first.ident() else {
            self.error(Diagnostic::error(first.span, "`#define` needs a name"));
            return;
        };
        let mut parameters = None;
        let mut variadic = false;
        if body.first().is_some_and(|t| t.is(Punct::LParen) && !t.space) {
            let Some((names, rest)) = macro_parameters(&body[1..], &mut variadic) else {
                self.error(
                    Diagnostic::error(first.span, format!("the parameters of `{name}` are malformed"))
                        .hint("write the names between commas and close them: #define f(a, b) ..."),
                );
                return;
            };
            parameters = Some(names);
            body = rest;
        }
        if parameters.is_none()
            && let [assign, _, ..] = body
            && assign.is(Punct::Assign)
        {
            self.error(Diagnostic::warning(assign.span, format!("the `=` becomes a part of `{name}`")).hint(
                format!("a macro is defined without `=`: #define {name} {}", self.spelled(&body[1..])),
            ));
        }
        if parameters.is_none()
            && let [_, .., last] = body
            && last.is(Punct::Semi)
            && !body.iter().any(|t| t.is(Punct::LBrace) || t.is(Punct::Assign) || t.is(Punct::Inc))
            && body[..body.len() - 1].iter().all(|t| !t.is(Punct::Semi) && !t.is(Punct::Arrow))
        {
            self.error(
                Diagnostic::warning(last.span, format!("the `;` becomes a part of `{name}`"))
                    .hint("a macro's text ends with its line; leave the `;` out"),
            );
        }
        let definition = Macro {
            name: Rc::clone(name),
            definition: first.span,
            parameters,
            variadic,
            body: body.to_vec(),
        };
        if let Some(before) = self.macros.get(name)
            && !same_meaning(before, &definition)
        {
            self.error(
                Diagnostic::warning(first.span, format!("`{name}` is defined again with another meaning"))
                    .label(before.definition, "first defined here"),
            );
        }
        self.macros.insert(Rc::clone(name), Rc::new(definition));
    }

    fn include(&mut self, span: Span, rest: &[Token], source: SourceId) {
        let path = match rest.first().map(|token| (&token.kind, token.span)) {
            Some((TokenKind::Str(spelling), _)) => spelling.trim_matches('"').to_string(),
            Some((TokenKind::Punct(Punct::Lt), _)) => {
                let span = rest.iter().fold(span, |all, token| all.to(token.span));
                self.unreliable = true;
                let message = "`#include <...>` cannot be used: there are no system headers";
                self.error(
                    Diagnostic::error(span, message).hint("include a file of your own: #include \"name.h\""),
                );
                return;
            }
            _ => {
                self.error(
                    Diagnostic::error(span, "`#include` needs a file name")
                        .hint("write it in quotes: #include \"name.h\""),
                );
                return;
            }
        };
        let span = rest.first().map_or(span, |token| token.span);
        if self.includes >= MAX_INCLUDES {
            self.stop(
                Diagnostic::error(span, format!("files include each other more than {MAX_INCLUDES} deep"))
                    .hint("does a file include itself?"),
            );
            return;
        }
        let path = beside(&self.sources.source(source).name, &path);
        match (self.read)(&path) {
            Ok(text) => {
                self.includes += 1;
                self.text(&path, &text);
                self.includes -= 1;
            }
            Err(reason) => {
                self.unreliable = true;
                self.error(Diagnostic::error(span, format!("cannot read `{path}`: {reason}")));
            }
        }
    }

    pub(super) fn spelled(&self, tokens: &[Token]) -> String {
        let mut text = String::new();
        for token in tokens {
            if token.space && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(token.kind.spelling(self.sources.text(token.span)));
        }
        text
    }
}

impl Condition {
    fn open(span: Span, word: &'static str, value: bool, outer: bool) -> Condition {
        Condition { span, word, taking: value, taken: value, outer, closed: false }
    }
}

/// The names up to the closing parenthesis, and what follows it. `...` and `name...` stand for all that is left.
fn macro_parameters<'t>(tokens: &'t [Token], variadic: &mut bool) -> Option<(Vec<Rc<str>>, &'t [Token])> {
    let mut names = Vec::new();
    if tokens.first()?.is(Punct::RParen) {
        return Some((names, &tokens[1..]));
    }
    let mut at = 0;
    loop {
        // Three dots are read as `..` and `.`.
        let dots = |at: usize| tokens.get(at).is_some_and(|token| token.is(Punct::DotDot));
        let named = usize::from(!dots(at));
        *variadic = dots(at + named);
        if *variadic {
            names.push(if named == 1 { Rc::clone(tokens.get(at)?.ident()?) } else { "__VA_ARGS__".into() });
            let closed =
                tokens.get(at + named + 1)?.is(Punct::Dot) && tokens.get(at + named + 2)?.is(Punct::RParen);
            return closed.then(|| (names, &tokens[at + named + 3..]));
        }
        names.push(Rc::clone(tokens.get(at)?.ident()?));
        let next = tokens.get(at + 1)?;
        if next.is(Punct::RParen) {
            return Some((names, &tokens[at + 2..]));
        }
        if !next.is(Punct::Comma) {
            return None;
        }
        at += 2;
    }
}

fn same_meaning(a: &Macro, b: &Macro) -> bool {
    a.parameters == b.parameters
        && a.variadic == b.variadic
        && a.body.len() == b.body.len()
        && a.body.iter().zip(&b.body).all(|(x, y)| x.kind == y.kind)
}

/// The path of a file named in another file, which stands in the same folder unless it says otherwise.
fn beside(including: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_string();
    }
    match including.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{path}"),
        None => path.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_beside_the_including_file() {
        assert_eq!(beside("a.pml", "b.h"), "b.h");
        assert_eq!(beside("x/y/a.pml", "../b.h"), "x/y/../b.h");
        assert_eq!(beside("x/a.pml", "/b.h"), "/b.h");
    }

    #[test]
    fn suspicious_definitions_are_warned_about() {
        use preempt_core::SourceMap;
        let mut sources = SourceMap::new();
        let mut read = |_: &str| Err(String::new());
        let budget = preempt_core::Budget::unlimited();
        let mut pre = Preprocessor::new(&mut sources, Default::default(), &mut read, &budget);
        pre.text("a", "#define N = 3\n#define M 4;\n#define M 5\n#define M 5\n#define DO x = 1;\n");
        let messages: Vec<_> = pre.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the `=` becomes a part of `N`",
                "the `;` becomes a part of `M`",
                "`M` is defined again with another meaning"
            ]
        );
    }
}
