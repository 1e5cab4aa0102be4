//! Boolean programs, in the union of the dialects of SATABS, Boppo, Boom, GETAFIX and WALi: from text to a model, with
//! every mistake it can name.
//!
//! [`load`] goes from text to model, [`parse`] from text to [`ast`], and [`print`](mod@print) back. [`sequentialize`] is the
//! reduction of Lal and Reps 2009 (paper 002) to a sequential program.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod any_threads;
pub mod ast;
mod check;
#[cfg(feature = "generator")]
pub mod generator;
mod lexer;
mod lower;
mod others;
mod parser;
pub mod print;
pub mod sequentialize;

use preempt_core::{Budget, Diagnostic, SourceMap};
use preempt_model::Model;

/// Who wrote the program: the dialects differ in how strongly `=` and `!=` bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// SATABS, Boppo, Boom: `a = b & c` is `a = (b & c)`.
    #[default]
    Satabs,
    /// GETAFIX, WALi: `a = b & c` is `(a = b) & c`.
    Getafix,
}

impl Dialect {
    /// Both of them.
    pub const ALL: [Dialect; 2] = [Dialect::Satabs, Dialect::Getafix];
}

/// How a text is read.
#[derive(Debug, Clone, Default)]
pub struct BooleanOptions {
    /// `None`: as SATABS does, with a warning wherever it matters.
    pub dialect: Option<Dialect>,
    /// To reach a statement with this label is an error. `None`: [`ERROR_LABEL`], and every label that speaks of an
    /// error, as `MY_ERROR_LABEL` does.
    pub error_label: Option<String>,
    /// What is started may be started any number of times; if nobody is, any number of threads execute `main`.
    pub any_threads: bool,
}

/// The label that SLAM gave to its errors, and everybody after it.
pub const ERROR_LABEL: &str = "SLIC_ERROR";

impl BooleanOptions {
    fn is_error_label(&self, label: &str) -> bool {
        match &self.error_label {
            Some(name) => label == name,
            // To take a label for an error that is none is seen at once; the other way round nobody would notice.
            None => label.contains("ERROR"),
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
/// let text = "decl x; void main() begin x := T; assert(x); end";
/// let loaded = preempt_boolean::load("p.bp", text, &Default::default());
/// assert!(loaded.diagnostics.is_empty());
/// assert_eq!(loaded.model.expect("there is no error in it").codes[0].name, "main");
/// ```
pub fn load(name: &str, text: &str, options: &BooleanOptions) -> Loaded {
    load_within(name, text, options, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, there is no model, and an error says so.
pub fn load_within(name: &str, text: &str, options: &BooleanOptions, budget: &Budget) -> Loaded {
    let mut sources = SourceMap::new();
    let (mut program, mut diagnostics) = parse(&mut sources, name, text, options.dialect);
    // A tree with holes would only give errors that follow from the first ones.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(check::check(&program, options));
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Loaded { model: None, sources, diagnostics };
    }
    if others::are_meant(&program) {
        let number =
            "`b$`, `wait` and `broadcast` need the number of threads, and --threads any leaves it open";
        let separated = match options.any_threads {
            true => Err(vec![Diagnostic::global_error(number)]),
            false => others::separate(&program),
        };
        match separated {
            Ok(separate) => program = separate,
            Err(mistakes) => {
                diagnostics.extend(mistakes);
                return Loaded { model: None, sources, diagnostics };
            }
        }
    }
    let entry = if options.any_threads { any_threads::any_threads(&mut program) } else { "main" };
    let model = match lower::lower(&program, entry, options, budget) {
        Ok(model) => Some(model),
        Err(error) => {
            diagnostics.push(error);
            None
        }
    };
    Loaded { model, sources, diagnostics }
}

/// From text to tree. The program is whole only if none of the diagnostics is an error.
pub fn parse(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    dialect: Option<Dialect>,
) -> (ast::Program, Vec<Diagnostic>) {
    let source = sources.add(name, text);
    let (tokens, mut diagnostics) = lexer::lex(text, source);
    let (program, found) = parser::program(tokens, source, dialect);
    // What the parser says about a text with holes would only hide the reason.
    if diagnostics.is_empty() {
        diagnostics = found;
    }
    (program, diagnostics)
}
