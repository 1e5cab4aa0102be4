//! Which threads there are. Lal and Reps 2009 (paper 002) take them as given; a program starts them.
//!
//! * What the first process does alone, as long as it is deterministic, is executed before the analysis begins
//!   (the *prelude*), up to the last start of a thread that touches nothing shared: `init { run A(); run B() }`.
//! * A start that comes later makes a thread that waits: a shared counter says how many were started there, and what
//!   the new thread's locals begin with is kept in shared variables until it takes them.
//! * A start that may be executed again and again has so many threads as the caller allows; the answer is then limited
//!   to them.

use crate::error::{Result, go_on, unsupported};
use preempt_core::{Budget, SourceMap};
use preempt_model::interpreter::{Action, Machine};
use preempt_model::{
    CodeId, Command, Expr, Footprint, Init, Interpreter, LocationId, Model, Scope, System, Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// A thread as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// For people.
    pub name: String,
    /// What it executes.
    pub code: CodeId,
    /// Where it begins.
    pub location: LocationId,
    /// What its locals begin with.
    pub locals: Vec<i32>,
    /// It is in the middle of an atomic sequence.
    pub exclusive: bool,
    /// The number of its process, if it exists from the beginning.
    pub pid: Option<usize>,
    /// Otherwise the place where it is started, and which of the threads started there it is, from 1.
    pub waits: Option<(usize, u32)>,
}

/// An edge that starts threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Where it is.
    pub edge: EdgeAt,
    /// What the threads execute.
    pub started: CodeId,
    /// How many of them there are.
    pub instances: u32,
    /// The shared slot that counts the threads started here.
    pub counter: usize,
    /// For each thread, the locals that are not constants with the shared slots that hold them.
    pub mail: Vec<Vec<(usize, usize)>>,
}

/// All threads, and what was done before they take turns.
#[derive(Debug, Clone)]
pub struct Threads {
    /// In the order of the round robin.
    pub all: Vec<Thread>,
    /// The edges that start threads.
    pub sites: Vec<Site>,
    /// Types of the shared slots that the sites need, after those of the model.
    pub extra: Vec<Type>,
    /// What the first process does alone.
    pub prelude: Vec<(usize, Action)>,
    /// The state after the prelude.
    pub initial: Machine,
    /// Are these all threads that there can be?
    pub complete: bool,
}

/// A prelude is no computation.
const LONGEST_PRELUDE: usize = 10_000;

impl Threads {
    /// `instances`: how many threads a start that can be repeated is good for.
    pub fn of(model: &Model, sources: &SourceMap, instances: u32, budget: &Budget) -> Result<Threads> {
        let interpreter = match Interpreter::new(model, sources) {
            Ok(interpreter) => interpreter,
            Err(fault) => return unsupported(format!("initial values without a meaning: {}", fault.0)),
        };
        let (prelude, initial) = prelude(model, &interpreter);
        let mut threads = Threads {
            all: Vec::new(),
            sites: Vec::new(),
            extra: Vec::new(),
            prelude,
            initial,
            complete: true,
        };
        for (pid, process) in threads.initial.processes.iter().enumerate() {
            let frame = process.frame();
            if has_ended(model, frame.code, frame.location) {
                continue;
            }
            threads.all.push(Thread {
                name: format!("{}({pid})", model.code(frame.code).name),
                code: frame.code,
                location: frame.location,
                locals: frame.locals.clone(),
                exclusive: threads.initial.exclusive == Some(pid),
                pid: Some(pid),
                waits: None,
            });
        }
        threads.find_sites(model, instances.max(1), budget)?;
        if threads.all.len() > MOST_THREADS {
            return unsupported(format!("more than {MOST_THREADS} threads"));
        }
        Ok(threads)
    }

    fn find_sites(&mut self, model: &Model, most: u32, budget: &Budget) -> Result<()> {
        let base = model.global_slots as usize;
        for (edge, times) in executions(model, &self.all, most, budget)? {
            go_on(budget)?;
            let (code, location, number) = edge;
            let Command::Run { code: started, args, .. } =
                &model.code(code).location(location).edges[number as usize].command
            else {
                continue;
            };
            let instances = times.min(most);
            self.complete &= times <= most;
            let site = self.sites.len();
            let counter = base + self.extra.len();
            let bits = (u32::BITS - instances.leading_zeros()).max(1) as u8;
            self.extra.push(Type::unsigned(bits));
            let definition = model.code(*started);
            let types = |slot: usize| {
                let declared = definition.variables.iter().find(|variable| {
                    let first = variable.slot as usize;
                    (first..first + variable.length.unwrap_or(1) as usize).contains(&slot)
                });
                declared
                    .map(|variable| variable.ty)
                    .or(definition.parameters.get(slot).copied())
                    .unwrap_or(Type::INT)
            };
            let (locals, sent) = first_locals(model, *started, args);
            let mut mail = Vec::new();
            for instance in 1..=instances {
                let mut slots = Vec::new();
                for &slot in &sent {
                    slots.push((slot, base + self.extra.len()));
                    self.extra.push(types(slot));
                }
                mail.push(slots);
                self.all.push(Thread {
                    name: definition.name.clone(),
                    code: *started,
                    location: definition.entry,
                    locals: locals.clone(),
                    exclusive: false,
                    pid: None,
                    waits: Some((site, instance)),
                });
            }
            self.sites.push(Site { edge, started: *started, instances, counter, mail });
        }
        Ok(())
    }

    /// The site at this edge, with its number.
    pub fn site(&self, edge: EdgeAt) -> Option<(usize, &Site)> {
        self.sites.iter().enumerate().find(|(_, site)| site.edge == edge)
    }
}

/// Spin's limit, and ours.
const MOST_THREADS: usize = 255;

/// Nothing is left to do but to end.
fn has_ended(model: &Model, code: CodeId, location: LocationId) -> bool {
    model.code(code).location(location).edges.iter().all(|edge| matches!(edge.command, Command::End))
}

/// The steps of the first process up to its last start of another one, and the state they lead to.
fn prelude(model: &Model, interpreter: &Interpreter<'_>) -> (Vec<(usize, Action)>, Machine) {
    let mut state = interpreter.initial_states().remove(0);
    let first = (Vec::new(), interpreter.open(&state));
    let mut best = first.clone();
    if model.start.len() != 1 {
        return best;
    }
    let mut steps = Vec::new();
    let mut started = false;
    let mut starts = BTreeSet::new();
    while steps.len() < LONGEST_PRELUDE {
        let machine = interpreter.open(&state);
        let [frame] = machine.processes[0].frames.as_slice() else { break };
        // Only a step without a choice belongs to it; to list the outcomes of many choices would take for ever.
        let edges = &model.code(frame.code).location(frame.location).edges;
        if edges.iter().any(|edge| has_choice(&edge.command)) {
            break;
        }
        let successors = interpreter.successors(&state, 0);
        let [step] = successors.as_slice() else { break };
        let (None, Some(next)) = (&step.violation, &step.state) else { break };
        let edge = &model.code(frame.code).location(frame.location).edges[step.action.edge as usize];
        let runs = matches!(edge.command, Command::Run { .. });
        // What is not taken here counts as well: a thread that was started may let it happen, and forbid an `else`.
        let waits_for_others = || edges.iter().any(|edge| !is_private(model, &edge.command));
        if matches!(edge.command, Command::End) || started && waits_for_others() {
            break;
        }
        if runs && !starts.insert((frame.location, step.action.edge)) {
            // A loop: nobody knows how many threads it is meant to start.
            return first;
        }
        started |= runs;
        steps.push((0, step.action.clone()));
        state = next.clone();
        let machine = interpreter.open(&state);
        let [frame] = machine.processes[0].frames.as_slice() else { break };
        if runs || started && has_ended(model, frame.code, frame.location) {
            best = (steps.clone(), machine);
        }
    }
    best
}

fn has_choice(command: &Command) -> bool {
    let mut found = false;
    command.visit(&mut |expr| found |= matches!(expr, Expr::Any { .. }));
    found
}

/// The command neither sees nor changes what other threads see: it may as well come before anything they do.
fn is_private(model: &Model, command: &Command) -> bool {
    let footprint = Footprint::of(model, command);
    let shared =
        |slots: &preempt_model::footprint::Slots| slots.0.iter().any(|(scope, _)| *scope != Scope::Local);
    // Starting a process is what the prelude is for; only what reads the number of processes would see the difference.
    let counts = footprint.processes.reads || footprint.processes.timeout;
    let reads = match command {
        Command::Run { args, code, .. } => {
            let mut global = false;
            let mut look = |expr: &Expr| {
                global |= matches!(expr, Expr::Load(place) if place.scope != Scope::Local);
            };
            args.iter().for_each(|arg| arg.visit(&mut look));
            for init in &model.code(*code).init {
                if let Init::Set { value, .. } = init {
                    value.visit(&mut |expr| {
                        global |= matches!(expr, Expr::Load(place) if place.scope != Scope::Local)
                    });
                }
            }
            global
        }
        _ => shared(&footprint.may_read) || counts,
    };
    !reads && !shared(&footprint.may_write)
}

/// What the locals of a new process begin with where that is a constant, and the slots where it is not.
fn first_locals(model: &Model, code: CodeId, args: &[Expr]) -> (Vec<i32>, Vec<usize>) {
    let definition = model.code(code);
    let mut locals = vec![0; definition.slots as usize];
    let mut sent = BTreeSet::new();
    for (slot, (ty, arg)) in definition.parameters.iter().zip(args).enumerate() {
        match arg {
            Expr::Const(value) => locals[slot] = ty.wrap(*value),
            _ => {
                sent.insert(slot);
            }
        }
    }
    for init in &definition.init {
        if let Init::Set { slot, ty, value, .. } = init {
            match value {
                Expr::Const(value) => locals[*slot as usize] = ty.wrap(*value),
                _ => {
                    sent.insert(*slot as usize);
                }
            }
        }
    }
    (locals, sent.into_iter().collect())
}

/// An edge by its code, location and number.
pub type EdgeAt = (CodeId, LocationId, u32);

/// How often each edge that starts a process can be executed; `most + 1` stands for more than that.
fn executions(model: &Model, threads: &[Thread], most: u32, budget: &Budget) -> Result<Vec<(EdgeAt, u32)>> {
    let cap = |times: u32| times.min(most + 1);
    let mut entered: BTreeMap<CodeId, u32> = BTreeMap::new();
    let mut sites = BTreeMap::new();
    // Numbers only grow, up to the cap.
    loop {
        let mut next: BTreeMap<CodeId, u32> = BTreeMap::new();
        let mut found = BTreeMap::new();
        let mut follow = |code: CodeId, from: LocationId, times: u32| -> Result<()> {
            for (location, number, repeated) in reachable_edges(model, code, from, budget)? {
                let times = if repeated && times > 0 { most + 1 } else { times };
                match &model.code(code).location(location).edges[number as usize].command {
                    Command::Call { code: callee, .. } => {
                        let entry = next.entry(*callee).or_default();
                        *entry = cap(*entry + times);
                    }
                    Command::Run { code: started, .. } => {
                        let site: &mut u32 = found.entry((code, location, number)).or_default();
                        *site = cap(*site + times);
                        // The process that is started enters its code once for each start, up to what is looked at.
                        let entry = next.entry(*started).or_default();
                        *entry = cap(*entry + times.min(most));
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        for thread in threads {
            follow(thread.code, thread.location, 1)?;
        }
        for (&code, &times) in &entered {
            follow(code, model.code(code).entry, times)?;
        }
        if next == entered {
            sites.extend(found);
            return Ok(sites.into_iter().collect());
        }
        entered = next;
    }
}

/// The edges that can be reached in a code, and whether each of them can be taken again.
fn reachable_edges(
    model: &Model,
    code: CodeId,
    from: LocationId,
    budget: &Budget,
) -> Result<Vec<(LocationId, u32, bool)>> {
    let reach = |start: Vec<LocationId>| {
        let mut seen: BTreeSet<LocationId> = start.iter().copied().collect();
        let mut waiting = start;
        while let Some(location) = waiting.pop() {
            for edge in &model.code(code).location(location).edges {
                if seen.insert(edge.target) {
                    waiting.push(edge.target);
                }
            }
        }
        seen
    };
    let mut found = Vec::new();
    for location in reach(vec![from]) {
        for (number, edge) in model.code(code).location(location).edges.iter().enumerate() {
            if matches!(edge.command, Command::Call { .. } | Command::Run { .. }) {
                go_on(budget)?;
                found.push((location, number as u32, reach(vec![edge.target]).contains(&location)));
            }
        }
    }
    Ok(found)
}
