//! What the page knows: the report, its runs and the sources, as data that its script draws.

use super::embedded::Data;
use super::{Page, Points, Sample};
use crate::chart::{Chart, Message};
use crate::style::Style;
use crate::text::{
    describe, executed_title, minimality, never_possible, plural, projection_title, property_lines,
    statistics_lines, unit, verdict_lines,
};
use preempt_core::{
    Call, Change, Location, OptionValue, Property, PropertyKind, Report, Statistics, Step, SwitchKind, Trace,
    Unit, Value, Verdict,
};
use std::collections::BTreeMap;

/// Everything, as one record.
pub(super) fn of_page(page: &Page<'_>) -> Data {
    let report = page.report;
    let mut files = Files { names: Vec::new() };
    let runs = runs(report, &mut files);
    let executed = match &page.points {
        Some(told) => points(told, &mut files),
        None => executed(report, &mut files),
    };
    let projection = projection(report, &mut files);
    let certificate = report.certificate.as_ref().map_or(&[][..], |certificate| &certificate.summary);
    Data::Record(vec![
        ("file", Data::text(&report.run.file)),
        ("engine", Data::text(&report.run.engine)),
        ("answeredBy", Data::option(report.run.answered_by.as_ref().map(Data::text))),
        ("verdict", Data::text(verdict_name(report.verdict))),
        (
            "summary",
            page.headline
                .as_ref()
                .map_or_else(|| lines(&verdict_lines(report, Style::plain())), |it| lines(it)),
        ),
        ("properties", lines(&property_lines(report, Style::plain()))),
        ("certificate", Data::list(certificate.iter().map(Data::text))),
        ("promise", Data::option(minimality(report.minimality, report.statistics.unit).map(Data::text))),
        ("again", Data::option(page.again.as_ref().map(Data::text))),
        ("mover", Data::text(page.mover)),
        ("notes", Data::list(report.notes.iter().map(|note| Data::text(&note.text)))),
        ("options", options(report)),
        ("runs", runs),
        ("executed", executed),
        ("projection", projection),
        ("files", Data::list(files.names.iter().map(|name| source(name, page)))),
        ("numbers", numbers(&report.statistics)),
        ("history", Data::list(page.history.iter().map(sample))),
    ])
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    }
}

fn lines(text: &str) -> Data {
    Data::list(text.lines().map(|line| Data::text(line.trim())))
}

fn options(report: &Report) -> Data {
    let given = report.run.options.iter().filter_map(|(name, value)| {
        let value = match value {
            OptionValue::Text(text) => text.clone(),
            OptionValue::Number(number) => number.to_string(),
            OptionValue::Flag(true) => "yes".into(),
            OptionValue::Flag(false) | OptionValue::Unset => return None,
        };
        Some(Data::list([Data::text(name.replace('_', " ")), Data::text(value)]))
    });
    Data::list(given)
}

/// Names of files, by the numbers under which steps know them.
struct Files {
    names: Vec<String>,
}

impl Files {
    fn place(&mut self, location: Option<&Location>) -> Data {
        let Some(location) = location else { return Data::Null };
        let known = self.names.iter().position(|name| *name == location.file);
        let number = known.unwrap_or_else(|| {
            self.names.push(location.file.clone());
            self.names.len() - 1
        });
        Data::list([Data::count(number), Data::Number(location.line.into())])
    }
}

fn source(name: &str, page: &Page<'_>) -> Data {
    let text = page.sources.iter().find(|(known, _)| known == name).map(|(_, text)| Data::text(text));
    Data::Record(vec![("name", Data::text(name)), ("text", Data::option(text))])
}

fn runs(report: &Report, files: &mut Files) -> Data {
    let all = report.violations.as_deref().unwrap_or_default();
    if !all.is_empty() {
        return Data::list(all.iter().map(|(property, trace)| run(Some(property), trace, files)));
    }
    let only = report.counterexample.as_ref().map(|trace| run(report.violation.as_ref(), trace, files));
    Data::list(only)
}

fn run(property: Option<&Property>, trace: &Trace, files: &mut Files) -> Data {
    let chart = Chart::new(trace, property);
    let steps = trace.steps.iter().zip(&chart.steps).map(|(step, lanes)| one_step(step, *lanes, files));
    let steps = Data::list(steps.collect::<Vec<_>>());
    let waiting = property.into_iter().flat_map(|property| &property.waiting);
    let waiting = waiting.map(|waiting| {
        let lane = chart.lanes.iter().position(|name| *name == waiting.process).unwrap_or(0);
        let statement = waiting.statements.first();
        let place = files.place(statement.and_then(|statement| statement.location.as_ref()));
        let text = waiting.statements.iter().map(|statement| statement.text.as_str()).collect::<Vec<_>>();
        Data::list([Data::count(lane), place, Data::text(text.join(" or "))])
    });
    let waiting = Data::list(waiting.collect::<Vec<_>>());
    let place = files.place(property.and_then(|property| property.location.as_ref()));
    let marking = property.is_some_and(|property| property.kind == PropertyKind::Coverability);
    Data::Record(vec![
        ("wrong", Data::text(property.map(describe).unwrap_or_default())),
        ("place", place),
        ("marking", Data::Number(marking.into())),
        ("preemptions", Data::count(trace.preemptions())),
        ("switches", Data::count(trace.switches())),
        ("processes", Data::count(trace.processes)),
        ("loop", Data::option(trace.loop_start.map(Data::count))),
        ("lanes", Data::list(chart.lanes.iter().map(Data::text))),
        ("initial", changes(&trace.initial)),
        ("steps", steps),
        ("messages", Data::list(chart.messages.iter().map(message))),
        ("waiting", waiting),
    ])
}

/// As a list, since there may be many: lane, statement, switch, place, what changed, what was printed, which choice, and for a
/// rendezvous the lane, statement and place of the receiver; for a step inside an inline, where that is used.
fn one_step(step: &Step, (lane, partner): (usize, Option<usize>), files: &mut Files) -> Data {
    let switch = match step.switch {
        SwitchKind::None => 0,
        SwitchKind::Forced => 1,
        SwitchKind::Preemption => 2,
    };
    let mut fields = vec![
        Data::count(lane),
        Data::text(&step.text),
        Data::Number(switch),
        files.place(step.location.as_ref()),
        changes(&step.changed),
        Data::option(step.output.as_ref().map(Data::text)),
        Data::option(step.choice.as_ref().map(Data::text)),
    ];
    let received = partner.zip(step.partner.as_ref()).map(|(lane, partner)| {
        let place = files.place(partner.location.as_ref());
        Data::list([Data::count(lane), Data::text(&partner.text), place])
    });
    if received.is_some() || !step.calls.is_empty() {
        fields.push(Data::option(received));
    }
    if !step.calls.is_empty() {
        let call = |call: &Call| Data::text(format!("in {} at line {}", call.name, call.location.line));
        fields.push(Data::list(step.calls.iter().map(call)));
    }
    Data::List(fields)
}

fn message(message: &Message) -> Data {
    Data::list([
        Data::option(message.sent.map(Data::count)),
        Data::option(message.received.map(Data::count)),
        Data::text(&message.channel),
        Data::text(&message.text),
    ])
}

fn changes(changes: &[Change]) -> Data {
    Data::list(changes.iter().map(|it| Data::list([Data::text(&it.name), value(&it.value)])))
}

fn value(it: &Value) -> Data {
    match it {
        Value::Number(number) => Data::Number(*number),
        Value::Name(name) => Data::text(name),
        Value::List(values) => Data::list(values.iter().map(value)),
        Value::Gone => Data::Null,
    }
}

/// What no run has executed: a heading, and for each process its name and `[place, text, remark]`.
fn executed(report: &Report, files: &mut Files) -> Data {
    let Some(executed) = &report.executed else { return Data::Null };
    let mut list = |units: &[Unit], remark: &str| {
        let one = |unit: &Unit| {
            Data::list([files.place(unit.location.as_ref()), Data::text(&unit.text), Data::text(remark)])
        };
        units.iter().map(one).collect::<Vec<_>>()
    };
    let parts = executed.parts.iter().map(|part| {
        let mut entries = match part.entered {
            true => list(&part.never_reached, ""),
            false => vec![Data::list([Data::Null, Data::text(""), Data::text("never started")])],
        };
        entries.extend(list(&part.never_true, never_possible(executed.unit)));
        entries.extend(list(part.never_false.as_deref().unwrap_or_default(), "never false"));
        Data::list([Data::text(&part.name), Data::List(entries)])
    });
    let parts = Data::list(parts.collect::<Vec<_>>());
    let title = format!(
        "{}: {} of {} {}",
        executed_title(report, executed),
        executed.missing(),
        executed.total(),
        plural(executed.unit.name())
    );
    Data::Record(vec![("title", Data::text(title)), ("parts", parts)])
}

/// Which lines have a statement that lies on some error trace: a heading, and `[place, 0 or 1]` for each line with statements.
fn projection(report: &Report, files: &mut Files) -> Data {
    let Some(projection) = &report.projection else { return Data::Null };
    let mut lines: BTreeMap<(&str, u32), (&Location, bool)> = BTreeMap::new();
    for statement in &projection.statements {
        let location = &statement.location;
        let line = lines.entry((&location.file, location.line)).or_insert((location, false));
        line.1 |= statement.on_error_trace;
    }
    let marks = lines
        .into_values()
        .map(|(location, on)| Data::list([files.place(Some(location)), Data::Number(on.into())]));
    let marks = Data::list(marks.collect::<Vec<_>>());
    Data::Record(vec![("title", Data::text(projection_title(projection))), ("marks", marks)])
}

fn points(points: &Points, files: &mut Files) -> Data {
    let mut part = |(name, entries): &(String, Vec<(Unit, String)>)| {
        let entries = entries.iter().map(|(unit, remark)| {
            Data::list([files.place(unit.location.as_ref()), Data::text(&unit.text), Data::text(remark)])
        });
        Data::list([Data::text(name), Data::list(entries)])
    };
    let parts = points.parts.iter().map(&mut part).collect();
    Data::Record(vec![("title", Data::text(&points.title)), ("parts", Data::List(parts))])
}

fn numbers(statistics: &Statistics) -> Data {
    let lines = statistics_lines(statistics);
    let lines = lines.into_iter().map(|(name, value)| Data::list([Data::text(name), Data::text(value)]));
    let wide = |number: u64| Data::Number(i64::try_from(number).unwrap_or(i64::MAX));
    let levels = statistics.levels.iter().flatten();
    let levels = levels.map(|it| Data::list([wide(it.level.into()), wide(it.states), wide(it.transitions)]));
    let memory =
        statistics.memory.map(|it| Data::list([wide(it.store), wide(it.frontier), wide(it.parents)]));
    Data::Record(vec![
        ("lines", Data::list(lines)),
        ("unit", Data::text(plural(unit(statistics.unit)))),
        ("levels", Data::list(levels)),
        ("memory", Data::option(memory)),
    ])
}

fn sample(sample: &Sample) -> Data {
    let wide = |number: u64| Data::Number(i64::try_from(number).unwrap_or(i64::MAX));
    Data::list([Data::Real(sample.time.as_secs_f64()), wide(sample.states), wide(sample.bytes)])
}
