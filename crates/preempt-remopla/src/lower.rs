//! From the syntax tree to a model: a module becomes one code where it is called, and one where it is a thread's own.
//!
//! A statement is one step, an evaluated guard too. What was not assigned has any value: globals before the first step of the
//! program, locals when a module is entered; of those that the first statements assign nothing has to be chosen. Falling off
//! the end of a module returns.

use crate::RemoplaOptions;
use crate::ast::{Assignment, Declaration, Expr, Module, Name, Place, Program, Statement, StatementKind};
use crate::scope::{Checked, Kind, Names, Reported};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{
    BinaryOp, Code, CodeId, CodeKind, Command, Edge, Expr as Value, Location, LocationId, Model,
    Place as Slot, Scope as Where, Start, Type, Variable,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A model has no more codes than this.
const MOST_MODULES: usize = 10_000;
/// Assignments that a quantifier makes.
const MOST_ASSIGNMENTS: usize = 1 << 12;

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

    /// Any value for what the first statements do not assign.
    fn chosen(&mut self, undefined: &[(Where, &Variable)], body: &[Statement]) -> Vec<(Slot, Value)> {
        let reported = self.names.diagnostics.len();
        let mut assigned: BTreeSet<(Where, u32)> = BTreeSet::new();
        let mut read: BTreeSet<(Where, u32)> = BTreeSet::new();
        'leading: for statement in body.iter().take_while(|statement| statement.label.is_none()) {
            let StatementKind::Assign(assignments) = &statement.kind else { break };
            let Ok(assignments) = self.assignments(assignments) else { break };
            for (place, value) in &assignments {
                let mut loads = |expr: &Value| {
                    if let Value::Load(place) = expr {
                        read.extend(place.range().map(|slot| (place.scope, slot)));
                    }
                };
                value.visit(&mut loads);
                if !place.indices.is_empty() {
                    break 'leading;
                }
            }
            for (place, _) in &assignments {
                if !read.contains(&(place.scope, place.slot)) {
                    assigned.insert((place.scope, place.slot));
                }
            }
        }
        // What is wrong there is said when the statements are.
        self.names.diagnostics.truncate(reported);
        let mut chosen = Vec::new();
        for (scope, variable) in undefined {
            for slot in variable.slot..variable.slot + variable.length.unwrap_or(1) {
                if !assigned.contains(&(*scope, slot)) {
                    let place = Slot { scope: *scope, slot, indices: Vec::new(), ty: variable.ty };
                    chosen.push((place, any(variable.ty)));
                }
            }
        }
        chosen
    }

    fn assignments(&mut self, assignments: &[Assignment]) -> Checked<Vec<(Slot, Value)>> {
        let (mut all, mut targets) = (Vec::new(), BTreeSet::new());
        for assignment in assignments {
            let mut ways = vec![BTreeMap::new()];
            for quantifier in &assignment.quantifiers {
                let mut longer = Vec::new();
                for bound in &ways {
                    for number in self.names.range(quantifier, bound)? {
                        let mut bound: BTreeMap<String, i64> = bound.clone();
                        bound.insert(quantifier.name.text.clone(), number);
                        longer.push(bound);
                    }
                    if longer.len() > MOST_ASSIGNMENTS {
                        let message = format!("more than {MOST_ASSIGNMENTS} assignments");
                        let hint = "make the ranges smaller";
                        return Err(self.names.report(quantifier.name.span, message, hint));
                    }
                }
                ways = longer;
            }
            for bound in &ways {
                let (place, kind) = self.names.place(&assignment.place, bound)?;
                let value = match &assignment.value {
                    None => any(place.ty),
                    Some(value) => self.fitting(value, (place.ty, kind), bound)?,
                };
                if place.indices.is_empty() && !targets.insert((place.scope, place.slot)) {
                    let span = assignment.place.name.span;
                    return Err(self.names.report(
                        span,
                        "the same variable twice",
                        "it can have one value only",
                    ));
                }
                all.push((place, value));
            }
        }
        Ok(all)
    }

    /// A value for a place of this type: of its kind, and a constant within its bits.
    fn fitting(
        &mut self,
        expr: &Expr,
        wanted: (Type, Kind),
        bound: &BTreeMap<String, i64>,
    ) -> Checked<Value> {
        let (value, kind) = self.names.value(expr, bound)?;
        let fits = match (wanted.1, kind) {
            (Kind::Bool, Kind::Bool) => true,
            (Kind::Bool, _) | (_, Kind::Bool) => false,
            (Kind::Enum(one), Kind::Enum(other)) => one == other,
            (Kind::Enum(_), Kind::Number) => false,
            (Kind::Number, _) => true,
        };
        if !fits {
            let message = match wanted.1 {
                Kind::Bool => "expected a truth value, found a number",
                Kind::Number => "expected a number, found a truth value",
                Kind::Enum(_) => "expected a value of the enumeration",
            };
            return Err(self.names.report(expr.span, message, "the two sides have different types"));
        }
        if let Value::Const(number) = value {
            let most = (1i64 << wanted.0.bits) - 1;
            if !(0..=most).contains(&i64::from(number)) {
                let bits = wanted.0.bits;
                let message = format!("{number} does not fit into {bits} bits");
                return Err(self.names.report(expr.span, message, &format!("the largest value is {most}")));
            }
        }
        Ok(value)
    }
}

/// Any value of a type.
fn any(ty: Type) -> Value {
    Value::Any { low: 0, high: ((1i64 << ty.bits) - 1) as i32 }
}

/// Is the end of these statements never reached?
fn ends(body: &[Statement]) -> bool {
    match body.last().map(|last| &last.kind) {
        Some(StatementKind::Return(_) | StatementKind::Goto(_)) => true,
        Some(StatementKind::If(branches)) => branches.iter().all(|(_, body)| ends(body)),
        Some(StatementKind::Do(branches)) => !branches.iter().any(|(_, body)| breaks(body)),
        _ => false,
    }
}

fn breaks(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If(branches) => branches.iter().any(|(_, body)| breaks(body)),
        _ => false,
    })
}

/// The control flow of one code.
struct Flow<'l, 'p> {
    lowering: &'l mut Lowering<'p>,
    locations: Vec<Location>,
    labels: HashMap<String, (LocationId, Span)>,
    defined: BTreeSet<String>,
    /// Where `break` leads to.
    loops: Vec<LocationId>,
    returns: Option<(Type, Kind)>,
    thread: bool,
}

impl Flow<'_, '_> {
    fn place(&mut self) -> LocationId {
        let number = self.locations.len() as u32;
        self.locations.push(Location { number, end: true, ..Location::default() });
        LocationId(number)
    }

    fn edge(&mut self, from: LocationId, command: Command, target: LocationId, span: Span, text: String) {
        let edge = Edge { command, target, atomic: false, escape: None, span, text };
        self.locations[from.0 as usize].edges.push(edge);
    }

    fn label(&mut self, name: &Name) -> LocationId {
        if let Some((place, _)) = self.labels.get(&name.text) {
            return *place;
        }
        let place = self.place();
        self.labels.insert(name.text.clone(), (place, name.span));
        place
    }

    /// The source, on one line and without the semicolon.
    fn text(&self, span: Span) -> String {
        let text = &self.lowering.text[span.start as usize..span.end as usize];
        text.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn statements(&mut self, statements: &[Statement], from: LocationId) -> Checked<LocationId> {
        let mut at = from;
        let mut failed = false;
        for statement in statements {
            match self.statement(statement, at) {
                Ok(next) => at = next,
                Err(Reported) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(at) }
    }

    fn statement(&mut self, statement: &Statement, from: LocationId) -> Checked<LocationId> {
        let mut at = from;
        if let Some(name) = &statement.label {
            if !self.defined.insert(name.text.clone()) {
                let message = format!("there are two labels `{}`", name.text);
                return Err(self.lowering.names.report(name.span, message, "rename one of them"));
            }
            let place = self.label(name);
            self.edge(at, Command::SKIP, place, name.span, format!("{}:", name.text));
            at = place;
            if self.lowering.options.is_error(&name.text) {
                let next = self.place();
                let text = format!("{}: is reached", name.text);
                self.edge(at, Command::Assert(Value::Const(0)), next, name.span, text);
                at = next;
            }
        }
        let (span, text) = (statement.span, self.text(statement.span));
        let nothing = BTreeMap::new();
        let names = &mut self.lowering.names;
        let command = match &statement.kind {
            StatementKind::If(branches) => {
                let after = self.place();
                self.branches(branches, at, after)?;
                return Ok(after);
            }
            StatementKind::Do(branches) => {
                let after = self.place();
                self.loops.push(after);
                let done = self.branches(branches, at, at);
                self.loops.pop();
                done?;
                return Ok(after);
            }
            StatementKind::Skip(None) => Command::SKIP,
            StatementKind::Skip(Some(condition)) => Command::Guard(names.condition(condition, &nothing)?),
            StatementKind::Assign(assignments) => Command::Assign(self.lowering.assignments(assignments)?),
            StatementKind::Goto(label) => {
                let target = self.label(label);
                self.edge(at, Command::SKIP, target, span, text);
                return Ok(self.place());
            }
            StatementKind::Break => {
                let Some(&after) = self.loops.last() else {
                    return Err(names.report(span, "`break` outside of a `do`", "leave it out"));
                };
                self.edge(at, Command::SKIP, after, span, text);
                return Ok(self.place());
            }
            StatementKind::Return(value) => {
                let values = self.returned(value.as_ref(), span)?;
                let dead = self.place();
                match self.thread {
                    // Nobody waits for the value: the thread stays where it is.
                    true => self.edge(at, Command::SKIP, dead, span, text),
                    false => self.edge(at, Command::Return(values), at, span, text),
                }
                return Ok(self.place());
            }
            StatementKind::Call { target, module, arguments } => {
                let (code, args, returns) = self.called(module, arguments, false)?;
                let results = self.target(target.as_ref(), returns, module)?;
                Command::Call { code, args, results }
            }
            StatementKind::Fork(module, arguments) => {
                let (code, args, _) = self.called(module, arguments, true)?;
                Command::Run { code, args, priority: 1, result: None }
            }
        };
        let next = self.place();
        self.edge(at, command, next, span, text);
        Ok(next)
    }

    fn branches(
        &mut self,
        branches: &[(Option<Expr>, Vec<Statement>)],
        from: LocationId,
        after: LocationId,
    ) -> Checked<()> {
        let mut failed = false;
        // `else` is what is left when all others were looked at.
        let (guards, others): (Vec<_>, Vec<_>) = branches.iter().partition(|(guard, _)| guard.is_some());
        for (guard, body) in guards.into_iter().chain(others) {
            let first = self.place();
            let (command, span, text) = match guard {
                Some(guard) => {
                    let Ok(condition) = self.lowering.names.condition(guard, &BTreeMap::new()) else {
                        failed = true;
                        continue;
                    };
                    (Command::Guard(condition), guard.span, self.text(guard.span))
                }
                None => {
                    let span = body.first().map_or(Span::new(preempt_core::SourceId(0), 0, 0), |it| it.span);
                    (Command::Else, span, "else".into())
                }
            };
            self.edge(from, command, first, span, text);
            match self.statements(body, first) {
                Ok(last) => self.edge(last, Command::SKIP, after, span, "end of the branch".into()),
                Err(Reported) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(()) }
    }

    fn returned(&mut self, value: Option<&Expr>, span: Span) -> Checked<Vec<Value>> {
        match (value, self.returns) {
            (None, None) => Ok(Vec::new()),
            (Some(value), Some((ty, kind))) => {
                let returned = self.lowering.fitting(value, (ty, kind), &BTreeMap::new())?;
                let mask = Value::Const(((1i64 << ty.bits) - 1) as i32);
                Ok(vec![match (&returned, kind) {
                    (Value::Const(_), _) | (_, Kind::Bool) => returned,
                    _ => Value::binary(BinaryOp::BitAnd, returned, mask),
                }])
            }
            (Some(value), None) => {
                let message = "a value is returned, and the module is `void`";
                Err(self.lowering.names.report(value.span, message, "leave out the value"))
            }
            (None, Some(_)) => {
                Err(self.lowering.names.report(span, "a value is missing", "the module returns one"))
            }
        }
    }

    /// The code and the arguments of a call or of a thread.
    #[expect(clippy::type_complexity, reason = "a code, its arguments, and what it returns")]
    fn called(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        thread: bool,
    ) -> Checked<(CodeId, Vec<Value>, Option<(Type, Kind)>)> {
        let number = self.lowering.module(name)?;
        let program = self.lowering.program;
        let module = &program.modules[number];
        let parameters: &[Declaration] = &module.parameters;
        if parameters.len() != arguments.len() {
            let (wanted, given) = (parameters.len(), arguments.len());
            let message = format!("`{}` takes {wanted} arguments, and not {given}", name.text);
            return Err(self.lowering.names.report(name.span, message, "one for each parameter"));
        }
        let mut args = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let names = &mut self.lowering.names;
            let wanted = names.ty(&parameter.ty, parameter.bits.as_ref(), parameter.name.span)?;
            args.push(self.lowering.fitting(argument, wanted, &BTreeMap::new())?);
        }
        let returns = match &module.returns {
            None => None,
            Some((ty, bits)) => Some(self.lowering.names.ty(ty, bits.as_ref(), module.name.span)?),
        };
        Ok((self.lowering.code_of(number, thread), args, returns))
    }

    fn target(
        &mut self,
        target: Option<&Place>,
        returns: Option<(Type, Kind)>,
        module: &Name,
    ) -> Checked<Vec<Slot>> {
        let Some(target) = target else { return Ok(Vec::new()) };
        let (place, kind) = self.lowering.names.place(target, &BTreeMap::new())?;
        match returns {
            Some((_, returned)) if returned == kind => Ok(vec![place]),
            Some(_) => {
                let message = format!("`{}` returns a value of another type", module.text);
                Err(self.lowering.names.report(target.name.span, message, "use a variable of that type"))
            }
            None => {
                let message = format!("`{}` returns nothing", module.text);
                Err(self.lowering.names.report(module.span, message, "call it without `x =`"))
            }
        }
    }
}
