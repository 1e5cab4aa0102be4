//! `d_step` sequences: their inside is a small graph of its own, which no state looks into.

use super::super::flow::{Element, ElementId, ElementKind, Sequence, SequenceId};
use super::Builder;
use preempt_core::{Diagnostic, Span};
use preempt_model::{Block, BlockEdge, Command};
use std::collections::{HashMap, HashSet};

impl Builder<'_> {
    pub(super) fn block(&mut self, body: SequenceId) -> Block {
        let mut members = Vec::new();
        self.members(body, &mut members, &mut HashSet::new());
        let mut nodes: HashMap<ElementId, usize> = HashMap::new();
        for id in self.flow.sequence(body).first.iter().chain(&members) {
            let number = nodes.len();
            nodes.entry(*id).or_insert(number);
        }
        let mut order: Vec<(ElementId, usize)> = nodes.iter().map(|(id, number)| (*id, *number)).collect();
        order.sort_by_key(|(_, number)| *number);
        Block { nodes: order.into_iter().map(|(id, _)| self.block_node(id, &nodes)).collect() }
    }

    fn members(
        &mut self,
        sequence: SequenceId,
        members: &mut Vec<ElementId>,
        known: &mut HashSet<ElementId>,
    ) {
        let Sequence { first, last, .. } = self.flow.sequence(sequence);
        let mut current = first;
        while let Some(id) = current {
            if known.insert(id) {
                members.push(id);
                match self.element(id).kind.clone() {
                    ElementKind::Choice(options) => {
                        options.into_iter().for_each(|option| self.members(option, members, known));
                    }
                    ElementKind::Block(body) | ElementKind::Atomic(body) => {
                        if let Some(inner) = self.flow.sequence(body).last {
                            self.lead_to(inner, self.element(id).next);
                        }
                        self.members(body, members, known);
                    }
                    ElementKind::Unless { main, .. } => {
                        let text = "`unless` has no effect inside d_step: nothing interrupts a single step";
                        self.diagnostics.push(Diagnostic::warning(self.element(id).span, text));
                        self.members(main, members, known);
                    }
                    _ => {}
                }
            }
            if Some(id) == last {
                break;
            }
            current = self.element(id).next;
        }
    }

    fn block_node(&mut self, id: ElementId, nodes: &HashMap<ElementId, usize>) -> Vec<BlockEdge> {
        let element = self.element(id).clone();
        let edge = |command: Option<Command>, next: Option<ElementId>, element: &Element| BlockEdge {
            command,
            next: next.and_then(|next| nodes.get(&next).copied()),
            span: element.span,
            text: element.text.clone(),
        };
        match &element.kind {
            ElementKind::Choice(options) => {
                let firsts: Vec<_> =
                    options.iter().filter_map(|option| self.flow.sequence(*option).first).collect();
                firsts
                    .into_iter()
                    .map(|first| {
                        let start = self.element(first);
                        match &start.kind {
                            ElementKind::Basic(command) => edge(Some(command.clone()), start.next, start),
                            _ => edge(None, Some(first), start),
                        }
                    })
                    .collect()
            }
            ElementKind::Basic(command) => {
                self.check_inside_block(command, element.span);
                vec![edge(Some(command.clone()), element.next, &element)]
            }
            ElementKind::Goto(_) => {
                let target = self.jump_target(id);
                if target.is_some_and(|target| !nodes.contains_key(&target))
                    && !self.leaves_at_end(id, target)
                {
                    let diagnostic = Diagnostic::error(element.span, "this jump leaves the d_step sequence")
                        .hint("use atomic { ... } instead of d_step { ... }, or jump after the sequence");
                    self.diagnostics.push(diagnostic);
                }
                vec![edge(None, target, &element)]
            }
            ElementKind::Unless { main, .. } => {
                vec![edge(None, self.flow.sequence(*main).first, &element)]
            }
            ElementKind::Block(body) | ElementKind::Atomic(body) | ElementKind::Deterministic(body) => {
                vec![edge(None, self.flow.sequence(*body).first, &element)]
            }
            ElementKind::Join | ElementKind::LoopExit | ElementKind::Stop => {
                vec![edge(None, element.next, &element)]
            }
        }
    }

    /// `break` as the last thing in a d_step that is the last thing in a loop's alternative is allowed by Spin
    /// only when it leads right behind the sequence.
    fn leaves_at_end(&self, jump: ElementId, target: Option<ElementId>) -> bool {
        self.element(jump).next.is_some() && self.element(jump).next == target
    }

    fn check_inside_block(&mut self, command: &Command, span: Span) {
        if matches!(command, Command::Run { .. }) {
            let diagnostic = Diagnostic::error(span, "`run` is not allowed inside d_step")
                .hint("use atomic { ... } instead of d_step { ... }");
            self.diagnostics.push(diagnostic);
        }
    }
}
