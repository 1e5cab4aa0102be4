//! Expressions over a protocol's variables as decision diagrams: for each value that an expression can have, where it has
//! it. Variables have few values, so that this is small.

use super::diagrams::SlotOrder;
use preempt_bdd::{Bdd, Full, Layout, Space, TableOptions, Variable};
use preempt_core::Budget;
use preempt_net::protocol::expr::Table;
use preempt_net::protocol::{Expr, Place, Protocol, Scope, Variable as Declared};

/// The variables of the global part and of each slot.
pub(crate) struct Slots {
    pub(crate) globals: Vec<Variable>,
    pub(crate) slots: Vec<Vec<Variable>>,
}

pub(crate) struct Symbols<'p> {
    pub(crate) protocol: &'p Protocol,
    pub(crate) slots: Slots,
}

/// Who is in which slot.
#[derive(Clone, Copy)]
pub(crate) struct At<'s> {
    slots: &'s Slots,
    mover: Option<usize>,
    partner: Option<usize>,
    other: Option<usize>,
}

impl At<'_> {
    /// The variable at a place. Nobody is spoken of who is not there; if somebody is, it is the first slot.
    pub(crate) fn variable(&self, place: Place) -> Variable {
        let slot = match place.scope {
            Scope::Global => return self.slots.globals[place.variable],
            Scope::Mover => self.mover,
            Scope::Partner => self.partner,
            Scope::Other => self.other,
        };
        self.slots.slots[slot.unwrap_or(0)][place.variable]
    }
}

impl Slots {
    /// A space with so many slots, in an order.
    pub(crate) fn build(
        protocol: &Protocol,
        count: usize,
        order: SlotOrder,
        table: TableOptions,
        budget: &Budget,
    ) -> Result<(Space, Slots), Full> {
        let mut layout = Layout::new().within(budget);
        let globals = protocol.globals.iter().map(|it| layout.add(it.size, 1)).collect();
        let blocks: Option<Vec<u64>> =
            protocol.locals.iter().map(|it| it.block.map(|(_, block)| block)).collect();
        let groups: Vec<Vec<usize>> = match (order, blocks) {
            (SlotOrder::Blocks, Some(blocks)) => {
                let mut names = blocks.clone();
                names.sort_unstable();
                names.dedup();
                let of = |block: u64| (0..blocks.len()).filter(|it| blocks[*it] == block).collect();
                names.into_iter().map(of).collect()
            }
            _ => vec![(0..protocol.locals.len()).collect()],
        };
        let nowhere = Variable { index: 0, copy: 0 };
        let mut slots = vec![vec![nowhere; protocol.locals.len()]; count];
        for group in groups {
            for slot in &mut slots {
                for variable in &group {
                    slot[*variable] = layout.add(protocol.locals[*variable].size, 1);
                }
            }
        }
        Ok((layout.build(table)?, Slots { globals, slots }))
    }
}

impl Symbols<'_> {
    /// These are in these slots.
    pub(crate) fn at(&self, mover: Option<usize>, partner: Option<usize>, other: Option<usize>) -> At<'_> {
        At { slots: &self.slots, mover, partner, other }
    }

    /// Where a condition holds.
    pub(crate) fn truth(&self, space: &Space, expr: &Expr, at: &At<'_>) -> Result<Bdd, Full> {
        space.go_on()?;
        match expr {
            Expr::Value(value) => Ok(space.constant(*value != 0)),
            Expr::Not(inner) => self.truth(space, inner, at)?.not(),
            Expr::And(parts) => {
                let mut all = space.yes();
                for part in parts {
                    all = all.and(&self.truth(space, part, at)?)?;
                }
                Ok(all)
            }
            Expr::Or(parts) => {
                let mut any = space.no();
                for part in parts {
                    any = any.or(&self.truth(space, part, at)?)?;
                }
                Ok(any)
            }
            Expr::Equal(a, b) => self.related(space, a, b, at, |a, b| a == b),
            Expr::Less(a, b) => self.related(space, a, b, at, |a, b| a < b),
            Expr::Member(table) => self.member(space, table, table.places.len(), 0, at),
            Expr::Read(_) | Expr::Sum(..) | Expr::Difference(..) | Expr::If(..) => {
                let mut any = space.no();
                for (value, set) in self.values(space, expr, at)? {
                    if value != 0 {
                        any = any.or(&set)?;
                    }
                }
                Ok(any)
            }
        }
    }

    fn related(
        &self,
        space: &Space,
        a: &Expr,
        b: &Expr,
        at: &At<'_>,
        holds: impl Fn(i64, i64) -> bool,
    ) -> Result<Bdd, Full> {
        let (left, right) = (self.values(space, a, at)?, self.values(space, b, at)?);
        let mut all = space.no();
        for (a, set) in &left {
            let mut fitting = space.no();
            for (_, other) in right.iter().filter(|(b, _)| holds(*a, *b)) {
                fitting = fitting.or(other)?;
            }
            all = all.or(&set.and(&fitting)?)?;
        }
        Ok(all)
    }

    /// Every value that an expression can have, with where it has it.
    fn values(&self, space: &Space, expr: &Expr, at: &At<'_>) -> Result<Vec<(i64, Bdd)>, Full> {
        let mut found: Vec<(i64, Bdd)> = Vec::new();
        let mut add = |value: i64, set: Bdd| -> Result<(), Full> {
            match found.iter_mut().find(|(it, _)| *it == value) {
                Some((_, before)) => *before = before.or(&set)?,
                None => found.push((value, set)),
            }
            Ok(())
        };
        match expr {
            Expr::Value(value) => add(*value, space.yes())?,
            Expr::Read(place) => {
                let (low, size) = (self.protocol.variable(*place).low, self.protocol.variable(*place).size);
                for code in 0..size {
                    space.go_on()?;
                    add(low + code as i64, space.equals(at.variable(*place), code)?)?;
                }
            }
            Expr::Sum(a, b) | Expr::Difference(a, b) => {
                let sign = if matches!(expr, Expr::Sum(..)) { 1 } else { -1 };
                let right = self.values(space, b, at)?;
                for (left, set) in self.values(space, a, at)? {
                    for (right, other) in &right {
                        add(left.saturating_add(sign * right), set.and(other)?)?;
                    }
                }
            }
            Expr::If(condition, a, b) => {
                let condition = self.truth(space, condition, at)?;
                for (value, set) in self.values(space, a, at)? {
                    add(value, set.and(&condition)?)?;
                }
                for (value, set) in self.values(space, b, at)? {
                    add(value, set.minus(&condition)?)?;
                }
            }
            Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Equal(..)
            | Expr::Less(..)
            | Expr::Member(_) => {
                let truth = self.truth(space, expr, at)?;
                add(0, truth.not()?)?;
                add(1, truth)?;
            }
        }
        Ok(found)
    }

    /// The bits of an expression's value as one of a variable.
    pub(crate) fn bits(
        &self,
        space: &Space,
        expr: &Expr,
        variable: &Declared,
        at: &At<'_>,
    ) -> Result<Vec<Bdd>, Full> {
        let mut bits = vec![space.no(); preempt_bdd::space::bits(variable.size)];
        for (value, set) in self.values(space, expr, at)? {
            let code = u64::try_from(value - variable.low).unwrap_or(0);
            for (bit, function) in bits.iter_mut().enumerate() {
                if code >> bit & 1 == 1 {
                    *function = function.or(&set)?;
                }
            }
        }
        Ok(bits)
    }

    /// The tuples of the table that begin, from the last place on, with what was chosen.
    fn member(
        &self,
        space: &Space,
        table: &Table,
        places: usize,
        chosen: u64,
        at: &At<'_>,
    ) -> Result<Bdd, Full> {
        let Some(last) = places.checked_sub(1) else {
            return Ok(space.constant(table.bits[(chosen / 64) as usize] >> (chosen % 64) & 1 == 1));
        };
        let (_, size) = table.ranges[last];
        let mut all = space.no();
        for code in 0..size {
            space.go_on()?;
            let part = self.member(space, table, last, chosen * size + code, at)?;
            if !part.is_false() {
                all = all.or(&space.equals(at.variable(table.places[last]), code)?.and(&part)?)?;
            }
        }
        Ok(all)
    }
}
