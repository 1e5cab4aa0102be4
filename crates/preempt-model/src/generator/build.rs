//! The program as a model, built directly.

use super::graph::graph;
use super::syntax::{self, Domain, Process, Program, size};
use super::terms::Terms;
use crate::command::Command;
use crate::expr::Expr;
use crate::program::{ChannelTemplate, Code, CodeId, CodeKind, Init, Model, Start, TemplateId, Variable};
use crate::types::Type;
use preempt_core::{SourceMap, Span};

impl Program {
    /// The model, and the text that its places lie in: that of [`Program::to_promela`].
    pub fn to_model(&self) -> (Model, SourceMap) {
        let printed = self.printed();
        let mut sources = SourceMap::new();
        let source = sources.add("generated.pml", printed.text);
        let places = printed.statements.iter();
        let places = Places {
            spans: places.map(|range| Span::new(source, range.start as u32, range.end as u32)).collect(),
            sources: &sources,
            whole: Span::new(source, 0, 0),
        };
        let model = model(self, &places);
        (model, sources)
    }
}

/// Where the statements stand, by their number.
pub(super) struct Places<'s> {
    spans: Vec<Span>,
    sources: &'s SourceMap,
    /// For what is no statement.
    pub whole: Span,
}

impl Places<'_> {
    pub fn span(&self, statement: usize) -> Span {
        self.spans[statement]
    }

    pub fn text(&self, statement: usize) -> String {
        self.sources.text(self.spans[statement]).to_string()
    }
}

fn model(program: &Program, places: &Places<'_>) -> Model {
    let mut model = Model::default();
    let mut globals = Layout::default();
    for (number, variable) in program.globals.iter().enumerate() {
        globals.variable(format!("g{number}"), variable, places.whole);
    }
    for (number, channel) in program.channels.iter().enumerate() {
        globals.channel(format!("c{number}"), channel, places.whole, &mut model.templates);
    }
    let mut first_statement = 0;
    for (number, process) in program.processes.iter().enumerate() {
        let code = code(program, (number, process), &mut model.templates, first_statement, places);
        model.codes.push(code);
        first_statement += size(&process.body);
        let start = Start { code: CodeId(number as u16), priority: process.priority };
        model.start.extend(std::iter::repeat_n(start, usize::from(process.active)));
    }
    (model.globals, model.init, model.global_slots) = (globals.variables, globals.init, globals.slots);
    model.has_priorities = program
        .processes
        .iter()
        .any(|process| process.active > 0 && process.priority != 1)
        || model.edges().any(|edge| matches!(edge.command, Command::Run { priority, .. } if priority != 1));
    model
}

/// Variables laid out one after the other.
#[derive(Default)]
struct Layout {
    variables: Vec<Variable>,
    init: Vec<Init>,
    slots: u32,
}

impl Layout {
    fn variable(&mut self, name: String, variable: &syntax::Variable, span: Span) {
        let (slot, ty) = (self.slots, variable_type(variable));
        let length = variable.length.map(u32::from);
        self.slots += length.unwrap_or(1);
        let value = || Expr::Const(i32::from(variable.initial));
        self.init.extend((slot..self.slots).map(|slot| Init::Set {
            hidden: false,
            slot,
            ty,
            value: value(),
        }));
        self.variables.push(Variable { name, slot, ty, length, span });
    }

    fn channel(
        &mut self,
        name: String,
        channel: &syntax::Channel,
        span: Span,
        templates: &mut Vec<ChannelTemplate>,
    ) {
        let template = TemplateId(templates.len() as u16);
        templates.push(ChannelTemplate {
            name: name.clone(),
            capacity: u32::from(channel.capacity),
            fields: channel.fields.iter().map(|field| field_type(*field, channel.fields.len())).collect(),
        });
        let slot = self.slots;
        self.slots += 1;
        self.init.push(Init::Channel { hidden: false, slot, template });
        self.variables.push(Variable { name, slot, ty: Type::CHANNEL, length: None, span });
    }
}

pub(super) fn variable_type(variable: &syntax::Variable) -> Type {
    match variable.domain {
        Domain::Bit if variable.length.is_none() => Type::BIT,
        Domain::TwoBits => Type::unsigned(2),
        other => element_type(other),
    }
}

fn field_type(domain: Domain, fields: usize) -> Type {
    if domain == Domain::Bit && fields > 1 { Type::BIT } else { element_type(domain) }
}

/// A bit in an array is a byte in Spin and can hold more than a bit; so is one that is a message by itself.
fn element_type(domain: Domain) -> Type {
    match domain {
        Domain::Bit | Domain::Byte | Domain::TwoBits => Type::BYTE,
        Domain::Short => Type::SHORT,
    }
}

fn code(
    program: &Program,
    (number, process): (usize, &Process),
    templates: &mut Vec<ChannelTemplate>,
    first_statement: usize,
    places: &Places<'_>,
) -> Code {
    let mut locals = Layout::default();
    if process.parameter {
        let parameter =
            Variable { name: "l0".into(), slot: 0, ty: Type::BYTE, length: None, span: places.whole };
        locals.variables.push(parameter);
        locals.slots = 1;
    }
    for (number, variable) in (usize::from(process.parameter)..).zip(&process.locals) {
        locals.variable(format!("l{number}"), variable, places.whole);
    }
    if let Some(channel) = &process.channel {
        locals.channel("own".into(), channel, places.whole, templates);
    }
    let terms = Terms { program, process };
    let (locations, entry) = graph(terms, &process.body, first_statement, places);
    let provided = process.provided.as_ref().map(|clause| terms.expression(clause));
    Code {
        name: format!("P{number}"),
        kind: CodeKind::Process,
        parameters: vec![Type::BYTE; usize::from(process.parameter)],
        variables: locals.variables,
        slots: locals.slots,
        init: locals.init,
        locations,
        entry,
        provided,
        deterministic: false,
        labels: Vec::new(),
        span: places.whole,
    }
}
