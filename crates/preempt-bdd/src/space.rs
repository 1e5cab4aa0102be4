//! Variables with finitely many values, encoded in bits, least significant bit deepest in the diagram.
//!
//! Copies of a variable (before and after a step, and so on) are interleaved: bit i of all copies stands together, so
//! that "the copies are equal" is a small diagram whatever the variable's size.

use crate::table::{Bdd, Full, TableOptions, manager, patiently};
use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::{BooleanFunction, Manager, ManagerRef};
use preempt_core::Budget;
use std::collections::HashMap;

/// The variables of a space before it is built.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Number of values and of copies.
    variables: Vec<(u64, u32)>,
    budget: Budget,
}

/// A diagram has so many levels at most: each takes a table of its own.
const MOST_LEVELS: usize = 1 << 20;

/// One copy of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    /// In the order of [`Layout::add`].
    pub index: u32,
    /// From 0.
    pub copy: u32,
}

impl Variable {
    /// Another copy of the same variable.
    pub fn copy(self, copy: u32) -> Variable {
        Variable { copy, ..self }
    }
}

impl Layout {
    /// Without variables.
    pub fn new() -> Layout {
        Layout::default()
    }

    /// Who works in the space stops when the budget does: see [`Space::go_on`].
    #[must_use]
    pub fn within(self, budget: &Budget) -> Layout {
        Layout { budget: budget.clone(), ..self }
    }

    /// A variable with the values `0 .. size`, in `copies` copies. The result is its copy 0.
    pub fn add(&mut self, size: u64, copies: u32) -> Variable {
        self.variables.push((size.max(1), copies.max(1)));
        Variable { index: self.variables.len() as u32 - 1, copy: 0 }
    }

    /// How many variables there are, copies not counted.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Is there no variable yet?
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// The variables from the top of the diagrams to the bottom in the order of their making.
    pub fn build(&self, options: TableOptions) -> Result<Space, Full> {
        let order: Vec<u32> = (0..self.variables.len() as u32).collect();
        self.build_ordered(&order, options)
    }

    /// `order` names every variable once, the topmost first; variables that it does not name come last.
    pub fn build_ordered(&self, order: &[u32], options: TableOptions) -> Result<Space, Full> {
        let count = |&(size, copies): &(u64, u32)| bits(size).saturating_mul(copies as usize);
        if self.variables.iter().map(count).fold(0, usize::saturating_add) > MOST_LEVELS {
            return Err(Full);
        }
        let mut levels: Vec<Vec<Vec<u32>>> =
            self.variables.iter().map(|&(size, copies)| vec![vec![0; bits(size)]; copies as usize]).collect();
        let mut placed = vec![false; self.variables.len()];
        let rest = 0..self.variables.len() as u32;
        let mut next = 0;
        for index in order.iter().copied().chain(rest).map(|index| index as usize) {
            if index >= placed.len() || std::mem::replace(&mut placed[index], true) {
                continue;
            }
            let (size, _) = self.variables[index];
            for bit in (0..bits(size)).rev() {
                for levels in &mut levels[index] {
                    levels[bit] = next;
                    next += 1;
                }
            }
        }
        let sizes = self.variables.iter().map(|&(size, _)| size).collect();
        Space::new(levels, sizes, next, options, self.budget.clone())
    }
}

/// How many bits it takes to tell `size` values apart.
pub fn bits(size: u64) -> usize {
    (u64::BITS - size.saturating_sub(1).leading_zeros()) as usize
}

/// A table of nodes with variables in it.
pub struct Space {
    manager: BDDManagerRef,
    sizes: Vec<u64>,
    /// For each variable, copy and bit (the least significant first) the level of the diagram.
    levels: Vec<Vec<Vec<u32>>>,
    /// For each level, the function "this bit is 1".
    literals: Vec<BDDFunction>,
    yes: Bdd,
    no: Bdd,
    budget: Budget,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space").field("sizes", &self.sizes).field("levels", &self.literals.len()).finish()
    }
}

impl Space {
    fn new(
        levels: Vec<Vec<Vec<u32>>>,
        sizes: Vec<u64>,
        count: u32,
        options: TableOptions,
        budget: Budget,
    ) -> Result<Space, Full> {
        let manager = manager(options);
        manager.with_manager_exclusive(|manager| manager.add_vars(count));
        let (yes, no) = manager
            .with_manager_shared(|manager| (Bdd(BDDFunction::t(manager)), Bdd(BDDFunction::f(manager))));
        let mut literals = Vec::with_capacity(count as usize);
        for level in 0..count {
            if level.is_multiple_of(1024) && budget.exhausted().is_some() {
                return Err(Full);
            }
            let literal = patiently(&manager, || {
                manager.with_manager_shared(|manager| BDDFunction::var(manager, level))
            })?;
            literals.push(literal.0);
        }
        Ok(Space { manager, sizes, levels, literals, yes, no, budget })
    }

    /// To be called in every loop over operations: it is as if the table were full when the budget is exhausted. (A single
    /// operation is not interrupted; the size of the table bounds it.)
    #[inline]
    pub fn go_on(&self) -> Result<(), Full> {
        self.budget.exhausted().map_or(Ok(()), |_| Err(Full))
    }

    /// The set of everything.
    pub fn yes(&self) -> Bdd {
        self.yes.clone()
    }

    /// The empty set.
    pub fn no(&self) -> Bdd {
        self.no.clone()
    }

    /// Everything or nothing.
    pub fn constant(&self, value: bool) -> Bdd {
        if value { self.yes() } else { self.no() }
    }

    /// How many values a variable has.
    pub fn size(&self, variable: Variable) -> u64 {
        self.sizes[variable.index as usize]
    }

    /// The levels of a variable's bits, the least significant first.
    pub fn levels(&self, variable: Variable) -> &[u32] {
        &self.levels[variable.index as usize][variable.copy as usize]
    }

    /// How many bits all copies of all variables have: the height of the diagrams.
    pub fn level_count(&self) -> usize {
        self.literals.len()
    }

    pub(crate) fn literal(&self, level: u32) -> &BDDFunction {
        &self.literals[level as usize]
    }

    /// The bits of a variable as functions, the least significant first.
    pub fn bits(&self, variable: Variable) -> Vec<Bdd> {
        self.levels(variable).iter().map(|&level| Bdd(self.literal(level).clone())).collect()
    }

    /// All nodes in the table, those that nobody needs any more among them until they are collected.
    pub fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.num_inner_nodes())
    }

    /// Removes the nodes that no diagram needs any more, and says how many these were.
    pub fn collect_garbage(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.gc())
    }

    /// The variable has this value; the empty set if it never can.
    pub fn equals(&self, variable: Variable, value: u64) -> Result<Bdd, Full> {
        if value >= self.size(variable) {
            return Ok(self.no());
        }
        let mut result = self.yes();
        for (bit, literal) in self.bits(variable).into_iter().enumerate() {
            let literal = if value >> bit & 1 == 1 { literal } else { literal.not()? };
            result = result.and(&literal)?;
        }
        Ok(result)
    }

    /// The variable has one of these values.
    pub fn one_of(&self, variable: Variable, values: impl IntoIterator<Item = u64>) -> Result<Bdd, Full> {
        let mut result = self.no();
        for value in values {
            self.go_on()?;
            result = result.or(&self.equals(variable, value)?)?;
        }
        Ok(result)
    }

    /// One vector of values.
    pub fn point(&self, values: &[(Variable, u64)]) -> Result<Bdd, Full> {
        let mut result = self.yes();
        for &(variable, value) in values {
            self.go_on()?;
            result = result.and(&self.equals(variable, value)?)?;
        }
        Ok(result)
    }

    /// The variable's value is below `bound`.
    pub fn below(&self, variable: Variable, bound: u64) -> Result<Bdd, Full> {
        let bits = self.bits(variable);
        if bits.len() < 64 && bound >> bits.len() != 0 {
            return Ok(self.yes());
        }
        let mut result = self.no();
        for (bit, literal) in bits.iter().enumerate() {
            let low = literal.not()?;
            result = if bound >> bit & 1 == 1 { low.or(&result)? } else { low.and(&result)? };
        }
        Ok(result)
    }

    /// The bits of the variable encode one of its values. Sets are meant to be subsets of this.
    pub fn domain(&self, variable: Variable) -> Result<Bdd, Full> {
        self.below(variable, self.size(variable))
    }

    /// Two variables, or two copies of one, have the same value.
    pub fn same(&self, left: Variable, right: Variable) -> Result<Bdd, Full> {
        self.sum(right, left, 0)
    }

    /// `result = operand + offset` as integers: pairs for which there is no such value are not in the relation.
    pub fn sum(&self, result: Variable, operand: Variable, offset: i64) -> Result<Bdd, Full> {
        let zero = || self.no();
        let (wide, narrow) = (self.bits(result), self.bits(operand));
        let amount = offset.unsigned_abs();
        let width = wide.len().max(narrow.len()).max(bits(amount.saturating_add(1)));
        let bit = |of: &[Bdd], i: usize| of.get(i).cloned().unwrap_or_else(zero);
        // for a negative offset: operand = result + |offset|
        let (from, to) = if offset >= 0 { (&narrow, &wide) } else { (&wide, &narrow) };
        let (mut relation, mut carry) = (self.yes(), self.no());
        for i in 0..width {
            let (a, b) = (bit(from, i), i < 64 && amount >> i & 1 == 1);
            let half = if b { a.not()? } else { a.clone() };
            let digit = half.xor(&carry)?;
            carry = if b { a.or(&carry)? } else { a.and(&carry)? };
            relation = relation.and(&digit.iff(&bit(to, i))?)?;
        }
        relation.and(&carry.not()?)
    }

    /// Where each level stands, for [`crate::order`]: the variable and its copy.
    pub fn owners(&self) -> HashMap<u32, Variable> {
        let mut owners = HashMap::new();
        for (index, copies) in self.levels.iter().enumerate() {
            for (copy, levels) in copies.iter().enumerate() {
                let variable = Variable { index: index as u32, copy: copy as u32 };
                owners.extend(levels.iter().map(|&level| (level, variable)));
            }
        }
        owners
    }
}
