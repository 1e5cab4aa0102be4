//! A run in the format of Spin's trails, which `spin -t` executes again.
//!
//! A line is `depth:process:statement`. The statement is the number that Spin gave it when it read the model
//! (`numbers`); a rendezvous is two lines, sender first; a d_step is one; the steps of an atomic sequence are one
//! each. `-1:-1:-1` stands before the steps that are repeated for ever; a run that comes to rest has none. `-2:n:-2` at
//! the beginning says that a never claim goes along (`claim`): it is then process 0 and all others are one higher. There
//! is no line `-4:-4:-4`, which would say that neighbouring steps have been merged into one.

mod claim;
mod formula;
mod numbers;

pub use formula::write_trail_with_formula;
pub(crate) use numbers::BodyNumbers;
pub use numbers::StatementNumbers;

use preempt_core::{Property, PropertyKind, Trace};
use preempt_model::check::Check;
use preempt_model::interpreter::{Action, State};
use preempt_model::monitor::ClaimMonitor;
use preempt_model::property::Claim;
use preempt_model::search::{Replayed, recognise, replay, settled};
use preempt_model::{CodeId, Interpreter, LocationId, System};
use std::fmt::Write;

/// A trail, and what is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trail {
    /// As Spin reads it from a file `model.pml.trail`.
    pub text: String,
    /// The run violates something that Spin checks by a claim which it makes itself, or that happens only while a claim
    /// watches; that claim's moves are left out. For a formula, [`write_trail_with_formula`] has a claim of its own.
    pub without_claim: bool,
}

/// Why a run cannot be written as a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoTrail(pub String);

/// Writes a run that violates `property`.
pub fn write_trail(
    interpreter: &Interpreter<'_>,
    numbers: &StatementNumbers,
    property: &Property,
    recorded: &Trace,
) -> Result<Trail, NoTrail> {
    let misfit = |misfit: preempt_model::search::Misfit| {
        NoTrail(format!("the run does not fit the model at step {}: {}", misfit.step + 1, misfit.reason))
    };
    let found = recognise(interpreter, recorded).map_err(misfit)?;
    let run = replay(interpreter, &found.initial, &found.steps, false).map_err(misfit)?;
    let steps = steps(interpreter, numbers, &found.initial, &found.steps)?;
    let order = match violated_claim(interpreter, property, &run, recorded) {
        Some(claim) => Order::with_claim(interpreter, numbers, claim, &run, recorded.loop_start)?,
        None => Order::plain(steps.len(), recorded.loop_start),
    };
    let by_a_claim = matches!(property.kind, PropertyKind::Ltl | PropertyKind::NonProgress);
    let without_claim = by_a_claim || interpreter.feels_claim() && order.claim.is_none();
    Ok(Trail { text: order.text(&steps), without_claim })
}

/// Who does what: a process, and one of its statements.
type Line = (usize, u32);

/// In which order a trail tells the steps of the system and the moves of a claim.
#[derive(Debug, Default)]
struct Order {
    /// Spin's number of the claim.
    claim: Option<usize>,
    lines: Vec<TrailStep>,
    /// How many of `lines` come before what is repeated.
    stem: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TrailStep {
    /// A step of the system, by its number in the run.
    Step(usize),
    /// A statement of the claim.
    Claim(u32),
}

impl Order {
    fn plain(steps: usize, loop_start: Option<usize>) -> Order {
        Order { claim: None, lines: (0..steps).map(TrailStep::Step).collect(), stem: loop_start }
    }

    fn with_claim<'m>(
        interpreter: &Interpreter<'m>,
        numbers: &StatementNumbers,
        claim: &'m Claim,
        run: &Replayed<Interpreter<'m>>,
        loop_start: Option<usize>,
    ) -> Result<Order, NoTrail> {
        let monitor = ClaimMonitor::new(interpreter, claim);
        let path = claim::path(&monitor, run, loop_start)
            .ok_or_else(|| NoTrail(format!("the claim `{}` does not go along with the run", claim.name)))?;
        let mut lines = Vec::new();
        let mut stem = None;
        for (number, reading) in path.readings.iter().enumerate() {
            if path.loop_start == Some(number) {
                stem = Some(lines.len());
            }
            for (location, edge) in &reading.edges {
                let statements = statement(interpreter, numbers, claim.code, *location, *edge)?;
                lines.extend(statements.into_iter().map(TrailStep::Claim));
            }
            lines.extend(reading.steps.clone().map(TrailStep::Step));
        }
        Ok(Order { claim: numbers.of_body(claim.code), lines, stem })
    }

    fn text(&self, steps: &[Vec<Line>]) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if let Some(claim) = self.claim {
            let _ = writeln!(text, "-2:{claim}:-2");
        }
        let shift = usize::from(self.claim.is_some());
        let mut depth = 0;
        for (number, step) in self.lines.iter().enumerate() {
            if self.stem == Some(number) {
                text.push_str("-1:-1:-1\n");
            }
            let lines: Vec<Line> = match step {
                TrailStep::Claim(statement) => vec![(0, *statement)],
                TrailStep::Step(step) => {
                    steps[*step].iter().map(|(process, statement)| (process + shift, *statement)).collect()
                }
            };
            for (process, statement) in lines {
                depth += 1;
                let _ = writeln!(text, "{depth}:{process}:{statement}");
            }
        }
        text
    }
}

/// The lines of every step.
fn steps(
    interpreter: &Interpreter<'_>,
    numbers: &StatementNumbers,
    initial: &State,
    steps: &[(usize, Action)],
) -> Result<Vec<Vec<Line>>, NoTrail> {
    let mut lines = Vec::with_capacity(steps.len());
    let mut state = Some(initial.clone());
    for (process, action) in steps {
        // A run that was replayed has a state before every step.
        let Some(before) = state.take().map(|state| settled(interpreter, state)) else { break };
        let said = |process: usize, edge: u32| {
            let (code, location) = interpreter
                .place_of(&before, process)
                .ok_or_else(|| NoTrail(format!("there is no process {process}")))?;
            let statements = statement(interpreter, numbers, code, location, edge as usize)?;
            Ok(statements.into_iter().map(move |statement| (process, statement)))
        };
        let mut step: Vec<Line> = said(*process, action.edge)?.collect();
        if let Some((partner, edge)) = action.partner {
            step.extend(said(partner as usize, edge)?);
        }
        lines.push(step);
        let successors = interpreter.successors(&before, *process);
        state = successors.into_iter().find(|it| it.action == *action).and_then(|it| it.state);
    }
    Ok(lines)
}

fn statement(
    interpreter: &Interpreter<'_>,
    numbers: &StatementNumbers,
    code: CodeId,
    location: LocationId,
    edge: usize,
) -> Result<Vec<u32>, NoTrail> {
    numbers.of(code, location, edge).ok_or_else(|| {
        let code = interpreter.model().code(code);
        let edge = code.locations.get(location.0 as usize).and_then(|location| location.edges.get(edge));
        let text = edge.map_or("", |edge| edge.text.as_str());
        NoTrail(format!("it is not sure which number Spin gives to `{text}` in `{}`", code.name))
    })
}

/// The claim that the run violates, if it is one that the model has. An assertion may be a claim's own.
fn violated_claim<'m>(
    interpreter: &Interpreter<'m>,
    property: &Property,
    run: &Replayed<Interpreter<'m>>,
    recorded: &Trace,
) -> Option<&'m Claim> {
    let claims = &interpreter.model().claims;
    match property.kind {
        PropertyKind::Never => claims.iter().find(|claim| claim.name == property.name),
        PropertyKind::Assertion | PropertyKind::RuntimeError if run.violation.is_none() => {
            let violated = |number: &usize| {
                Check::Claim(*number).is_violated_by(interpreter, run, recorded).unwrap_or(false)
            };
            (0..claims.len()).find(violated).map(|number| &claims[number])
        }
        _ => None,
    }
}
