//! From the wire back to a trace, for a replay.

use super::{READABLE, wire};
use preempt_core::{
    Awaited, Call, Change, Location, Partner, Property, PropertyKind, Step, SwitchKind, Trace, Value, Waiting,
};
use std::collections::BTreeSet;

/// A stored counterexample: what it violates, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The model it was found in, as it was named then.
    pub file: Option<String>,
    /// What it violates, if the file says so.
    pub property: Option<Property>,
    /// The run, as it was found.
    pub trace: Trace,
}

/// Why a text is no counterexample. `Display` says it in a sentence without the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each says itself what it is")]
pub enum ReadError {
    #[error("this is not a result of preempt in JSON: {0}")]
    Malformed(serde_json::Error),
    #[error("this is JSON, but not a result of preempt: it has no field `schema`")]
    NoSchema,
    #[error("this result has schema {found}; this version of preempt reads schema {} and {}", READABLE[0], READABLE[1])]
    OtherSchema { found: String },
    #[error("this result holds no counterexample (only a violation has one)")]
    NoCounterexample,
    #[error("the counterexample is malformed: {place}: `{text}` is not a place of the form file:line:column")]
    Location { place: String, text: String },
    #[error("the counterexample is malformed: `{0}` is not a kind of property")]
    PropertyKind(String),
    #[error("the counterexample is malformed: its loop starts at step {start}, but it has {steps} steps")]
    LoopStart { start: usize, steps: usize },
}

/// Reads what [`to_json`](super::to_json) wrote.
pub fn read_counterexample(text: &str) -> Result<Recorded, ReadError> {
    let version: wire::Version = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    match version.schema {
        None => return Err(ReadError::NoSchema),
        Some(found) if !READABLE.iter().any(|known| found.as_u64() == Some((*known).into())) => {
            return Err(ReadError::OtherSchema { found: found.to_string() });
        }
        Some(_) => {}
    }
    let recording: wire::Recording = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    Ok(Recorded {
        file: recording.file,
        property: recording.property.map(TryInto::try_into).transpose()?,
        trace: recording.counterexample.ok_or(ReadError::NoCounterexample)?.try_into()?,
    })
}

impl TryFrom<wire::Property> for Property {
    type Error = ReadError;

    fn try_from(property: wire::Property) -> Result<Property, ReadError> {
        let Some(kind) = PropertyKind::from_name(&property.kind) else {
            return Err(ReadError::PropertyKind(property.kind));
        };
        Ok(Property {
            kind,
            name: property.name,
            location: location(property.location, || "property".into())?,
            waiting: property.waiting.into_iter().flatten().map(waiting).collect::<Result<_, _>>()?,
        })
    }
}

fn waiting(waiting: wire::Waiting) -> Result<Waiting, ReadError> {
    let awaited = |statement: wire::Awaited| {
        let location = location(statement.location, || "property".into())?;
        Ok(Awaited { location, text: statement.text })
    };
    Ok(Waiting {
        process: waiting.process,
        pid: waiting.pid,
        may_end: waiting.may_end,
        statements: waiting.statements.into_iter().map(awaited).collect::<Result<_, _>>()?,
    })
}

impl TryFrom<wire::Counterexample> for Trace {
    type Error = ReadError;

    fn try_from(counterexample: wire::Counterexample) -> Result<Trace, ReadError> {
        let steps = counterexample.steps.len();
        if let Some(start) = counterexample.loop_start.filter(|start| *start > steps) {
            return Err(ReadError::LoopStart { start, steps });
        }
        let steps: Vec<Step> = counterexample
            .steps
            .into_iter()
            .enumerate()
            .map(|(i, s)| step(i, s))
            .collect::<Result<_, _>>()?;
        let seen = || steps.iter().map(|step| step.pid).collect::<BTreeSet<_>>().len();
        Ok(Trace {
            initial: changes(counterexample.initial),
            processes: counterexample.processes.unwrap_or_else(seen),
            loop_start: counterexample.loop_start,
            steps,
        })
    }
}

fn step(index: usize, step: wire::Step) -> Result<Step, ReadError> {
    let place = || format!("step {}", index + 1);
    Ok(Step {
        process: step.process,
        pid: step.pid,
        location: location(step.location, place)?,
        calls: step.calls.into_iter().map(|call| used(call, place)).collect::<Result<_, _>>()?,
        text: step.text,
        choice: step.choice,
        switch: match step.switch {
            wire::Switch::None => SwitchKind::None,
            wire::Switch::Forced => SwitchKind::Forced,
            wire::Switch::Preemption => SwitchKind::Preemption,
        },
        changed: changes(step.changed),
        output: step.output,
        partner: step.partner.map(|partner| receiver(partner, place)).transpose()?,
    })
}

fn used(call: wire::Call, place: impl Fn() -> String) -> Result<Call, ReadError> {
    let text = call.location.clone();
    match location(Some(call.location), &place)? {
        Some(location) => Ok(Call { name: call.name, location }),
        None => Err(ReadError::Location { place: place(), text }),
    }
}

fn receiver(partner: wire::Partner, place: impl Fn() -> String) -> Result<Partner, ReadError> {
    Ok(Partner {
        process: partner.process,
        pid: partner.pid,
        location: location(partner.location, place)?,
        text: partner.text,
    })
}

/// File names may hold colons, so the two numbers are taken from the end.
fn location(text: Option<String>, place: impl Fn() -> String) -> Result<Option<Location>, ReadError> {
    let Some(text) = text else { return Ok(None) };
    let mut parts = text.rsplitn(3, ':');
    let column = parts.next().and_then(|part| part.parse().ok());
    let line = parts.next().and_then(|part| part.parse().ok());
    match (parts.next(), line, column) {
        (Some(file), Some(line), Some(column)) => Ok(Some(Location { file: file.to_string(), line, column })),
        _ => Err(ReadError::Location { place: place(), text }),
    }
}

fn changes(fields: wire::Fields<wire::Value>) -> Vec<Change> {
    fields.0.into_iter().map(|(name, value)| Change { name, value: value.into() }).collect()
}

impl From<wire::Value> for Value {
    fn from(value: wire::Value) -> Value {
        match value {
            wire::Value::Number(number) => Value::Number(number),
            wire::Value::Name(name) => Value::Name(name),
            wire::Value::List(values) => Value::List(values.into_iter().map(Into::into).collect()),
            wire::Value::Gone => Value::Gone,
        }
    }
}
