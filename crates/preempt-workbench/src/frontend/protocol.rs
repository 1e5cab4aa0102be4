//! Protocols with any number of processes: the texts `.protocol` and `.cub`.

use super::{Certified, Coverable, FrontEnd, Input, Kind, LoadRequest, Loaded, LoadedSystem, Written};
use crate::engine::reported;
use crate::error::Error;
use crate::executed::executed_protocol;
use crate::plan::Plan;
use preempt_core::{
    Budget, CertificateText, Diagnostic, Guarantee, Measure, Progress, Property, PropertyKind,
    PropertyResult, Report, SourceId, SourceMap, Statistics, Verdict,
};
use preempt_net::protocol::guards::side_condition;
use preempt_net::protocol::{self, Bad, Protocol};
use preempt_wsts::Engine as Way;
use preempt_wsts::protocol::{
    ProtocolAnswer, ProtocolOptions, SIDE_CONDITION, certificate, check_protocol, checker, refuses, trace,
};

pub const PROTOCOL: FrontEnd = FrontEnd {
    name: "protocol",
    alias: None,
    title: "protocol",
    noun: "a protocol",
    plural: "protocols",
    extensions: &["protocol"],
    kind: Kind::System,
    engines: &["coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load: |request| load(request, protocol::read_within),
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

/// The same protocols as Cubicle writes them.
pub const CUBICLE: FrontEnd = FrontEnd {
    name: "cubicle",
    title: "Cubicle",
    noun: "a Cubicle model",
    plural: "Cubicle models",
    extensions: &["cub"],
    load: |request| load(request, protocol::cubicle::read_within),
    ..PROTOCOL
};

/// How a text becomes a protocol; the definitions take the place of constants.
type Read = fn(SourceId, &str, &[(String, String)], &Budget) -> (Protocol, Vec<Diagnostic>);

fn load(request: &mut LoadRequest<'_>, read: Read) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(request.name, request.text);
    let (protocol, mut diagnostics) = read(source, request.text, &request.settings.defines, request.budget);
    let wanted = request.settings.property.as_deref();
    let is_known =
        |name: &str| name == SIDE_CONDITION || protocol.properties.iter().any(|it| it.name == name);
    if let Some(name) = wanted.filter(|name| !is_known(name) && !diagnostics.iter().any(Diagnostic::is_error))
    {
        let known: Vec<&str> = protocol.properties.iter().map(|it| it.name.as_str()).collect();
        diagnostics.push(
            Diagnostic::global_error(format!("there is no property `{name}`"))
                .hint(format!("there are: {}", known.join(", "))),
        );
    }
    let file = request.name.to_string();
    let input = match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(sources),
        false => {
            let wanted = wanted.map(str::to_string);
            let system = Box::new(LoadedProtocol { protocol, wanted });
            Ok(Input::System(LoadedSystem { file, sources, system }))
        }
    };
    Loaded { input, diagnostics, hint: None }
}

/// A protocol, and the one property that is asked for, if it is one.
#[derive(Debug)]
struct LoadedProtocol {
    protocol: Protocol,
    wanted: Option<String>,
}

impl Coverable for LoadedProtocol {
    fn refuses(&self, way: Way) -> Option<String> {
        if self.wanted.as_deref() == Some(SIDE_CONDITION) && !self.protocol.is_guarded() {
            return Some("no rule of the protocol has a guard over all others".into());
        }
        refuses(&self.protocol, way)
    }

    fn check(
        &self,
        way: Way,
        plan: &Plan,
        sources: &SourceMap,
        progress: &mut dyn Progress,
    ) -> Result<Report, Error> {
        let options = ProtocolOptions {
            engine: way,
            limits: plan.settings.limits,
            property: self.wanted.clone(),
            ..ProtocolOptions::default()
        };
        let answers = check_protocol(&self.protocol, &options, progress);
        if let Some(error) = answers.iter().find_map(|answer| answer.internal_error.as_ref()) {
            return Err(Error::refused(format!("internal error: {error}")));
        }
        Ok(self.report(&answers, sources, progress))
    }

    fn certify(&self, text: &str, budget: &Budget) -> Result<Certified, Error> {
        let certificates = certificate::parse(text)
            .map_err(|error| Error::refused(format!("the certificate cannot be read: {error}")))?;
        if certificates.is_empty() {
            return Err(Error::refused("the certificate is about no property"));
        }
        let mut names = Vec::new();
        for it in &certificates {
            if let Some(reason) = budget.exhausted() {
                return Err(Error::Stopped(reason));
            }
            let verified = match it.property.as_str() {
                SIDE_CONDITION => {
                    let erring = side_condition(&self.protocol, budget).map_err(Error::refused)?;
                    checker::verify(&erring, &erring.properties[0], it, budget)
                }
                name => {
                    let bad = self.protocol.properties.iter().find(|bad| bad.name == name);
                    let bad = bad.ok_or_else(|| Error::refused(format!("there is no property `{name}`")))?;
                    checker::verify(&self.protocol, bad, it, budget)
                }
            };
            verified.map_err(Error::Stopped)?.map_err(|reason| {
                Error::refused(format!("the certificate does not show `{}`: {reason}", it.property))
                    .hint("was the protocol changed since, or is a definition missing?")
            })?;
            names.push(format!("`{}`", it.property));
        }
        let statement = format!("{} cannot be reached, whatever the number of processes", names.join(", "));
        let summary = certificates.iter().map(|it| certificate::summary(it, &self.protocol)).collect();
        Ok(Certified { statement, summary })
    }

    fn write_promela(&self, plan: &Plan, _: &Budget) -> Result<Vec<Written>, Error> {
        let count = plan.settings.processes.ok_or_else(|| {
            Error::refused("a Promela model has a fixed number of processes")
                .hint("say how many, as in --processes 3")
        })?;
        let wanted = |bad: &&Bad| self.wanted.as_ref().is_none_or(|name| *name == bad.name);
        let properties: Vec<&Bad> = self.protocol.properties.iter().filter(wanted).collect();
        let text =
            protocol::promela::print(&self.protocol, count as usize, &properties).map_err(Error::refused)?;
        Ok(vec![Written { extension: None, text }])
    }
}

impl LoadedProtocol {
    /// One report for all properties: the first run is shown, and every answer is listed.
    fn report(&self, answers: &[ProtocolAnswer], sources: &SourceMap, progress: &dyn Progress) -> Report {
        let shown = answers.iter().position(|it| it.verdict == Verdict::Violated);
        let unknown = answers.iter().find(|it| matches!(it.verdict, Verdict::Inconclusive(_)));
        let verdict = match (shown, unknown) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(unknown)) => unknown.verdict,
            (None, None) => Verdict::conclude(false, None),
        };
        let mut report = Report::new(verdict, Guarantee::Parameterised);
        let violated = |answer: &ProtocolAnswer| {
            let processes = answer.run.as_ref().map_or(0, |run| run.initial.processes.len());
            let fewest = if answer.fewest_processes { ", the smallest number" } else { "" };
            let noun = if processes == 1 { "process" } else { "processes" };
            let name = format!("`{}` is reached with {processes} {noun}{fewest}", answer.property);
            Property::new(PropertyKind::Coverability, name, None)
        };
        if let Some(answer) = shown.map(|at| &answers[at]) {
            report.violation = Some(violated(answer));
            report.shown = shown.unwrap_or(0);
            // The run of a side condition is one of another protocol, which nobody has written.
            let run = answer.run.as_ref().filter(|_| answer.property != SIDE_CONDITION);
            report.counterexample = run.and_then(|run| trace(&self.protocol, run, Some(sources)));
            report.again = vec![("engine", answer.answered_by.name().to_string())];
        }
        for answer in answers {
            if let Some(reason) = &answer.reason {
                report.note(format!("`{}` is inconclusive: {reason}", answer.property));
            }
            report.properties.push(PropertyResult {
                name: format!("{} is never reached", answer.property),
                verdict: answer.verdict,
                violation: answer.run.as_ref().map(|_| violated(answer)),
                cost: None,
                answer: None,
            });
        }
        let certificates: Vec<_> = answers.iter().filter_map(|it| it.certificate.clone()).collect();
        if verdict == Verdict::Holds {
            let summary = certificates.iter().map(|it| certificate::summary(it, &self.protocol)).collect();
            report.certificate = Some(CertificateText { text: certificate::write(&certificates), summary });
            report.statement = Some(match answers {
                [answer] => {
                    format!("`{}` is never reached, whatever the number of processes", answer.property)
                }
                _ => "nothing bad is ever reached, whatever the number of processes".to_string(),
            });
            report.run.answered_by = answers.first().map(|answer| answer.answered_by.name().into());
        }
        if let (Verdict::Inconclusive(preempt_core::StopReason::Partial), Some(open)) =
            (verdict, answers.iter().find(|answer| answer.reason.is_some()))
        {
            report.statement = Some(format!(
                "whether `{}` is reached depends on guards that forbid more than broadcasts do",
                open.property
            ));
        }
        report.statistics = numbers(answers);
        if let (Verdict::Inconclusive(preempt_core::StopReason::Interrupted), Some(reason)) =
            (report.verdict, progress.budget().stopped())
        {
            report.verdict = Verdict::Inconclusive(reason);
        }
        report.executed = executed_protocol(&self.protocol, sources, &progress.budget());
        report.run.options = reported(&[]);
        report
    }
}

/// Of all properties: what was done is added up, and of what was reached the most is told.
fn numbers(answers: &[ProtocolAnswer]) -> Statistics {
    let sum = |of: fn(&ProtocolAnswer) -> u64| answers.iter().map(of).sum::<u64>();
    let most = |of: fn(&ProtocolAnswer) -> u64| answers.iter().map(of).max().unwrap_or(0);
    let time = answers.iter().map(|answer| answer.time).sum();
    Statistics::of(time, 0).with([
        (Measure::BddNodes, most(|it| it.numbers.nodes)),
        (Measure::BasisElements, sum(|it| it.numbers.elements)),
        (Measure::Predecessors, sum(|it| it.numbers.predecessors)),
        (Measure::Weight, most(|it| it.numbers.weight)),
        (Measure::LastNewWeight, most(|it| it.numbers.n)),
        (Measure::Delta, most(|it| it.numbers.delta)),
        (Measure::DiagramHeight, most(|it| it.numbers.height)),
        (Measure::BackwardImages, sum(|it| it.numbers.images)),
        (Measure::Markings, sum(|it| it.numbers.states)),
    ])
}
