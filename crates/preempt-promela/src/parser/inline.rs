//! Inlines: their text takes the place of a call, with the arguments' text in place of the parameters.

use std::collections::HashMap;
use std::rc::Rc;

use preempt_core::{Diagnostic, Expansion, ExpansionId, ExpansionKind, Span};

use super::cursor::Kind;
use super::{Call, Parse, Parser};
use crate::ast::{Name, StmtKind, VarRef};
use crate::preprocess::Reparent;
use crate::token::{Punct, Token};

/// More than any model has; beyond it inlines are blowing up.
const MAX_INLINED: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Inline {
    pub name: Name,
    pub parameters: Vec<Rc<str>>,
    /// With its braces.
    pub body: Vec<Token>,
}

impl Parser<'_> {
    /// `inline f(a, b) { ... }`: the body is kept as it is and read at every call.
    pub(super) fn inline_definition(&mut self) -> Parse<()> {
        self.bump();
        let name = self.name("the inline's name")?;
        let key: Rc<str> = Rc::from(name.text.as_str());
        if !self.at(Punct::LParen) {
            return Err(self.unexpected_with("`(` after the inline's name", |error| {
                error.hint("an inline without parameters is written `inline f() { ... }`")
            }));
        }
        let open = self.bump();
        let mut parameters: Vec<Rc<str>> = Vec::new();
        while !self.at(Punct::RParen) {
            if self.at_declaration() && self.raw(1) == Kind::Ident {
                return Err(self.typed_inline_parameter());
            }
            let parameter = self.name("a parameter's name")?;
            let text: Rc<str> = Rc::from(parameter.text.as_str());
            if parameters.contains(&text) {
                let message = format!("the parameter `{text}` appears twice");
                self.push(Diagnostic::error(parameter.span, message));
            }
            parameters.push(text);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_close(Punct::RParen, open)?;
        if !self.at(Punct::LBrace) {
            return Err(self.missing_body(&format!("the inline `{}`", name.text)));
        }
        let start = self.pos;
        let brace = self.span();
        if !self.skip_braces() {
            self.missing_brace(&format!("the inline `{}`", name.text), name.span, brace);
        }
        let body = self.stream[start..self.pos].to_vec();
        if let Some(before) = self.inlines.get(&key) {
            let first = before.name.span;
            self.push(
                Diagnostic::error(name.span, format!("the inline `{key}` is defined twice"))
                    .label(first, "first defined here"),
            );
        }
        self.inlines.insert(key, Rc::new(Inline { name, parameters, body }));
        Ok(())
    }

    pub(super) fn at_inline_call(&self) -> bool {
        self.raw(1) == Kind::P(Punct::LParen)
            && self.ident().is_some_and(|name| self.inlines.contains_key(&name))
    }

    /// `f(a, b)`, or the right side of `x = f(a, b)`.
    pub(super) fn inline_call(&mut self, target: Option<VarRef>) -> Parse<StmtKind> {
        let name = self.name("an inline")?;
        let Some(inline) = self.inlines.get(name.text.as_str()).cloned() else {
            return Err(self.unexpected("an inline"));
        };
        let arguments = self.inline_arguments()?;
        let span = name.span.to(self.previous_span);
        self.check_call(&inline, &arguments, span)?;
        let id = self.sources.add_expansion(Expansion {
            kind: ExpansionKind::Inline,
            name: name.text.clone(),
            call: span,
            definition: inline.name.span,
        });
        if self.inlined > MAX_INLINED {
            return Ok(StmtKind::Block { body: Vec::new(), inline: Some(name) });
        }
        let tokens = self.instantiate(&inline, &arguments, span, id);
        self.inlined += tokens.len();
        if self.inlined > MAX_INLINED {
            // Calls from here on are not expanded, so this is said once.
            self.push(Diagnostic::error(span, "inlines expand to more than a million tokens"));
        }
        let body = self.parse_instance(&inline, tokens, target);
        Ok(StmtKind::Block { body, inline: Some(name) })
    }

    fn check_call(&mut self, inline: &Inline, arguments: &[Vec<Token>], span: Span) -> Parse<()> {
        let name = &inline.name;
        if self.calls.iter().any(|call| *call.name == *name.text) {
            let error = Diagnostic::error(span, format!("the inline `{}` calls itself", name.text))
                .label(name.span, "defined here")
                .hint("an inline is text that is copied; use a process or a loop instead of recursion");
            return Err(self.report(error));
        }
        let (wanted, given) = (inline.parameters.len(), arguments.len());
        if wanted != given {
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{}` takes {wanted} argument{plural}, here are {given}", name.text);
            let error = Diagnostic::error(span, message).label(name.span, "defined here");
            return Err(self.report(error));
        }
        Ok(())
    }

    /// The arguments' tokens. They must be expressions, though they are put in as text.
    fn inline_arguments(&mut self) -> Parse<Vec<Vec<Token>>> {
        let open = self.expect(Punct::LParen, "after the inline's name")?;
        let mut arguments = Vec::new();
        if !self.at(Punct::RParen) {
            loop {
                let start = self.pos;
                self.expression()?;
                arguments.push(self.stream[start..self.pos].to_vec());
                if !self.eat(Punct::Comma) {
                    break;
                }
            }
        }
        self.expect_close(Punct::RParen, open)?;
        Ok(arguments)
    }

    fn instantiate(
        &mut self,
        inline: &Inline,
        arguments: &[Vec<Token>],
        call: Span,
        id: ExpansionId,
    ) -> Vec<Token> {
        // The body stands outside all expansions, the arguments in that of the call.
        let mut body_move = Reparent { from: ExpansionId::NONE, to: id, known: HashMap::new() };
        let mut argument_move = Reparent { from: call.expansion, to: id, known: HashMap::new() };
        let mut tokens = Vec::with_capacity(inline.body.len());
        for token in &inline.body {
            let parameter = token.ident().and_then(|name| inline.parameters.iter().position(|p| p == name));
            let Some(index) = parameter else {
                let mut token = token.clone();
                token.span.expansion = body_move.of(self.sources, token.span.expansion);
                tokens.push(token);
                continue;
            };
            for (position, argument) in arguments[index].iter().enumerate() {
                let mut argument = argument.clone();
                argument.span.expansion = argument_move.of(self.sources, argument.span.expansion);
                argument.newline = position == 0 && token.newline;
                tokens.push(argument);
            }
        }
        tokens
    }

    /// Parses the tokens of one call in place of the call.
    fn parse_instance(
        &mut self,
        inline: &Inline,
        tokens: Vec<Token>,
        target: Option<VarRef>,
    ) -> Vec<crate::ast::Stmt> {
        let outer_stream = std::mem::replace(&mut self.stream, tokens);
        let outer_open = std::mem::take(&mut self.open);
        let (outer_pos, outer_id, outer_span) = (self.pos, self.stream_id, self.previous_span);
        let outer_parens = std::mem::take(&mut self.parens);
        self.pos = 0;
        self.streams += 1;
        self.stream_id = self.streams;
        self.previous = Kind::P(Punct::Semi);
        self.implied = false;
        self.calls.push(Call { name: Rc::from(inline.name.text.as_str()), target });
        let body = self.block(&format!("the inline `{}`", inline.name.text), inline.name.span);
        self.calls.pop();
        self.stream = outer_stream;
        self.open = outer_open;
        self.pos = outer_pos;
        self.stream_id = outer_id;
        self.parens = outer_parens;
        self.previous = Kind::P(Punct::RBrace);
        self.previous_span = outer_span;
        self.settle();
        body.map(|(body, _)| body).unwrap_or_default()
    }

    /// `return e` stands for an assignment to what the inline's result goes to.
    pub(super) fn return_value(&mut self, start: Span) -> Parse<StmtKind> {
        let Some(call) = self.calls.last() else { return Err(self.return_outside(start)) };
        let name = call.name.to_string();
        let target = call.target.clone();
        let value = self.full_expression()?;
        match target {
            Some(target) => Ok(StmtKind::Assign { target, value }),
            None => {
                let error =
                    Diagnostic::error(start, format!("nothing takes the value that `{name}` returns"))
                        .hint(format!("call it as `x = {name}(...)`"));
                Err(self.report(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use preempt_core::ExpansionKind;

    use crate::ast::{Item, StmtKind};
    use crate::parser::testing::{messages, outline_of_init, parse, program};

    #[track_caller]
    fn outline(text: &str) -> String {
        outline_of_init(&program(text))
    }

    #[test]
    fn the_body_takes_the_place_of_the_call() {
        assert_eq!(outline("inline f(a, b) { a = b; b++ } init { f(x, y[1]) f(p.q, p) }"), {
            "f {x = y[1]; y[1]++}; f {p.q = p; p++}"
        });
        assert_eq!(outline("inline f(a, b) { a = b } inline g(a) { f(b, a); f(a, 1 + 2) } init { g(z) }"), {
            "g {f {b = z}; f {z = 1 + 2}}"
        });
        assert_eq!(outline("inline f() { skip } init { f(); L: f() }"), "f {1}; L: f {1}");
        // Arguments are text: they are not wrapped in parentheses.
        assert_eq!(outline("inline f(a) { x = 2 * a } init { f(1 + 1) }"), "f {x = 2 * 1 + 1}");
        assert_eq!(outline("inline f(a, b) { a = b } init { f(b, a) }"), "f {b = a}");
    }

    #[test]
    fn line_ends_count_within_the_body() {
        assert_eq!(outline("inline f(a) {\n x = a\n y = a\n}\ninit {\n f(1)\n f(2)\n}"), {
            "f {x = 1; y = 1}; f {x = 2; y = 2}"
        });
    }

    #[test]
    fn a_result_is_assigned() {
        assert_eq!(outline("inline f(a) { a > 0; return a + 1 } init { x.y = f(3); z = f(4) }"), {
            "f {3 > 0; x.y = 3 + 1}; f {4 > 0; z = 4 + 1}"
        });
        assert_eq!(
            messages("inline f() { return 1 }\ninit { f() }"),
            ["1:14 nothing takes the value that `f` returns"]
        );
        assert_eq!(messages("init { return 1 }"), ["1:8 `return` can stand only in an inline"]);
    }

    #[test]
    fn recursion_and_wrong_calls_are_errors() {
        assert_eq!(messages("inline f() { g() } inline g() { f() } init { f() }"), {
            ["1:33 the inline `f` calls itself"]
        });
        assert_eq!(messages("init { g() } inline g() { skip }"), {
            ["1:8 the inline `g` is called before it is defined"]
        });
        assert_eq!(messages("inline f() { f() } init { f() }"), ["1:14 the inline `f` calls itself"]);
        assert_eq!(messages("inline f(a) { skip } init { f() }"), ["1:29 `f` takes 1 argument, here are 0"]);
        assert_eq!(
            messages("inline f() { skip } inline f() { skip }"),
            ["1:28 the inline `f` is defined twice"]
        );
        assert_eq!(messages("inline f() { }\ninit { f() }"), ["1:12 the inline `f` is empty"]);
    }

    #[test]
    fn a_mistake_in_a_body_is_reported_once() {
        assert_eq!(messages("inline f() { x = ; y = 1 }\ninit { f(); f(); f() }").len(), 1);
    }

    #[test]
    fn exponential_inlines_are_stopped() {
        let mut text = String::from("inline f0() { skip; skip; skip }\n");
        for i in 1..30 {
            text += &format!("inline f{i}() {{ f{0}(); f{0}(); f{0}() }}\n", i - 1);
        }
        text += "init { f29() }";
        assert_eq!(messages(&text).len(), 1);
    }

    #[test]
    fn deep_inlines_are_stopped() {
        let mut text = String::from("inline f0() { skip }\n");
        for i in 1..300 {
            text += &format!("inline f{i}() {{ f{}(); skip }}\n", i - 1);
        }
        text += "init { f299() }";
        assert_eq!(messages(&text).len(), 1);
    }

    #[test]
    fn spans_know_the_call_and_macros_within_the_body() {
        let text = "#define INC x = x + 1\ninline f() { INC }\ninit {\n  f();\n  f()\n}";
        let (program, _, sources) = parse(text);
        let Item::Process(init) = &program.items[0] else { panic!() };
        let mut calls = Vec::new();
        for stmt in &init.body {
            let StmtKind::Block { body, inline: Some(_) } = &stmt.kind else { panic!() };
            let span = body[0].span;
            // Shown where the macro is used in the body of the inline.
            assert_eq!(sources.location(span).to_string(), "t:2:14");
            let outer = sources.expansion(span.expansion).expect("a macro").call;
            assert_eq!(sources.text(outer), "INC");
            let inline = sources.expansion(outer.expansion).expect("an inline");
            assert_eq!(inline.kind, ExpansionKind::Inline);
            calls.push(sources.source(inline.call.source).line_column(inline.call.start));
        }
        assert_eq!(calls, [(4, 3), (5, 3)]);
    }
}
