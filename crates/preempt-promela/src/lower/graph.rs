//! From elements to locations and edges: which elements a process can stand at, and what it can do there.
//!
//! The rules are Spin's, found by comparing counts of states (`tests/spin_counts`): a process stands only where it makes a
//! step, so jumps, joins and the ends of loops are passed through ([`Builder::hunt`]); a jump out of an atomic sequence is the step
//! that leaves it; the alternatives of a choice begin where it stands. Each element is resolved once, and jumps in a row are
//! walked once: linear in the size of the flow but for escapes, which are offered at every step that they interrupt.
//!
//! [`locations`] numbers what is left, and [`deterministic`] makes `d_step` sequences to blocks.

mod deterministic;
mod locations;

use super::flow::{Element, ElementId, ElementKind, Flow, Sequence, SequenceId};
use crate::trail::BodyNumbers;
use preempt_core::{Budget, Diagnostic};
use preempt_model::{Command, Location, LocationId};
use std::collections::{BTreeMap, HashMap};

/// The graph of one process.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub locations: Vec<Location>,
    pub entry: LocationId,
    /// Where each label stands; `LocationId::NOWHERE` if the process never stops there.
    pub labels: Vec<(String, LocationId)>,
    pub numbers: BodyNumbers,
}

/// `held_back`: may something keep the process from going on in the middle of an atomic sequence?
pub(super) fn build(
    flow: Flow,
    body: SequenceId,
    held_back: bool,
    diagnostics: &mut Vec<Diagnostic>,
    budget: &Budget,
) -> Graph {
    let continuations = BTreeMap::new();
    let mut builder =
        Builder { flow, held_back, diagnostics, budget, continuations, hunted: HashMap::new(), changes: 0 };
    builder.check_jumps();
    let entry = builder.flow.sequence(body).first.map(|first| builder.hunt(first, false));
    builder.sequence(body);
    match entry {
        Some(entry) => builder.locations(entry),
        None => Graph::default(),
    }
}

/// How a process goes on from an element.
#[derive(Debug, Clone)]
enum Continuation {
    /// Structure only: as from any of these.
    Choice(Vec<ElementId>),
    Step(Step),
}

#[derive(Debug, Clone)]
struct Step {
    element: ElementId,
    command: Command,
    target: Option<ElementId>,
    atomic: bool,
    /// Elements where the escapes begin, the outermost first.
    escapes: Vec<ElementId>,
}

struct Builder<'d> {
    flow: Flow,
    held_back: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
    budget: &'d Budget,
    continuations: BTreeMap<ElementId, Continuation>,
    /// What [`hunt`](Self::hunt) found from an element, and how many changes the flow had seen then: jumps in a row are
    /// walked once, not once for each of them.
    hunted: HashMap<(ElementId, bool), (usize, ElementId)>,
    /// How often the flow was changed while it was walked.
    changes: usize,
}

impl Builder<'_> {
    fn element(&self, id: ElementId) -> &Element {
        self.flow.element(id)
    }

    fn jump_target(&self, id: ElementId) -> Option<ElementId> {
        match &self.element(id).kind {
            ElementKind::Goto(target) => self.flow.target(target),
            _ => None,
        }
    }

    /// Passes through everything at which a process does not stop. A jump out of an atomic sequence is not passed
    /// through from inside it: it is the step that leaves the sequence.
    fn hunt(&mut self, start: ElementId, from_atomic: bool) -> ElementId {
        let mut current = start;
        let mut passed = Vec::new();
        let found = loop {
            if let Some((changes, found)) = self.hunted.get(&(current, from_atomic))
                && *changes == self.changes
            {
                break *found;
            }
            // Whoever passes more elements than there are has passed one of them twice.
            if passed.len() > self.flow.elements.len() {
                self.circle(start);
                break start;
            }
            let next = match &self.element(current).kind {
                ElementKind::Goto(_) => self.jump_target(current),
                ElementKind::Join | ElementKind::LoopExit => self.element(current).next,
                ElementKind::Unless { main, .. } => self.flow.sequence(*main).first,
                _ => break current,
            };
            match next {
                Some(next) if !from_atomic || self.element(next).atomic => {
                    passed.push(current);
                    current = next;
                }
                _ => break current,
            }
        };
        for id in passed {
            self.hunted.insert((id, from_atomic), (self.changes, found));
        }
        found
    }

    /// Where an alternative begins: like [`hunt`](Self::hunt), but a jump there is a step.
    fn hunt_start(&mut self, start: ElementId) -> ElementId {
        let mut current = start;
        for _ in 0..=self.flow.elements.len() {
            let next = match &self.element(current).kind {
                ElementKind::Join => self.element(current).next,
                ElementKind::Unless { main, .. } => self.flow.sequence(*main).first,
                _ => None,
            };
            match next {
                Some(next) => current = next,
                None => return current,
            }
        }
        self.circle(start);
        start
    }

    fn circle(&mut self, at: ElementId) {
        let diagnostic =
            Diagnostic::error(self.element(at).span, "these jumps lead in a circle without any step")
                .hint("put a statement, for example `skip`, into the loop");
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn check_jumps(&mut self) {
        for element in &self.flow.elements {
            let ElementKind::Goto(target) = &element.kind else { continue };
            if self.flow.target(target).is_none()
                && let super::flow::Target::Label { name, .. } = target
            {
                let labels = self.flow.labels.iter().map(|label| label.name.text.as_str());
                let mut diagnostic = Diagnostic::error(
                    name.span,
                    format!("there is no label `{}` in this process", name.text),
                );
                if let Some(near) = preempt_core::diagnostic::nearest(&name.text, labels) {
                    diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// What follows `element` has changed.
    fn lead_to(&mut self, element: ElementId, next: Option<ElementId>) {
        if self.element(element).next != next {
            self.flow.elements[element.0].next = next;
            self.changes += 1;
        }
    }

    fn sequence(&mut self, id: SequenceId) {
        let Sequence { first, last, .. } = self.flow.sequence(id);
        let mut current = first.filter(|_| self.budget.exhausted().is_none());
        while let Some(element) = current {
            if !self.continuations.contains_key(&element) {
                self.continue_from(element);
            }
            if Some(element) == last {
                break;
            }
            current = self.element(element).next;
        }
    }

    fn continue_from(&mut self, id: ElementId) {
        match self.element(id).kind.clone() {
            ElementKind::Unless { main, .. } => self.sequence(main),
            ElementKind::Choice(options) => {
                let mut starts = Vec::new();
                for option in &options {
                    let Some(first) = self.flow.sequence(*option).first else { continue };
                    let start = self.hunt_start(first);
                    if !self.never_holds(start) {
                        starts.push(start);
                    }
                }
                self.continuations.insert(id, Continuation::Choice(starts));
                options.into_iter().for_each(|option| self.sequence(option));
            }
            ElementKind::Atomic(body) | ElementKind::Block(body) => {
                self.patch_atomic(body);
                if let (Some(first), Some(last)) =
                    (self.flow.sequence(body).first, self.flow.sequence(body).last)
                {
                    let start = self.hunt_start(first);
                    self.lead_to(last, self.element(id).next);
                    self.continuations.insert(id, Continuation::Choice(vec![start]));
                    self.sequence(body);
                }
            }
            ElementKind::Deterministic(body) => {
                let block = self.block(body);
                self.step(id, Command::Deterministic(Box::new(block)));
            }
            ElementKind::Basic(command) => self.step(id, command),
            ElementKind::Goto(_) | ElementKind::Join | ElementKind::LoopExit => self.step(id, Command::SKIP),
            ElementKind::Stop => self.step(id, Command::End),
        }
    }

    /// An alternative `false` can never be taken and is left out.
    fn never_holds(&self, start: ElementId) -> bool {
        let element = self.element(start);
        element.escapes.is_empty()
            && matches!(&element.kind, ElementKind::Basic(Command::Guard(preempt_model::Expr::Const(0))))
    }

    fn step(&mut self, id: ElementId, command: Command) {
        let atomic = self.element(id).atomic;
        let next = match &self.element(id).kind {
            ElementKind::Goto(_) => self.jump_target(id),
            _ => self.element(id).next,
        };
        let target = next.map(|next| self.hunt(next, atomic));
        let sequences = match self.element(id).kind {
            ElementKind::Join => Vec::new(),
            _ => self.element(id).escapes.clone(),
        };
        let mut escapes = Vec::new();
        for sequence in &sequences {
            if let Some(first) = self.flow.sequence(*sequence).first {
                escapes.push(self.hunt(first, atomic));
            }
        }
        self.continuations
            .insert(id, Continuation::Step(Step { element: id, command, target, atomic, escapes }));
        sequences.into_iter().for_each(|sequence| self.sequence(sequence));
    }

    /// A jump that leaves an atomic sequence is its last step; one that leads into another continues it.
    fn patch_atomic(&mut self, sequence: SequenceId) {
        let Sequence { first, extent, .. } = self.flow.sequence(sequence);
        let mut current = first;
        while let Some(id) = current {
            match self.element(id).kind.clone() {
                ElementKind::Goto(_) => {
                    if let Some(target) = self.jump_target(id) {
                        let target = self.element(target);
                        let leads_inside = target.atomic || target.last_of_atomic;
                        let element = &mut self.flow.elements[id.0];
                        let before = (element.atomic, element.last_of_atomic);
                        if (element.atomic || element.last_of_atomic) && !leads_inside {
                            (element.atomic, element.last_of_atomic) = (false, true);
                        }
                        if element.last_of_atomic && leads_inside {
                            (element.atomic, element.last_of_atomic) = (true, false);
                        }
                        self.changes += usize::from(before != (element.atomic, element.last_of_atomic));
                    }
                }
                ElementKind::Choice(options) => {
                    options.into_iter().for_each(|option| self.patch_atomic(option));
                }
                ElementKind::Unless { main, escape } => {
                    self.patch_atomic(main);
                    self.patch_atomic(escape);
                }
                _ => {}
            }
            if Some(id) == extent {
                break;
            }
            current = self.element(id).next;
        }
    }
}
