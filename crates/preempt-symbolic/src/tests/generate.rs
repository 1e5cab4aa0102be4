//! Random small programs: threads of one or two bits of locals over one to three shared bits, with procedures.

use preempt_core::{Rng, SourceId, SourceMap, Span};
use preempt_model::{
    BinaryOp, Code, CodeId, CodeKind, Command, Edge, Expr, Init, Location, LocationId, Model, Place, Scope,
    Start, Type, Variable,
};

/// What a program may contain.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub threads: usize,
    pub procedures: usize,
    pub recursive: bool,
    pub atomic: bool,
    pub asserts: bool,
    /// The last thread is started by the first one.
    pub starts: bool,
}

struct Generator {
    rng: Rng,
    kind: Kind,
    globals: u32,
}

/// Locals of every code: the first is the parameter of a procedure.
const LOCALS: u32 = 2;

pub fn program(seed: u64, kind: Kind) -> Model {
    let mut rng = Rng::new(seed);
    let globals = 1 + rng.below(3) as u32;
    let mut generator = Generator { rng, kind, globals };
    let mut model = Model { global_slots: globals, ..Model::default() };
    for slot in 0..globals {
        model.globals.push(variable(&format!("g{slot}"), slot));
        if generator.rng.percent(40) {
            model.init.push(Init::Set { hidden: false, slot, ty: Type::BIT, value: Expr::Const(1) });
        }
    }
    for number in 0..kind.threads + kind.procedures {
        let code = generator.code(number);
        model.codes.push(code);
    }
    let started = if kind.starts { kind.threads - 1 } else { kind.threads };
    model.start = (0..started).map(|code| Start { code: CodeId(code as u16), priority: 1 }).collect();
    if kind.starts {
        // a new entry that starts the last thread, now or later
        let code = CodeId(kind.threads as u16 - 1);
        let from = generator.rng.below(model.codes[0].locations.len());
        let target = LocationId(generator.rng.below(model.codes[0].locations.len()) as u32);
        let argument = Expr::Const(0);
        let command = Command::Run { code, args: vec![argument], priority: 1, result: None };
        // only forwards, so that it happens once
        let moved = LocationId(model.codes[0].locations.len() as u32);
        let edges = std::mem::take(&mut model.codes[0].locations[from].edges);
        model.codes[0].locations.push(Location { number: moved.0, edges, end: true, ..Location::default() });
        let _ = target;
        model.codes[0].locations[from].edges = vec![edge(command, moved)];
        forward_only(&mut model.codes[0], from as u32, moved);
        model.codes[usize::from(code.0)].parameters = vec![Type::BIT];
    }
    model
}

/// Whatever leads back to `from` leads to `moved` instead, unless it is on the way from the entry.
fn forward_only(code: &mut Code, from: u32, moved: LocationId) {
    for location in (from as usize..code.locations.len()).collect::<Vec<_>>() {
        for edge in &mut code.locations[location].edges {
            if location != from as usize && edge.target.0 <= from {
                edge.target = moved;
            }
        }
    }
    for location in 0..from as usize {
        for edge in &mut code.locations[location].edges {
            if edge.target.0 < location as u32 {
                edge.target = LocationId(location as u32 + 1);
            }
        }
    }
}

fn nowhere() -> Span {
    Span::new(SourceId(0), 0, 0)
}

/// A text for the places that messages speak of.
pub fn sources() -> SourceMap {
    let mut sources = SourceMap::new();
    sources.add("generated", " ");
    sources
}

fn variable(name: &str, slot: u32) -> Variable {
    Variable { name: name.into(), slot, ty: Type::BIT, length: None, span: nowhere() }
}

fn edge(command: Command, target: LocationId) -> Edge {
    Edge { command, target, atomic: false, escape: None, span: nowhere(), text: "step".into() }
}

impl Generator {
    fn code(&mut self, number: usize) -> Code {
        let procedure = number >= self.kind.threads;
        let count = 3 + self.rng.below(4);
        let mut locations = Vec::new();
        for location in 0..count {
            let mut content = Location { number: location as u32, end: true, ..Location::default() };
            let last = location + 1 == count;
            let edges = match (last, procedure) {
                (true, true) => 1,
                (true, false) => self.rng.below(2),
                _ => 1 + self.rng.below(2),
            };
            for position in 0..edges {
                let command = match last && procedure {
                    true => Command::Return(vec![self.expression(1)]),
                    false => self.command(number, position > 0),
                };
                // mostly forwards
                let target = match self.rng.percent(70) {
                    true => (location + 1 + self.rng.below(2)).min(count - 1),
                    false => self.rng.below(count),
                };
                let mut edge = edge(command, LocationId(target as u32));
                edge.atomic = self.kind.atomic && self.rng.percent(30);
                content.edges.push(edge);
            }
            locations.push(content);
        }
        let init = match self.rng.percent(30) {
            true => vec![Init::Set {
                hidden: false,
                slot: 1,
                ty: Type::BIT,
                value: self.expression(1).without_choice(),
            }],
            false => Vec::new(),
        };
        Code {
            name: format!("code{number}"),
            kind: if procedure { CodeKind::Procedure } else { CodeKind::Process },
            parameters: if procedure { vec![Type::BIT] } else { Vec::new() },
            variables: (0..LOCALS).map(|slot| variable(&format!("l{slot}"), slot)).collect(),
            slots: LOCALS,
            init,
            locations,
            entry: LocationId(0),
            provided: None,
            deterministic: false,
            labels: Vec::new(),
            span: nowhere(),
        }
    }

    fn command(&mut self, code: usize, not_first: bool) -> Command {
        let procedures = self.kind.procedures;
        // without recursion a procedure calls only those after it
        let first =
            if self.kind.recursive || code < self.kind.threads { 0 } else { code + 1 - self.kind.threads };
        match self.rng.below(10) {
            0 | 1 => Command::Guard(self.expression(2)),
            2 if not_first => Command::Else,
            3 if self.kind.asserts => Command::Assert(self.expression(2)),
            4 | 5 if first < procedures => {
                let callee = first + self.rng.below(procedures - first);
                Command::Call {
                    code: CodeId((self.kind.threads + callee) as u16),
                    args: vec![self.expression(1)],
                    results: if self.rng.percent(70) { vec![self.place()] } else { Vec::new() },
                }
            }
            6 => {
                Command::Assign(vec![(self.place(), self.expression(2)), (self.place(), self.expression(1))])
            }
            _ => Command::Assign(vec![(self.place(), self.expression(2))]),
        }
    }

    fn place(&mut self) -> Place {
        match self.rng.percent(60) {
            true => Place::scalar(Scope::Global, self.rng.below(self.globals as usize) as u32, Type::BIT),
            false => Place::scalar(Scope::Local, self.rng.below(LOCALS as usize) as u32, Type::BIT),
        }
    }

    fn expression(&mut self, depth: usize) -> Expr {
        match self.rng.below(if depth == 0 { 4 } else { 8 }) {
            0 => Expr::Const(self.rng.below(2) as i32),
            1..=3 => Expr::load(self.place()),
            4 => Expr::Any { low: 0, high: 1 },
            5 => Expr::not(self.expression(depth - 1)),
            6 => Expr::binary(BinaryOp::And, self.expression(depth - 1), self.expression(depth - 1)),
            _ => Expr::binary(BinaryOp::BitXor, self.expression(depth - 1), self.expression(depth - 1)),
        }
    }
}

trait WithoutChoice {
    fn without_choice(self) -> Self;
}

impl WithoutChoice for Expr {
    fn without_choice(self) -> Expr {
        let mut chosen = false;
        self.visit(&mut |expr| chosen |= matches!(expr, Expr::Any { .. }));
        if chosen { Expr::Const(1) } else { self }
    }
}
