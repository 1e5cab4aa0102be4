//! Random small programs: threads of one or two bits of locals over one to three shared bits, with procedures.

use preempt_core::{SourceId, SourceMap, Span};
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

/// xorshift64*: the same program for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

struct Generator {
    random: Random,
    kind: Kind,
    globals: u32,
}

/// Locals of every code: the first is the parameter of a procedure.
const LOCALS: u32 = 2;

pub fn program(seed: u64, kind: Kind) -> Model {
    let mut random = Random::new(seed);
    let globals = 1 + random.below(3) as u32;
    let mut generator = Generator { random, kind, globals };
    let mut model = Model { global_slots: globals, ..Model::default() };
    for slot in 0..globals {
        model.globals.push(variable(&format!("g{slot}"), slot));
        if generator.random.chance(40) {
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
        let from = generator.random.below(model.codes[0].locations.len());
        let target = LocationId(generator.random.below(model.codes[0].locations.len()) as u32);
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
        let count = 3 + self.random.below(4);
        let mut locations = Vec::new();
        for location in 0..count {
            let mut content = Location { number: location as u32, end: true, ..Location::default() };
            let last = location + 1 == count;
            let edges = match (last, procedure) {
                (true, true) => 1,
                (true, false) => self.random.below(2),
                _ => 1 + self.random.below(2),
            };
            for position in 0..edges {
                let command = match last && procedure {
                    true => Command::Return(vec![self.expression(1)]),
                    false => self.command(number, position > 0),
                };
                // mostly forwards
                let target = match self.random.chance(70) {
                    true => (location + 1 + self.random.below(2)).min(count - 1),
                    false => self.random.below(count),
                };
                let mut edge = edge(command, LocationId(target as u32));
                edge.atomic = self.kind.atomic && self.random.chance(30);
                content.edges.push(edge);
            }
            locations.push(content);
        }
        let init = match self.random.chance(30) {
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
        match self.random.below(10) {
            0 | 1 => Command::Guard(self.expression(2)),
            2 if not_first => Command::Else,
            3 if self.kind.asserts => Command::Assert(self.expression(2)),
            4 | 5 if first < procedures => {
                let callee = first + self.random.below(procedures - first);
                Command::Call {
                    code: CodeId((self.kind.threads + callee) as u16),
                    args: vec![self.expression(1)],
                    results: if self.random.chance(70) { vec![self.place()] } else { Vec::new() },
                }
            }
            6 => {
                Command::Assign(vec![(self.place(), self.expression(2)), (self.place(), self.expression(1))])
            }
            _ => Command::Assign(vec![(self.place(), self.expression(2))]),
        }
    }

    fn place(&mut self) -> Place {
        match self.random.chance(60) {
            true => Place::scalar(Scope::Global, self.random.below(self.globals as usize) as u32, Type::BIT),
            false => Place::scalar(Scope::Local, self.random.below(LOCALS as usize) as u32, Type::BIT),
        }
    }

    fn expression(&mut self, depth: usize) -> Expr {
        match self.random.below(if depth == 0 { 4 } else { 8 }) {
            0 => Expr::Const(self.random.below(2) as i32),
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
