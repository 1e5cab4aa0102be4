//! Which variables depend on each other, for the order in which they stand: those that one value is computed from, with
//! the variable that takes it. Values that are merely assigned at the same time need not stand together.
//!
//! `preempt_bdd::order` makes an order of these groups. It is a heuristic: no order is wrong, a bad one is slow.

use preempt_model::{BinaryOp, CodeId, Command, Expr, Footprint, Model, Place, Scope};

/// Numbers of variables: shared slots, then locals (the same for all codes), then results.
pub(crate) struct Numbers {
    pub shared: u32,
    pub locals: u32,
}

/// For each value the variables that belong together, with the code in which it is computed.
pub(crate) fn groups(model: &Model, numbers: &Numbers) -> Vec<(CodeId, Vec<u32>)> {
    let mut groups = Vec::new();
    for (number, code) in model.codes.iter().enumerate() {
        let mut collector = Collector { model, numbers, groups: Vec::new() };
        code.locations
            .iter()
            .flat_map(|location| &location.edges)
            .for_each(|edge| collector.command(&edge.command));
        groups.extend(collector.groups.into_iter().map(|group| (CodeId(number as u16), group)));
    }
    groups
}

struct Collector<'a> {
    model: &'a Model,
    numbers: &'a Numbers,
    groups: Vec<Vec<u32>>,
}

impl Collector<'_> {
    fn command(&mut self, command: &Command) {
        match command {
            Command::Guard(expr) | Command::Assert(expr) => self.condition(expr),
            Command::Assign(assignments) => {
                for (place, value) in assignments {
                    self.add(&Command::Assign(vec![(place.clone(), value.clone())]), None);
                }
            }
            Command::Call { args, results, .. } => {
                for (slot, arg) in args.iter().enumerate() {
                    self.add(&Command::Guard(arg.clone()), Some(self.numbers.shared + slot as u32));
                }
                for (index, place) in results.iter().enumerate() {
                    self.add(&written(place), Some(self.result(index)));
                }
            }
            Command::Return(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.add(&Command::Guard(value.clone()), Some(self.result(index)));
                }
            }
            Command::Deterministic(block) => {
                let edges = block.nodes.iter().flatten();
                edges.filter_map(|edge| edge.command.as_ref()).for_each(|command| self.command(command));
            }
            command => self.add(command, None),
        }
    }

    /// Both sides of a conjunction or disjunction are conditions of their own.
    fn condition(&mut self, expr: &Expr) {
        match expr {
            Expr::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::BitAnd | BinaryOp::BitOr, left, right) => {
                self.condition(left);
                self.condition(right);
            }
            expr => self.add(&Command::Guard(expr.clone()), None),
        }
    }

    fn result(&self, index: usize) -> u32 {
        self.numbers.shared + self.numbers.locals + index as u32
    }

    /// What the command touches, and one variable more.
    fn add(&mut self, command: &Command, more: Option<u32>) {
        let footprint = Footprint::of(self.model, command);
        let number = |&(scope, slot): &(Scope, u32)| match scope {
            Scope::Global => Some(slot),
            Scope::Local => Some(self.numbers.shared + slot),
            Scope::Hidden | Scope::Nowhere => None,
        };
        let touched = footprint.may_read.0.iter().chain(&footprint.may_write.0).filter_map(number);
        let mut group: Vec<u32> = touched.chain(more).collect();
        group.sort_unstable();
        group.dedup();
        if group.len() > 1 {
            self.groups.push(group);
        }
    }
}

fn written(place: &Place) -> Command {
    Command::Assign(vec![(place.clone(), Expr::Const(0))])
}
