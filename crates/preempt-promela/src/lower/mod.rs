//! From the syntax tree to a model.
//!
//! The whole program is lowered once, and again if it turns out that a process refers to variables of one that is defined
//! later, or that a hidden variable must be kept: three times at most, each linear in the text.
//!
//! * [`names`]: what a name means where it stands; [`layout`]: types, and where variables are kept;
//! * [`declarations`]: variables, channels and their initial values;
//! * [`expressions`], [`channels`]: expressions, and messages sent and received;
//! * [`statements`]: bodies as control flow, with [`commands`], [`loops`] and [`unless`]; [`flow`]: that flow, built as Spin builds
//!   it; [`graph`]: its locations;
//! * [`processes`]: everything put together; [`temporal`]: `ltl` formulas; [`hidden`]: what of the hidden must be kept.

mod channels;
mod commands;
mod declarations;
mod expressions;
mod flow;
mod graph;
mod hidden;
mod labels;
mod layout;
mod loops;
mod names;
mod processes;
mod statements;
mod survey;
mod temporal;
mod unless;

use crate::ast;
use crate::trail::{BodyNumbers, StatementNumbers};
use names::Names;
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{CodeId, Expr, Init, Model};
use processes::Body;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use survey::Survey;

/// The model, as far as it was understood, and everything there is to say about the text.
pub fn lower(program: &ast::Program, budget: &Budget) -> (Model, StatementNumbers, Vec<Diagnostic>) {
    let once = |known| Lowering::new(known, budget.clone()).program(program);
    let mut known = Known::default();
    let mut lowered = once(known.clone());
    if lowered.needs_remote_variables {
        // A process may look at the variables of one that is defined later: now they are all known.
        known.remote_variables = std::mem::take(&mut lowered.remote_variables);
        lowered = once(known.clone());
    }
    let outliving = hidden::outliving(&lowered.model);
    if !outliving.is_empty() {
        let kept = lowered
            .hidden_variables
            .iter()
            .filter(|(_, slots)| outliving.range(slots.clone()).next().is_some());
        known.kept = kept.map(|(name, _)| name.clone()).collect();
        lowered = once(known);
    }
    let numbers = StatementNumbers::new(lowered.numbers, &lowered.text_order);
    (lowered.model, numbers, lowered.diagnostics)
}

/// Of errors and of warnings each.
const MAX_DIAGNOSTICS: usize = 500;

/// A value that is assigned may start one process and use its number.
#[derive(Debug, Default, PartialEq)]
enum RunInValue {
    /// Not here, or not a second time.
    #[default]
    Refused,
    Allowed,
    Started {
        code: CodeId,
        args: Vec<Expr>,
        priority: u8,
    },
}

/// The variables of every process by name, outermost block first: for references from outside.
type RemoteVariables = HashMap<(CodeId, String), names::Declared>;

/// What an earlier look at the whole program found out.
#[derive(Debug, Clone, Default)]
struct Known {
    remote_variables: RemoteVariables,
    /// Hidden variables that are part of the state after all.
    kept: HashSet<String>,
}

struct Lowering {
    model: Model,
    diagnostics: Vec<Diagnostic>,
    names: Names,
    /// The body being lowered.
    body: Option<Body>,
    known: Known,
    remote_variables: RemoteVariables,
    /// Those that are not kept, and their slots.
    hidden_variables: Vec<(String, Range<u32>)>,
    needs_remote_variables: bool,
    survey: Survey,
    /// For each code the labels that are referred to: `Expr::At` counts them.
    referred_labels: HashMap<CodeId, Vec<ast::Name>>,
    run_in_value: RunInValue,
    /// How many inlines the statement being lowered stands in.
    inline_depth: usize,
    /// In a formula the words of Promela that need a running process have no meaning.
    in_formula: bool,
    /// For each code, how Spin counts its statements.
    numbers: Vec<BodyNumbers>,
    /// The codes in the order in which their bodies stand in the text.
    text_order: Vec<usize>,
    /// It was said whether `_nr_pr` counts the claim.
    said_who_counts: bool,
    /// Looked at for every statement.
    budget: Budget,
}

impl Lowering {
    fn new(known: Known, budget: Budget) -> Lowering {
        Lowering {
            model: Model::default(),
            diagnostics: Vec::new(),
            names: Names::default(),
            body: None,
            known,
            remote_variables: RemoteVariables::default(),
            hidden_variables: Vec::new(),
            needs_remote_variables: false,
            survey: Survey::default(),
            referred_labels: HashMap::new(),
            run_in_value: RunInValue::default(),
            inline_depth: 0,
            in_formula: false,
            numbers: Vec::new(),
            text_order: Vec::new(),
            said_who_counts: false,
            budget,
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    /// The same thing about the same place is said once, and nobody reads more than so many.
    fn report(&mut self, diagnostic: Diagnostic) {
        let like_it = self.diagnostics.iter().filter(|known| known.severity == diagnostic.severity).count();
        if like_it < MAX_DIAGNOSTICS && !self.diagnostics.contains(&diagnostic) {
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
