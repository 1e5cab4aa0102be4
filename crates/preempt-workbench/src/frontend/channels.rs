//! Lossy channel systems: the text `.channels`.

use super::{Certified, Coverable, FrontEnd, Input, Kind, LoadRequest, Loaded, LoadedSystem, Written};
use crate::engine::reported;
use crate::error::Error;
use crate::executed::executed_rules;
use crate::plan::Plan;
use preempt_core::{
    Budget, CertificateText, Change, Diagnostic, Guarantee, Measure, Progress, Property, PropertyKind,
    Report, SourceMap, Statistics, Step, SwitchKind, Trace, Value, Verdict, run_supervised,
};
use preempt_net::channels::{ChannelSystem, State, dead_rules, read_within};
use preempt_wsts::Engine as Way;
use preempt_wsts::channels::{
    ChannelCertificate, ChannelEngine, ChannelRun, ChannelVerdict, Event, check, checker,
};
use std::time::Instant;

pub const CHANNELS: FrontEnd = FrontEnd {
    name: "channels",
    alias: None,
    title: "channels",
    noun: "a channel system",
    plural: "channel systems",
    extensions: &["channels"],
    kind: Kind::System,
    engines: &["coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load,
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(request.name, request.text);
    let (system, mut diagnostics) = read_within(source, request.text, request.budget);
    if request.settings.property.is_some() {
        let error = Diagnostic::global_error("a channel system has no properties with names");
        diagnostics.push(error.hint("leave out --property"));
    }
    let input = match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(sources),
        false => {
            let file = request.name.to_string();
            Ok(Input::System(LoadedSystem { file, sources, system: Box::new(LoadedChannels(system)) }))
        }
    };
    Loaded { input, diagnostics, hint: None }
}

#[derive(Debug)]
struct LoadedChannels(ChannelSystem);

impl LoadedChannels {
    /// By weight where the values cannot be listed.
    fn engine(&self, way: Way) -> (ChannelEngine, Way) {
        match way {
            Way::Basis => (ChannelEngine::Basis, Way::Basis),
            Way::Weight => (ChannelEngine::Weight, Way::Weight),
            _ if self.0.too_large_to_list().is_some() => (ChannelEngine::Weight, Way::Weight),
            _ => (ChannelEngine::Basis, Way::Basis),
        }
    }
}

impl Coverable for LoadedChannels {
    fn refuses(&self, way: Way) -> Option<String> {
        match way {
            Way::Auto | Way::Weight => None,
            Way::Basis => self.0.too_large_to_list().map(str::to_string),
            _ => Some("channel systems are decided backward, by `basis` or by `weight`".into()),
        }
    }

    fn check(
        &self,
        way: Way,
        plan: &Plan,
        sources: &SourceMap,
        progress: &mut dyn Progress,
    ) -> Result<Report, Error> {
        let (begin, (engine, answered_by)) = (Instant::now(), self.engine(way));
        let budget = Budget::within(&plan.settings.limits);
        let owned = (self.0.clone(), budget.clone());
        let snapshot = || budget.counters().snapshot();
        let found = run_supervised(&budget, progress, snapshot, move || check(&owned.0, engine, &owned.1));
        let found = match found {
            Ok(found) => found,
            Err(reason) => return Ok(Report::new(Verdict::Inconclusive(reason), Guarantee::Parameterised)),
        };
        if let Some(error) = found.internal_error {
            return Err(Error::refused(format!("internal error: {error}")));
        }
        let (undone, violated) = match &found.verdict {
            ChannelVerdict::Reached(_) => (None, true),
            ChannelVerdict::Safe(_) => (None, false),
            ChannelVerdict::Unknown(reason) => (Some(*reason), false),
        };
        let mut report = Report::new(Verdict::conclude(violated, undone), Guarantee::Parameterised);
        match &found.verdict {
            ChannelVerdict::Reached(run) => {
                let name = "a bad state can be reached".to_string();
                report.violation = Some(Property::new(PropertyKind::Coverability, name, None));
                report.counterexample = trace(&self.0, run, sources);
                report.again = vec![("engine", answered_by.name().to_string())];
            }
            ChannelVerdict::Safe(certificate) => {
                report.statement = Some("no bad state can be reached, whatever is lost".into());
                let summary = summary(certificate);
                report.certificate = Some(CertificateText { text: certificate.write(), summary });
            }
            ChannelVerdict::Unknown(_) => {}
        }
        report.run.answered_by = Some(answered_by.name().into());
        let counters = budget.counters().snapshot();
        report.statistics = Statistics::of(begin.elapsed(), counters.bytes);
        report.statistics = match found.diagrams {
            Some(diagrams) => report.statistics.with([
                (Measure::BddNodes, diagrams.nodes as u64),
                (Measure::Weight, diagrams.weight),
                (Measure::LastNewWeight, diagrams.n),
                (Measure::Delta, diagrams.delta),
                (Measure::DiagramHeight, diagrams.height),
                (Measure::BackwardImages, diagrams.rounds),
            ]),
            None => report.statistics.with([
                (Measure::BasisElements, counters.states),
                (Measure::Predecessors, counters.transitions),
            ]),
        };
        let rules = self.0.rules.iter().map(|rule| (rule.span, rule.name.clone()));
        report.executed = dead_rules(&self.0, &budget).map(|dead| executed_rules(rules, &dead, sources));
        report.run.options = reported(&[]);
        Ok(report)
    }

    fn certify(&self, certificate: &str, budget: &Budget) -> Result<Certified, Error> {
        let certificate = ChannelCertificate::parse(&self.0, certificate)
            .map_err(|error| Error::refused(format!("the certificate cannot be read: {error}")))?;
        let verified = checker::verify_within(&self.0, &certificate, budget);
        verified.map_err(Error::Stopped)?.map_err(|reason| {
            Error::refused(format!("the certificate does not show it: {reason}"))
                .hint("was the system changed since?")
        })?;
        let statement = "no bad state can be reached".to_string();
        Ok(Certified { statement, summary: summary(&certificate) })
    }

    fn write_promela(&self, _: &Plan, _: &Budget) -> Result<Vec<Written>, Error> {
        Err(Error::refused("a channel system cannot be written as Promela"))
    }
}

fn summary(certificate: &ChannelCertificate) -> Vec<String> {
    vec![match certificate {
        ChannelCertificate::Basis(elements) => format!("an inductive basis of {} states", elements.len()),
        ChannelCertificate::Diagram(proof) => {
            format!(
                "an inductive set of weight {}, as a diagram of {} nodes",
                proof.weight,
                proof.nodes.len()
            )
        }
    }]
}

/// The run for people: every step, and every message that is lost, with what it changes.
fn trace(system: &ChannelSystem, run: &ChannelRun, sources: &SourceMap) -> Option<Trace> {
    let states = run.replay(system)?;
    let values = |state: &State| -> Vec<Change> {
        let variables = system
            .variables
            .iter()
            .zip(&state.control)
            .map(|((name, _), value)| Change { name: name.clone(), value: Value::Number(*value as i64) });
        let channels = system.channels.iter().zip(&state.words).map(|((name, _), word)| {
            let message = |fields: &Vec<u64>| match fields.as_slice() {
                [field] => Value::Number(*field as i64),
                fields => Value::List(fields.iter().map(|field| Value::Number(*field as i64)).collect()),
            };
            Change { name: name.clone(), value: Value::List(word.iter().map(message).collect()) }
        });
        variables.chain(channels).collect()
    };
    let mut steps = Vec::new();
    for (event, pair) in run.events.iter().zip(states.windows(2)) {
        let before = values(&pair[0]);
        let changed = values(&pair[1]).into_iter().filter(|change| !before.contains(change)).collect();
        let (text, location) = match event {
            Event::Step(step) => {
                let rule = &system.rules[step.rule];
                let parameters: Vec<String> = step.parameters.iter().map(u64::to_string).collect();
                let text = match parameters.is_empty() {
                    true => rule.name.clone(),
                    false => format!("{}({})", rule.name, parameters.join(", ")),
                };
                (text, Some(sources.location(rule.span)))
            }
            Event::Lose { channel, .. } => {
                (format!("a message of {} is lost", system.channels[*channel].0), None)
            }
        };
        steps.push(Step {
            process: "system".into(),
            pid: 0,
            location,
            calls: Vec::new(),
            text,
            choice: None,
            switch: SwitchKind::None,
            changed,
            output: None,
            partner: None,
        });
    }
    Some(Trace { initial: values(&states[0]), steps, loop_start: None, processes: 1 })
}
