//! A net as it is read: names to numbers, with what is said about names that are not there.

use crate::MOST_HINTS;
use crate::marking::Place;
use crate::net::Transition;
use crate::problem::{Problem, Range};
use foldhash::{HashMap, HashMapExt};
use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};

#[derive(Default)]
pub(crate) struct Builder {
    pub problem: Problem,
    places: HashMap<String, Place>,
    transitions: HashMap<String, usize>,
}

/// Weights of arcs in any order: consumed, and produced.
#[derive(Default)]
pub(crate) struct Arcs {
    pub consume: Vec<(Place, u64)>,
    pub produce: Vec<(Place, u64)>,
}

impl Builder {
    pub fn new() -> Builder {
        let (places, transitions) = (HashMap::new(), HashMap::new());
        Builder { problem: Problem::default(), places, transitions }
    }

    /// The place with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<Place> {
        self.places.get(name).copied()
    }

    /// The place with this name, made if there is none yet.
    pub fn place(&mut self, name: &str) -> Place {
        if let Some(place) = self.find(name) {
            return place;
        }
        let place = self.problem.net.places.len() as Place;
        self.places.insert(name.to_string(), place);
        self.problem.net.places.push(name.to_string());
        self.problem.initial.push(Range::exactly(0));
        place
    }

    /// A place that must not be there yet.
    pub fn declare(&mut self, name: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Place {
        if self.find(name).is_some() {
            diagnostics.push(Diagnostic::error(span, format!("the place `{name}` is declared twice")));
        }
        self.place(name)
    }

    /// A place that must be there.
    pub fn known(&self, name: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Option<Place> {
        let found = self.find(name);
        if found.is_none() {
            let error = Diagnostic::error(span, format!("there is no place `{name}`"));
            let few = diagnostics.len() < MOST_HINTS;
            let near = few.then(|| nearest(name, self.places.keys().map(String::as_str))).flatten();
            diagnostics.push(match near {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        found
    }

    pub fn add_tokens(&mut self, place: Place, tokens: u64) {
        let low = self.problem.initial[place as usize].low;
        self.problem.initial[place as usize] = Range::exactly(low.saturating_add(tokens));
    }

    /// The transition with this name, made if there is none yet. Was it there before?
    pub fn transition(&mut self, name: &str, span: Span) -> (usize, bool) {
        if let Some(number) = self.transitions.get(name) {
            return (*number, true);
        }
        let number = self.problem.net.transitions.len();
        self.transitions.insert(name.to_string(), number);
        self.problem.net.transitions.push(Transition { name: name.to_string(), ..Transition::default() });
        self.problem.spans.push(span);
        (number, false)
    }
}
