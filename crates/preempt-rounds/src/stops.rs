//! Where a thread has to stop: before it touches something that others see.
//!
//! Steps that read and write only locals commute with everything that others do, so that a context which ends between two
//! of them may as well end before the first or after the last. Only the places before shared accesses, starts of threads and
//! atomic sequences are stops; the number of contexts that a violation takes stays the same, since a context that is made
//! longer by private steps is still one context.

use preempt_model::{Code, Command, Expr, Footprint, Location, Model, Place, Scope};

/// What is known of each location of each code.
#[derive(Debug)]
pub(crate) struct Places(Vec<Vec<PlaceKind>>);

/// What can happen at a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceKind {
    /// Others may see what happens next, or what happens depends on them.
    pub shared: bool,
    /// Nothing happens here any more, or only the end of the process.
    pub last: bool,
    /// A procedure may be left here: then the caller's frame takes part.
    pub returns: bool,
}

impl Places {
    pub fn of(model: &Model) -> Places {
        let kinds = |code: &Code| code.locations.iter().map(|location| kind(model, code, location)).collect();
        Places(model.codes.iter().map(kinds).collect())
    }

    pub fn at(&self, code: usize, location: usize) -> PlaceKind {
        self.0[code][location]
    }
}

fn kind(model: &Model, code: &Code, location: &Location) -> PlaceKind {
    let clause = code.provided.as_ref().is_some_and(reads_shared);
    PlaceKind {
        shared: clause
            || location.edges.iter().any(|edge| edge.atomic || touches_shared(model, &edge.command)),
        last: location.edges.iter().all(|edge| matches!(edge.command, Command::End)),
        returns: location.edges.iter().any(|edge| matches!(edge.command, Command::Return(_))),
    }
}

fn touches_shared(model: &Model, command: &Command) -> bool {
    match command {
        // What the caller does with the results is looked at where the caller is known.
        Command::Return(values) => values.iter().any(reads_shared),
        Command::Run { .. } => true,
        _ => {
            let footprint = Footprint::of(model, command);
            let shared = |(scope, _): &(Scope, u32)| *scope != Scope::Local;
            footprint.may_read.0.iter().any(shared) || footprint.may_write.0.iter().any(shared)
        }
    }
}

fn reads_shared(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |inner| found |= matches!(inner, Expr::Load(place) if place.scope != Scope::Local));
    found
}

/// Does a return to this call write what others see, or read it to find out where to write?
pub(crate) fn stores_shared(results: &[Place]) -> bool {
    let index = |place: &Place| place.indices.iter().any(|index| reads_shared(&index.value));
    results.iter().any(|place| place.scope == Scope::Global || index(place))
}
