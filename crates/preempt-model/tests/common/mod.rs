//! A workbench for small models built by hand.
#![allow(dead_code, reason = "every test file uses its part")]

use preempt_core::{SourceMap, Span, Value};
use preempt_model::interpreter::State;
use preempt_model::{
    BinaryOp, Block, BlockEdge, ChannelTemplate, Code, CodeId, CodeKind, Command, Edge, Expr, Init,
    Interpreter, Location, LocationId, Model, Place, Scope, Start, System, TemplateId, Type, Variable,
};
use std::collections::{BTreeSet, HashSet};

pub struct Bench {
    pub model: Model,
    pub sources: SourceMap,
    pub span: Span,
}

/// What can be seen of all runs together.
#[derive(Debug, Default)]
pub struct Seen {
    pub states: usize,
    /// The globals wherever nobody can move.
    pub ends: BTreeSet<Vec<i64>>,
    /// Does somebody stand there who should not?
    pub deadlocks: usize,
    pub violations: BTreeSet<String>,
}

pub fn bench() -> Bench {
    let mut sources = SourceMap::new();
    let source = sources.add("bench.pml", "");
    Bench { model: Model::default(), sources, span: Span::new(source, 0, 0) }
}

impl Bench {
    pub fn global(&mut self, ty: Type, value: i32) -> Place {
        let slot = self.model.global_slots;
        self.model.global_slots += 1;
        self.model.init.push(Init::Set { hidden: false, slot, ty, value: Expr::Const(value) });
        let name = format!("g{slot}");
        self.model.globals.push(Variable { name, slot, ty, length: None, span: self.span });
        Place::scalar(Scope::Global, slot, ty)
    }

    pub fn byte(&mut self, value: i32) -> Place {
        self.global(Type::BYTE, value)
    }

    /// A channel in a variable that is not shown among the globals.
    pub fn channel(&mut self, capacity: u32, fields: &[Type]) -> Expr {
        let template = self.template(capacity, fields);
        let slot = self.model.global_slots;
        self.model.global_slots += 1;
        self.model.init.push(Init::Channel { hidden: false, slot, template });
        Expr::load(Place::scalar(Scope::Global, slot, Type::CHANNEL))
    }

    pub fn template(&mut self, capacity: u32, fields: &[Type]) -> TemplateId {
        let name = format!("t{}", self.model.templates.len());
        self.model.templates.push(ChannelTemplate { name, capacity, fields: fields.to_vec() });
        TemplateId(self.model.templates.len() as u16 - 1)
    }

    /// Code from its edges; a location without edges is where the process ends. It begins at location 0.
    pub fn code(&mut self, kind: CodeKind, slots: u32, edges: Vec<(u32, Edge)>) -> CodeId {
        let last = edges.iter().flat_map(|(from, edge)| [*from, edge.target.0]).max().unwrap_or(0);
        let mut locations: Vec<Location> =
            (0..=last).map(|number| Location { number, ..Location::default() }).collect();
        for (from, edge) in edges {
            locations[from as usize].edges.push(edge);
        }
        for location in locations.iter_mut().filter(|location| location.edges.is_empty()) {
            location.end = true;
            if kind == CodeKind::Process {
                location.edges.push(self.edge(Command::End, location.number));
            }
        }
        self.model.codes.push(Code {
            name: format!("P{}", self.model.codes.len()),
            kind,
            parameters: Vec::new(),
            variables: Vec::new(),
            slots,
            init: Vec::new(),
            locations,
            entry: LocationId(0),
            provided: None,
            deterministic: false,
            labels: Vec::new(),
            span: self.span,
        });
        CodeId(self.model.codes.len() as u16 - 1)
    }

    pub fn edge(&self, command: Command, target: u32) -> Edge {
        let text = format!("{command:?}");
        Edge { command, target: LocationId(target), atomic: false, escape: None, span: self.span, text }
    }

    pub fn atomic(&self, command: Command, target: u32) -> Edge {
        Edge { atomic: true, ..self.edge(command, target) }
    }

    pub fn escape(&self, command: Command, target: u32) -> Edge {
        Edge { escape: Some(0), ..self.edge(command, target) }
    }

    /// One command after the other.
    pub fn line(&self, commands: Vec<Command>) -> Vec<(u32, Edge)> {
        (0..).zip(commands).map(|(i, command)| (i, self.edge(command, i + 1))).collect()
    }

    /// The same as one atomic sequence.
    pub fn atomic_line(&self, commands: Vec<Command>) -> Vec<(u32, Edge)> {
        let mut edges = self.line(commands);
        if let Some((_, rest)) = edges.split_last_mut() {
            rest.iter_mut().for_each(|(_, edge)| edge.atomic = true);
        }
        edges
    }

    /// Code that runs from the beginning.
    pub fn process(&mut self, edges: Vec<(u32, Edge)>) -> CodeId {
        let code = self.code(CodeKind::Process, 4, edges);
        self.model.start.push(Start { code, priority: 1 });
        code
    }

    pub fn code_mut(&mut self, code: CodeId) -> &mut Code {
        &mut self.model.codes[usize::from(code.0)]
    }

    /// A deterministic block from its nodes.
    pub fn block(&self, nodes: Vec<Vec<(Option<Command>, Option<usize>)>>) -> Command {
        let edge = |(command, next)| BlockEdge { command, next, span: self.span, text: "block".into() };
        let nodes = nodes.into_iter().map(|node| node.into_iter().map(edge).collect()).collect();
        Command::Deterministic(Box::new(Block { nodes }))
    }

    pub fn system(&self) -> Interpreter<'_> {
        Interpreter::new(&self.model, &self.sources).expect("the initial values are constants")
    }

    /// Follows every run.
    pub fn explore(&self) -> Seen {
        let system = self.system();
        let mut seen = Seen::default();
        let mut met: HashSet<State> = HashSet::new();
        let mut waiting = system.initial_states();
        while let Some(state) = waiting.pop() {
            if !met.insert(state.clone()) {
                continue;
            }
            let moves: Vec<_> = (0..system.process_count(&state))
                .flat_map(|process| system.successors(&state, process))
                .collect();
            if moves.is_empty() && system.exclusive(&state).is_some() {
                waiting.push(system.release(&state));
            } else if moves.is_empty() {
                seen.ends.insert(globals(&system, &state));
                seen.deadlocks += usize::from(!system.may_end(&state));
            }
            for step in moves {
                seen.violations.extend(step.violation.map(|violation| violation.name));
                waiting.extend(step.state);
            }
        }
        seen.states = met.len();
        seen
    }

    pub fn ends(&self) -> Vec<Vec<i64>> {
        self.explore().ends.into_iter().collect()
    }
}

pub fn globals(system: &Interpreter<'_>, state: &State) -> Vec<i64> {
    let number = |value: Value| match value {
        Value::Number(number) => number,
        Value::Name(name) => i64::from(name == "true"),
        Value::List(_) | Value::Gone => -1,
    };
    system
        .variables(state)
        .into_iter()
        .filter(|change| change.name.starts_with('g'))
        .map(|change| number(change.value))
        .collect()
}

pub fn number(value: i32) -> Expr {
    Expr::Const(value)
}

pub fn load(place: &Place) -> Expr {
    Expr::load(place.clone())
}

pub fn local(slot: u32) -> Place {
    Place::scalar(Scope::Local, slot, Type::INT)
}

pub fn set(place: &Place, value: Expr) -> Command {
    Command::Assign(vec![(place.clone(), value)])
}

pub fn add(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, left, right)
}

pub fn equal(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, left, right)
}

pub fn send(channel: &Expr, fields: Vec<Expr>) -> Command {
    Command::Send { channel: channel.clone(), sorted: false, fields }
}

pub fn receive(channel: &Expr, pattern: Vec<preempt_model::Pattern>) -> Command {
    Command::Receive { channel: channel.clone(), random: false, keep: false, pattern }
}

pub fn bind(place: &Place) -> preempt_model::Pattern {
    preempt_model::Pattern::Bind(place.clone())
}

pub fn exactly(value: i32) -> preempt_model::Pattern {
    preempt_model::Pattern::Match(Expr::Const(value))
}
