//! A file as a model, so that everything that takes programs with procedures takes it: a shared variable for the state, and for
//! each thread a procedure whose places are the symbols of its stack.
//!
//! Being at the place of γ means that γ is on the top. A rule that pushes calls the procedure for the new top and goes on, when
//! that returns, at the symbol below; a rule that pops returns. A rule is one atomic sequence, so that others see it whole.

use super::{PdsFile, PdsThread};
use crate::system::Word;
use preempt_core::{SourceId, Span};
use preempt_model::{
    BinaryOp, Block, BlockEdge, Code, CodeId, CodeKind, Command, Edge, Expr, Init, Location, LocationId,
    Model, Place, Scope, Start, SymbolSet, Type, ValueKind, Variable,
};
use std::collections::BTreeMap;

pub(super) fn model(file: &PdsFile, text: &str) -> Model {
    let nowhere = Span::new(SourceId(0), 0, 0);
    let of = |count: usize, set: u16| {
        let bits = (usize::BITS - count.leading_zeros()).clamp(1, 31) as u8;
        Type { bits, signed: false, kind: ValueKind::Symbol(set) }
    };
    let (state, symbol) = (of(file.states.len(), 0), of(file.symbols.len(), 1));
    let initial = file.threads.first().map_or(0, |thread| thread.start.0);
    let mut model = Model {
        globals: vec![Variable { name: "state".into(), slot: 0, ty: state, length: None, span: nowhere }],
        global_slots: 1,
        init: vec![Init::Set { hidden: false, slot: 0, ty: state, value: value(initial) }],
        symbols: [&file.states, &file.symbols].map(|names| SymbolSet { names: names.clone() }).into(),
        ..Model::default()
    };
    for (number, thread) in file.threads.iter().enumerate() {
        let own = CodeId(2 * number as u16);
        model.start.push(Start { code: own, priority: 1 });
        let procedure = CodeId(own.0 + 1);
        model.codes.push(process(file, thread, procedure, state));
        model.codes.push(stack(file, thread, procedure, (state, symbol), text));
    }
    model
}

/// Numbers of names begin with 1.
fn value(number: u32) -> Expr {
    Expr::Const(number as i32 + 1)
}

fn shared(ty: Type) -> Place {
    Place { scope: Scope::Global, slot: 0, indices: Vec::new(), ty }
}

fn is(place: Place, number: u32) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::load(place), value(number))
}

/// One step: if the state is this, it becomes that; or an assertion fails.
fn when(state: Type, from: u32, then: Command, span: Span, text: &str) -> Command {
    let edge = |command: Command, next: Option<usize>| BlockEdge {
        command: Some(command),
        next,
        span,
        text: text.to_string(),
    };
    let guard = edge(Command::Guard(is(shared(state), from)), Some(1));
    Command::Deterministic(Box::new(Block { nodes: vec![vec![guard], vec![edge(then, None)]] }))
}

fn edge(command: Command, target: u32, atomic: bool, span: Span, text: String) -> Edge {
    Edge { command, target: LocationId(target), atomic, escape: None, span, text }
}

fn location(number: usize, edges: Vec<Edge>) -> Location {
    Location { number: number as u32, edges, end: true, progress: false, accept: false }
}

fn error_edges(file: &PdsFile, state: Type, top: Option<u32>, target: u32) -> Vec<Edge> {
    let here = file.errors.iter().filter(|(_, wanted, _)| wanted.is_none() || *wanted == top);
    here.map(|&(bad, wanted, span)| {
        let top = wanted.map_or(String::new(), |top| format!(" <{}>", file.symbols[top as usize]));
        let text = format!("error {}{top}", file.states[bad as usize]);
        let fails = when(state, bad, Command::Assert(Expr::Const(0)), span, &text);
        edge(fails, target, false, span, text)
    })
    .collect()
}

/// The thread itself calls for every symbol of its first stack.
fn process(file: &PdsFile, thread: &PdsThread, procedure: CodeId, state: Type) -> Code {
    let mut locations = Vec::new();
    for (number, symbol) in thread.start.1.iter().enumerate() {
        let call = Command::Call { code: procedure, args: vec![value(*symbol)], results: Vec::new() };
        let text = format!("<{}>", file.symbols[*symbol as usize]);
        let edges = vec![edge(call, number as u32 + 1, true, thread.span, text)];
        locations.push(location(number, edges));
    }
    // The stack is empty.
    let last = locations.len();
    locations.push(location(last, error_edges(file, state, None, last as u32)));
    Code {
        name: thread.name.clone(),
        kind: CodeKind::Process,
        parameters: Vec::new(),
        variables: Vec::new(),
        slots: 0,
        init: Vec::new(),
        locations,
        entry: LocationId(0),
        provided: None,
        deterministic: false,
        labels: Vec::new(),
        span: thread.span,
    }
}

/// The procedure: its first place finds the one of the symbol that it was called for.
fn stack(
    file: &PdsFile,
    thread: &PdsThread,
    procedure: CodeId,
    (state, symbol): (Type, Type),
    text: &str,
) -> Code {
    let top = Place { scope: Scope::Local, slot: 0, indices: Vec::new(), ty: symbol };
    let name = |symbol: u32| &file.symbols[symbol as usize];
    // The places of the symbols that this thread can have, behind the first place and the return.
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    let mut met: Vec<u32> = thread.start.1.clone();
    for rule in &thread.rules {
        met.extend([rule.from.1].into_iter().chain(rule.word.symbols()));
    }
    for symbol in met {
        let next = places.len() as u32 + 2;
        places.entry(symbol).or_insert(next);
    }
    let called = |symbol: u32| {
        let pushed = |rule: &super::PdsRule| matches!(rule.word, Word::Push(top, _) if top == symbol);
        thread.start.1.contains(&symbol) || thread.rules.iter().any(pushed)
    };
    let enter = places.iter().filter(|(symbol, _)| called(**symbol)).map(|(&symbol, &place)| {
        let guard = Command::Guard(is(top.clone(), symbol));
        edge(guard, place, false, thread.span, format!("<{}>", name(symbol)))
    });
    let mut locations = vec![location(0, enter.collect())];
    let back = edge(Command::Return(Vec::new()), 1, false, thread.span, "<>".into());
    locations.push(location(1, vec![back]));
    let mut by_place: Vec<u32> = vec![0; places.len()];
    for (&symbol, &place) in &places {
        by_place[place as usize - 2] = symbol;
    }
    let mut calls: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let first_call = places.len() as u32 + 2;
    for &symbol in &by_place {
        let mut edges = Vec::new();
        for rule in thread.rules.iter().filter(|rule| rule.from.1 == symbol) {
            let become_next = Command::Assign(vec![(shared(state), value(rule.to))]);
            let words = &text[rule.span.start as usize..rule.span.end as usize];
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            let step = when(state, rule.from.0, become_next, rule.span, &words);
            let (target, atomic) = match rule.word {
                Word::Pop => (1, true),
                Word::Step(next) => (places[&next], false),
                Word::Push(top, below) => {
                    let number = first_call + calls.len() as u32;
                    (*calls.entry((top, below)).or_insert(number), true)
                }
            };
            edges.push(edge(step, target, atomic, rule.span, words));
        }
        edges.extend(error_edges(file, state, Some(symbol), places[&symbol]));
        let number = locations.len();
        locations.push(location(number, edges));
    }
    let mut in_order: Vec<((u32, u32), u32)> = calls.into_iter().collect();
    in_order.sort_by_key(|(_, number)| *number);
    for ((top, below), number) in in_order {
        let call = Command::Call { code: procedure, args: vec![value(top)], results: Vec::new() };
        let text = format!("<{} {}>", name(top), name(below));
        let edges = vec![edge(call, places[&below], true, thread.span, text)];
        locations.push(location(number as usize, edges));
    }
    let variable = Variable { name: "top".into(), slot: 0, ty: symbol, length: None, span: thread.span };
    Code {
        name: format!("{}_stack", thread.name),
        kind: CodeKind::Procedure,
        parameters: vec![symbol],
        variables: vec![variable],
        slots: 1,
        init: Vec::new(),
        locations,
        entry: LocationId(0),
        provided: None,
        deterministic: false,
        labels: places.iter().map(|(&symbol, &place)| (name(symbol).clone(), LocationId(place))).collect(),
        span: thread.span,
    }
}
