//! Macro expansion: a macro's body takes the place of its use, arguments are expanded first, and a macro does not
//! expand within itself.

use std::rc::Rc;

use preempt_core::Diagnostic;

use super::feed::{Feed, Frame};
use super::{Macro, Preprocessor};
use crate::token::{Punct, Token, TokenKind};

/// How deep macros may expand inside each other.
const MAX_DEPTH: usize = 500;
/// After so many unclosed calls the rest of the file is not searched for a parenthesis any more.
const MAX_UNCLOSED_CALLS: usize = 20;

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
}

#[cfg(test)]
mod tests {
    use preempt_core::SourceMap;

    use super::super::tests::run;
    use super::*;
    use preempt_core::ExpansionId;

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
