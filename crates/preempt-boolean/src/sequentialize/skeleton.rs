//! The control flow of the sequential program: functions made of labelled blocks, the same for every language.
//!
//! A location becomes one block, or two if a thread can arrive there inside and outside of an atomic sequence; an edge becomes a
//! block of its own. Between statements of a thread that are not in an atomic sequence a round may pass
//! ([`Step::Switch`]); who blocks in an atomic sequence goes on as if it were outside. [`deterministic`](super::deterministic) has
//! the `d_step` sequences.

use super::slots::{self, Names, Slot};
use super::threads::{Thread, threads};
use super::{go_on, refused, terms};
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{
    BinaryOp, Code, CodeId, Command, Expr, Init, Interpreter, LocationId, Model, Place, Scope, System, Type,
};
use std::collections::{HashMap, HashSet};

#[derive(Debug)]
pub struct Skeleton {
    pub contexts: usize,
    /// The shared variables with the values that they begin with; behind the model's own, what a start hands over.
    pub shared: Vec<(Slot, i32)>,
    pub threads: Vec<Thread>,
    /// First one for each thread, in the order of their turns, then the procedures.
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub parameters: usize,
    /// How many values it returns, all of them Boolean.
    pub results: usize,
    pub locals: Vec<Slot>,
    /// Entered at the first.
    pub blocks: Vec<Block>,
}

#[derive(Debug, Default)]
pub struct Block {
    pub label: String,
    pub steps: Vec<(Step, Span)>,
}

/// What the sequential program does. Between two steps nothing else happens.
#[derive(Debug, Clone)]
pub enum Step {
    /// Any number of rounds passes, or the thread gives up.
    Switch,
    Assume(Expr),
    /// Records a failure and gives up if it does not hold.
    Require(Expr),
    Assign(Vec<(Place, Expr)>),
    Call {
        function: usize,
        args: Vec<Expr>,
        results: Vec<Place>,
    },
    Return(Vec<Expr>),
    /// Gives up.
    Stop,
    /// To any of these blocks.
    Goto(Vec<String>),
}

impl Skeleton {
    pub fn new(
        model: &Model,
        interpreter: &Interpreter<'_>,
        contexts: usize,
        budget: &Budget,
    ) -> Result<Skeleton, Diagnostic> {
        let threads = threads(model, budget)?;
        let initial = interpreter.initial_states().into_iter().next();
        let machine = initial.map(|state| interpreter.open(&state));
        let machine = machine.ok_or_else(|| Diagnostic::global_error("there is no initial state"))?;
        let mut names = Names::default();
        let globals = slots::of(&model.globals, model.global_slots, &mut names);
        let mut shared: Vec<(Slot, i32)> = globals.into_iter().zip(machine.globals.iter().copied()).collect();
        let mut handed = HashMap::new();
        for (number, thread) in threads.iter().enumerate().filter(|(_, thread)| thread.started_by.is_some()) {
            let code = model.code(thread.code);
            handed.insert(number, shared.len() as u32);
            let flag = names.unique(&format!("started_{}", number + 1));
            shared.push((Slot { name: flag, ty: Type::BOOL }, 0));
            for (argument, ty) in code.parameters.iter().enumerate() {
                let name = names.unique(&format!("argument_{}_{}", number + 1, argument + 1));
                shared.push((Slot { name, ty: *ty }, 0));
            }
        }
        let initial_locals = machine.processes.iter().map(|process| process.frame().locals.clone()).collect();
        let mut builder = Builder {
            model,
            budget,
            threads: &threads,
            handed,
            initial_locals,
            functions: Vec::new(),
            wanted: Vec::new(),
        };
        builder.wanted = (0..threads.len()).map(Wanted::Thread).collect();
        while let Some(wanted) = builder.wanted.get(builder.functions.len()).copied() {
            let function = builder.function(wanted)?;
            builder.functions.push(function);
        }
        let functions = builder.functions;
        Ok(Skeleton { contexts, shared, threads, functions })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Thread(usize),
    /// `true`: entered within an atomic sequence.
    Procedure(CodeId, bool),
}

pub(super) struct Builder<'a, 'm> {
    model: &'m Model,
    pub(super) budget: &'a Budget,
    threads: &'a [Thread],
    /// For threads that are started: the shared slot that says so, and its arguments behind it.
    handed: HashMap<usize, u32>,
    initial_locals: Vec<Vec<i32>>,
    functions: Vec<Function>,
    /// In the order of their functions.
    wanted: Vec<Wanted>,
}

impl<'m> Builder<'_, 'm> {
    fn function(&mut self, wanted: Wanted) -> Result<Function, Diagnostic> {
        let (thread, id, atomic) = match wanted {
            Wanted::Thread(thread) => (Some(thread), self.threads[thread].code, false),
            Wanted::Procedure(code, atomic) => (None, code, atomic),
        };
        let code = self.model.code(id);
        let name = match thread {
            Some(thread) => format!("thread_{}_{}", thread + 1, code.name),
            None if atomic => format!("{}_atomic", code.name),
            None => code.name.clone(),
        };
        let mut names = Names::default();
        let own = slots::of(&code.variables, code.slots, &mut names);
        let mut flow =
            Flow { builder: self, code, thread, blocks: Vec::new(), open: Vec::new(), met: HashSet::new() };
        flow.begin(atomic)?;
        while let Some((location, exclusive)) = flow.open.pop() {
            flow.location(location, exclusive)?;
        }
        let blocks = flow.blocks;
        let parameters = if thread.is_some() { 0 } else { code.parameters.len() };
        Ok(Function { name, parameters, results: results_of(code), locals: own, blocks })
    }

    fn procedure(&mut self, code: CodeId, atomic: bool) -> usize {
        let wanted = Wanted::Procedure(code, atomic);
        let known = self.wanted.iter().position(|known| *known == wanted);
        known.unwrap_or_else(|| {
            self.wanted.push(wanted);
            self.wanted.len() - 1
        })
    }
}

fn results_of(code: &Code) -> usize {
    let edges = code.locations.iter().flat_map(|location| &location.edges);
    let returned = edges.filter_map(|edge| match &edge.command {
        Command::Return(values) => Some(values.len()),
        _ => None,
    });
    returned.max().unwrap_or(0)
}

/// Does a procedure come back into an atomic sequence?
fn returns_atomically(code: &Code) -> bool {
    let mut edges = code.locations.iter().flat_map(|location| &location.edges);
    edges.any(|edge| edge.atomic && matches!(edge.command, Command::Return(_)))
}

/// One function while it is made.
pub(super) struct Flow<'f, 'a, 'm> {
    pub(super) builder: &'f mut Builder<'a, 'm>,
    code: &'m Code,
    thread: Option<usize>,
    blocks: Vec<Block>,
    /// Locations whose block is still to be made; `true`: arrived at in an atomic sequence.
    open: Vec<(LocationId, bool)>,
    met: HashSet<(LocationId, bool)>,
}

impl Flow<'_, '_, '_> {
    pub(super) fn block(&mut self, label: &str, steps: Vec<(Step, Span)>) {
        self.blocks.push(Block { label: label.to_string(), steps });
    }

    /// Parameters and initial values, then the entry.
    fn begin(&mut self, atomic: bool) -> Result<(), Diagnostic> {
        let span = self.code.span;
        let mut steps = Vec::new();
        let local = |slot: usize, ty| Place::scalar(Scope::Local, slot as u32, ty);
        match self.thread {
            Some(thread) if self.builder.threads[thread].started_by.is_none() => {
                let initial = self.builder.initial_locals.get(thread).cloned().unwrap_or_default();
                let values = initial.iter().enumerate();
                let values = values.map(|(slot, value)| (local(slot, Type::INT), Expr::Const(*value)));
                let all: Vec<_> = values.collect();
                if !all.is_empty() {
                    steps.push(Step::Assign(all));
                }
            }
            Some(thread) => {
                // It waits until it is started, in whichever round.
                let flag = self.builder.handed.get(&thread).copied().unwrap_or_default();
                let global = |slot, ty| Expr::load(Place::scalar(Scope::Global, slot, ty));
                steps.push(Step::Switch);
                steps.push(Step::Assume(global(flag, Type::BOOL)));
                let parameters = self.code.parameters.iter().enumerate();
                let mut values: Vec<(Place, Expr)> = parameters
                    .map(|(slot, ty)| (local(slot, *ty), global(flag + 1 + slot as u32, *ty)))
                    .collect();
                let rest = self.code.parameters.len()..self.code.slots as usize;
                values.extend(rest.map(|slot| (local(slot, Type::INT), Expr::Const(0))));
                if !values.is_empty() {
                    steps.push(Step::Assign(values));
                }
                self.initial_values(&mut steps, false)?;
            }
            None => {
                let rest = self.code.parameters.len()..self.code.slots as usize;
                let values: Vec<_> = rest.map(|slot| (local(slot, Type::INT), Expr::Const(0))).collect();
                if !values.is_empty() {
                    steps.push(Step::Assign(values));
                }
                self.initial_values(&mut steps, true)?;
            }
        }
        let entry = self.arrive(self.code.entry, atomic);
        steps.push(Step::Goto(vec![entry]));
        self.block("start", steps.into_iter().map(|step| (step, span)).collect());
        Ok(())
    }

    fn initial_values(&mut self, steps: &mut Vec<Step>, may_read_globals: bool) -> Result<(), Diagnostic> {
        for init in &self.code.init {
            let Init::Set { slot, ty, value, .. } = init else { continue };
            let mut reads = false;
            value.visit(&mut |expr| {
                reads |= matches!(expr, Expr::Load(place) if place.scope == Scope::Global);
            });
            if reads && !may_read_globals {
                // It is computed when the thread is started, not when it begins.
                return Err(refused(self.code.span, "an initial value depends on a shared variable"));
            }
            let place = Place::scalar(Scope::Local, *slot, *ty);
            steps.push(Step::Assign(vec![(place, self.expr(value, self.code.span)?)]));
        }
        Ok(())
    }

    /// The label to go to.
    fn arrive(&mut self, location: LocationId, exclusive: bool) -> String {
        if self.met.insert((location, exclusive)) {
            self.open.push((location, exclusive));
        }
        format!("{}{}", if exclusive { 'X' } else { 'L' }, location.0)
    }

    fn location(&mut self, id: LocationId, exclusive: bool) -> Result<(), Diagnostic> {
        let edges = &self.code.location(id).edges;
        let span = edges.first().map_or(self.code.span, |edge| edge.span);
        let label = self.arrive(id, exclusive);
        let mut steps = Vec::new();
        if !exclusive {
            steps.push((Step::Switch, span));
        }
        let mut targets: Vec<String> = (0..edges.len()).map(|edge| format!("E{}_{edge}", id.0)).collect();
        let may_block = edges.iter().all(|edge| self.ready(&edge.command).is_some());
        if exclusive && may_block {
            // Who blocks in its atomic sequence gives up the processor.
            let mut conditions = Vec::new();
            for edge in edges {
                conditions.extend(self.ready(&edge.command));
            }
            let blocked = format!("B{}", id.0);
            let none = self.expr(&none_of(&conditions, span)?, span)?;
            let free = self.arrive(id, false);
            self.block(&blocked, vec![(Step::Assume(none), span), (Step::Goto(vec![free]), span)]);
            targets.push(blocked);
        }
        steps.push((if targets.is_empty() { Step::Stop } else { Step::Goto(targets) }, span));
        self.block(&label, steps);
        // The edges are the same, however the thread came here.
        if self.met.contains(&(id, !exclusive)) && !self.open.contains(&(id, !exclusive)) {
            return Ok(());
        }
        for number in 0..edges.len() {
            go_on(self.builder.budget)?;
            self.edge(id, number)?;
        }
        Ok(())
    }

    fn edge(&mut self, id: LocationId, number: usize) -> Result<(), Diagnostic> {
        let edge = &self.code.location(id).edges[number];
        let label = format!("E{}_{number}", id.0);
        let span = edge.span;
        let mut steps = Vec::new();
        match &edge.command {
            Command::Guard(expr) => steps.push(Step::Assume(self.expr(expr, span)?)),
            Command::Else => steps.push(self.nothing_before(id, number)?),
            Command::Assign(assignments) => steps.push(self.assign(assignments, span)?),
            Command::Assert(expr) => steps.push(Step::Require(self.expr(expr, span)?)),
            Command::Print { .. } => {}
            Command::Run { args, .. } => {
                let mut threads = self.builder.threads.iter();
                let started = threads.position(|thread| {
                    thread.started_by.is_some_and(|by| (Some(by.0), by.1, by.2) == (self.thread, id, number))
                });
                let Some(started) = started else { return Err(refused(span, "a thread is started here")) };
                let flag = self.builder.handed.get(&started).copied().unwrap_or_default();
                let mut assignments = vec![(Place::scalar(Scope::Global, flag, Type::BOOL), Expr::TRUE)];
                let types = &self.builder.model.code(self.builder.threads[started].code).parameters;
                for (argument, (value, ty)) in args.iter().zip(types).enumerate() {
                    let place = Place::scalar(Scope::Global, flag + 1 + argument as u32, *ty);
                    assignments.push((place, self.expr(value, span)?));
                }
                steps.push(Step::Assign(assignments));
            }
            Command::End => {
                self.block(&label, vec![(Step::Stop, span)]);
                return Ok(());
            }
            Command::Call { code, args, results } => {
                let args = args.iter().map(|arg| self.expr(arg, span)).collect::<Result<_, _>>()?;
                let function = self.builder.procedure(*code, edge.atomic);
                let after = returns_atomically(self.builder.model.code(*code));
                let next = self.arrive(edge.target, after);
                let call = Step::Call { function, args, results: results.clone() };
                self.block(&label, vec![(call, span), (Step::Goto(vec![next]), span)]);
                return Ok(());
            }
            Command::Return(values) => {
                let values = values.iter().map(|value| self.expr(value, span)).collect::<Result<_, _>>()?;
                self.block(&label, vec![(Step::Return(values), span)]);
                return Ok(());
            }
            Command::Deterministic(block) => {
                let next = self.arrive(edge.target, edge.atomic);
                let lone_else = matches!(block.nodes.first().map(Vec::as_slice), Some([first]) if first.command == Some(Command::Else));
                if !lone_else {
                    return self.deterministic(block, &label, &next, span);
                }
                // It belongs to the choice that the block is part of.
                let inner = format!("{label}_else");
                let steps = vec![self.nothing_before(id, number)?, Step::Goto(vec![inner.clone()])];
                self.block(&label, steps.into_iter().map(|step| (step, span)).collect());
                return self.deterministic(block, &inner, &next, span);
            }
            Command::Send { .. } | Command::Receive { .. } | Command::SetPriority { .. } => {
                return Err(refused(span, "a channel or a priority"));
            }
        }
        let next = self.arrive(edge.target, edge.atomic);
        steps.push(Step::Goto(vec![next]));
        self.block(&label, steps.into_iter().map(|step| (step, span)).collect());
        Ok(())
    }

    /// None of the edges before this one can be taken.
    fn nothing_before(&self, id: LocationId, number: usize) -> Result<Step, Diagnostic> {
        let edges = &self.code.location(id).edges;
        // If one can always be taken, `else` never is.
        let earlier: Vec<Expr> =
            edges[..number].iter().map(|edge| self.ready(&edge.command).unwrap_or(Expr::TRUE)).collect();
        let span = edges[number].span;
        Ok(Step::Assume(self.expr(&none_of(&earlier, span)?, span)?))
    }

    pub(super) fn assign(&self, assignments: &[(Place, Expr)], span: Span) -> Result<Step, Diagnostic> {
        let assignments = assignments.iter().map(|(place, value)| {
            let mut place = place.clone();
            for index in &mut place.indices {
                index.value = self.expr(&index.value, span)?;
            }
            Ok((place, self.expr(value, span)?))
        });
        Ok(Step::Assign(assignments.collect::<Result<_, Diagnostic>>()?))
    }

    /// The number of the process is known here.
    pub(super) fn expr(&self, expr: &Expr, span: Span) -> Result<Expr, Diagnostic> {
        let mut reads_pid = false;
        expr.visit(&mut |inner| reads_pid |= *inner == Expr::SelfPid);
        if !reads_pid {
            return Ok(expr.clone());
        }
        match self.thread.filter(|thread| self.builder.threads[*thread].started_by.is_none()) {
            Some(pid) => Ok(terms::with_pid(expr, pid as i32)),
            None => Err(refused(span, "`_pid` of a process that is started by another")),
        }
    }
}

pub(super) fn any_of(exprs: &[Expr]) -> Expr {
    let or = |left, right| Expr::binary(BinaryOp::Or, left, right);
    exprs.iter().cloned().reduce(or).unwrap_or(Expr::Const(0))
}

/// No choice makes any of these hold.
pub(super) fn none_of(exprs: &[Expr], span: Span) -> Result<Expr, Diagnostic> {
    let possible: Option<Vec<Expr>> = exprs.iter().map(terms::possible).collect();
    let possible = possible.ok_or_else(|| refused(span, "an `else` beside too many choices"))?;
    Ok(match possible.as_slice() {
        [] => Expr::TRUE,
        possible => Expr::not(any_of(possible)),
    })
}
