//! Locations and edges while a body is lowered. A jump is no step: it makes two locations the same.

use preempt_core::Span;
use preempt_model::{Command, Edge, Location, LocationId};

/// A location that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spot(usize);

/// Where a step comes from, for people.
#[derive(Debug, Clone)]
pub struct Origin {
    pub span: Span,
    pub text: String,
}

impl Origin {
    pub fn new(span: Span, text: impl Into<String>) -> Origin {
        Origin { span, text: text.into() }
    }
}

#[derive(Debug, Default)]
pub struct Graph {
    spots: Vec<Building>,
}

#[derive(Debug, Default)]
struct Building {
    edges: Vec<(Command, Spot, Origin)>,
    /// Nobody else may run while the process stands here.
    atomic: bool,
    /// A call within an atomic block comes back here, and keeps the processor.
    returned: bool,
    same_as: Option<Spot>,
}

impl Graph {
    pub fn spot(&mut self, atomic: bool) -> Spot {
        self.spots.push(Building { atomic, ..Building::default() });
        Spot(self.spots.len() - 1)
    }

    /// What this spot was made the same as, in the end. A circle of jumps ends where it closes.
    pub fn root(&self, spot: Spot) -> Spot {
        let mut current = spot;
        while let Some(next) = self.spots[current.0].same_as {
            current = next;
        }
        current
    }

    pub fn is_atomic(&self, spot: Spot) -> bool {
        self.spots[self.root(spot).0].atomic
    }

    pub fn set_atomic(&mut self, spot: Spot, atomic: bool) {
        let root = self.root(spot);
        self.spots[root.0].atomic = atomic;
    }

    pub fn set_returned(&mut self, spot: Spot) {
        let root = self.root(spot);
        self.spots[root.0].returned = true;
    }

    pub fn is_returned(&self, spot: Spot) -> bool {
        self.spots[self.root(spot).0].returned
    }

    pub fn edge(&mut self, from: Spot, command: Command, to: Spot, origin: Origin) {
        let root = self.root(from);
        self.spots[root.0].edges.push((command, to, origin));
    }

    /// From `from` on as from `to`. Where that changes who may run, or leads in a circle, it takes a step.
    pub fn join(&mut self, from: Spot, to: Spot, span: Span, text: &str) {
        let (from, to) = (self.root(from), self.root(to));
        let plain = self.spots[from.0].edges.is_empty() && self.is_atomic(from) == self.is_atomic(to);
        if from != to && plain {
            self.spots[from.0].same_as = Some(to);
            self.spots[to.0].returned |= self.spots[from.0].returned;
        } else {
            self.edge(from, Command::SKIP, to, Origin::new(span, text));
        }
    }

    /// The locations that can be reached from `entry`, which is the first of them, and where spots went.
    pub fn finish(self, entry: Spot) -> (Vec<Location>, impl Fn(Spot) -> Option<LocationId>) {
        let mut numbers: Vec<Option<u32>> = vec![None; self.spots.len()];
        let mut reached = vec![self.root(entry)];
        numbers[self.root(entry).0] = Some(0);
        let mut next = 0;
        while let Some(spot) = reached.get(next).copied() {
            next += 1;
            for (_, target, ..) in &self.spots[spot.0].edges {
                let target = self.root(*target);
                if numbers[target.0].is_none() {
                    numbers[target.0] = Some(reached.len() as u32);
                    reached.push(target);
                }
            }
        }
        let number = |spot: Spot| numbers[self.root(spot).0].map(LocationId);
        let locations = reached.iter().map(|spot| {
            let edges = self.spots[spot.0].edges.iter().map(|(command, target, origin)| Edge {
                command: command.clone(),
                target: number(*target).unwrap_or_default(),
                atomic: self.is_atomic(*target),
                escape: None,
                span: origin.span,
                text: origin.text.clone(),
            });
            // To wait for ever, or to have been given up, is no error in a Boolean program.
            Location { number: spot.0 as u32, edges: edges.collect(), end: true, ..Location::default() }
        });
        let locations = locations.collect();
        let roots: Vec<Option<LocationId>> = (0..self.spots.len()).map(|spot| number(Spot(spot))).collect();
        (locations, move |spot: Spot| roots.get(spot.0).copied().flatten())
    }
}
