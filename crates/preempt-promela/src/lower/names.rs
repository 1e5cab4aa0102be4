//! What a name means where it stands.

use super::flow::ScopePath;
use super::layout::{RecordLayout, Shape};
use crate::ast::TypeName;
use preempt_core::Span;
use preempt_model::{CodeId, Scope, TemplateId, Type};
use std::collections::HashMap;

/// A declared variable: where it is kept and what it looks like.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub scope: Scope,
    pub slot: u32,
    pub shape: Shape,
    /// `None` for a single value.
    pub length: Option<u32>,
    /// The channel it was declared with, if it was.
    pub channel: Option<TemplateId>,
    /// The initial value, if that is a constant: Spin takes it as the length of an array.
    pub constant: Option<i32>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(super) struct ProcessName {
    pub code: CodeId,
    /// The type of each parameter.
    pub parameters: Vec<TypeName>,
    pub span: Span,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    /// A symbolic constant, its set and value.
    pub symbols: HashMap<String, (u16, i32)>,
    /// Named mtypes; the one without a name is number 0.
    pub symbol_sets: HashMap<String, u16>,
    pub records: HashMap<String, RecordLayout>,
    pub globals: HashMap<String, Declared>,
    pub processes: HashMap<String, ProcessName>,
    /// Blocks of the body being lowered, outermost first.
    blocks: Vec<BlockScope>,
    next_block: u32,
}

#[derive(Debug, Default)]
struct BlockScope {
    number: u32,
    variables: HashMap<String, Declared>,
}

impl Names {
    pub fn enter_body(&mut self) {
        self.blocks.clear();
        self.next_block = 0;
        self.enter_block();
    }

    pub fn enter_block(&mut self) {
        self.blocks.push(BlockScope { number: self.next_block, variables: HashMap::new() });
        self.next_block += 1;
    }

    pub fn leave_block(&mut self) {
        self.blocks.pop();
    }

    /// Leaves every block; global names are declared again.
    pub fn leave_body(&mut self) {
        self.blocks.clear();
    }

    pub fn scope_path(&self) -> ScopePath {
        self.blocks.iter().map(|block| block.number).collect()
    }

    pub fn variable(&self, name: &str) -> Option<&Declared> {
        self.blocks
            .iter()
            .rev()
            .find_map(|block| block.variables.get(name))
            .or_else(|| self.globals.get(name))
    }

    /// Declares in the innermost block, or globally. Returns what had the name there before.
    pub fn declare(&mut self, name: &str, declared: Declared) -> Option<Declared> {
        match self.blocks.last_mut() {
            Some(block) => block.variables.insert(name.to_string(), declared),
            None => self.globals.insert(name.to_string(), declared),
        }
    }

    /// Every name that could have been meant, for "did you mean".
    pub fn visible(&self) -> impl Iterator<Item = &str> {
        let locals = self.blocks.iter().flat_map(|block| block.variables.keys());
        locals.chain(self.globals.keys()).chain(self.symbols.keys()).map(String::as_str)
    }
}

impl Declared {
    pub fn scalar_type(&self) -> Option<Type> {
        match &self.shape {
            Shape::Scalar(ty) => Some(*ty),
            Shape::Record(_) => None,
        }
    }
}
