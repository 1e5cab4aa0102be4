//! The graph of a process: one location for each statement that it can stand before.
//!
//! Entering a choice, a loop or an atomic sequence is no step, and neither are falling out of one and a `break`
//! after another statement: they are *jumps*, looked through on the way from a statement to the next. A `break` that
//! is itself an alternative of a choice is a step. So is, as in Spin, a jump within an atomic sequence that leads to
//! the last statement of the sequence or out of it: others see a process stand there, if a rendezvous took it there.

use super::build::Places;
use super::syntax::{Loop, Statement, size};
use super::terms::Terms;
use crate::command::Command;
use crate::program::{Edge, Location, LocationId};

/// All locations, and where the process begins.
pub(super) fn graph(
    terms: Terms<'_>,
    body: &[Statement],
    first_statement: usize,
    places: &Places<'_>,
) -> (Vec<Location>, LocationId) {
    let mut graph = Graph { terms, places, locations: Vec::new(), elements: Vec::new(), escapes: 0 };
    let end = graph.location(Location { end: true, ..Location::default() });
    let stop = graph.edge(Command::End, end, None);
    graph.locations[end.0 as usize].edges.push(stop);
    let end = graph.element(Kind::Step(end), Held::No);
    let first = graph.sequence(body, first_statement, Exits { next: end, after_loop: end }, Held::No);
    let entry = graph.start(first);
    (graph.locations, entry)
}

struct Graph<'p> {
    terms: Terms<'p>,
    places: &'p Places<'p>,
    locations: Vec<Location>,
    elements: Vec<Element>,
    escapes: u32,
}

/// Where control can be between two statements.
#[derive(Debug, Clone, Copy)]
struct Element {
    kind: Kind,
    held: Held,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Step(LocationId),
    /// Falls into or out of a loop or a choice.
    Fall(ElementId),
    Break(ElementId),
}

/// Does the process keep the processor, in an atomic sequence?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    No,
    Yes,
    /// It is the end of the sequence, and gives the processor up.
    Last,
}

type ElementId = usize;

/// Where control goes after a statement, and after a `break`.
#[derive(Debug, Clone, Copy)]
struct Exits {
    next: ElementId,
    after_loop: ElementId,
}

impl Graph<'_> {
    fn location(&mut self, location: Location) -> LocationId {
        let number = self.locations.len() as u32;
        self.locations.push(Location { number, ..location });
        LocationId(number)
    }

    fn element(&mut self, kind: Kind, held: Held) -> ElementId {
        self.elements.push(Element { kind, held });
        self.elements.len() - 1
    }

    fn edge(&self, command: Command, target: LocationId, statement: Option<usize>) -> Edge {
        let (span, text) = match statement {
            Some(number) => (self.places.span(number), self.places.text(number)),
            None => (self.places.whole, "-end-".into()),
        };
        Edge { command, target, atomic: false, escape: None, span, text }
    }

    fn edges(&self, location: LocationId) -> &[Edge] {
        &self.locations[location.0 as usize].edges
    }

    /// The location where a process stands that was sent to an element, by a statement so held.
    fn arrive(&mut self, element: ElementId, from: Held) -> LocationId {
        match self.elements[element].kind {
            Kind::Step(location) => location,
            Kind::Fall(to) | Kind::Break(to) => {
                if from == Held::Yes && self.elements[to].held != Held::Yes {
                    self.stop_at(element, to)
                } else {
                    self.arrive(to, from)
                }
            }
        }
    }

    /// Makes a jump a step.
    fn stop_at(&mut self, jump: ElementId, to: ElementId) -> LocationId {
        let held = self.elements[jump].held;
        let target = self.arrive(to, held);
        let edge =
            Edge { atomic: held == Held::Yes, text: "goto".into(), ..self.edge(Command::SKIP, target, None) };
        let location = self.location(Location { edges: vec![edge], ..Location::default() });
        self.elements[jump].kind = Kind::Step(location);
        location
    }

    /// Where a sequence begins that is entered from outside: at its first step.
    fn start(&mut self, first: ElementId) -> LocationId {
        match self.elements[first].kind {
            Kind::Step(location) => location,
            Kind::Fall(to) => self.start(to),
            Kind::Break(to) => self.stop_at(first, to),
        }
    }

    /// From the last statement to the first, each leading to the one behind it. The result is where it begins.
    fn sequence(&mut self, statements: &[Statement], number: usize, exits: Exits, held: Held) -> ElementId {
        let mut exits = exits;
        let mut number = number + size(statements);
        let mut held = held;
        for statement in statements.iter().rev() {
            number -= statement.size();
            exits.next = self.statement(statement, number, exits, held);
            if held == Held::Last {
                held = Held::Yes;
            }
        }
        exits.next
    }

    fn statement(&mut self, statement: &Statement, number: usize, exits: Exits, held: Held) -> ElementId {
        let inside = if held == Held::Last { Held::Yes } else { held };
        match statement {
            Statement::If(options) => {
                let next = self.element(Kind::Fall(exits.next), held);
                let edges = self.alternatives(options, number, Exits { next, ..exits }, inside);
                let location = self.location(Location { edges, ..Location::default() });
                self.element(Kind::Step(location), inside)
            }
            Statement::Do(Loop { options, end }) => {
                let after_loop = self.element(Kind::Fall(exits.next), held);
                let head = self.location(Location { end: *end, ..Location::default() });
                let again = self.element(Kind::Step(head), inside);
                let next = self.element(Kind::Fall(again), inside);
                let edges = self.alternatives(options, number, Exits { next, after_loop }, inside);
                self.locations[head.0 as usize].edges = edges;
                next
            }
            Statement::Break => {
                let leaves = self.elements[exits.after_loop].held == Held::No;
                let held = if leaves && held == Held::Yes { Held::Last } else { held };
                self.element(Kind::Break(exits.after_loop), held)
            }
            Statement::Atomic(body) => {
                let first = self.sequence(body, number + 1, exits, Held::Last);
                let first = self.start(first);
                // Standing before the sequence is not the same as having come back to its beginning.
                let edges = self.edges(first).to_vec();
                let location = self.location(Location { edges, ..Location::default() });
                self.element(Kind::Step(location), held)
            }
            Statement::Unless { body, escape } => {
                let from = self.locations.len();
                let first = self.sequence(body, number + 1, exits, held);
                let inside = from..self.locations.len();
                let way_out = self.sequence(escape, number + 1 + size(body), exits, held);
                let way_out = self.start(way_out);
                let mut ways_out = self.edges(way_out).to_vec();
                ways_out.iter_mut().for_each(|edge| edge.escape = Some(self.escapes));
                self.escapes += 1;
                for location in &mut self.locations[inside] {
                    location.edges.splice(0..0, ways_out.iter().cloned());
                }
                first
            }
            simple => {
                let command = match simple {
                    Statement::Deterministic(body) => self.terms.block(body, number + 1, self.places),
                    _ => self.terms.command(simple),
                };
                let target = self.arrive(exits.next, held);
                let edge = Edge { atomic: held == Held::Yes, ..self.edge(command, target, Some(number)) };
                let location = self.location(Location { edges: vec![edge], ..Location::default() });
                self.element(Kind::Step(location), held)
            }
        }
    }

    /// The first steps of all options, together.
    fn alternatives(
        &mut self,
        options: &[Vec<Statement>],
        number: usize,
        exits: Exits,
        held: Held,
    ) -> Vec<Edge> {
        let mut number = number + 1;
        let mut edges = Vec::new();
        for option in options {
            let first = self.sequence(option, number, exits, held);
            let first = self.start(first);
            edges.extend(self.edges(first).iter().cloned());
            number += size(option);
        }
        edges
    }
}
