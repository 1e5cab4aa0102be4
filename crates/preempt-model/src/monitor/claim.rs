//! Never claims.

use super::{Monitor, Reading};
use crate::command::Command;
use crate::interpreter::{Interpreter, State};
use crate::program::{Code, Edge, LocationId};
use crate::property::Claim;
use crate::system::Violation;
use preempt_core::PropertyKind;

/// A claim in the words of the model: it is violated by a run that takes it to its end, or for ever through one of
/// its accept labels.
#[derive(Debug, Clone, Copy)]
pub struct ClaimMonitor<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    claim: &'m Claim,
    code: &'m Code,
}

/// One reading, and the edges by which the claim came to it: each the place before it and its number there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// In the order in which they were taken.
    pub edges: Vec<(LocationId, usize)>,
    /// Where they lead.
    pub reading: Reading<LocationId>,
}

impl<'a, 'm> ClaimMonitor<'a, 'm> {
    /// Follows a claim of the interpreter's model.
    pub fn new(interpreter: &'a Interpreter<'m>, claim: &'m Claim) -> Self {
        ClaimMonitor { interpreter, claim, code: interpreter.model().code(claim.code) }
    }

    /// Every way in which the claim can read a state; [`read`](Monitor::read) without the edges.
    pub fn follow(&self, state: &State, place: LocationId) -> Vec<Followed> {
        // As in Spin: a claim that stands at its end, or at an end label, has seen what must never happen.
        if self.code.location(place).end {
            return vec![Followed { edges: Vec::new(), reading: Reading { place: None, violation: None } }];
        }
        let mut found = Vec::new();
        self.moves(state, place, &mut Vec::new(), &mut found);
        for Followed { reading, .. } in &mut found {
            reading.place = reading.place.filter(|place| !self.code.location(*place).end);
        }
        found
    }

    /// The claim's moves in one state; inside its own atomic sequences it makes several.
    fn moves(
        &self,
        state: &State,
        place: LocationId,
        passed: &mut Vec<(LocationId, usize)>,
        found: &mut Vec<Followed>,
    ) {
        let location = self.code.location(place);
        let mut nothing_earlier = true;
        for (number, edge) in location.edges.iter().enumerate() {
            let Some(violation) = self.taken(state, edge, nothing_earlier) else { continue };
            nothing_earlier = false;
            passed.push((place, number));
            let before = found.len();
            if edge.atomic && violation.is_none() && passed.len() <= self.code.locations.len() {
                self.moves(state, edge.target, passed, found);
            }
            if found.len() == before {
                let reading = Reading { place: Some(edge.target), violation };
                found.push(Followed { edges: passed.clone(), reading });
            }
            passed.pop();
        }
    }

    /// `None`: the edge cannot be taken. Otherwise with the assertion that fails on it.
    fn taken(&self, state: &State, edge: &Edge, nothing_earlier: bool) -> Option<Option<Violation>> {
        let location = || Some(self.interpreter.sources().location(edge.span));
        let evaluated = match &edge.command {
            Command::Else => return nothing_earlier.then_some(None),
            Command::Assert(condition) => self.interpreter.holds(state, condition).map(|holds| {
                let name = edge.text.clone();
                let kind = PropertyKind::Assertion;
                Some((!holds).then(|| Violation { kind, name, location: location() }))
            }),
            Command::Guard(condition) => {
                self.interpreter.holds(state, condition).map(|holds| holds.then_some(None))
            }
            Command::End => Ok(None),
            _ => Ok(Some(None)),
        };
        evaluated.unwrap_or_else(|fault| {
            let kind = PropertyKind::RuntimeError;
            Some(Some(Violation { kind, name: fault.0, location: location() }))
        })
    }
}

impl<'m> Monitor<Interpreter<'m>> for ClaimMonitor<'_, 'm> {
    type Place = LocationId;

    fn start(&self) -> LocationId {
        self.code.entry
    }

    fn read(&self, state: &State, place: LocationId) -> Vec<Reading<LocationId>> {
        self.follow(state, place).into_iter().map(|followed| followed.reading).collect()
    }

    fn accepts(&self, state: &State, place: LocationId) -> bool {
        self.code.location(place).accept || self.interpreter.stands_at_accept(state)
    }

    fn judges_system(&self) -> bool {
        self.interpreter.feels_claim()
    }

    fn violation(&self) -> Violation {
        Violation {
            kind: PropertyKind::Never,
            name: self.claim.name.clone(),
            location: Some(self.interpreter.sources().location(self.claim.span)),
        }
    }
}
