//! `.pds` files: pushdown systems as text, alone or several that share their states.
//!
//! The rules are written as Moped writes them, `p <g> --> q <a b>`, and so is the configuration that a system begins with,
//! `(p <e>)`. Beyond that a file may declare its names, have several threads, and say which configurations are errors:
//!
//! ```text
//! file    ::= { item }
//! item    ::= "states" name { name } ";" | "symbols" name { name } ";"     if given, other names are mistakes
//!           | "error" name [ "<" name ">" ]                               a state, or a state with a top of the stack
//!           | "thread" name start "{" { rule } "}" | start | rule
//! start   ::= "(" name "<" name { name } ">" ")"                          the top first
//! rule    ::= name "<" name ">" "-->" name "<" [ name [ name ] ] ">" [ STRING ] [ ";" ]
//! name    ::= (letter | digit | "_" | "." | "$" | "'" | "@")+             not one of the words above
//! ```
//!
//! A comment goes from `#` or `//` to the end of the line. [`parse`] gives the [`tree`](PdsFile), [`load`] a model that every engine for
//! programs with procedures takes, and [`concurrent`] the rules themselves.

mod lexer;
mod model;
mod parser;

pub use parser::parse;

use crate::system::{Concurrent, Pds, Rule, Symbol, Thread, Word};
use preempt_core::{Diagnostic, SourceMap, Span};
use preempt_model::Model;

/// What stands in a file; names are numbered in the order in which they are met.
#[derive(Debug, Clone, Default)]
pub struct PdsFile {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the symbols.
    pub symbols: Vec<String>,
    /// The threads, at least one if there is no error in the file.
    pub threads: Vec<PdsThread>,
    /// What must not be reached: a state, or a state with a symbol on the top of a stack.
    pub errors: Vec<(u32, Option<u32>, Span)>,
}

/// One of several systems.
#[derive(Debug, Clone)]
pub struct PdsThread {
    /// The name after `thread`, or `main`.
    pub name: String,
    /// The state and the stack that it begins with, the top first.
    pub start: (u32, Vec<u32>),
    /// In the order of the text.
    pub rules: Vec<PdsRule>,
    /// Where it stands.
    pub span: Span,
}

/// A rule with its place in the text.
#[derive(Debug, Clone)]
pub struct PdsRule {
    /// State and top before it.
    pub from: (u32, u32),
    /// The state after it.
    pub to: u32,
    /// What takes the place of the top.
    pub word: Word,
    /// Where it stands.
    pub span: Span,
}

/// What became of a text.
#[derive(Debug)]
pub struct Loaded {
    /// What it means, if there is no error in it.
    pub model: Option<Model>,
    /// The text, for showing places in it.
    pub sources: SourceMap,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// From text to model.
///
/// ```
/// let text = "(p <main>) p <main> --> p <f end> p <f> --> q <> error q <end>";
/// let loaded = preempt_pushdown::format::load("x.pds", text);
/// assert!(loaded.diagnostics.is_empty());
/// assert_eq!(loaded.model.expect("there is no error in it").start.len(), 1);
/// ```
pub fn load(name: &str, text: &str) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(name, text);
    let (file, diagnostics) = parse(text, source);
    let sound = !diagnostics.iter().any(Diagnostic::is_error);
    let model = sound.then(|| model::model(&file, text));
    Loaded { model, sources, diagnostics }
}

/// The rules as they are, with a symbol below every stack that no rule takes away, and one for errors.
pub fn concurrent(file: &PdsFile) -> Concurrent {
    let states = file.states.len() as u32;
    let count = file.symbols.len() as u32;
    let (bottom, bad) = (count, count + 1);
    let threads = file.threads.iter().map(|thread| {
        let mut rules: Vec<Rule> =
            thread.rules.iter().map(|rule| Rule::new(rule.from, rule.to, rule.word)).collect();
        for &(state, top, _) in &file.errors {
            let tops = top.map_or_else(|| (0..=bottom).collect(), |top| vec![top]);
            rules.extend(tops.into_iter().map(|top| Rule::new((state, top), state, Word::Step(bad))));
        }
        // The stack is built up from its bottom by symbols of their own: each puts what lies below it under the next.
        let stack: Vec<Symbol> = [bottom].into_iter().chain(thread.start.1.iter().rev().copied()).collect();
        let builders = stack.len() as u32 - 1;
        for state in 0..states {
            for number in 0..builders {
                let top = match number + 1 == builders {
                    true => stack[builders as usize],
                    false => bad + 2 + number,
                };
                let word = Word::Push(top, stack[number as usize]);
                rules.push(Rule::new((state, bad + 1 + number), state, word));
            }
        }
        let symbols = bad + 1 + builders;
        Thread {
            name: thread.name.clone(),
            pds: Pds { states, symbols, rules },
            start: bad + 1,
            bad: (!file.errors.is_empty()).then_some(bad),
            interruptions: Vec::new(),
            tags: Vec::new(),
        }
    });
    let initial = file.threads.first().map_or(0, |thread| thread.start.0);
    Concurrent { states, initial, open: Vec::new(), threads: threads.collect() }
}
