//! The C preprocessor on tokens: what Spin has done by `gcc -E`, with every token remembering its macro.

mod condition;
mod directives;
mod expand;
mod feed;
mod reparent;
mod substitute;

#[cfg(feature = "generator")]
pub(crate) use directives::DIRECTIVES;
pub(crate) use reparent::Reparent;

use std::collections::HashMap;
use std::rc::Rc;

use preempt_core::{Budget, Diagnostic, SourceId, SourceMap, Span};

use crate::lexer::lex;
use crate::token::{Punct, Token};

/// How an included file is read: by its path relative to the run, for the crate itself does no input or output.
pub type Reader<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// More tokens than any model has; beyond it a macro is blowing up.
const MAX_TOKENS: usize = 4_000_000;
const MAX_INCLUDES: usize = 64;

/// The macros that are defined at the end of a model, so that a formula given apart may use them.
pub type MacroTable = HashMap<Rc<str>, Rc<Macro>>;

#[derive(Debug, Clone, PartialEq)]
pub struct Macro {
    pub name: Rc<str>,
    /// The name in its `#define`.
    pub definition: Span,
    /// `None` for a macro without parentheses.
    pub parameters: Option<Vec<Rc<str>>>,
    /// The last parameter takes all arguments that are left, commas included.
    pub variadic: bool,
    pub body: Vec<Token>,
}

pub struct Preprocessor<'a> {
    pub sources: &'a mut SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    pub macros: MacroTable,
    pub output: Vec<Token>,
    /// Parts of the text are missing or garbled, so a syntax error found later need not be the author's.
    pub unreliable: bool,
    read: Reader<'a>,
    budget: &'a Budget,
    /// Macros being expanded, which therefore do not expand again.
    active: Vec<Rc<str>>,
    produced: usize,
    /// Set once a limit is reached: nothing more is read.
    stopped: bool,
    includes: usize,
    unclosed_calls: usize,
    argument_depth: usize,
}

impl<'a> Preprocessor<'a> {
    pub fn new(
        sources: &'a mut SourceMap,
        macros: MacroTable,
        read: Reader<'a>,
        budget: &'a Budget,
    ) -> Preprocessor<'a> {
        Preprocessor {
            sources,
            diagnostics: Vec::new(),
            macros,
            output: Vec::new(),
            unreliable: false,
            read,
            budget,
            active: Vec::new(),
            produced: 0,
            stopped: false,
            includes: 0,
            unclosed_calls: 0,
            argument_depth: 0,
        }
    }

    /// Defines what the command line's `-D` options say.
    pub fn define_all(&mut self, defines: &[(String, String)]) {
        if defines.is_empty() {
            return;
        }
        let mut text = String::new();
        for (name, value) in defines {
            let line = format!("#define {name} {value}");
            text.push_str(&line.replace(['\n', '\r'], " "));
            text.push('\n');
        }
        self.text("command line", &text);
    }

    /// Preprocesses one text; its tokens are appended to `output`.
    pub fn text(&mut self, name: &str, text: &str) {
        let source = self.sources.add(name, text);
        if u32::try_from(text.len()).is_err() {
            self.diagnostics.push(Diagnostic::global_error(format!("`{name}` is larger than 4 GB")));
            self.unreliable = true;
            return;
        }
        let tokens = lex(text, source, self.budget);
        self.file(&tokens, source);
    }

    fn file(&mut self, tokens: &[Token], source: SourceId) {
        let mut feed = feed::Feed::of_file(tokens);
        let mut conditions = Vec::new();
        while !self.stopped {
            let Some(token) = feed.file_token() else { break };
            if self.budget.exhausted().is_some() {
                self.stopped = true;
                return;
            }
            if token.newline && token.is(Punct::Hash) {
                let line = feed.rest_of_line();
                self.directive(&token, line, source, &mut conditions);
            } else if conditions.last().is_none_or(|c: &directives::Condition| c.taking) {
                let mut out = std::mem::take(&mut self.output);
                self.expand_one(token, &mut feed, &mut out);
                self.output = out;
            }
        }
        if let Some(open) = conditions.last() {
            self.error(
                Diagnostic::error(open.span, format!("`#{}` without `#endif`", open.word))
                    .hint("close it with #endif"),
            );
            self.unreliable = true;
        }
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Counts tokens made by macros; false once there are too many.
    fn count(&mut self, tokens: usize, span: Span) -> bool {
        self.produced += tokens;
        if self.produced > MAX_TOKENS && !self.stopped {
            self.stop(Diagnostic::error(span, "macros expand to more than four million tokens"));
        }
        !self.stopped
    }

    fn stop(&mut self, diagnostic: Diagnostic) {
        self.error(diagnostic);
        self.stopped = true;
        self.unreliable = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn run(text: &str, defines: &[(&str, &str)], files: &[(&str, &str)]) -> (String, Vec<String>) {
        let mut sources = SourceMap::new();
        let mut read = |path: &str| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| text.to_string()).ok_or("no such file".to_string())
        };
        let budget = Budget::unlimited();
        let mut pre = Preprocessor::new(&mut sources, MacroTable::new(), &mut read, &budget);
        let defines: Vec<_> = defines.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        pre.define_all(&defines);
        pre.text("dir/main.pml", text);
        let mut words = String::new();
        for token in &pre.output {
            if token.newline && !words.is_empty() {
                words.push('\n');
            } else if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(token.kind.spelling(pre.sources.text(token.span)));
        }
        let messages = pre.diagnostics.iter().map(|d| d.message.clone()).collect();
        (words, messages)
    }

    #[track_caller]
    fn gives(text: &str, expected: &str) {
        assert_eq!(run(text, &[], &[]), (expected.to_string(), Vec::new()));
    }

    #[test]
    fn conditions_choose_lines() {
        gives("#if 0\na\n#elif 1\nb\n#else\nc\n#endif\nd", "b\nd");
        gives("#define X\n#ifdef X\na\n#endif\n#ifndef X\nb\n#else\nc\n#endif", "a\nc");
        gives("#define N 3\n#if N > 2 && defined(N) && !defined M\na\n#endif", "a");
        gives("#if 0\n#if 1\na\n#else\nb\n#endif\n' \"\n#endif\nc", "c");
        gives("#undef Q\n#define Q 1\n#undef Q\nQ", "Q");
    }

    #[test]
    fn markers_and_pragmas_are_ignored() {
        gives("# 1 \"x.c\"\n#line 12\n#pragma once\n#\n#ident \"x\"\na", "a");
    }

    #[test]
    fn the_command_line_defines() {
        assert_eq!(run("N M", &[("N", "3"), ("M", "")], &[]).0, "3");
    }

    #[test]
    fn files_are_included_from_beside_the_file_that_names_them() {
        let files = [
            ("dir/a.h", "#include \"sub/b.h\"\nA"),
            ("dir/sub/b.h", "#include \"c.h\""),
            ("dir/sub/c.h", "C"),
        ];
        assert_eq!(run("#include \"a.h\"\nx", &[], &files), ("C\nA\nx".into(), vec![]));
    }

    #[test]
    fn an_include_that_includes_itself_ends() {
        let (_, messages) =
            run("#include \"a.h\"", &[], &[("dir/a.h", "#include \"a.h\"\n#include \"a.h\"")]);
        assert_eq!(messages, ["files include each other more than 64 deep"]);
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("#include <stdio.h>", "`#include <...>` cannot be used: there are no system headers"),
            ("#include \"gone.h\"", "cannot read `dir/gone.h`: no such file"),
            ("#define", "`#define` needs a name"),
            ("#endif", "`#endif` without `#if`"),
            ("#else", "`#else` without `#if`"),
            ("#if 1\n#else\n#else\n#endif", "a second `#else`"),
            ("#if 1", "`#if` without `#endif`"),
            ("#if 1 +\n#endif", "the condition of `#if` is incomplete"),
            ("#if 1/0\n#endif", "division by zero in the condition of `#if`"),
            ("#defin N 3", "unknown directive `#defin`"),
            ("#error stop  here", "#error stop here"),
            ("#warning w", "#warning w"),
            ("#define f(x) x\nf(1, 2)", "`f` takes 1 argument, here are 2"),
            ("#define f(x) x\nf(1", "the arguments of `f` are never closed"),
        ];
        for (text, message) in cases {
            assert_eq!(run(text, &[], &[]).1, [message], "{text}");
        }
    }
}
