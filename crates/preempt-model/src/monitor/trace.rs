//! `trace` and `notrace`: which messages may be sent and received in which order.

use crate::command::{Command, Pattern};
use crate::expr::Expr;
use crate::interpreter::{Action, ChannelEvent, Interpreter, State};
use crate::program::{Code, LocationId};
use crate::property::TraceAssertion;
use crate::system::{Description, Successor, System, Violation};
use preempt_core::{Budget, Change, PropertyKind, Waiting};

/// An interpreter that follows a trace assertion: every send and receive on a channel that the assertion names, in
/// the way it names it, must be one that the assertion allows next.
#[derive(Debug, Clone, Copy)]
pub struct Traced<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    assertion: &'m TraceAssertion,
    code: &'m Code,
}

/// Where the assertion stands. `None`: a `notrace` that can no longer be matched.
type Place = Option<LocationId>;

impl<'a, 'm> Traced<'a, 'm> {
    /// The interpreter's model with its trace assertion beside it.
    pub fn new(interpreter: &'a Interpreter<'m>, assertion: &'m TraceAssertion) -> Self {
        Traced { interpreter, assertion, code: interpreter.model().code(assertion.code) }
    }

    /// Follows one event; an error says that it was not allowed.
    fn follow(&self, state: &State, place: LocationId, event: &ChannelEvent) -> Result<Place, Violation> {
        if !self.is_watched(state, event) {
            return Ok(Some(place));
        }
        let edges = &self.code.location(place).edges;
        let taken = edges.iter().find(|edge| self.fits(state, &edge.command, event));
        match (taken, self.assertion.negated) {
            (Some(edge), false) => Ok(Some(edge.target)),
            (Some(edge), true) if self.code.location(edge.target).end => {
                Err(self.violation("every event of the notrace assertion has happened"))
            }
            (Some(edge), true) => Ok(Some(edge.target)),
            (None, false) => Err(self.violation("this message does not fit the trace assertion here")),
            (None, true) => Ok(None),
        }
    }

    /// Does the assertion name this channel, for sending or for receiving, anywhere?
    fn is_watched(&self, state: &State, event: &ChannelEvent) -> bool {
        let mut edges = self.code.locations.iter().flat_map(|location| &location.edges);
        edges.any(|edge| match &edge.command {
            Command::Send { channel, .. } => event.send && self.names(state, channel, event),
            Command::Receive { channel, .. } => !event.send && self.names(state, channel, event),
            _ => false,
        })
    }

    fn names(&self, state: &State, channel: &Expr, event: &ChannelEvent) -> bool {
        self.interpreter.value(state, channel).is_ok_and(|number| number == event.channel as i32 + 1)
    }

    /// Only constants and `eval(...)` are compared: a variable stands for any value.
    fn fits(&self, state: &State, command: &Command, event: &ChannelEvent) -> bool {
        let equal =
            |expr: &Expr, value: &i32| self.interpreter.value(state, expr).is_ok_and(|it| it == *value);
        match command {
            Command::Send { channel, fields, .. } if event.send => {
                let mut pairs = fields.iter().zip(&event.message);
                self.names(state, channel, event)
                    && pairs.all(|(field, value)| !matches!(field, Expr::Const(_)) || equal(field, value))
            }
            Command::Receive { channel, pattern, .. } if !event.send => {
                let mut pairs = pattern.iter().zip(&event.message);
                self.names(state, channel, event)
                    && pairs.all(|(part, value)| match part {
                        Pattern::Match(expr) => equal(expr, value),
                        Pattern::Bind(_) => true,
                    })
            }
            _ => false,
        }
    }

    fn violation(&self, name: &str) -> Violation {
        let location = Some(self.interpreter.sources().location(self.assertion.span));
        Violation { kind: PropertyKind::TraceAssertion, name: name.into(), location }
    }
}

impl System for Traced<'_, '_> {
    type State = (State, Place);
    type Action = Action;

    fn initial_states(&self) -> Vec<Self::State> {
        self.interpreter.initial_states().into_iter().map(|state| (state, Some(self.code.entry))).collect()
    }

    fn process_count(&self, (state, _): &Self::State) -> usize {
        self.interpreter.process_count(state)
    }

    fn successors(
        &self,
        (state, place): &Self::State,
        process: usize,
    ) -> Vec<Successor<Self::State, Action>> {
        let steps = self.interpreter.successors_with_events(state, process);
        let follow = |events: &[ChannelEvent]| {
            events.iter().try_fold(*place, |place, event| match place {
                Some(place) => self.follow(state, place, event),
                None => Ok(None),
            })
        };
        steps
            .into_iter()
            .map(|(step, events)| {
                let followed = follow(&events);
                let place = followed.as_ref().map_or(*place, |place| *place);
                Successor {
                    action: step.action,
                    state: step.state.map(|state| (state, place)),
                    runs: step.runs,
                    violation: followed.err(),
                }
            })
            .collect()
    }

    fn exclusive(&self, (state, _): &Self::State) -> Option<usize> {
        self.interpreter.exclusive(state)
    }

    fn release(&self, (state, place): &Self::State) -> Self::State {
        (self.interpreter.release(state), *place)
    }

    fn waiting(&self, (state, _): &Self::State, process: usize) -> Option<Waiting> {
        self.interpreter.waiting(state, process)
    }

    fn process_name(&self, (state, _): &Self::State, process: usize) -> String {
        self.interpreter.process_name(state, process)
    }

    fn describe(&self, (state, _): &Self::State, process: usize, action: &Action) -> Description {
        self.interpreter.describe(state, process, action)
    }

    fn variables(&self, (state, _): &Self::State) -> Vec<Change> {
        self.interpreter.variables(state)
    }

    fn work_within(&self, budget: &Budget) {
        self.interpreter.work_within(budget);
    }

    fn budget(&self) -> Budget {
        self.interpreter.budget()
    }

    fn state_bytes(&self, (state, _): &Self::State) -> usize {
        self.interpreter.state_bytes(state) + size_of::<Place>()
    }
}
