//! From an outcome to the wire.

use super::{SCHEMA, wire};
use preempt_core::{
    Awaited, Call, Change, Cost, ErrorProjection, Executed, ExecutedPart, FormulaAnswer, Guarantee, Measure,
    Note, OptionValue, Partner, Property, PropertyKind, PropertyResult, Report, Statistics, Step, StopReason,
    SwitchKind, Trace, Unit, Value, Verdict, Waiting,
};

/// One object, indented, with a final newline.
pub fn to_json(report: &Report) -> String {
    // The wire types hold strings, integers and finite numbers under string keys: nothing that JSON lacks.
    let mut text =
        serde_json::to_string_pretty(&wire::Report::from(report)).expect("every wire type has a JSON form");
    text.push('\n');
    text
}

impl From<&Report> for wire::Report {
    fn from(report: &Report) -> wire::Report {
        let (verdict, reason) = verdict_name(report.verdict);
        let run = &report.run;
        let finding = |(property, trace): &(Property, Trace)| wire::Finding {
            property: property.into(),
            counterexample: trace.into(),
        };
        let properties = &report.properties;
        wire::Report {
            schema: SCHEMA,
            tool: format!("preempt {}", env!("CARGO_PKG_VERSION")),
            file: run.file.clone(),
            engine: run.engine.clone(),
            answered_by: run.answered_by.clone(),
            options: wire::Fields(
                run.options.iter().map(|(name, value)| (name.to_string(), value.into())).collect(),
            ),
            verdict,
            reason,
            guarantee: reason.is_none().then(|| report.guarantee.into()),
            statement: report.statement.clone(),
            property: report.violation.as_ref().map(Into::into),
            minimality: report.minimality.name().filter(|_| report.counterexample.is_some()),
            stats: (&report.statistics).into(),
            counterexample: report.counterexample.as_ref().map(Into::into),
            certificate: report.certificate.as_ref().map(|certificate| certificate.summary.clone()),
            properties: (!properties.is_empty()).then(|| properties.iter().map(Into::into).collect()),
            errors: report.violations.as_ref().map(|all| all.iter().map(finding).collect()),
            error_projection: report.projection.as_ref().map(Into::into),
            executed: report.executed.as_ref().map(Into::into),
            notes: report.notes.iter().map(Into::into).collect(),
        }
    }
}

impl From<&ErrorProjection> for wire::ErrorProjection {
    fn from(projection: &ErrorProjection) -> wire::ErrorProjection {
        let projected = projection.statements.iter().map(|statement| wire::Projected {
            location: statement.location.to_string(),
            procedure: statement.procedure.clone(),
            text: statement.text.clone(),
            on_error_trace: statement.on_error_trace,
        });
        wire::ErrorProjection { contexts: projection.contexts, projected: projected.collect() }
    }
}

impl From<&Executed> for wire::Executed {
    fn from(executed: &Executed) -> wire::Executed {
        wire::Executed {
            unit: executed.unit.name(),
            total: executed.total(),
            never_executed: executed.missing(),
            complete: executed.complete,
            processes: executed.processes,
            parts: executed.parts.iter().map(Into::into).collect(),
        }
    }
}

impl From<&ExecutedPart> for wire::ExecutedPart {
    fn from(part: &ExecutedPart) -> wire::ExecutedPart {
        let listed = |units: &Vec<Unit>| -> Vec<wire::Awaited> {
            let one = |unit: &Unit| wire::Awaited {
                location: unit.location.as_ref().map(ToString::to_string),
                text: unit.text.clone(),
            };
            units.iter().map(one).collect()
        };
        wire::ExecutedPart {
            name: part.name.clone(),
            total: part.total,
            entered: part.entered,
            never_reached: listed(&part.never_reached),
            never_true: listed(&part.never_true),
            never_false: part.never_false.as_ref().map(listed),
        }
    }
}

impl From<&Note> for wire::Note {
    fn from(note: &Note) -> wire::Note {
        wire::Note { kind: note.kind.name(), text: note.text.clone() }
    }
}

fn verdict_name(verdict: Verdict) -> (&'static str, Option<&'static str>) {
    match verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Violated => ("violated", None),
        Verdict::Inconclusive(reason) => ("inconclusive", Some(reason_name(reason))),
    }
}

fn reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::States => "states",
        StopReason::Depth => "depth",
        StopReason::Time => "time",
        StopReason::Memory => "memory",
        StopReason::Interrupted => "interrupted",
        StopReason::Partial => "partial",
    }
}

impl From<&OptionValue> for wire::Setting {
    fn from(setting: &OptionValue) -> wire::Setting {
        match setting {
            OptionValue::Text(text) => wire::Setting::Text(text.clone()),
            OptionValue::Number(number) => wire::Setting::Number(*number),
            OptionValue::Flag(flag) => wire::Setting::Flag(*flag),
            OptionValue::Unset => wire::Setting::Unset,
        }
    }
}

impl From<Guarantee> for wire::Guarantee {
    fn from(guarantee: Guarantee) -> wire::Guarantee {
        let kind =
            |kind| wire::Guarantee { kind, bound: None, unit: None, probability: None, instances: None };
        match guarantee {
            Guarantee::Exhaustive => kind("exhaustive"),
            Guarantee::Parameterised => kind("parameterised"),
            Guarantee::Approximate { probability, bound } => wire::Guarantee {
                bound: bound.map(|bound| bound.most),
                unit: bound.map(|bound| unit_name(bound.unit)),
                probability: finite(probability),
                ..kind("approximate")
            },
            Guarantee::Bounded(bound) => wire::Guarantee {
                bound: Some(bound.most),
                unit: Some(unit_name(bound.unit)),
                ..kind("bounded")
            },
            Guarantee::Contexts(most) => {
                wire::Guarantee { bound: Some(most), unit: Some("contexts"), ..kind("bounded") }
            }
            Guarantee::Instances { most, contexts } => wire::Guarantee {
                bound: contexts,
                unit: contexts.map(|_| "contexts"),
                instances: Some(most),
                ..kind("bounded")
            },
        }
    }
}

/// JSON has no infinities; what is not a number is not known.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn unit_name(unit: Cost) -> &'static str {
    match unit {
        Cost::Preemptions => "preemptions",
        Cost::Switches => "switches",
        Cost::Steps => "steps",
    }
}

impl From<&PropertyResult> for wire::PropertyResult {
    fn from(answered: &PropertyResult) -> wire::PropertyResult {
        let (verdict, reason) = verdict_name(answered.verdict);
        wire::PropertyResult {
            name: answered.name.clone(),
            verdict,
            reason,
            violation: answered.violation.as_ref().map(Into::into),
            preemptions: answered.cost.map(|cost| cost.preemptions),
            length: answered.cost.map(|cost| cost.steps),
            answer: answered.answer.as_ref().map(FormulaAnswer::name),
            unsupported: answered.answer.as_ref().and_then(|answer| match answer {
                FormulaAnswer::Unsupported(reason) => Some(reason.clone()),
                _ => None,
            }),
        }
    }
}

impl From<&Property> for wire::Property {
    fn from(property: &Property) -> wire::Property {
        wire::Property {
            kind: property.kind.name().to_string(),
            name: property.name.clone(),
            location: property.location.as_ref().map(ToString::to_string),
            waiting: (property.kind == PropertyKind::Deadlock)
                .then(|| property.waiting.iter().map(Into::into).collect()),
        }
    }
}

impl From<&Waiting> for wire::Waiting {
    fn from(waiting: &Waiting) -> wire::Waiting {
        let awaited = |statement: &Awaited| wire::Awaited {
            location: statement.location.as_ref().map(ToString::to_string),
            text: statement.text.clone(),
        };
        wire::Waiting {
            process: waiting.process.clone(),
            pid: waiting.pid,
            may_end: waiting.may_end,
            statements: waiting.statements.iter().map(awaited).collect(),
        }
    }
}

impl From<&Statistics> for wire::Stats {
    fn from(statistics: &Statistics) -> wire::Stats {
        let level = |level: &preempt_core::Level| wire::Level {
            level: level.level,
            states: level.states,
            transitions: level.transitions,
        };
        wire::Stats {
            counts: wire::Fields(
                Measure::ALL.into_iter().map(|measure| (measure.name(), statistics.get(measure))).collect(),
            ),
            seconds: statistics.time.map(|time| time.as_secs_f64()),
            peak_bytes: statistics.peak_bytes,
            memory: statistics.memory.map(|memory| wire::Memory {
                store: memory.store,
                frontier: memory.frontier,
                parents: memory.parents,
            }),
            per_level: statistics.levels.as_ref().map(|levels| levels.iter().map(level).collect()),
            violations: statistics.violations.as_ref().map(|violations| {
                wire::Fields(
                    violations.iter().map(|(kind, count)| (kind.name().to_string(), *count)).collect(),
                )
            }),
            coverage: statistics.coverage.as_ref().map(|coverage| wire::Coverage {
                hash_factor: coverage.hash_factor.and_then(finite),
                share: coverage.share.and_then(finite),
                states_are_estimated: coverage.states_are_estimated,
                searches: wire::Fields(coverage.searches.clone()),
            }),
        }
    }
}

impl From<&Trace> for wire::Counterexample {
    fn from(trace: &Trace) -> wire::Counterexample {
        let switches = trace.switches();
        wire::Counterexample {
            initial: fields(&trace.initial),
            steps: trace.steps.iter().map(Into::into).collect(),
            loop_start: trace.loop_start,
            preemptions: trace.preemptions(),
            switches,
            contexts: if trace.steps.is_empty() { 0 } else { switches + 1 },
            length: trace.steps.len(),
            processes: Some(trace.processes),
        }
    }
}

impl From<&Step> for wire::Step {
    fn from(step: &Step) -> wire::Step {
        wire::Step {
            process: step.process.clone(),
            pid: step.pid,
            location: step.location.as_ref().map(ToString::to_string),
            calls: step.calls.iter().map(call).collect(),
            text: step.text.clone(),
            choice: step.choice.clone(),
            switch: match step.switch {
                SwitchKind::None => wire::Switch::None,
                SwitchKind::Forced => wire::Switch::Forced,
                SwitchKind::Preemption => wire::Switch::Preemption,
            },
            changed: fields(&step.changed),
            output: step.output.clone(),
            partner: step.partner.as_ref().map(Into::into),
        }
    }
}

impl From<&Partner> for wire::Partner {
    fn from(partner: &Partner) -> wire::Partner {
        wire::Partner {
            process: partner.process.clone(),
            pid: partner.pid,
            location: partner.location.as_ref().map(ToString::to_string),
            text: partner.text.clone(),
        }
    }
}

fn call(call: &Call) -> wire::Call {
    wire::Call { name: call.name.clone(), location: call.location.to_string() }
}

fn fields(changes: &[Change]) -> wire::Fields<wire::Value> {
    wire::Fields(changes.iter().map(|change| (change.name.clone(), (&change.value).into())).collect())
}

impl From<&Value> for wire::Value {
    fn from(value: &Value) -> wire::Value {
        match value {
            Value::Number(number) => wire::Value::Number(*number),
            Value::Name(name) => wire::Value::Name(name.clone()),
            Value::List(values) => wire::Value::List(values.iter().map(Into::into).collect()),
            Value::Gone => wire::Value::Gone,
        }
    }
}
