//! Where a variable lies, with its indices checked.

use super::emitter::Emitter;
use super::slots::{NumberFormat, Slots};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use preempt_model::{CodeId, Place, Scope};

/// A variable found.
#[derive(Debug, Clone, Copy)]
pub enum Spot {
    At { pointer: Value, offset: i32, format: NumberFormat },
    Nowhere,
}

impl Emitter<'_, '_> {
    /// Leaves with a fault if an index is out of range.
    pub fn locate(&mut self, place: &Place) -> Spot {
        let (pointer, code) = match place.scope {
            Scope::Global | Scope::Hidden | Scope::Nowhere => (self.state, self.code),
            Scope::Local => (self.base, self.code),
        };
        self.locate_from(place, pointer, code)
    }

    /// As [`Emitter::locate`], for locals of this code in the segment at `pointer`.
    pub fn locate_from(&mut self, place: &Place, pointer: Value, code: CodeId) -> Spot {
        let shape = self.shape;
        let (slots, shift): (&Slots, i32) = match place.scope {
            Scope::Global => (&shape.globals, 0),
            Scope::Hidden => (&shape.hidden, -(shape.hidden.size as i32)),
            Scope::Local => (&shape.code(code).locals, 0),
            Scope::Nowhere => {
                for index in &place.indices {
                    let value = self.value(&index.value);
                    self.check_index(value, index.length);
                }
                return Spot::Nowhere;
            }
        };
        let strides = slots.strides(place).unwrap_or_default();
        let slot = place.slot as usize;
        let (offset, format) = (slots.offsets[slot] as i32 + shift, slots.formats[slot]);
        let mut pointer = pointer;
        for (index, stride) in place.indices.iter().zip(strides) {
            let value = self.value(&index.value);
            self.check_index(value, index.length);
            let distance = self.scaled(value, stride);
            pointer = self.add_address(pointer, distance);
        }
        Spot::At { pointer, offset, format }
    }

    fn check_index(&mut self, value: Value, length: u32) {
        let length = self.constant(length as i32);
        let wrong = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, value, length);
        self.fault_if(wrong);
    }

    pub fn load_spot(&mut self, spot: Spot) -> Value {
        match spot {
            Spot::At { pointer, offset, format } => self.load(format, pointer, offset),
            Spot::Nowhere => self.constant(0),
        }
    }

    pub fn store_spot(&mut self, spot: Spot, place: &Place, value: Value) {
        if let Spot::At { pointer, offset, format } = spot {
            let value = self.wrap(place.ty, value, Some(format));
            self.store(format, value, pointer, offset);
        }
    }

    /// A segment's address from its distance to the state's beginning.
    pub fn segment(&mut self, offset: Value) -> Value {
        let wide = self.builder.ins().uextend(types::I64, offset);
        let state = self.state;
        self.add_address(state, wide)
    }
}
