//! A first look over the whole program for what must be known before any body is lowered.

use crate::ast::{Expr, ExprKind, Initializer, Item, Program, ReceiveArg, Stmt, StmtKind, Temporal, VarRef};
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Labels that another process or a claim refers to, with their process: they must be places to stand.
    pub remote_labels: HashSet<(String, String)>,
    /// Names that are assigned or received into somewhere: a channel of such a name may be another one later.
    pub assigned: HashSet<String>,
    /// Has a process a priority, or may it get one?
    pub priorities: bool,
    /// Is there a never claim or a formula?
    pub claims: bool,
}

impl Survey {
    pub fn of(program: &Program) -> Survey {
        let mut survey = Survey::default();
        for item in &program.items {
            survey.claims |= matches!(item, Item::Never(_) | Item::Ltl(_));
            match item {
                Item::Process(process) => {
                    survey.priorities |= process.priority.is_some();
                    process.provided.iter().for_each(|clause| survey.expr(clause));
                    survey.stmts(&process.body);
                }
                Item::Never(claim) => survey.stmts(&claim.body),
                Item::Trace(trace) => survey.stmts(&trace.body),
                Item::Ltl(ltl) => survey.expr(&ltl.formula),
                Item::Mtype(_) | Item::Typedef(_) | Item::Variables(_) => {}
            }
        }
        survey
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(declaration) => {
                for variable in &declaration.variables {
                    if let Some(Initializer::Value(value)) = &variable.init {
                        self.expr(value);
                    }
                }
            }
            StmtKind::Exclusive { .. } | StmtKind::Else | StmtKind::Break | StmtKind::Goto(_) => {}
            StmtKind::Guard(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => self.expr(expr),
            StmtKind::Assign { target, value } => {
                self.assign(target);
                self.expr(value);
            }
            StmtKind::Increment(target) | StmtKind::Decrement(target) => self.assign(target),
            StmtKind::Printf { args, .. } | StmtKind::Send { args, .. } => {
                args.iter().for_each(|arg| self.expr(arg));
            }
            StmtKind::Receive { args, .. } => self.receive(args),
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| self.stmts(option));
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block { body, .. } => self.stmts(body),
            StmtKind::Unless { main, escape } => {
                self.stmt(main);
                self.stmt(escape);
            }
            StmtKind::ForRange { variable, from, to, body } => {
                self.assign(variable);
                self.expr(from);
                self.expr(to);
                self.stmts(body);
            }
            StmtKind::ForIn { variable, body, .. } => {
                self.assign(variable);
                self.stmts(body);
            }
            StmtKind::Select { variable, from, to } => {
                self.assign(variable);
                self.expr(from);
                self.expr(to);
            }
            StmtKind::SetPriority { pid, priority } => {
                self.priorities = true;
                self.expr(pid);
                self.expr(priority);
            }
        }
    }

    fn assign(&mut self, target: &VarRef) {
        if let Some(part) = target.parts.first() {
            self.priorities |= part.name.text == "_priority";
            self.assigned.insert(part.name.text.clone());
        }
    }

    fn receive(&mut self, args: &[ReceiveArg]) {
        for arg in args {
            match arg {
                ReceiveArg::Ref(target) => self.assign(target),
                ReceiveArg::Eval(expr) => self.expr(expr),
                ReceiveArg::Constant(..) => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::RemoteLabel { process, pid, label } => {
                self.remote_labels.insert((process.text.clone(), label.text.clone()));
                pid.iter().for_each(|pid| self.expr(pid));
            }
            ExprKind::Unary(_, inner)
            | ExprKind::Enabled(inner)
            | ExprKind::PcValue(inner)
            | ExprKind::GetPriority(inner) => self.expr(inner),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Run { args, priority, .. } => {
                self.priorities |= priority.is_some();
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Temporal(temporal) => match temporal {
                Temporal::Always(inner) | Temporal::Eventually(inner) | Temporal::Next(inner) => {
                    self.expr(inner);
                }
                Temporal::Until(left, right)
                | Temporal::Release(left, right)
                | Temporal::WeakUntil(left, right)
                | Temporal::Implies(left, right)
                | Temporal::Equivalent(left, right) => {
                    self.expr(left);
                    self.expr(right);
                }
            },
            ExprKind::Number(_)
            | ExprKind::Ref(_)
            | ExprKind::Len(_)
            | ExprKind::Probe(..)
            | ExprKind::Poll { .. }
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::RemoteVariable { .. } => {}
        }
    }
}
