//! States and steps in words.

use super::eval::Picks;
use super::moves::Action;
use super::state::Machine;
use super::{Channel, Interpreter};
use crate::expr::Expr;
use crate::program::{Edge, Init, Model, Variable};
use crate::system::Description;
use crate::types::{Type, ValueKind};
use preempt_core::{Awaited, Change, Partner, Value, Waiting};
use std::collections::BTreeSet;

pub(super) fn process_name(model: &Model, machine: &Machine, process: usize) -> String {
    match machine.processes.get(process) {
        Some(it) => format!("{}({process})", model.code(it.frames[0].code).name),
        None => format!("({process})"),
    }
}

pub(super) fn describe(
    interpreter: &Interpreter<'_>,
    machine: &Machine,
    process: usize,
    action: &Action,
) -> Description {
    let model = interpreter.model;
    let edge_of = |process: usize, edge: u32| {
        let frame = machine.processes.get(process)?.frame();
        model.code(frame.code).location(frame.location).edges.get(edge as usize)
    };
    let Some(edge) = edge_of(process, action.edge) else { return Description::default() };
    let partner = action.partner.and_then(|(partner, taken)| {
        let pid = partner as usize;
        let receive = edge_of(pid, taken)?;
        Some(Partner {
            process: process_name(model, machine, pid),
            pid,
            location: Some(interpreter.sources.location(receive.span)),
            text: receive.text.clone(),
        })
    });
    let picks = Picks::repeating(&action.picks).values();
    let choice =
        (!picks.is_empty()).then(|| picks.iter().map(|pick| pick.to_string()).collect::<Vec<_>>().join(", "));
    let printed = interpreter.moves(machine, process).into_iter().find(|step| step.action == *action);
    let output = printed.map(|step| step.output).filter(|output| !output.is_empty());
    let location = Some(interpreter.sources.location(edge.span));
    let calls = interpreter.sources.calls(edge.span);
    Description { text: edge.text.clone(), location, calls, choice, output, partner }
}

/// What would let a process go on that cannot move.
pub(super) fn waiting(interpreter: &Interpreter<'_>, machine: &Machine, process: usize) -> Option<Waiting> {
    let model = interpreter.model;
    let it = machine.processes.get(process)?;
    let may_end = it.frames.iter().all(|frame| model.code(frame.code).location(frame.location).end);
    let frame = it.frame();
    let edges = &model.code(frame.code).location(frame.location).edges;
    let awaited = |edge: &Edge| Awaited {
        location: Some(interpreter.sources.location(edge.span)),
        text: edge.text.clone(),
    };
    let name = || process_name(model, machine, process);
    Some(Waiting { process: name(), pid: process, may_end, statements: edges.iter().map(awaited).collect() })
}

/// Globals first, then the locals of every process; a channel is shown where it was made.
pub(super) fn variables(model: &Model, machine: &Machine) -> Vec<Change> {
    let names = channel_names(model, machine);
    let shown = Shown { model, machine, names: &names };
    let mut changes: Vec<Change> = model
        .globals
        .iter()
        .map(|variable| Change {
            name: variable.name.clone(),
            value: shown.variable("", variable, &machine.globals),
        })
        .collect();
    for (pid, process) in machine.processes.iter().enumerate() {
        // What a change is called is how it is told from others, so procedures that are called by each other or by
        // themselves must not have the same name for two variables: the second `x` from below is `x#2`.
        let mut below: Vec<&str> = Vec::new();
        for frame in &process.frames {
            let code = model.code(frame.code);
            let prefix = format!("{}.", process_name(model, machine, pid));
            for variable in &code.variables {
                let name = match below.iter().filter(|name| **name == variable.name).count() {
                    0 => format!("{prefix}{}", variable.name),
                    count => format!("{prefix}{}#{}", variable.name, count + 1),
                };
                changes.push(Change { name, value: shown.variable(&prefix, variable, &frame.locals) });
            }
            let names: BTreeSet<&str> =
                code.variables.iter().map(|variable| variable.name.as_str()).collect();
            below.extend(names);
        }
    }
    changes
}

/// The name of every channel: that of the variable it was made for.
fn channel_names(model: &Model, machine: &Machine) -> Vec<String> {
    let mut names = Vec::with_capacity(machine.channels.len());
    let mut made = |prefix: &str, variables: &[Variable], inits: &[Init]| {
        for init in inits {
            if let Init::Channel { slot, hidden, .. } = init {
                let variables = if *hidden { &model.hidden } else { variables };
                names.push(format!("{prefix}{}", slot_name(variables, *slot)));
            }
        }
    };
    made("", &model.globals, &model.init);
    for (pid, process) in machine.processes.iter().enumerate() {
        let code = model.code(process.frames[0].code);
        made(&format!("{}.", process_name(model, machine, pid)), &code.variables, &code.init);
    }
    names
}

fn slot_name(variables: &[Variable], slot: u32) -> String {
    let holds =
        |variable: &&Variable| (variable.slot..variable.slot + variable.length.unwrap_or(1)).contains(&slot);
    match variables.iter().find(holds) {
        Some(variable) if variable.length.is_some() => format!("{}[{}]", variable.name, slot - variable.slot),
        Some(variable) => variable.name.clone(),
        None => "?".into(),
    }
}

struct Shown<'a> {
    model: &'a Model,
    machine: &'a Machine,
    names: &'a [String],
}

impl Shown<'_> {
    fn variable(&self, prefix: &str, variable: &Variable, slots: &[i32]) -> Value {
        let value = |slot: u32| {
            let own_name = || match variable.length {
                Some(_) => format!("{prefix}{}[{}]", variable.name, slot - variable.slot),
                None => format!("{prefix}{}", variable.name),
            };
            self.value(variable.ty, slots[slot as usize], own_name)
        };
        match variable.length {
            None => value(variable.slot),
            Some(length) => Value::List((variable.slot..variable.slot + length).map(value).collect()),
        }
    }

    fn value(&self, ty: Type, value: i32, own_name: impl FnOnce() -> String) -> Value {
        match ty.kind {
            ValueKind::Number | ValueKind::Process => Value::Number(i64::from(value)),
            ValueKind::Boolean => Value::Name(if value == 0 { "false" } else { "true" }.into()),
            ValueKind::Symbol(set) => symbol(self.model, set, value),
            ValueKind::Channel => {
                let index = (value as usize).wrapping_sub(1);
                match (self.machine.channels.get(index), self.names.get(index)) {
                    (Some(channel), Some(name)) if *name == own_name() => self.contents(channel),
                    (Some(_), Some(name)) => Value::Name(name.clone()),
                    _ => Value::Name("none".into()),
                }
            }
        }
    }

    fn contents(&self, channel: &Channel) -> Value {
        let fields = &self.model.template(channel.template).fields;
        let message = |message: &Vec<i32>| match (message.as_slice(), fields.as_slice()) {
            ([value], [ty]) => self.value(*ty, *value, String::new),
            _ => Value::List(
                message.iter().zip(fields).map(|(value, ty)| self.value(*ty, *value, String::new)).collect(),
            ),
        };
        Value::List(channel.messages.iter().map(message).collect())
    }
}

fn symbol(model: &Model, set: u16, value: i32) -> Value {
    let name = usize::try_from(value)
        .ok()
        .and_then(|value| value.checked_sub(1))
        .and_then(|index| model.symbols.get(usize::from(set))?.names.get(index));
    name.map_or(Value::Number(i64::from(value)), |name| Value::Name(name.clone()))
}

/// C's `printf`, as far as Promela has it: `%d %u %i %x %o %c %e %s`; anything else is printed as it stands.
pub(super) fn formatted(model: &Model, format: &str, args: &[Expr], values: &[i32]) -> String {
    let mut output = String::new();
    let mut values = values.iter().zip(args);
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            output.push(char);
            continue;
        }
        let directive = chars.by_ref().find(|char| !char.is_ascii_digit() && *char != '-' && *char != 'l');
        match directive {
            Some('%') => output.push('%'),
            Some(directive) => match values.next() {
                Some((value, arg)) => output += &formatted_value(model, directive, arg, *value),
                None => output.extend(['%', directive]),
            },
            None => output.push('%'),
        }
    }
    output
}

fn formatted_value(model: &Model, directive: char, arg: &Expr, value: i32) -> String {
    match directive {
        'x' => format!("{value:x}"),
        'o' => format!("{value:o}"),
        'u' => (value as u32).to_string(),
        'c' => char::from(value as u8).to_string(),
        'e' | 's' => {
            let set = match arg {
                Expr::Load(place) => match place.ty.kind {
                    ValueKind::Symbol(set) => set,
                    _ => 0,
                },
                _ => 0,
            };
            symbol(model, set, value).to_string()
        }
        _ => value.to_string(),
    }
}
