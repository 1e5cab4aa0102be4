//! The body of a macro with its arguments in it: parameters, `#` and `##`.

use std::collections::HashMap;
use std::rc::Rc;

use preempt_core::{Diagnostic, Expansion, ExpansionKind, SourceId, Span};

use super::reparent::Reparent;
use super::{Macro, Preprocessor};
use crate::lexer::lex;
use crate::token::{Punct, Token, TokenKind};

/// How deep calls may stand in each other's arguments.
const MAX_ARGUMENT_DEPTH: usize = 100;

impl Preprocessor<'_> {
    pub(super) fn substitute(
        &mut self,
        call: &Token,
        definition: &Macro,
        arguments: &[Vec<Token>],
    ) -> Vec<Token> {
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
