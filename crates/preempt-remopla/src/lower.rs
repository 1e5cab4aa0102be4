//! From the syntax tree to a model: a module becomes one code where it is called, and one where it is a thread's own.
//!
//! A statement is one step, an evaluated guard too. What was not assigned has any value: globals before the first step of the
//! program, locals when a module is entered; of those that the first statements assign nothing has to be chosen. Falling off
//! the end of a module returns.
//!
//! * here: which codes there are; `flow`: the statements of one; `calls`: calls, threads and results; `values`: what is assigned.

mod calls;
mod flow;
mod values;

use crate::RemoplaOptions;
use crate::ast::{Module, Name, Program};
use crate::scope::{Checked, Names, Reported};
use flow::{Flow, ends};
use preempt_core::{Budget, Diagnostic};
use preempt_model::{Code, CodeId, CodeKind, Command, Expr as Value, Model, Scope as Where, Start, Variable};
use std::collections::{BTreeSet, HashMap};

/// A model has no more codes than this.
const MOST_MODULES: usize = 10_000;

pub(crate) fn lower(
    program: &Program,
    text: &str,
    options: &RemoplaOptions,
    budget: &Budget,
) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lowering = Lowering {
        program,
        text,
        options,
        names: Names::of(program),
        modules: HashMap::new(),
        wanted: Vec::new(),
        globals: Vec::new(),
        slots: 0,
    };
    let model = lowering.model(budget).ok();
    (model, lowering.names.diagnostics)
}

struct Lowering<'p> {
    program: &'p Program,
    text: &'p str,
    options: &'p RemoplaOptions,
    names: Names,
    modules: HashMap<String, usize>,
    /// Modules and whether they are a thread's own code, in the order of the codes.
    wanted: Vec<(usize, bool)>,
    globals: Vec<Variable>,
    slots: u32,
}

impl<'p> Lowering<'p> {
    fn model(&mut self, budget: &Budget) -> Checked<Model> {
        for declaration in &self.program.globals {
            if let Ok(variable) = self.names.declare(declaration, Where::Global, self.slots) {
                self.slots += variable.length.unwrap_or(1);
                self.globals.push(variable);
            }
        }
        for (number, module) in self.program.modules.iter().enumerate() {
            if module.body.is_none() {
                continue;
            }
            if self.modules.insert(module.name.text.clone(), number).is_some() {
                let message = format!("there are two modules `{}`", module.name.text);
                self.names.report(module.name.span, message, "rename one of them");
            }
        }
        if self.program.modules.len() > MOST_MODULES {
            let span = self.program.modules[MOST_MODULES].name.span;
            return Err(self.names.report(
                span,
                format!("more than {MOST_MODULES} modules"),
                "leave some out",
            ));
        }
        let Some(init) = &self.program.init else {
            self.names.diagnostics.push(
                Diagnostic::global_error("nothing says which module the program begins with")
                    .hint("add it, as in `init main;`"),
            );
            return Err(Reported);
        };
        let main = self.module(init)?;
        if let Some(parameter) = self.program.modules[main].parameters.first() {
            let (span, message) = (parameter.name.span, "the first module has parameters");
            return Err(self.names.report(span, message, "nobody gives them a value"));
        }
        self.code_of(main, true);
        let mut model = Model { start: vec![Start { code: CodeId(0), priority: 1 }], ..Model::default() };
        let mut failed = false;
        while let Some(&(module, thread)) = self.wanted.get(model.codes.len()) {
            if budget.exhausted().is_some() {
                let message = "a limit was reached before the program was understood";
                self.names.diagnostics.push(Diagnostic::global_error(message));
                return Err(Reported);
            }
            let first = model.codes.is_empty();
            match self.code(module, thread, first) {
                Ok(code) => model.codes.push(code),
                Err(Reported) => {
                    failed = true;
                    break;
                }
            }
        }
        // Modules that nobody calls are looked at as well: they may have mistakes.
        for module in 0..self.program.modules.len() {
            let is_known = self.wanted.iter().any(|(known, _)| *known == module);
            if !is_known && self.program.modules[module].body.is_some() {
                failed |= self.code(module, false, false).is_err();
            }
        }
        if failed || self.names.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Reported);
        }
        // What only unused modules call was asked for by them.
        model.codes.truncate(self.wanted.len());
        while let Some(&(module, thread)) = self.wanted.get(model.codes.len()) {
            let code = self.code(module, thread, false)?;
            model.codes.push(code);
        }
        model.globals = std::mem::take(&mut self.globals);
        model.global_slots = self.slots;
        Ok(model)
    }

    fn module(&mut self, name: &Name) -> Checked<usize> {
        match self.modules.get(&name.text) {
            Some(module) => Ok(*module),
            None => {
                let announced = self.program.modules.iter().any(|it| it.name.text == name.text);
                if announced {
                    let message = format!("the module `{}` is announced and has no body", name.text);
                    return Err(self.names.report(name.span, message, "write it in the same file"));
                }
                let known: Vec<String> = self.modules.keys().cloned().collect();
                Err(self.names.unknown(name, "module", known.iter().map(String::as_str)))
            }
        }
    }

    fn code_of(&mut self, module: usize, thread: bool) -> CodeId {
        let wanted = (module, thread);
        let number = self.wanted.iter().position(|known| *known == wanted).unwrap_or_else(|| {
            self.wanted.push(wanted);
            self.wanted.len() - 1
        });
        CodeId(number as u16)
    }

    fn code(&mut self, module: usize, thread: bool, first: bool) -> Checked<Code> {
        let module: &Module = &self.program.modules[module];
        let body = module.body.as_deref().unwrap_or_default();
        self.names.locals.clear();
        let mut slots = 0;
        let mut variables = Vec::new();
        let mut parameters = Vec::new();
        for (number, declaration) in module.parameters.iter().chain(&module.locals).enumerate() {
            let variable = self.names.declare(declaration, Where::Local, slots)?;
            slots += variable.length.unwrap_or(1);
            if number < module.parameters.len() {
                parameters.push(variable.ty);
            }
            variables.push(variable);
        }
        let returns = match &module.returns {
            None => None,
            Some((ty, bits)) => Some(self.names.ty(ty, bits.as_ref(), module.name.span)?),
        };
        if returns.is_some() && !ends(body) {
            let message = format!("`{}` may end without a value", module.name.text);
            return Err(self.names.report(module.end, message, "end it with `return`"));
        }
        let mut undefined: Vec<(Where, &Variable)> =
            variables[parameters.len()..].iter().map(|variable| (Where::Local, variable)).collect();
        let globals = if first { self.globals.clone() } else { Vec::new() };
        undefined.extend(globals.iter().map(|variable| (Where::Global, variable)));
        let chosen = self.chosen(&undefined, body);
        let mut flow = Flow {
            lowering: self,
            locations: Vec::new(),
            labels: HashMap::new(),
            defined: BTreeSet::new(),
            loops: Vec::new(),
            returns,
            thread,
        };
        let entry = flow.place();
        let mut at = entry;
        if !chosen.is_empty() {
            let next = flow.place();
            flow.edge(at, Command::Assign(chosen), next, module.name.span, "undefined values".into());
            at = next;
        }
        let last = flow.statements(body, at)?;
        if thread {
            // Nothing is left to do.
            flow.locations[last.0 as usize].edges.clear();
        } else {
            let values = returns.iter().map(|_| Value::Const(0)).collect();
            flow.edge(last, Command::Return(values), last, module.end, "return".into());
        }
        let labels = flow.labels.clone();
        for (name, (_, span)) in &labels {
            if !flow.defined.contains(name) {
                let known: Vec<String> = flow.defined.iter().cloned().collect();
                let name = Name { text: name.clone(), span: *span };
                return Err(flow.lowering.names.unknown(&name, "label", known.iter().map(String::as_str)));
            }
        }
        let locations = flow.locations;
        Ok(Code {
            name: module.name.text.clone(),
            kind: if thread { CodeKind::Process } else { CodeKind::Procedure },
            parameters,
            variables,
            slots,
            init: Vec::new(),
            locations,
            entry,
            provided: None,
            deterministic: false,
            labels: labels.into_iter().map(|(name, (place, _))| (name, place)).collect(),
            span: module.name.span,
        })
    }
}
