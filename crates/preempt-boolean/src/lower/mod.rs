//! From a checked syntax tree to a model.
//!
//! A procedure becomes one code for each mode in which it is executed ([`Variant`]): called, called within an atomic
//! block, or as a thread. [`body`] lowers its statements, [`graph`] joins what they become to locations, [`values`] has
//! the expressions, and [`beginnings`] lets variables without an initial value begin with any value.

mod beginnings;
mod body;
mod graph;
mod values;

use crate::BooleanOptions;
use crate::ast::{ExprKind, Name, Procedure, Program};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{Code, CodeId, CodeKind, Expr, Init, Model, Place, Scope, Start, Type, Variable};
use std::collections::HashMap;

/// `entry`: the procedure that the program begins with.
pub fn lower(
    program: &Program,
    entry: &str,
    options: &BooleanOptions,
    budget: &Budget,
) -> Result<Model, Diagnostic> {
    let stopped = || Diagnostic::global_error("a limit was reached before the program was translated");
    let mut lowering = Lowering::new(program, options, budget);
    let main = lowering.procedures.get(entry).copied();
    let main = main.ok_or_else(|| Diagnostic::global_error(format!("there is no procedure `{entry}`")))?;
    let main = lowering.code(Variant { procedure: main, mode: Mode::Thread });
    lowering.model.start = vec![Start { code: main, priority: 1 }];
    // Lowering one body may need others.
    while let Some(variant) = lowering.wanted.get(lowering.model.codes.len()).cloned() {
        let code = body::lower(&mut lowering, &variant);
        if budget.exhausted().is_some() {
            return Err(stopped());
        }
        lowering.model.codes.push(code);
        if lowering.wanted.len() > usize::from(u16::MAX) {
            return Err(Diagnostic::global_error("the program has too many procedures and threads"));
        }
    }
    beginnings::of_globals(&mut lowering.model, &lowering.begin_with_any);
    Ok(lowering.model)
}

/// A procedure, and how it is executed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Variant {
    procedure: usize,
    mode: Mode,
}

/// How a procedure is executed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Mode {
    /// Called; `atomic`: from within an atomic block, which it must not leave.
    Called { atomic: bool },
    /// As a thread.
    Thread,
    /// As a thread that begins at a label, with the locals of the one that starts it.
    ThreadAt(String),
}

struct Lowering<'p> {
    program: &'p Program,
    budget: &'p Budget,
    options: &'p BooleanOptions,
    model: Model,
    procedures: HashMap<&'p str, usize>,
    globals: HashMap<&'p str, Place>,
    /// Every thread has these for itself. Procedures are given them and give them back.
    thread_locals: Vec<&'p Name>,
    /// Slots of globals.
    begin_with_any: Vec<u32>,
    /// In the order of their codes.
    wanted: Vec<Variant>,
    codes: HashMap<Variant, CodeId>,
}

impl<'p> Lowering<'p> {
    fn new(program: &'p Program, options: &'p BooleanOptions, budget: &'p Budget) -> Lowering<'p> {
        let mut lowering = Lowering {
            program,
            budget,
            options,
            model: Model::default(),
            procedures: HashMap::new(),
            globals: HashMap::new(),
            thread_locals: Vec::new(),
            begin_with_any: Vec::new(),
            wanted: Vec::new(),
            codes: HashMap::new(),
        };
        for (number, procedure) in program.procedures.iter().enumerate() {
            lowering.procedures.insert(&procedure.name.text, number);
        }
        for global in &program.globals {
            if global.thread_local {
                lowering.thread_locals.push(&global.name);
                continue;
            }
            let slot = lowering.model.global_slots;
            lowering.model.global_slots += 1;
            lowering.globals.insert(&global.name.text, Place::scalar(Scope::Global, slot, Type::BOOL));
            lowering.model.globals.push(variable(&global.name, slot));
            match global.value.as_ref().map(|value| &value.kind) {
                Some(ExprKind::Constant(value)) => lowering.model.init.push(Init::Set {
                    hidden: false,
                    slot,
                    ty: Type::BOOL,
                    value: Expr::Const(i32::from(*value)),
                }),
                _ => lowering.begin_with_any.push(slot),
            }
        }
        lowering
    }

    fn procedure(&self, number: usize) -> &'p Procedure {
        &self.program.procedures[number]
    }

    fn code(&mut self, variant: Variant) -> CodeId {
        if let Some(code) = self.codes.get(&variant) {
            return *code;
        }
        // More codes than fit are refused once all are known.
        let code = CodeId(self.wanted.len() as u16);
        self.wanted.push(variant.clone());
        self.codes.insert(variant, code);
        code
    }
}

fn variable(name: &Name, slot: u32) -> Variable {
    Variable { name: name.text.clone(), slot, ty: Type::BOOL, length: None, span: name.at.0 }
}

/// A code without anything in it yet.
fn empty_code(name: String, kind: CodeKind, span: Span) -> Code {
    Code {
        name,
        kind,
        parameters: Vec::new(),
        variables: Vec::new(),
        slots: 0,
        init: Vec::new(),
        locations: Vec::new(),
        entry: Default::default(),
        provided: None,
        deterministic: false,
        labels: Vec::new(),
        span,
    }
}
