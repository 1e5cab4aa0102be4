//! Control flow as Spin builds it: elements linked into sequences.
//!
//! Where a process can stand, and so how many states a model has, is decided here. Spin's rules are followed to the
//! letter (structural nodes that are passed through, jumps that are steps and jumps that are not, where an atomic
//! sequence ends), because state counts must agree with it. [`graph`](super::graph) turns the result into locations.
//!
//! Elements are made in Spin's order and counted as they are made, which gives the numbers by which a trail names statements.

use super::labels::Labels;
use crate::ast::Name;
use preempt_core::Span;
use preempt_model::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ElementId(pub usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SequenceId(pub usize);

#[derive(Debug, Clone)]
pub(super) struct Element {
    pub kind: ElementKind,
    /// Spin's number of this element in its body, from 1; 0 where Spin counts it elsewhere.
    pub number: u32,
    pub next: Option<ElementId>,
    /// Inside an atomic sequence, not its last step.
    pub atomic: bool,
    /// The last step of an atomic sequence.
    pub last_of_atomic: bool,
    /// Sequences that interrupt this element (`unless`), the outermost first.
    pub escapes: Vec<SequenceId>,
    pub span: Span,
    pub text: String,
}

#[derive(Debug, Clone)]
pub(super) enum ElementKind {
    Basic(Command),
    Goto(Target),
    /// Where the branches of `if`, `do` or `unless` meet again: passed through.
    Join,
    /// Where `break` leads.
    LoopExit,
    /// `if` or `do`: each alternative a sequence.
    Choice(Vec<SequenceId>),
    Unless {
        main: SequenceId,
        escape: SequenceId,
    },
    Atomic(SequenceId),
    Block(SequenceId),
    Deterministic(SequenceId),
    /// The end of the body.
    Stop,
}

#[derive(Debug, Clone)]
pub(super) enum Target {
    Label { name: Name, scope: ScopePath },
    LoopExit(usize),
}

/// Numbers of the enclosing blocks, outermost first: which of several labels of one name a jump means.
pub(super) type ScopePath = Vec<u32>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sequence {
    pub first: Option<ElementId>,
    pub last: Option<ElementId>,
    /// The last element of its own, before a join was appended.
    pub extent: Option<ElementId>,
}

/// The body of one process while it is being built.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    pub labels: Labels,
    /// Where each loop's `break` leads, by the loop's number.
    pub loop_exits: Vec<Option<ElementId>>,
    /// How many elements have a number.
    pub numbered: u32,
    /// From some element on the numbers are not Spin's.
    pub miscounted: bool,
    /// Some elements are counted behind this body.
    pub counted_elsewhere: bool,
    open: Vec<SequenceId>,
}

impl Flow {
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    pub fn sequence(&self, id: SequenceId) -> Sequence {
        self.sequences[id.0]
    }

    pub fn new_element(&mut self, kind: ElementKind, span: Span, text: impl Into<String>) -> ElementId {
        self.numbered += 1;
        self.elements.push(Element {
            kind,
            number: self.numbered,
            next: None,
            atomic: false,
            last_of_atomic: false,
            escapes: Vec::new(),
            span,
            text: text.into(),
        });
        ElementId(self.elements.len() - 1)
    }

    /// Spin makes this element when it reads a reference to a label, and counts it there.
    pub fn new_uncounted_element(&mut self, kind: ElementKind, span: Span, text: String) -> ElementId {
        let id = self.new_element(kind, span, text);
        self.elements[id.0].number = 0;
        self.numbered -= 1;
        self.counted_elsewhere = true;
        id
    }

    /// Spin makes the last `own` elements before `behind` only after the elements from `behind` on.
    pub fn count_later(&mut self, own: usize, behind: usize) {
        let others = (self.elements.len() - behind) as u32;
        let first = behind.saturating_sub(own);
        self.elements[first..behind].iter_mut().for_each(|element| element.number += others);
        self.elements[behind..].iter_mut().for_each(|element| element.number -= own as u32);
    }

    pub fn open_sequence(&mut self) -> SequenceId {
        self.sequences.push(Sequence::default());
        let id = SequenceId(self.sequences.len() - 1);
        self.open.push(id);
        id
    }

    pub fn close_sequence(&mut self) -> SequenceId {
        let id = self.open.pop().expect("a sequence is closed by whoever opened it");
        self.sequences[id.0].extent = self.sequences[id.0].last;
        id
    }

    pub fn is_empty(&self, sequence: SequenceId) -> bool {
        self.sequence(sequence).first.is_none()
    }

    /// Appends to the sequence that is open.
    pub fn push(&mut self, element: ElementId) {
        let current = *self.open.last().expect("statements are lowered inside a sequence");
        self.append(element, current);
    }

    pub fn append(&mut self, element: ElementId, sequence: SequenceId) {
        // A jump is passed through, and a label that matters would be passed over: it gets a step of its own.
        if matches!(self.element(element).kind, ElementKind::Goto(_))
            && self.labels_of(element).any(marks_a_state)
        {
            let span = self.element(element).span;
            let stop = self.new_element(ElementKind::Basic(Command::SKIP), span, "skip");
            self.labels.move_to(element, stop);
            self.append(stop, sequence);
        }
        match self.sequences[sequence.0].last {
            None => self.sequences[sequence.0].first = Some(element),
            Some(last) => self.elements[last.0].next = Some(element),
        }
        self.sequences[sequence.0].last = Some(element);
    }

    pub fn labels_of(&self, element: ElementId) -> impl Iterator<Item = &str> {
        self.labels.of(element).map(|label| label.name.text.as_str())
    }

    /// `if`: the branches meet in a join behind it. Returns the element that a label before it names.
    pub fn push_if(&mut self, options: Vec<SequenceId>, span: Span) -> ElementId {
        let choice = self.new_element(ElementKind::Choice(options.clone()), span, "if");
        let join = self.new_element(ElementKind::Join, span, "fi");
        for option in options {
            self.append(join, option);
        }
        self.push(choice);
        self.push(join);
        choice
    }

    /// `do`: the branches meet in a join before it, and `break` leads behind it.
    pub fn push_do(&mut self, options: Vec<SequenceId>, loop_number: usize, span: Span) -> ElementId {
        let choice = self.new_element(ElementKind::Choice(options.clone()), span, "do");
        let join = self.new_element(ElementKind::Join, span, "od");
        for option in options {
            self.append(join, option);
        }
        self.push(join);
        let exit = self.new_element(ElementKind::LoopExit, span, "od");
        self.loop_exits[loop_number] = Some(exit);
        self.push(choice);
        self.push(exit);
        choice
    }

    pub fn push_unless(&mut self, main: SequenceId, escape: SequenceId, span: Span) -> ElementId {
        let unless = self.new_element(ElementKind::Unless { main, escape }, span, "unless");
        let join = self.new_element(ElementKind::Join, span, "unless");
        self.append(join, main);
        self.append(join, escape);
        self.attach_escape(main, escape);
        self.push(unless);
        self.push(join);
        unless
    }

    /// Every element of the sequence, and of sequences inside it, is interrupted by `escape`.
    fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let Sequence { first, extent, .. } = self.sequence(sequence);
        let mut current = first;
        while let Some(element) = current {
            self.escape_element(element, escape);
            if Some(element) == extent {
                break;
            }
            current = self.element(element).next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.element(id).escapes.contains(&escape) {
            return;
        }
        // An outer escape also interrupts the inner ones.
        for inner in self.element(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[id.0].escapes.insert(0, escape);
        match self.element(id).kind.clone() {
            ElementKind::Unless { main, .. } => self.attach_escape(main, escape),
            ElementKind::Choice(options) => {
                options.into_iter().for_each(|option| self.attach_escape(option, escape));
            }
            // Only the beginning of a deterministic step can be interrupted.
            ElementKind::Deterministic(body) => {
                if let Some(first) = self.sequence(body).first {
                    self.escape_element(first, escape);
                }
            }
            ElementKind::Atomic(body) | ElementKind::Block(body) => self.attach_escape(body, escape),
            ElementKind::Basic(_)
            | ElementKind::Goto(_)
            | ElementKind::Join
            | ElementKind::LoopExit
            | ElementKind::Stop => {}
        }
    }

    /// Marks every step of an atomic or deterministic sequence, and its last one as the one that leaves it.
    pub fn make_atomic(&mut self, sequence: SequenceId, deterministic: bool) {
        self.walk_atomic(sequence, deterministic);
        let Some(last) = self.sequence(sequence).last else { return };
        match self.element(last).kind {
            ElementKind::Block(body) | ElementKind::Atomic(body) => self.make_atomic(body, deterministic),
            ElementKind::Unless { main, .. } => self.make_atomic(main, deterministic),
            _ => {
                self.elements[last.0].atomic = false;
                self.elements[last.0].last_of_atomic = true;
            }
        }
    }

    fn walk_atomic(&mut self, sequence: SequenceId, deterministic: bool) {
        let Sequence { first, last, .. } = self.sequence(sequence);
        let mut current = first;
        while let Some(id) = current {
            self.elements[id.0].atomic = true;
            match self.element(id).kind.clone() {
                // Atomic inside atomic means nothing more.
                ElementKind::Atomic(body) | ElementKind::Block(body) => {
                    self.elements[id.0].kind = ElementKind::Block(body);
                    self.walk_atomic(body, deterministic);
                }
                ElementKind::Deterministic(body) if deterministic => {
                    self.elements[id.0].kind = ElementKind::Block(body);
                    self.walk_atomic(body, deterministic);
                }
                ElementKind::Choice(options) => {
                    options.into_iter().for_each(|option| self.walk_atomic(option, deterministic));
                }
                ElementKind::Unless { main, escape } => {
                    self.walk_atomic(main, deterministic);
                    self.walk_atomic(escape, deterministic);
                }
                _ => {}
            }
            if current == last {
                break;
            }
            current = self.element(id).next;
        }
    }

    /// In an alternative, the second of two neighbouring steps that do nothing is dropped (not the last element).
    pub fn drop_redundant_skips(&mut self, sequence: SequenceId) {
        let Sequence { first, last, .. } = self.sequence(sequence);
        let mut previous: Option<ElementId> = None;
        let mut idle = 0;
        let mut current = first;
        while let Some(id) = current {
            let next = self.element(id).next;
            let (is_idle, is_print) = match &self.element(id).kind {
                ElementKind::Basic(Command::Print { .. }) => (true, true),
                ElementKind::Basic(command) => (*command == Command::SKIP, false),
                _ => (false, false),
            };
            if is_idle && self.labels_of(id).next().is_none() {
                idle += 1;
                if idle > 1 && !is_print && Some(id) != first && Some(id) != last {
                    if let Some(previous) = previous {
                        self.elements[previous.0].next = next;
                    }
                    current = next;
                    continue;
                }
            } else {
                idle = 0;
            }
            if Some(id) == last {
                break;
            }
            previous = Some(id);
            current = next;
        }
    }

    /// Where a jump leads; `None` if there is no such label.
    pub fn target(&self, target: &Target) -> Option<ElementId> {
        match target {
            Target::Label { name, scope } => self.labels.meant(&name.text, scope).map(|label| label.element),
            Target::LoopExit(number) => self.loop_exits.get(*number).copied().flatten(),
        }
    }
}

/// Labels that say something about the state in which a process stands.
pub(super) fn marks_a_state(label: &str) -> bool {
    ["accept", "end", "progress"].iter().any(|prefix| label.starts_with(prefix))
}
