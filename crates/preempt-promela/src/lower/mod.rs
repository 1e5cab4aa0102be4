//! From the syntax tree to a model.
//!
//! * [`names`]: what a name means where it stands; [`layout`]: types, and where variables are kept;
//! * [`declarations`]: variables, channels and their initial values;
//! * [`expressions`], [`channels`]: expressions, and messages sent and received;
//! * [`statements`]: bodies as control flow; [`flow`]: that flow, built as Spin builds it; [`graph`]: its locations;
//! * [`processes`]: everything put together; [`temporal`]: `ltl` formulas.

mod channels;
mod declarations;
mod expressions;
mod flow;
mod graph;
mod layout;
mod names;
mod processes;
mod statements;
mod survey;
mod temporal;

use crate::ast;
use crate::trail::{BodyNumbers, StatementNumbers};
use names::Names;
use preempt_core::{Diagnostic, Span};
use preempt_model::{CodeId, Expr, Init, Model};
use processes::Body;
use std::collections::HashMap;
use survey::Survey;

/// The model, as far as it was understood, and everything there is to say about the text.
pub fn lower(program: &ast::Program) -> (Model, StatementNumbers, Vec<Diagnostic>) {
    let mut lowered = Lowering::new(RemoteVariables::default()).program(program);
    if lowered.needs_remote_variables {
        // A process may look at the variables of one that is defined later: now they are all known.
        lowered = Lowering::new(lowered.remote_variables).program(program);
    }
    let numbers = StatementNumbers::new(lowered.numbers, &lowered.text_order);
    (lowered.model, numbers, lowered.diagnostics)
}

/// A value that is assigned may start one process and use its number.
#[derive(Debug, Default, PartialEq)]
enum RunInValue {
    /// Not here, or not a second time.
    #[default]
    Refused,
    Allowed,
    Found {
        code: CodeId,
        args: Vec<Expr>,
        priority: u8,
    },
}

/// The variables of every process by name, outermost block first: for references from outside.
type RemoteVariables = HashMap<(CodeId, String), names::Declared>;

struct Lowering {
    model: Model,
    diagnostics: Vec<Diagnostic>,
    names: Names,
    /// The body being lowered.
    body: Option<Body>,
    known_remote_variables: RemoteVariables,
    remote_variables: RemoteVariables,
    needs_remote_variables: bool,
    survey: Survey,
    /// For each code the labels asked for: `Expr::At` counts them.
    asked_labels: HashMap<CodeId, Vec<ast::Name>>,
    run_in_value: RunInValue,
    /// How many inlines the statement being lowered stands in.
    inline_depth: usize,
    /// In a formula the words of Promela that need a running process have no meaning.
    in_formula: bool,
    /// For each code, how Spin counts its statements.
    numbers: Vec<BodyNumbers>,
    /// The codes in the order in which their bodies stand in the text.
    text_order: Vec<usize>,
}

impl Lowering {
    fn new(known_remote_variables: RemoteVariables) -> Lowering {
        Lowering {
            model: Model::default(),
            diagnostics: Vec::new(),
            names: Names::default(),
            body: None,
            known_remote_variables,
            remote_variables: RemoteVariables::default(),
            needs_remote_variables: false,
            survey: Survey::default(),
            asked_labels: HashMap::new(),
            run_in_value: RunInValue::default(),
            inline_depth: 0,
            in_formula: false,
            numbers: Vec::new(),
            text_order: Vec::new(),
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    /// The same thing about the same place is said once.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Initial values of the globals, or of the body that is being lowered.
    fn init(&mut self) -> &mut Vec<Init> {
        match &mut self.body {
            Some(body) => &mut body.init,
            None => &mut self.model.init,
        }
    }
}
