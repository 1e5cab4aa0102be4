//! Returns, jumps, conditionals and loops, and where an atomic block ends.

use super::super::Mode;
use super::super::graph::{Origin, Spot};
use super::Body;
use crate::ast::{self, ExprKind, Name, Statement};
use crate::print;
use preempt_core::Span;
use preempt_model::{Command, Expr};

impl<'p> Body<'_, 'p> {
    pub fn atomic_end(&mut self, span: Span, text: &str) {
        self.open = self.open.saturating_sub(1);
        if self.open > 0 {
            return;
        }
        // Who came back from a call has kept the processor: to give it up is a step.
        if self.graph.is_returned(self.here) {
            let next = self.graph.spot(false);
            self.graph.edge(self.here, Command::SKIP, next, Origin::new(span, text));
            self.here = next;
        } else {
            self.graph.set_atomic(self.here, false);
        }
    }

    /// Returns, or ends the thread if this is its own procedure.
    pub fn leave(&mut self, results: &[ast::Expr], span: Span, text: &str) {
        if matches!(self.mode, Mode::Called { .. }) {
            let mut values: Vec<Expr> = results.iter().map(|value| self.value(value)).collect();
            // Who falls off the end has said nothing about the results.
            values.resize(self.procedure.results, Expr::Any { low: 0, high: 1 });
            let own = self.lowering.thread_locals.iter().map(|own| Expr::load(self.place(&own.text)));
            values.extend(own);
            let here = self.here;
            // The edge's target is where it is: the caller knows where to go on.
            self.graph.edge(here, Command::Return(values), here, Origin::new(span, text));
        } else {
            let end = self.graph.spot(false);
            self.graph.join(self.here, end, span, text);
        }
        self.unreachable();
    }

    pub fn goto(&mut self, targets: &'p [Name], span: Span, text: &str) {
        let spots: Vec<(Spot, &Name)> = targets
            .iter()
            .filter_map(|target| Some((*self.labels.get(target.text.as_str())?, target)))
            .collect();
        match spots.as_slice() {
            [(spot, _)] => self.graph.join(self.here, *spot, span, text),
            several => {
                for (spot, target) in several {
                    self.graph.edge(
                        self.here,
                        Command::SKIP,
                        *spot,
                        Origin::new(span, format!("goto {}", target.text)),
                    );
                }
            }
        }
        self.unreachable();
    }

    /// What follows is reached by a label only.
    pub fn unreachable(&mut self) {
        self.here = self.graph.spot(self.open > 0);
    }

    /// Goes on if the condition holds; gives where it goes on if not.
    pub fn test(&mut self, condition: &'p ast::Expr, word: &str) -> Spot {
        let span = condition.at.0;
        let value = self.value(condition);
        let (holds, fails) = match &condition.kind {
            ExprKind::Any => (Expr::TRUE, Expr::TRUE),
            _ => (value.clone(), Expr::not(value)),
        };
        let (then, otherwise) = (self.graph.spot(self.open > 0), self.graph.spot(self.open > 0));
        let text = print::expr(condition);
        self.graph.edge(
            self.here,
            Command::Guard(holds),
            then,
            Origin::new(span, format!("{word} {text}: yes")),
        );
        self.graph.edge(
            self.here,
            Command::Guard(fails),
            otherwise,
            Origin::new(span, format!("{word} {text}: no")),
        );
        self.here = then;
        otherwise
    }

    pub fn conditional(
        &mut self,
        branches: &'p [(ast::Expr, Vec<Statement>)],
        otherwise: Option<&'p [Statement]>,
    ) {
        let after = self.graph.spot(self.open > 0);
        let end = |body: &mut Self| body.graph.join(body.here, after, body.procedure.end.0, "fi");
        for (condition, body) in branches {
            let next = self.test(condition, "if");
            self.statements(body);
            end(self);
            self.here = next;
        }
        self.statements(otherwise.unwrap_or(&[]));
        end(self);
        self.here = after;
    }

    pub fn repetition(&mut self, condition: &'p ast::Expr, body: &'p [Statement]) {
        let head = self.graph.spot(self.open > 0);
        self.graph.join(self.here, head, condition.at.0, "while");
        self.here = head;
        let after = self.test(condition, "while");
        self.statements(body);
        self.graph.join(self.here, head, condition.at.0, "od");
        self.here = after;
    }
}
