//! Nobody can move, and somebody should: who, where, and what for.

use crate::system::System;
use preempt_core::{Property, PropertyKind, Waiting};

/// Nobody can move, and not everybody may end here.
pub fn is_deadlock<S: System>(system: &S, state: &S::State) -> bool {
    (0..system.process_count(state)).all(|process| system.successors(state, process).is_empty())
        && !system.may_end(state)
}

/// What such a state violates: it names those who are stuck, and not those who have ended or may end where they stand.
pub fn deadlock<S: System>(system: &S, state: &S::State) -> Property {
    let stands = |process| system.waiting(state, process);
    let waiting: Vec<Waiting> = (0..system.process_count(state)).filter_map(stands).collect();
    let stuck = || waiting.iter().filter(|it| !it.may_end);
    let named: Vec<String> = stuck().map(ToString::to_string).collect();
    let name = if named.is_empty() { "no process can move".into() } else { named.join("; ") };
    let location = stuck().next().and_then(Waiting::location).cloned();
    Property { kind: PropertyKind::Deadlock, name, location, waiting }
}

/// What a state violates by itself, or because nobody can move in it.
pub fn wrong_with<S: System>(system: &S, state: &S::State) -> Option<Property> {
    let itself = system.state_violation(state).map(Property::from);
    itself.or_else(|| is_deadlock(system, state).then(|| deadlock(system, state)))
}
