//! Remopla, the language of Moped: from text to a model.
//!
//! [`load`] goes from text to model, [`parse`] from text to [`ast`]. Integers are unsigned and have a width; what is assigned to one
//! keeps its low bits. A variable that was not assigned has any value. To reach a label that speaks of an error is one, as
//! Moped is asked for a label. Structures, signed integers and rules inside of modules are refused by name.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ast;
mod lexer;
mod lower;
mod parser;
mod scope;

use preempt_core::{Budget, Diagnostic, SourceMap};
use preempt_model::Model;

/// How a text is read.
#[derive(Debug, Clone, Default)]
pub struct RemoplaOptions {
    /// To reach this label is an error. `None`: every label with the word `error` in it, in whatever case.
    pub error_label: Option<String>,
}

impl RemoplaOptions {
    fn is_error(&self, label: &str) -> bool {
        match &self.error_label {
            Some(name) => label == name,
            // To take a label for an error that is none is seen at once; the other way round nobody would notice.
            None => label.to_ascii_lowercase().contains("error"),
        }
    }
}

/// What became of a text: the model if there is no error in it, and everything there is to say.
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
/// let text = "int x(2); init main; module void main() { x = 3; x = x + 1; if :: x != 0 -> error: skip; :: else -> skip; fi }";
/// let loaded = preempt_remopla::load("p.rem", text, &Default::default(), &preempt_core::Budget::unlimited());
/// assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
/// assert_eq!(loaded.model.expect("there is no error in it").codes[0].name, "main");
/// ```
pub fn load(name: &str, text: &str, options: &RemoplaOptions, budget: &Budget) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(name, text);
    let (program, mut diagnostics) = parse(text, source);
    let mut model = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let lowered = lower::lower(&program, text, options, budget);
        diagnostics.extend(lowered.1);
        model = lowered.0.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    }
    diagnostics.sort_by_key(|it| it.span.map_or(u32::MAX, |span| span.start));
    Loaded { model, sources, diagnostics }
}

/// From text to tree. The program is whole only if none of the diagnostics is an error.
pub fn parse(text: &str, source: preempt_core::SourceId) -> (ast::Program, Vec<Diagnostic>) {
    let (tokens, mut diagnostics) = lexer::lex(text, source);
    let (program, found) = parser::program(tokens, source, text.len());
    if diagnostics.is_empty() {
        diagnostics = found;
    }
    (program, diagnostics)
}
