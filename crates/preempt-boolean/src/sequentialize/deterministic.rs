//! `d_step` sequences in the sequential program, and when a command can be executed.

use super::go_on;
use super::refused;
use super::skeleton::{Flow, Step, any_of, none_of};
use preempt_core::{Diagnostic, Span};
use preempt_model::{Block, BlockEdge, Command, Expr};

impl Flow<'_, '_, '_> {
    /// The nodes of a `d_step`, in which always the first edge is taken that can be. To block after its beginning is
    /// an error.
    pub(super) fn deterministic(
        &mut self,
        block: &Block,
        label: &str,
        next: &str,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let node_label = |node: usize| if node == 0 { label.to_string() } else { format!("{label}_d{node}") };
        for (number, node) in block.nodes.iter().enumerate() {
            let mut targets = Vec::new();
            let mut earlier: Vec<Expr> = Vec::new();
            for (edge_number, edge) in node.iter().enumerate() {
                go_on(self.builder.budget)?;
                let target_label = format!("{label}_d{number}_{edge_number}");
                let ready = self.node_edge_ready(block, node.len(), edge, 0);
                let mut steps = vec![Step::Assume(none_of(&earlier, edge.span)?)];
                steps.extend(ready.clone().map(Step::Assume));
                earlier.push(ready.unwrap_or(Expr::TRUE));
                match &edge.command {
                    Some(Command::Assign(assignments)) => steps.push(self.assign(assignments, edge.span)?),
                    Some(Command::Assert(expr)) => steps.push(Step::Require(expr.clone())),
                    Some(Command::Guard(_) | Command::Else | Command::Print { .. }) | None => {}
                    Some(_) => return Err(refused(edge.span, "a statement within a d_step sequence")),
                }
                let target = edge.next.map_or(next.to_string(), node_label);
                steps.push(Step::Goto(vec![target]));
                let steps: Result<Vec<_>, _> =
                    steps.into_iter().map(|step| Ok((self.in_step(step, edge.span)?, edge.span))).collect();
                self.block(&target_label, steps?);
                targets.push(target_label);
            }
            let mut steps = Vec::new();
            if number > 0 {
                let some = Expr::not(none_of(&earlier, span)?);
                steps.push((Step::Require(self.expr(&some, span)?), span));
            }
            steps.push((Step::Goto(targets), span));
            self.block(&node_label(number), steps);
        }
        Ok(())
    }

    fn in_step(&self, step: Step, span: Span) -> Result<Step, Diagnostic> {
        Ok(match step {
            Step::Assume(expr) => Step::Assume(self.expr(&expr, span)?),
            Step::Require(expr) => Step::Require(self.expr(&expr, span)?),
            other => other,
        })
    }

    fn node_edge_ready(
        &self,
        block: &Block,
        alternatives: usize,
        edge: &BlockEdge,
        depth: usize,
    ) -> Option<Expr> {
        match (&edge.command, edge.next) {
            (Some(command), _) => self.ready(command),
            (None, Some(next)) if alternatives > 1 && depth <= block.nodes.len() => {
                self.node_ready(block, next, depth + 1)
            }
            (None, _) => None,
        }
    }

    fn node_ready(&self, block: &Block, node: usize, depth: usize) -> Option<Expr> {
        // Whatever is said then is not used.
        go_on(self.builder.budget).ok()?;
        let edges = &block.nodes[node];
        let ready = edges.iter().map(|edge| self.node_edge_ready(block, edges.len(), edge, depth));
        let ready: Option<Vec<Expr>> = ready.collect();
        ready.map(|ready| any_of(&ready))
    }

    /// When a command can be executed, if no earlier one can; `None`: always.
    pub(super) fn ready(&self, command: &Command) -> Option<Expr> {
        match command {
            Command::Guard(expr) if *expr != Expr::TRUE => Some(expr.clone()),
            Command::Deterministic(block) => {
                let edges = block.nodes.first()?;
                let ready = edges.iter().map(|edge| match (&edge.command, edge.next) {
                    (None, Some(next)) => self.node_ready(block, next, 1),
                    _ => self.node_edge_ready(block, edges.len(), edge, 0),
                });
                let ready: Option<Vec<Expr>> = ready.collect();
                ready.map(|ready| any_of(&ready))
            }
            _ => None,
        }
    }
}
