//! The control flow of a module: statements become edges between locations.

use super::Lowering;
use crate::ast::{Expr, Name, Statement, StatementKind};
use crate::scope::{Checked, Kind, Reported};
use preempt_core::Span;
use preempt_model::{Command, Edge, Expr as Value, Location, LocationId, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The control flow of one code.
pub(super) struct Flow<'l, 'p> {
    pub lowering: &'l mut Lowering<'p>,
    pub locations: Vec<Location>,
    pub labels: HashMap<String, (LocationId, Span)>,
    pub defined: BTreeSet<String>,
    /// Where `break` leads to.
    pub loops: Vec<LocationId>,
    pub returns: Option<(Type, Kind)>,
    pub thread: bool,
}

impl Flow<'_, '_> {
    pub fn place(&mut self) -> LocationId {
        let number = self.locations.len() as u32;
        self.locations.push(Location { number, end: true, ..Location::default() });
        LocationId(number)
    }

    pub fn edge(&mut self, from: LocationId, command: Command, target: LocationId, span: Span, text: String) {
        let edge = Edge { command, target, atomic: false, escape: None, span, text };
        self.locations[from.0 as usize].edges.push(edge);
    }

    fn label(&mut self, name: &Name) -> LocationId {
        if let Some((place, _)) = self.labels.get(&name.text) {
            return *place;
        }
        let place = self.place();
        self.labels.insert(name.text.clone(), (place, name.span));
        place
    }

    /// The source, on one line and without the semicolon.
    fn text(&self, span: Span) -> String {
        let text = &self.lowering.text[span.start as usize..span.end as usize];
        text.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn statements(&mut self, statements: &[Statement], from: LocationId) -> Checked<LocationId> {
        let mut at = from;
        let mut failed = false;
        for statement in statements {
            match self.statement(statement, at) {
                Ok(next) => at = next,
                Err(Reported) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(at) }
    }

    fn statement(&mut self, statement: &Statement, from: LocationId) -> Checked<LocationId> {
        let mut at = from;
        if let Some(name) = &statement.label {
            if !self.defined.insert(name.text.clone()) {
                let message = format!("there are two labels `{}`", name.text);
                return Err(self.lowering.names.report(name.span, message, "rename one of them"));
            }
            let place = self.label(name);
            self.edge(at, Command::SKIP, place, name.span, format!("{}:", name.text));
            at = place;
            if self.lowering.options.is_error(&name.text) {
                let next = self.place();
                let text = format!("{}: is reached", name.text);
                self.edge(at, Command::Assert(Value::Const(0)), next, name.span, text);
                at = next;
            }
        }
        let (span, text) = (statement.span, self.text(statement.span));
        let nothing = BTreeMap::new();
        let names = &mut self.lowering.names;
        let command = match &statement.kind {
            StatementKind::If(branches) => {
                let after = self.place();
                self.branches(branches, at, after)?;
                return Ok(after);
            }
            StatementKind::Do(branches) => {
                let after = self.place();
                self.loops.push(after);
                let done = self.branches(branches, at, at);
                self.loops.pop();
                done?;
                return Ok(after);
            }
            StatementKind::Skip(None) => Command::SKIP,
            StatementKind::Skip(Some(condition)) => Command::Guard(names.condition(condition, &nothing)?),
            StatementKind::Assign(assignments) => Command::Assign(self.lowering.assignments(assignments)?),
            StatementKind::Goto(label) => {
                let target = self.label(label);
                self.edge(at, Command::SKIP, target, span, text);
                return Ok(self.place());
            }
            StatementKind::Break => {
                let Some(&after) = self.loops.last() else {
                    return Err(names.report(span, "`break` outside of a `do`", "leave it out"));
                };
                self.edge(at, Command::SKIP, after, span, text);
                return Ok(self.place());
            }
            StatementKind::Return(value) => {
                let values = self.returned(value.as_ref(), span)?;
                let dead = self.place();
                match self.thread {
                    // Nobody waits for the value: the thread stays where it is.
                    true => self.edge(at, Command::SKIP, dead, span, text),
                    false => self.edge(at, Command::Return(values), at, span, text),
                }
                return Ok(self.place());
            }
            StatementKind::Call { target, module, arguments } => {
                let (code, args, returns) = self.called(module, arguments, false)?;
                let results = self.target(target.as_ref(), returns, module)?;
                Command::Call { code, args, results }
            }
            StatementKind::Fork(module, arguments) => {
                let (code, args, _) = self.called(module, arguments, true)?;
                Command::Run { code, args, priority: 1, result: None }
            }
        };
        let next = self.place();
        self.edge(at, command, next, span, text);
        Ok(next)
    }

    fn branches(
        &mut self,
        branches: &[(Option<Expr>, Vec<Statement>)],
        from: LocationId,
        after: LocationId,
    ) -> Checked<()> {
        let mut failed = false;
        // `else` is what is left when all others were looked at.
        let (guards, others): (Vec<_>, Vec<_>) = branches.iter().partition(|(guard, _)| guard.is_some());
        for (guard, body) in guards.into_iter().chain(others) {
            let first = self.place();
            let (command, span, text) = match guard {
                Some(guard) => {
                    let Ok(condition) = self.lowering.names.condition(guard, &BTreeMap::new()) else {
                        failed = true;
                        continue;
                    };
                    (Command::Guard(condition), guard.span, self.text(guard.span))
                }
                None => {
                    let span = body.first().map_or(Span::new(preempt_core::SourceId(0), 0, 0), |it| it.span);
                    (Command::Else, span, "else".into())
                }
            };
            self.edge(from, command, first, span, text);
            match self.statements(body, first) {
                Ok(last) => self.edge(last, Command::SKIP, after, span, "end of the branch".into()),
                Err(Reported) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(()) }
    }
}

/// Is the end of these statements never reached?
pub(super) fn ends(body: &[Statement]) -> bool {
    match body.last().map(|last| &last.kind) {
        Some(StatementKind::Return(_) | StatementKind::Goto(_)) => true,
        Some(StatementKind::If(branches)) => branches.iter().all(|(_, body)| ends(body)),
        Some(StatementKind::Do(branches)) => !branches.iter().any(|(_, body)| breaks(body)),
        _ => false,
    }
}

fn breaks(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If(branches) => branches.iter().any(|(_, body)| breaks(body)),
        _ => false,
    })
}
