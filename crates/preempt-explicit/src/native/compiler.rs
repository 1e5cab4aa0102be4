//! From a model to machine code, by Cranelift: the step functions of every kind of process ([`super::step_function`]), and functions for
//! what else is asked: offered messages, first values, clauses and conditions.

use super::channel_facts::ChannelFacts;
use super::context::{FAULT, Function, NO, StepFunction, UNDONE, YES};
use super::direct_locations::{EdgeFacts, duties, is_always_ready};
use super::emitter::Emitter;
use super::layout::{Layouts, MAX_FIELDS, Shape};
use super::program::{
    Apply, Entry, ExclusiveUse, LocationEdges, LocationFacts, MachineCode, NativeEdge, Program, Ready,
};
use super::rendezvous::acceptances;
use super::step_function::LocationBegins;
use crate::Unsupported;
use cranelift_codegen::Context as Codegen;
use cranelift_codegen::ir::{AbiParam, UserFuncName, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use preempt_core::Budget;
use preempt_model::command::Command;
use preempt_model::coverage::EdgeMarks;
use preempt_model::{CodeId, CodeKind, Edge, Expr, Model, Scope};
use std::sync::RwLock;
use std::sync::atomic::AtomicU8;

impl Program {
    /// `conditions`: what an observer reads, if there is one. If the budget ends, the program does nothing.
    pub fn new(model: &Model, conditions: Option<&[Expr]>, budget: &Budget) -> Result<Program, Unsupported> {
        supported(model)?;
        let shape = Shape::new(model, conditions)?;
        let facts = ChannelFacts::new(model, &shape);
        let mut compiler = Compiler::new(model, &shape, &facts, budget)?;
        let may_be_held_back = model.has_priorities || model.codes.iter().any(|code| code.provided.is_some());
        let is_plain = !may_be_held_back && model.exclusives.is_empty() && shape.hidden.size == 0;
        let duties = duties(model, is_plain);
        let mut pending = Vec::new();
        for (number, code) in model.codes.iter().enumerate() {
            let id = CodeId(number as u16);
            let is_process = code.kind == CodeKind::Process;
            let locations: &[_] = if is_process { &code.locations } else { &[] };
            let begins = compiler.step_functions(id, locations, &duties[number])?;
            let mut edges = Vec::new();
            for (at, location) in locations.iter().enumerate() {
                let compiled = location.edges.iter().enumerate().map(|(nth, edge)| {
                    compiler.marks = model.marks.as_ref().and_then(|marks| marks.edge(number, at, nth));
                    compiler.edge(id, edge)
                });
                edges.push(compiled.collect::<Result<Vec<_>, _>>()?);
                compiler.marks = None;
            }
            let init = match is_process && !code.init.is_empty() {
                true => Some(compiler.plain(id, |emitter| {
                    emitter.initialise(&code.init);
                    emitter.returns_constant(YES);
                })?),
                false => None,
            };
            let provided = match &code.provided {
                Some(clause) => Some(compiler.plain(id, |emitter| emitter.decides(clause))?),
                None => None,
            };
            pending.push((edges, begins, init, provided));
        }
        let mut exclusive_uses = Vec::new();
        for claimed in &model.exclusives {
            let number = compiler.plain(claimed.code, |emitter| {
                let channel = emitter.value(&claimed.channel);
                emitter.returns(channel);
            })?;
            exclusive_uses.push((claimed.code, claimed.receive, number));
        }
        let mut compiled = Vec::new();
        for condition in conditions.unwrap_or(&[]) {
            let function = match belongs_to_nobody(condition) {
                true => Some(compiler.plain(CodeId(0), |emitter| emitter.decides(condition))?),
                false => None,
            };
            compiled.push(function);
        }
        let module = compiler.finish()?;
        let plain = |id: FuncId| function(&module, id);
        let mut program = Program {
            layouts: Layouts::new(&shape),
            edges: Vec::new(),
            locations: model.codes.iter().map(|code| code.locations.iter().map(facts_of).collect()).collect(),
            entries: model.codes.iter().map(|code| (code.entry.0, code.parameters.clone())).collect(),
            inits: Vec::new(),
            provided: Vec::new(),
            fields: model.templates.iter().map(|template| template.fields.clone()).collect(),
            exclusive_uses: Vec::new(),
            conditions: compiled.into_iter().map(|id| id.map(plain)).collect(),
            has_priorities: model.has_priorities,
            may_be_held_back,
            code: None,
            budget: RwLock::new(budget.clone()),
            marks: model.marks.clone(),
            shape,
        };
        for (edges, begins, init, provided) in pending {
            let may_grow = edges.iter().flatten().any(|edge| edge.facts.grows);
            let location = |(edges, begins): (Vec<PendingEdge>, LocationBegins)| {
                let function = begins.function.map(|id| step_function(&module, id));
                let entry = |number: Option<i32>| {
                    function.zip(number).map(|(function, number)| Entry { function, number })
                };
                LocationEdges {
                    receives: edges.iter().any(|edge| edge.facts.accepts),
                    grows: edges.iter().any(|edge| edge.facts.grows || edge.facts.atomic && may_grow),
                    expanding: entry(begins.expanding),
                    going_on: entry(begins.going_on),
                    edges: std::iter::zip(edges, std::iter::zip(begins.asking, begins.applying))
                        .map(|(edge, (asking, applying))| {
                            edge.finish(&module, entry(asking), entry(applying))
                        })
                        .collect(),
                }
            };
            program.edges.push(std::iter::zip(edges, begins).map(location).collect());
            program.inits.push(init.map(plain));
            program.provided.push(provided.map(plain));
        }
        let claimed = |(code, receive, channel)| ExclusiveUse { code, receive, channel: plain(channel) };
        program.exclusive_uses = exclusive_uses.into_iter().map(claimed).collect();
        program.code = Some(MachineCode(module));
        Ok(program)
    }
}

fn facts_of(location: &preempt_model::Location) -> LocationFacts {
    LocationFacts {
        number: location.number,
        end: location.end,
        progress: location.progress,
        accept: location.accept,
    }
}

/// What machine code does not do yet.
fn supported(model: &Model) -> Result<(), Unsupported> {
    for edge in model.edges() {
        match &edge.command {
            Command::Call { .. } | Command::Return(_) => return Err(Unsupported("procedures".into())),
            Command::Run { args, .. } if args.len() > MAX_FIELDS => {
                return Err(Unsupported(format!("a process with more than {MAX_FIELDS} parameters")));
            }
            Command::Send { fields, .. } if fields.len() > MAX_FIELDS => {
                return Err(Unsupported(format!("a message with more than {MAX_FIELDS} fields")));
            }
            Command::Deterministic(block) => {
                let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
                for command in inner {
                    if matches!(
                        command,
                        Command::Deterministic(_) | Command::End | Command::Call { .. } | Command::Return(_)
                    ) {
                        return Err(Unsupported("a d_step inside a d_step".into()));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Does the expression mean the same whoever asks?
fn belongs_to_nobody(expr: &Expr) -> bool {
    let mut nobody = true;
    expr.visit(&mut |inner| {
        nobody &= match inner {
            Expr::Load(place) => place.scope == Scope::Global,
            Expr::SelfPid | Expr::NewPid | Expr::Any { .. } => false,
            _ => true,
        };
    });
    nobody
}

struct PendingEdge {
    facts: EdgeFacts,
    ready: Ready,
    accept: Option<FuncId>,
    takes: Vec<FuncId>,
}

impl PendingEdge {
    fn finish(self, module: &JITModule, asking: Option<Entry>, applying: Option<Entry>) -> NativeEdge {
        NativeEdge {
            facts: self.facts,
            ready: asking.map_or(self.ready, Ready::Code),
            apply: match applying {
                Some(entry) => Apply::Code(entry),
                None if matches!(self.ready, Ready::End) => Apply::End,
                None => Apply::Nothing,
            },
            accept: self.accept.map(|id| function(module, id)),
            takes: self.takes.into_iter().map(|id| function(module, id)).collect(),
            seen: AtomicU8::new(0),
        }
    }
}

fn function(module: &JITModule, id: FuncId) -> Function {
    // SAFETY: it was compiled with exactly this signature, and the module that is kept with the program owns its memory.
    #[allow(unsafe_code)]
    unsafe {
        std::mem::transmute::<*const u8, Function>(module.get_finalized_function(id))
    }
}

fn step_function(module: &JITModule, id: FuncId) -> StepFunction {
    // SAFETY: as in `function`: it was compiled with three parameters more.
    #[allow(unsafe_code)]
    unsafe {
        std::mem::transmute::<*const u8, StepFunction>(module.get_finalized_function(id))
    }
}

/// What a function is given beside the context, the state and the acting process's segment: so many numbers.
#[derive(Debug, Clone, Copy)]
pub struct FunctionShape(usize);

impl FunctionShape {
    const PLAIN: FunctionShape = FunctionShape(0);
    pub const STEPS: FunctionShape = FunctionShape(3);
}

pub struct Compiler<'a> {
    pub budget: &'a Budget,
    pub model: &'a Model,
    shape: &'a Shape,
    facts: &'a ChannelFacts,
    module: JITModule,
    codegen: Codegen,
    builder: FunctionBuilderContext,
    /// Of the edge that is being compiled; they outlive the machine code, since the program keeps them too.
    marks: Option<&'a EdgeMarks>,
}

impl<'a> Compiler<'a> {
    fn new(
        model: &'a Model,
        shape: &'a Shape,
        facts: &'a ChannelFacts,
        budget: &'a Budget,
    ) -> Result<Compiler<'a>, Unsupported> {
        let wrong =
            |what: &dyn std::fmt::Display| Unsupported(format!("machine code on this computer ({what})"));
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", "speed"), ("is_pic", "false"), ("enable_verifier", "false")] {
            flags.set(name, value).map_err(|error| wrong(&error))?;
        }
        let isa = cranelift_native::builder()
            .map_err(|error| wrong(&error))?
            .finish(settings::Flags::new(flags))
            .map_err(|error| wrong(&error))?;
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let codegen = module.make_context();
        let builder = FunctionBuilderContext::new();
        Ok(Compiler { budget, model, shape, facts, module, codegen, builder, marks: None })
    }

    fn edge(&mut self, code: CodeId, edge: &Edge) -> Result<PendingEdge, Unsupported> {
        let (facts, command) = (EdgeFacts::of(edge), &edge.command);
        // Of those that machine code is asked about, another answer is known later.
        let ready = match command {
            Command::End => Ready::End,
            _ if is_always_ready(command) => Ready::Always,
            _ => Ready::Else,
        };
        if self.budget.exhausted().is_some() {
            return Ok(PendingEdge { facts, ready, accept: None, takes: Vec::new() });
        }
        let acceptances = acceptances(command);
        let accept = match acceptances.is_empty() {
            true => None,
            false => Some(self.plain(code, |emitter| emitter.accept(command))?),
        };
        let takes = acceptances.into_iter().map(|acceptance| {
            self.plain(code, |emitter| {
                emitter.take(acceptance);
                emitter.returns_constant(YES);
            })
        });
        let takes = takes.collect::<Result<Vec<_>, _>>()?;
        Ok(PendingEdge { facts, ready, accept, takes })
    }

    fn plain(
        &mut self,
        code: CodeId,
        emit: impl FnOnce(&mut Emitter<'a, '_>),
    ) -> Result<FuncId, Unsupported> {
        self.function(code, FunctionShape::PLAIN, |emitter, _| emit(emitter))
    }

    /// One function, which is given some numbers more.
    pub fn function(
        &mut self,
        code: CodeId,
        FunctionShape(more): FunctionShape,
        emit: impl FnOnce(&mut Emitter<'a, '_>, &[Value]),
    ) -> Result<FuncId, Unsupported> {
        let wrong = |what: &dyn std::fmt::Display| Unsupported(format!("compiling the model: {what}"));
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.params.extend((0..more).map(|_| AbiParam::new(types::I32)));
        signature.returns.push(AbiParam::new(types::I32));
        let call_conv = signature.call_conv;
        let id = self.module.declare_anonymous_function(&signature).map_err(|error| wrong(&error))?;
        self.codegen.func.signature = signature;
        self.codegen.func.name = UserFuncName::user(0, id.as_u32());
        let mut builder = FunctionBuilder::new(&mut self.codegen.func, &mut self.builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        let (fault, undone) = (builder.create_block(), builder.create_block());
        let mut emitter = Emitter {
            builder,
            model: self.model,
            shape: self.shape,
            facts: self.facts,
            code,
            marks: self.marks,
            context: parameters[0],
            state: parameters[1],
            base: parameters[2],
            fault,
            undone,
            call_conv,
        };
        emit(&mut emitter, &parameters[3..]);
        emitter.switch_to(fault);
        emitter.returns_constant(FAULT);
        emitter.switch_to(undone);
        emitter.returns_constant(UNDONE);
        emitter.builder.seal_all_blocks();
        emitter.builder.finalize(self.module.target_config());
        let defined = self.module.define_function(id, &mut self.codegen);
        self.module.clear_context(&mut self.codegen);
        defined.map_err(|error| wrong(&error))?;
        Ok(id)
    }

    fn finish(mut self) -> Result<JITModule, Unsupported> {
        self.module
            .finalize_definitions()
            .map_err(|error| Unsupported(format!("compiling the model: {error}")))?;
        Ok(self.module)
    }
}

impl Emitter<'_, '_> {
    /// Returns whether the expression holds.
    fn decides(&mut self, expr: &preempt_model::Expr) {
        let holds = self.truth(expr);
        let (yes, no) = (self.new_block(), self.new_block());
        self.branch(holds, yes, no);
        self.switch_to(yes);
        self.returns_constant(YES);
        self.switch_to(no);
        self.returns_constant(NO);
    }
}
