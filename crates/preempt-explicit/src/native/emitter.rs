//! The tools with which machine code is written: numbers in memory, calls to Rust, and leaving with a fault.

use super::channel_facts::ChannelFacts;
use super::context::{Context, FAULT};
use super::layout::Shape;
use super::slots::NumberFormat;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, AtomicRmwOp, Block, InstBuilder, MemFlagsData, Signature, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use preempt_model::coverage::{EdgeMarks, TAKEN};
use preempt_model::{CodeId, Model, Type};
use std::mem::offset_of;
use std::sync::atomic::AtomicU8;

/// One function being written, for one code.
pub struct Emitter<'a, 'f> {
    pub builder: FunctionBuilder<'f>,
    pub model: &'a Model,
    pub shape: &'a Shape,
    pub facts: &'a ChannelFacts,
    pub code: CodeId,
    /// Where it is noted which edges inside a deterministic block are taken.
    pub marks: Option<&'a EdgeMarks>,
    pub context: Value,
    pub state: Value,
    pub base: Value,
    /// Leaves the function with a fault.
    pub fault: Block,
    /// Leaves it because the budget has run out.
    pub undone: Block,
    pub call_conv: CallConv,
}

impl<'a> Emitter<'a, '_> {
    pub fn constant(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I32, i64::from(value as u32))
    }

    pub fn new_block(&mut self) -> Block {
        self.builder.create_block()
    }

    pub fn switch_to(&mut self, block: Block) {
        self.builder.switch_to_block(block);
    }

    /// Notes that an edge inside a deterministic block is taken.
    pub fn note_inner(&mut self, number: usize) {
        if let Some(seen) = self.marks.and_then(|marks| marks.inner().get(number)) {
            self.note(seen, TAKEN);
        }
    }

    /// Sets a mark, as [`preempt_model::coverage::note`] does: nothing is written where it was set before, since other threads read the
    /// same line of the cache.
    pub fn note(&mut self, seen: &AtomicU8, mark: u8) {
        let flags = MemFlagsData::new().with_notrap();
        let address = self.builder.ins().iconst(types::I64, seen.as_ptr() as usize as i64);
        let before = self.builder.ins().load(types::I8, flags, address, 0);
        let known = self.builder.ins().band_imm_u(before, i64::from(mark));
        let (first, go_on) = (self.new_block(), self.new_block());
        self.branch(known, go_on, first);
        self.switch_to(first);
        let mark = self.builder.ins().iconst(types::I8, i64::from(mark));
        self.builder.ins().atomic_rmw(types::I8, flags, AtomicRmwOp::Or, address, mark);
        self.jump(go_on);
        self.switch_to(go_on);
    }

    pub fn jump(&mut self, block: Block) {
        self.builder.ins().jump(block, &[]);
    }

    pub fn jump_with(&mut self, block: Block, value: Value) {
        self.builder.ins().jump(block, &[value.into()]);
    }

    pub fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        self.builder.ins().brif(condition, yes, &[], no, &[]);
    }

    /// A block that is given one number.
    pub fn new_join(&mut self) -> (Block, Value) {
        let block = self.builder.create_block();
        let value = self.builder.append_block_param(block, types::I32);
        (block, value)
    }

    /// A block that is given a state, and the segment of a process in it.
    pub fn new_place(&mut self) -> Block {
        let block = self.builder.create_block();
        for _ in 0..2 {
            self.builder.append_block_param(block, types::I64);
        }
        block
    }

    pub fn jump_to_place(&mut self, block: Block, (state, base): (Value, Value)) {
        self.builder.ins().jump(block, &[state.into(), base.into()]);
    }

    /// Goes on in such a block, with what it is given.
    pub fn enter_place(&mut self, block: Block) -> (Value, Value) {
        self.switch_to(block);
        let given = self.builder.block_params(block);
        (given[0], given[1])
    }

    pub fn fault_if(&mut self, condition: Value) {
        let go_on = self.new_block();
        self.branch(condition, self.fault, go_on);
        self.switch_to(go_on);
    }

    /// The call's result, leaving with a fault if it is one.
    pub fn call_or_fault(&mut self, function: usize, arguments: &[Value]) -> Value {
        let result = self.call(function, arguments);
        let wrong = self.builder.ins().icmp_imm_s(IntCC::Equal, result, i64::from(FAULT));
        self.fault_if(wrong);
        result
    }

    /// Calls a helper: the context first, then numbers; a number comes back.
    pub fn call(&mut self, function: usize, arguments: &[Value]) -> Value {
        let mut signature = Signature::new(self.call_conv);
        signature.params.push(AbiParam::new(types::I64));
        signature.params.extend(arguments.iter().map(|_| AbiParam::new(types::I32)));
        signature.returns.push(AbiParam::new(types::I32));
        let signature = self.builder.import_signature(signature);
        let callee = self.builder.ins().iconst(types::I64, function as i64);
        let mut all = vec![self.context];
        all.extend(arguments);
        let call = self.builder.ins().call_indirect(signature, callee, &all);
        self.builder.inst_results(call)[0]
    }

    pub fn returns(&mut self, value: Value) {
        self.builder.ins().return_(&[value]);
    }

    pub fn returns_constant(&mut self, value: i32) {
        let value = self.constant(value);
        self.returns(value);
    }

    pub fn load(&mut self, format: NumberFormat, pointer: Value, offset: i32) -> Value {
        let flags = MemFlagsData::new().with_notrap();
        let narrow = match format.bytes {
            1 => types::I8,
            2 => types::I16,
            _ => return self.builder.ins().load(types::I32, flags, pointer, offset),
        };
        let value = self.builder.ins().load(narrow, flags, pointer, offset);
        match format.signed {
            true => self.builder.ins().sextend(types::I32, value),
            false => self.builder.ins().uextend(types::I32, value),
        }
    }

    pub fn store(&mut self, format: NumberFormat, value: Value, pointer: Value, offset: i32) {
        let flags = MemFlagsData::new().with_notrap();
        let narrow = match format.bytes {
            1 => self.builder.ins().ireduce(types::I8, value),
            2 => self.builder.ins().ireduce(types::I16, value),
            _ => value,
        };
        self.builder.ins().store(flags, narrow, pointer, offset);
    }

    /// What a variable of the type keeps of a value; nothing to do if storing it as `format` cuts it alike.
    pub fn wrap(&mut self, ty: Type, value: Value, format: Option<NumberFormat>) -> Value {
        let bits = i64::from(ty.bits.clamp(1, 32));
        if bits == 32 || format.is_some_and(|format| i64::from(format.bytes) * 8 == bits) {
            return value;
        }
        if ty.signed {
            let raised = self.builder.ins().ishl_imm_u(value, 32 - bits);
            self.builder.ins().sshr_imm_u(raised, 32 - bits)
        } else {
            self.builder.ins().band_imm_u(value, (1i64 << bits) - 1)
        }
    }

    /// A number as an address's distance.
    pub fn scaled(&mut self, value: Value, stride: u32) -> Value {
        let wide = self.builder.ins().uextend(types::I64, value);
        if stride == 1 { wide } else { self.builder.ins().imul_imm_u(wide, i64::from(stride)) }
    }

    pub fn add_address(&mut self, pointer: Value, distance: Value) -> Value {
        self.builder.ins().iadd(pointer, distance)
    }

    pub fn context_field(&mut self, offset: usize) -> Value {
        let context = self.context;
        self.load(NumberFormat::WORD, context, offset as i32)
    }

    pub fn set_context_field(&mut self, offset: usize, value: Value) {
        let context = self.context;
        self.store(NumberFormat::WORD, value, context, offset as i32);
    }

    pub fn context_pointer(&mut self, offset: usize) -> Value {
        let flags = MemFlagsData::new().with_notrap();
        self.builder.ins().load(types::I64, flags, self.context, offset as i32)
    }

    pub fn set_message(&mut self, values: &[Value]) {
        for (i, value) in values.iter().enumerate() {
            self.set_context_field(offset_of!(Context, message) + 4 * i, *value);
        }
        let length = self.constant(values.len() as i32);
        self.set_context_field(offset_of!(Context, message_length), length);
    }

    pub fn message_field(&mut self, field: usize) -> Value {
        self.context_field(offset_of!(Context, message) + 4 * field)
    }
}
