//! What a process can do where it stands, as numbered locations with edges.

use super::super::flow::{ElementId, ElementKind};
use super::{Builder, Continuation, Graph, Step};
use crate::trail::BodyNumbers;
use preempt_core::Diagnostic;
use preempt_model::{Command, Edge, Location, LocationId};
use std::collections::{HashMap, HashSet};

/// A step as it is offered at a location, with the structural elements it was reached through.
struct Offered {
    step: Step,
    through: Vec<ElementId>,
    escape: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    end: bool,
    progress: bool,
    accept: bool,
}

impl Flags {
    fn add(&mut self, other: Flags) {
        self.end |= other.end;
        self.progress |= other.progress;
        self.accept |= other.accept;
    }
}

impl Builder<'_> {
    /// Everything that can be done at an element, structure resolved.
    fn offered(&self, id: ElementId, through: &mut Vec<ElementId>, found: &mut Vec<Offered>) {
        match self.continuations.get(&id) {
            Some(Continuation::Step(step)) => {
                let mut through = through.clone();
                through.push(id);
                found.push(Offered { step: step.clone(), through, escape: None });
            }
            // Choices within choices are as deep as the text is nested; a circle among them has no step.
            Some(Continuation::Choice(starts)) if !through.contains(&id) => {
                through.push(id);
                starts.iter().for_each(|start| self.offered(*start, through, found));
                through.pop();
            }
            _ => {}
        }
    }

    /// Escapes come before the steps that they interrupt.
    fn offered_with_escapes(&self, id: ElementId) -> Vec<Offered> {
        let mut main = Vec::new();
        self.offered(id, &mut Vec::new(), &mut main);
        let mut known: HashSet<ElementId> = main.iter().map(|offered| offered.step.element).collect();
        let mut escapes: Vec<Offered> = Vec::new();
        for offered in &main {
            let mut groups = Vec::new();
            for start in &offered.step.escapes {
                let mut group = Vec::new();
                self.offered(*start, &mut Vec::new(), &mut group);
                group.retain(|offered| known.insert(offered.step.element));
                groups.extend(
                    group.into_iter().map(|offered| Offered { escape: Some(start.0 as u32), ..offered }),
                );
            }
            groups.append(&mut escapes);
            escapes = groups;
        }
        escapes.append(&mut main);
        escapes
    }

    /// Numbers the elements at which a process can stand, in the order in which they are met.
    pub(super) fn locations(&mut self, entry: ElementId) -> Graph {
        let mut numbers = HashMap::from([(entry, 0u32)]);
        let mut order = vec![entry];
        let mut locations = Vec::new();
        let mut statements = Vec::new();
        let mut flags: HashMap<ElementId, Flags> = HashMap::new();
        let mut next = 0;
        while next < order.len() && self.budget.exhausted().is_none() {
            let id = order[next];
            next += 1;
            flags.entry(id).or_default().add(self.own_flags(id));
            if !self.continuations.contains_key(&id) {
                let diagnostic =
                    Diagnostic::error(self.element(id).span, "a jump leads into this d_step sequence")
                        .hint("a d_step sequence is one step: jump to its beginning, or use atomic { ... }");
                self.diagnostics.push(diagnostic);
            }
            let mut edges = Vec::new();
            let mut location = Location { number: self.element(id).number, ..Location::default() };
            for offered in self.offered_with_escapes(id) {
                let (target, atomic, jumps) = self.settle(&offered.step);
                let target = target.unwrap_or(offered.step.element);
                // A label on an alternative's first statement marks the state behind it: the statement itself is
                // no place to stand.
                if offered.escape.is_none() && offered.through.first() == Some(&id) {
                    for passed in &offered.through[1..] {
                        flags.entry(target).or_default().add(self.own_flags(*passed));
                    }
                }
                let number = *numbers.entry(target).or_insert_with(|| {
                    order.push(target);
                    order.len() as u32 - 1
                });
                let element = self.element(offered.step.element);
                edges.push(std::iter::once(element.number).chain(jumps).collect());
                location.edges.push(Edge {
                    command: offered.step.command,
                    target: LocationId(number),
                    atomic,
                    escape: offered.escape,
                    span: element.span,
                    text: element.text.clone(),
                });
            }
            locations.push(location);
            statements.push(edges);
        }
        for (id, location) in order.iter().zip(&mut locations) {
            let flags = flags.get(id).copied().unwrap_or_default();
            (location.end, location.progress, location.accept) = (flags.end, flags.progress, flags.accept);
        }
        // Of several with one name, the first where the process can stand is meant.
        let place = |element| numbers.get(element).map_or(LocationId::NOWHERE, |number| LocationId(*number));
        let labels = self.flow.labels.iter().map(|label| (label.name.text.clone(), place(&label.element)));
        let (somewhere, nowhere): (Vec<_>, Vec<_>) = labels.partition(|(_, at)| *at != LocationId::NOWHERE);
        let labels = somewhere.into_iter().chain(nowhere).collect();
        let numbers = BodyNumbers {
            count: self.flow.numbered,
            known: !self.flow.miscounted,
            whole: !self.flow.counted_elsewhere,
            edges: statements,
        };
        Graph { locations, entry: LocationId(0), labels, numbers }
    }

    /// A step inside an atomic sequence that leads to a mere jump takes it at once: nobody could see it standing
    /// there. A send may be a rendezvous, after which its receiver goes on alone and the sender is seen; and whoever is
    /// held back by a priority or a `provided` clause is seen wherever he stands.
    ///
    /// Returns where it leads, whether that is inside the sequence, and the numbers of the jumps.
    fn settle(&self, step: &Step) -> (Option<ElementId>, bool, Vec<u32>) {
        let (mut target, mut atomic, mut jumps) = (step.target, step.atomic, Vec::new());
        if self.held_back || matches!(step.command, Command::Send { .. }) {
            return (target, atomic, jumps);
        }
        for _ in 0..self.flow.elements.len() {
            let Some(id) = target.filter(|_| atomic) else { break };
            let passes = matches!(
                self.element(id).kind,
                ElementKind::Goto(_) | ElementKind::Join | ElementKind::LoopExit
            );
            match self.continuations.get(&id) {
                Some(Continuation::Step(jump))
                    if passes && jump.escapes.is_empty() && jump.target.is_some() =>
                {
                    (target, atomic) = (jump.target, jump.atomic);
                    jumps.push(self.element(id).number);
                }
                _ => break,
            }
        }
        (target, atomic, jumps)
    }

    fn own_flags(&self, id: ElementId) -> Flags {
        let has = |prefix: &str| self.flow.labels_of(id).any(|name| name.starts_with(prefix));
        Flags {
            end: has("end") || matches!(self.element(id).kind, ElementKind::Stop),
            progress: has("progress"),
            accept: has("accept"),
        }
    }
}
