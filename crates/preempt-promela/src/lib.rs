//! Promela, as Spin 6.5.2 accepts it: from text to a model, with every mistake it can name.
//!
//! [`load`] does all of it: `preprocess` (macros, directives, includes), `lexer`, `parser` (to [`ast`]), and `lower` (to a
//! model). [`pretty`] writes trees as text again, and [`trail`] writes runs as Spin reads them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ast;
#[cfg(feature = "generator")]
pub mod generator;
mod lexer;
mod lower;
mod parser;
mod preprocess;
pub mod pretty;
mod token;
pub mod trail;

use std::collections::HashSet;
use std::rc::Rc;

use preempt_core::{Budget, Diagnostic, SourceMap, StopReason};
use preempt_model::Model;

use preprocess::{MacroTable, Preprocessor};
use trail::StatementNumbers;

/// What became of a text: the model if there is no error in it, and everything there is to say.
#[derive(Debug)]
pub struct Loaded {
    /// What it means, if there is no error in it.
    pub model: Option<Model>,
    /// Spin's numbers of the model's statements, for trails.
    pub numbers: StatementNumbers,
    /// All texts that were read, for showing places in them.
    pub sources: SourceMap,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The budget ran out before the text was understood: then there is no model and nothing to say about the text.
    pub stopped: Option<StopReason>,
}

/// What may be said about a model from outside of it.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Macros that are defined before the text begins.
    pub defines: Vec<(String, String)>,
    /// A formula to be added to the model's own, under its text as its name.
    pub formula: Option<String>,
    /// Looked at wherever a text can make the work long.
    pub budget: Budget,
}

/// The text of a model as it was loaded.
#[derive(Debug, Clone, Copy)]
pub struct ModelText<'a> {
    /// Its file.
    pub name: &'a str,
    /// Before the preprocessor.
    pub text: &'a str,
    /// What was said about it from outside.
    pub additions: &'a Additions,
}

/// From text to model. `read` gives the text of an included file by its path.
///
/// ```
/// use preempt_promela::{Additions, load};
///
/// let mut no_files = |name: &str| Err(format!("there is no {name}"));
/// let loaded = load("m.pml", "byte x; active proctype P() { x++ }", &Additions::default(), &mut no_files);
/// assert_eq!(loaded.model.expect("there is no error in it").globals[0].name, "x");
///
/// let loaded = load("m.pml", "active proctype P() { y++ }", &Additions::default(), &mut no_files);
/// assert!(loaded.model.is_none());
/// assert_eq!(loaded.diagnostics[0].message, "there is no variable `y` here");
/// ```
pub fn load(
    name: &str,
    text: &str,
    additions: &Additions,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Loaded {
    let mut sources = SourceMap::new();
    let budget = &additions.budget;
    let Parsed { mut program, mut diagnostics, macros } =
        parse_within(budget, &mut sources, (name, text), &additions.defines, read);
    if let Some(text) = &additions.formula {
        let (formula, found) = ltl_within(budget, &mut sources, "--ltl", text, &macros);
        diagnostics.extend(found);
        program.items.extend(formula.map(|formula| {
            let span = formula.span;
            ast::Item::Ltl(ast::Ltl { name: Some(ast::Name { text: text.clone(), span }), formula, span })
        }));
    }
    let mut loaded =
        Loaded { model: None, numbers: StatementNumbers::default(), sources, diagnostics, stopped: None };
    // A tree with holes would only give errors that follow from the first ones.
    if budget.stopped().is_none() && !loaded.diagnostics.iter().any(Diagnostic::is_error) {
        let (model, numbers, found) = lower::lower(&program, budget);
        loaded.diagnostics.extend(found);
        loaded.numbers = numbers;
        loaded.model = (!loaded.diagnostics.iter().any(Diagnostic::is_error)).then_some(model);
    }
    loaded.stopped = budget.stopped();
    if loaded.stopped.is_some() {
        // What was read only in part gives errors that are none.
        loaded.model = None;
        loaded.diagnostics.clear();
    }
    loaded
}

/// A parsed model together with what a formula given apart from it may refer to.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The tree, as far as it was understood.
    pub program: ast::Program,
    /// In the order of the text; the program is whole only if none of them is an error.
    pub diagnostics: Vec<Diagnostic>,
    /// What a formula given apart may use.
    pub macros: Macros,
}

/// The macros at the end of a model, and the names of its process types.
#[derive(Debug, Clone, Default)]
pub struct Macros {
    table: MacroTable,
    processes: HashSet<Rc<str>>,
}

/// Reads a model. `read` gives the text of an included file by its path, which is relative to `name`'s folder.
///
/// ```
/// use preempt_core::SourceMap;
///
/// let mut sources = SourceMap::new();
/// let text = "#define N 2\nbyte x[N]; init { x[1] = 3 }";
/// let (program, mistakes) =
///     preempt_promela::parse(&mut sources, "m.pml", text, &[], &mut |name| Err(name.to_string()));
/// assert!(mistakes.is_empty());
/// assert_eq!(program.items.len(), 2);
/// ```
pub fn parse(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    defines: &[(String, String)],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> (ast::Program, Vec<Diagnostic>) {
    let parsed = parse_model(sources, name, text, defines, read);
    (parsed.program, parsed.diagnostics)
}

/// As [`parse`], keeping the macros for [`parse_ltl`].
pub fn parse_model(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    defines: &[(String, String)],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Parsed {
    parse_within(&Budget::unlimited(), sources, (name, text), defines, read)
}

fn parse_within(
    budget: &Budget,
    sources: &mut SourceMap,
    (name, text): (&str, &str),
    defines: &[(String, String)],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Parsed {
    let mut preprocessor = Preprocessor::new(sources, MacroTable::new(), read, budget);
    preprocessor.define_all(defines);
    preprocessor.text(name, text);
    let Preprocessor { mut diagnostics, macros: table, output, unreliable, .. } = preprocessor;
    let (program, found, processes) = parser::program(sources, output, budget);
    // What the parser says about a text with holes would only hide the reason.
    diagnostics.extend(found.into_iter().filter(|_| !unreliable));
    Parsed { program, diagnostics, macros: Macros { table, processes } }
}

/// Reads a formula that was given apart from the model, named `name` in messages.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_promela::{Macros, parse_ltl, pretty::expr_text};
///
/// let (formula, mistakes) = parse_ltl(&mut SourceMap::new(), "--ltl", "[](p -> <>q)", &Macros::default());
/// assert!(mistakes.is_empty());
/// assert_eq!(expr_text(&formula.expect("no mistakes")), "[] (p -> <> q)");
/// ```
pub fn parse_ltl(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    macros: &Macros,
) -> (Option<ast::Expr>, Vec<Diagnostic>) {
    ltl_within(&Budget::unlimited(), sources, name, text, macros)
}

fn ltl_within(
    budget: &Budget,
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    macros: &Macros,
) -> (Option<ast::Expr>, Vec<Diagnostic>) {
    let mut read = |_: &str| Err("a formula cannot include files".to_string());
    let mut preprocessor = Preprocessor::new(sources, macros.table.clone(), &mut read, budget);
    preprocessor.text(name, text);
    let Preprocessor { mut diagnostics, output, unreliable, .. } = preprocessor;
    let (formula, found) = parser::formula(sources, output, &macros.processes, budget);
    diagnostics.extend(found.into_iter().filter(|_| !unreliable));
    let formula = formula.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    (formula, diagnostics)
}
