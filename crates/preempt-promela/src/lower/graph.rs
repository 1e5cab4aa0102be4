//! From elements to locations and edges: which elements a process can stand at, and what it can do there.

use super::flow::{Element, ElementId, ElementKind, Flow, Sequence, SequenceId};
use crate::trail::BodyNumbers;
use preempt_core::{Budget, Diagnostic, Span};
use preempt_model::{Block, BlockEdge, Command, Edge, Location, LocationId};
use std::collections::{BTreeMap, HashMap, HashSet};

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
    let ways = BTreeMap::new();
    let mut builder =
        Builder { flow, held_back, diagnostics, budget, ways, hunted: HashMap::new(), changes: 0 };
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
enum Way {
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

/// A step as it is offered at a location, with the structural elements it was reached through.
struct Offered {
    step: Step,
    through: Vec<ElementId>,
    escape: Option<u32>,
}

struct Builder<'d> {
    flow: Flow,
    held_back: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
    budget: &'d Budget,
    ways: BTreeMap<ElementId, Way>,
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
            if !self.ways.contains_key(&element) {
                self.way(element);
            }
            if Some(element) == last {
                break;
            }
            current = self.element(element).next;
        }
    }

    fn way(&mut self, id: ElementId) {
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
                self.ways.insert(id, Way::Choice(starts));
                options.into_iter().for_each(|option| self.sequence(option));
            }
            ElementKind::Atomic(body) | ElementKind::Block(body) => {
                self.patch_atomic(body);
                if let (Some(first), Some(last)) =
                    (self.flow.sequence(body).first, self.flow.sequence(body).last)
                {
                    let start = self.hunt_start(first);
                    self.lead_to(last, self.element(id).next);
                    self.ways.insert(id, Way::Choice(vec![start]));
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
        self.ways.insert(id, Way::Step(Step { element: id, command, target, atomic, escapes }));
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

    /// Everything that can be done at an element, structure resolved.
    fn offered(&self, id: ElementId, through: &mut Vec<ElementId>, found: &mut Vec<Offered>) {
        match self.ways.get(&id) {
            Some(Way::Step(step)) => {
                let mut through = through.clone();
                through.push(id);
                found.push(Offered { step: step.clone(), through, escape: None });
            }
            // Choices within choices are as deep as the text is nested; a circle among them has no step.
            Some(Way::Choice(starts)) if !through.contains(&id) => {
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
    fn locations(&mut self, entry: ElementId) -> Graph {
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
            if !self.ways.contains_key(&id) {
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
            match self.ways.get(&id) {
                Some(Way::Step(jump)) if passes && jump.escapes.is_empty() && jump.target.is_some() => {
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

/// Deterministic blocks: their inside is a small graph of its own, which no state looks into.
impl Builder<'_> {
    fn block(&mut self, body: SequenceId) -> Block {
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
