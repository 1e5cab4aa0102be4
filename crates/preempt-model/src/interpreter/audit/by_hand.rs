//! What generated programs do not have: procedures, nondeterministic values, remote references, priorities.

use super::{Random, audit};
use crate::command::Command;
use crate::expr::{BinaryOp, Expr, Index, Place, Scope};
use crate::program::{Code, CodeId, CodeKind, Edge, Init, Location, LocationId, Model, Start};
use crate::types::Type;
use preempt_core::{SourceMap, Span};

fn global(slot: u32) -> Place {
    Place::scalar(Scope::Global, slot, Type::BYTE)
}

fn local(slot: u32) -> Place {
    Place::scalar(Scope::Local, slot, Type::BYTE)
}

fn code(kind: CodeKind, span: Span, commands: Vec<Command>) -> Code {
    let mut locations: Vec<Location> = (0..)
        .zip(commands)
        .map(|(number, command)| {
            let (target, text) = (LocationId(number + 1), String::new());
            let edges = vec![Edge { command, target, atomic: false, escape: None, span, text }];
            Location { number, edges, ..Location::default() }
        })
        .collect();
    locations.push(Location { end: true, ..Location::default() });
    Code {
        name: String::new(),
        kind,
        parameters: vec![Type::BYTE],
        variables: Vec::new(),
        slots: 3,
        init: vec![Init::Set { hidden: false, slot: 1, ty: Type::BYTE, value: Expr::load(global(3)) }],
        locations,
        entry: LocationId(0),
        provided: None,
        deterministic: false,
        labels: Vec::new(),
        span,
    }
}

#[test]
fn procedures_and_everything_that_promela_programs_rarely_have() {
    let mut sources = SourceMap::new();
    let span = Span::new(sources.add("by hand", ""), 0, 0);
    let procedure = CodeId(0);
    let index = |value| vec![Index { value, length: 2, stride: 1, array: "a".into() }];
    let bit = |place| Expr::binary(BinaryOp::BitAnd, Expr::load(place), Expr::Const(1));
    let element = Place { indices: index(bit(local(2))), ..global(1) };
    let results = vec![element, local(2)];
    let remote = Expr::Remote { code: CodeId(1), pid: None, place: Box::new(local(2)) };
    let commands = vec![
        Command::Assign(vec![(local(2), Expr::Any { low: 0, high: 2 }), (global(0), Expr::load(local(2)))]),
        Command::Call { code: procedure, args: vec![bit(global(0))], results },
        Command::Guard(Expr::binary(BinaryOp::Le, Expr::Const(0), remote)),
        Command::SetPriority { pid: Expr::SelfPid, priority: bit(local(2)) },
        Command::Guard(Expr::Enabled(Box::new(Expr::Const(0)))),
        Command::Guard(Expr::PcValue(Box::new(Expr::SelfPid))),
        Command::Run {
            code: CodeId(1),
            args: vec![Expr::load(local(2))],
            priority: 1,
            result: Some((global(3), Expr::NewPid)),
        },
    ];
    let sum = Expr::binary(BinaryOp::Add, Expr::load(local(0)), Expr::load(local(1)));
    let values = vec![sum, Expr::load(global(2))];
    let model = Model {
        global_slots: 4,
        codes: vec![
            code(CodeKind::Procedure, span, vec![Command::SKIP, Command::Return(values)]),
            code(CodeKind::Process, span, commands),
        ],
        start: vec![Start { code: CodeId(1), priority: 1 }, Start { code: CodeId(1), priority: 1 }],
        ..Model::default()
    };
    for seed in 0..20 {
        audit(&model, &sources, &mut Random(seed)).unwrap();
    }
}
