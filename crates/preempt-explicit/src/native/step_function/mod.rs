//! The step function of a kind of process: everything that such a process can do, as one piece of machine code with a switch on where to
//! begin.
//!
//! It begins in one of four ways ([`LocationBegins`]). *Expanding* looks for the first edge from a given one on that is ready, copies the
//! state to where its successor is to lie ([`super::context::Context::out`]), and executes the edge there. If the process goes on alone, it does so in
//! the same place, until everybody may run again. Then the function leaves, whoever asked takes the successor, and asks for what comes
//! after that edge. *Going on* begins in the middle of an atomic sequence. *Asking* is whether one edge is ready, and *applying*
//! executes one that is, and nothing else. Going on and applying change the state that they are given.
//!
//! What it leaves to others ([`super::direct`]): to take an offered message, to end, and to go on alone where there are
//! several ways.

mod writer;

use super::compiler::{Compiler, FunctionShape};
use super::context::NO;
use super::direct_locations::{Duties, is_always_ready};
use super::emitter::Emitter;
use crate::Unsupported;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, JumpTableData, Value};
use cranelift_module::FuncId;
use preempt_model::command::Command;
use preempt_model::coverage::EdgeMarks;
use preempt_model::{CodeId, Location};
use std::ops::Range;
use writer::{Asked, Writer};

/// A step function has about so many commands at most; a larger process has several.
const MOST_COMMANDS: usize = 64;

/// Where the step function of a location begins: numbers of its switch.
#[derive(Debug, Clone)]
pub struct LocationBegins {
    /// `None` if there is no machine code.
    pub function: Option<FuncId>,
    /// For the first edge; the others follow.
    pub expanding: Option<i32>,
    pub going_on: Option<i32>,
    /// By edge. `None` if the answer is known without.
    pub asking: Vec<Option<i32>>,
    /// By edge. `None` if a process only comes to stand somewhere else, or ends.
    pub applying: Vec<Option<i32>>,
}

impl LocationBegins {
    /// There is no machine code.
    fn nowhere(location: &Location) -> LocationBegins {
        let none = vec![None; location.edges.len()];
        LocationBegins {
            function: None,
            expanding: None,
            going_on: None,
            asking: none.clone(),
            applying: none,
        }
    }
}

impl<'a> Compiler<'a> {
    /// The step functions of a code, by location. If the budget ends, there are none for the rest.
    pub fn step_functions(
        &mut self,
        code: CodeId,
        locations: &'a [Location],
        duties: &[Duties],
    ) -> Result<Vec<LocationBegins>, Unsupported> {
        let mut begins = Vec::with_capacity(locations.len());
        while begins.len() < locations.len() {
            let range = begins.len()..end_of_part(locations, begins.len());
            if self.budget.exhausted().is_some() {
                begins.extend(locations[range].iter().map(LocationBegins::nowhere));
                continue;
            }
            let marks = self.model.marks.as_ref();
            let marks = |at: usize, edge| marks.and_then(|marks| marks.edge(code.0.into(), at, edge));
            let part = Part { locations, range, marks: &marks, duties };
            let mut found = Vec::new();
            let function =
                self.function(code, FunctionShape::STEPS, |emitter, more| found = part.write(emitter, more))?;
            begins.extend(found.into_iter().map(|it| LocationBegins { function: Some(function), ..it }));
        }
        Ok(begins)
    }
}

/// Where the part that begins at this location ends.
fn end_of_part(locations: &[Location], first: usize) -> usize {
    let size = |command: &Command| match command {
        Command::Deterministic(block) => block.nodes.iter().map(Vec::len).sum(),
        _ => 1,
    };
    let mut commands = 0;
    let mut end = first;
    for location in &locations[first..] {
        commands += location.edges.iter().map(|edge| size(&edge.command)).sum::<usize>();
        if end > first && commands > MOST_COMMANDS {
            break;
        }
        end += 1;
    }
    end
}

/// Is whether the command can be executed for machine code to say?
fn is_asked(command: &Command) -> bool {
    !is_always_ready(command) && !matches!(command, Command::Else | Command::End)
}

/// Does executing the command change more than where the process stands?
fn has_effect(command: &Command) -> bool {
    !matches!(command, Command::Guard(_) | Command::Else | Command::End)
}

/// Where a switch leads, by number. What executes is given a state and the segment in it.
#[derive(Default)]
struct Targets(Vec<(Block, bool)>);

impl Targets {
    /// The number of a new target.
    fn add(&mut self, block: Block, is_given: bool) -> i32 {
        self.0.push((block, is_given));
        self.0.len() as i32 - 1
    }
}

/// A part of a code that is one function.
struct Part<'p, 'a> {
    /// Of the code, and those that belong to the part.
    locations: &'a [Location],
    range: Range<usize>,
    marks: &'p dyn Fn(usize, usize) -> Option<&'a EdgeMarks>,
    duties: &'p [Duties],
}

/// Where machine code for a location and its edges begins. What executes is given a state and the segment in it.
struct Labels {
    /// By edge, and for what comes after them.
    expanding: Vec<Block>,
    going_on: Option<Block>,
    /// By edge; `None` where it is not asked, or is the first question of expanding.
    asking: Vec<Option<Block>>,
    /// By edge; `None` where nothing is executed.
    bodies: Vec<Option<Block>>,
}

impl<'a> Part<'_, 'a> {
    fn write(&self, emitter: &mut Emitter<'a, '_>, more: &[Value]) -> Vec<LocationBegins> {
        let (begin, asked) = (more[0], Asked { nothing_earlier: more[1], only: more[2] });
        let (given, fault) = ([emitter.state, emitter.base], emitter.fault);
        let nothing = emitter.new_block();
        let labels: Vec<Labels> = self.labels(emitter, nothing);
        let mut targets = Targets::default();
        let begins =
            self.range.clone().zip(&labels).map(|(at, labels)| self.begins(at, labels, &mut targets));
        let begins = begins.collect();
        switch(emitter, begin, targets);
        let mut writer = Writer { emitter, part: self, labels: &labels };
        for (location, labels) in labels.iter().enumerate() {
            [writer.emitter.state, writer.emitter.base] = given;
            for number in 0..labels.expanding.len().saturating_sub(1) {
                writer.expand((location, number), asked, nothing);
            }
            for (number, label) in labels.asking.iter().enumerate() {
                if let Some(label) = label {
                    writer.emitter.switch_to(*label);
                    let command = &writer.edges(location)[number].command;
                    writer.emitter.ready_or_offer(command, asked.nothing_earlier, nothing);
                }
            }
            if let Some(label) = labels.going_on {
                writer.go_on(location, label);
            }
            writer.emitter.fault = fault;
            for (number, label) in labels.bodies.iter().enumerate() {
                if let Some(label) = label {
                    writer.execute((location, number), *label);
                }
            }
        }
        emitter.switch_to(nothing);
        emitter.returns_constant(NO);
        begins
    }

    fn labels(&self, emitter: &mut Emitter<'a, '_>, nothing: Block) -> Vec<Labels> {
        let mut labels = Vec::new();
        for at in self.range.clone() {
            let (edges, duties) = (&self.locations[at].edges, self.duties[at]);
            let mut expanding = Vec::new();
            if duties.expands {
                expanding.extend(edges.iter().map(|_| emitter.new_block()));
                expanding.push(nothing);
            }
            let going_on = duties.goes_on.then(|| emitter.new_place());
            let has_question = |command: &Command| !duties.expands && is_asked(command);
            let asking =
                edges.iter().map(|it| has_question(&it.command).then(|| emitter.new_block())).collect();
            let is_executed = |command: &Command| {
                has_effect(command) || (duties.expands || duties.goes_on) && *command != Command::End
            };
            let bodies = edges.iter().map(|it| is_executed(&it.command).then(|| emitter.new_place()));
            let bodies = bodies.collect();
            labels.push(Labels { expanding, going_on, asking, bodies });
        }
        labels
    }

    /// Numbers for everything with which a location may be entered.
    fn begins(&self, at: usize, labels: &Labels, targets: &mut Targets) -> LocationBegins {
        let edges = &self.locations[at].edges;
        let first = targets.0.len() as i32;
        // The last is what comes after the edges.
        let expanding = labels.expanding.iter().take(edges.len());
        let expands = expanding.map(|label| targets.add(*label, false)).count() > 0;
        let going_on = labels.going_on.map(|label| targets.add(label, true));
        let asking = labels.asking.iter().zip(edges).enumerate().map(|(number, (label, edge))| match label {
            Some(label) => Some(targets.add(*label, false)),
            None => (expands && is_asked(&edge.command)).then_some(first + number as i32),
        });
        let asking = asking.collect();
        let applying = labels.bodies.iter().zip(edges).map(|(label, edge)| {
            label.filter(|_| has_effect(&edge.command)).map(|label| targets.add(label, true))
        });
        let applying = applying.collect();
        LocationBegins { function: None, expanding: expands.then_some(first), going_on, asking, applying }
    }
}

fn switch(emitter: &mut Emitter<'_, '_>, begin: Value, Targets(targets): Targets) {
    let given: [BlockArg; 2] = [emitter.state.into(), emitter.base.into()];
    let builder = &mut emitter.builder;
    let dfg = &mut builder.func.dfg;
    let calls: Vec<_> = targets
        .into_iter()
        .map(|(label, is_given)| dfg.block_call(label, if is_given { &given[..] } else { &[] }))
        .collect();
    let otherwise = dfg.block_call(emitter.fault, &[]);
    let table = builder.create_jump_table(JumpTableData::new(otherwise, &calls));
    builder.ins().br_table(begin, table);
}
