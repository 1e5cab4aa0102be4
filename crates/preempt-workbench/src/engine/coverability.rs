//! The engines for nets: can a target be covered? Each finds a run, or a proof with a certificate.

use super::{Context, Engine, reported};
use crate::error::Error;
use crate::frontend::{Input, Kind, LoadedNet, in_words};
use crate::plan::Plan;
use crate::verb::Verb;
use preempt_core::{
    Budget, CertificateText, Measure, Minimality, PropertyResult, Report, Statistics, StopReason, Verdict,
};
use preempt_net::{Marking, Question};
use preempt_wsts::{Certificate, CoverOptions, CoverReport, Engine as Way};

/// One of the ways that `preempt-wsts` has to an answer.
macro_rules! way {
    ($way:ident, $name:literal, $takes:ident, $counts:expr, $description:literal) => {
        Engine {
            name: $name,
            description: $description,
            takes: $takes,
            check: |plan, input, context| check(Way::$way, plan, input, context),
            count: None,
            counts: $counts,
        }
    };
}

const ELEMENTS: [Option<Measure>; 2] = [Some(Measure::BasisElements), Some(Measure::Predecessors)];
const MARKINGS: [Option<Measure>; 2] = [Some(Measure::Markings), Some(Measure::Firings)];

pub const COVERABILITY: Engine = way!(
    Auto,
    "coverability",
    takes,
    [None; 2],
    "pre-checks, then basis, with forward at their side; the first answer wins"
);
pub const PRECHECKS: Engine = way!(
    Prechecks,
    "prechecks",
    takes_nets,
    [None; 2],
    "linear programs, siphons and traps: a proof within moments, or nothing"
);
pub const BASIS: Engine =
    way!(Basis, "basis", takes, ELEMENTS, "backward over upward-closed sets: a proof or a run");
pub const WEIGHT: Engine = way!(
    Weight,
    "weight",
    takes,
    [Some(Measure::BddNodes), None],
    "backward by number of tokens, on decision diagrams: a proof or a run"
);
pub const WEIGHT_PLAIN: Engine = way!(
    WeightPlain,
    "weight-plain",
    takes_nets,
    [Some(Measure::BddNodes), None],
    "the same without lifting and reduction; says if a run has the fewest tokens"
);
pub const FORWARD: Engine =
    way!(Forward, "forward", takes, MARKINGS, "forward with any number of tokens: a run, or nothing");

fn takes(kind: Kind) -> Result<&'static [Verb], &'static str> {
    match kind {
        Kind::Net | Kind::System => Ok(&[Verb::Check]),
        Kind::Model => Err("it decides coverability, for nets only"),
    }
}

/// What rests on linear programs over places, and on the firing rule of nets.
fn takes_nets(kind: Kind) -> Result<&'static [Verb], &'static str> {
    match kind {
        Kind::System => Err("it knows nets only"),
        kind => takes(kind),
    }
}

fn check(way: Way, plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    if let Input::System(loaded) = input {
        if let Some(why) = loaded.system.refuses(way) {
            return Err(plan.refuses(&why));
        }
        return loaded.system.check(way, plan, &loaded.sources, context.progress);
    }
    let net = input.net()?;
    net.has_target()?;
    if let Some(why) = way.refuses(&net.problem) {
        return Err(plan.refuses(why));
    }
    let options = CoverOptions { engine: way, limits: plan.settings.limits, ..CoverOptions::default() };
    let found = preempt_wsts::check(&net.problem, &options, context.progress);
    if let Some(error) = &found.internal_error {
        return Err(Error::refused(format!("internal error: {error}")));
    }
    let budget = context.progress.budget();
    let mut report = Report {
        statistics: numbers(way, net, &found),
        minimality: if found.fewest_tokens { Minimality::FewestTokens } else { Minimality::Nothing },
        statement: found.certificate.as_ref().map(|_| statement(net)),
        certificate: found.certificate.as_ref().map(|it| certificate(it, net)),
        again: found.run.iter().map(|_| ("engine", found.answered_by.name().to_string())).collect(),
        ..Report::from(found.outcome.clone())
    };
    // The engines may know only that they were told to stop, and not why.
    if let (Verdict::Inconclusive(StopReason::Interrupted), Some(reason)) = (report.verdict, budget.stopped())
    {
        report.verdict = Verdict::Inconclusive(reason);
    }
    if !matches!(report.verdict, Verdict::Inconclusive(_)) {
        report.run.answered_by = Some(found.answered_by.name().into());
    }
    let last = covering_run(net, &found, &budget, &mut report);
    name_properties(net, last.as_ref(), &mut report);
    report.run.options = reported(&[]);
    Ok(report)
}

/// The run with places in the text, and the marking that it leads to.
fn covering_run(
    net: &LoadedNet,
    found: &CoverReport,
    budget: &Budget,
    report: &mut Report,
) -> Option<Marking> {
    let run = found.run.as_ref()?;
    // One telling of it at a time, as it may be long; where there was no time for one, there is none now.
    if report.counterexample.take().is_some() {
        report.counterexample = run.trace(&net.problem, Some(&net.sources), budget);
    }
    if report.counterexample.is_none() {
        let steps = run.transitions.len();
        report.note(format!("the run of {steps} steps was replayed; to show it is beyond the limits"));
    }
    net.problem.end_of(&run.initial, &run.transitions)
}

/// What the answer says about each property: the targets of all of them were asked for together.
fn name_properties(net: &LoadedNet, last: Option<&Marking>, report: &mut Report) {
    for (number, property) in net.properties.iter().enumerate() {
        let covered = last.is_some_and(|last| property.is_reached(&net.problem.net, last));
        if covered
            && let Some(violation) = &mut report.violation
            && !report.properties.iter().any(|it| it.verdict == Verdict::Violated)
        {
            violation.name = in_words(property, true);
            report.shown = number;
        }
        report.properties.push(PropertyResult {
            name: in_words(property, false),
            verdict: match (report.verdict, &property.question) {
                (Verdict::Violated, _) if !covered => Verdict::Inconclusive(StopReason::Partial),
                (Verdict::Holds, Question::Reach(_) | Question::Unsupported(_)) => {
                    Verdict::Inconclusive(StopReason::Partial)
                }
                (verdict, _) => verdict,
            },
            violation: report.violation.clone().filter(|_| covered),
            cost: None,
        });
    }
}

fn statement(net: &LoadedNet) -> String {
    let parametric = net.problem.initial.iter().any(|range| range.high.is_none());
    let tokens = if parametric { ", whatever the number of tokens" } else { "" };
    match (net.properties.as_slice(), net.problem.targets.len()) {
        ([property], _) => format!("{}{tokens}", in_words(property, false)),
        (_, 1) => format!("the target cannot be covered{tokens}"),
        _ => format!("no target can be covered{tokens}"),
    }
}

fn certificate(certificate: &Certificate, net: &LoadedNet) -> CertificateText {
    CertificateText { text: certificate.write(&net.problem.net), summary: summary(certificate) }
}

/// What a certificate is made of.
pub(crate) fn summary(certificate: &Certificate) -> Vec<String> {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut lines = Vec::new();
    if !certificate.refutations.is_empty() {
        let steps: usize = certificate.refutations.iter().map(|refutation| refutation.steps.len()).sum();
        let targets = count(certificate.refutations.len(), "target");
        lines.push(format!("{targets} refuted, in {}", count(steps, "step")));
    }
    if let Some(basis) = &certificate.basis {
        lines.push(format!(
            "an inductive basis of {}, with {} and {} that stay empty",
            count(basis.elements.len(), "element"),
            count(basis.bounds.len(), "bound"),
            count(basis.empty.len(), "place")
        ));
    }
    lines
}

/// What the ways that were tried have counted, each in its own units.
fn numbers(way: Way, net: &LoadedNet, found: &CoverReport) -> Statistics {
    let stats = &found.outcome.stats;
    let mut statistics = Statistics::of(stats.time, stats.peak_bytes);
    let work = &found.work;
    if matches!(way, Way::Auto | Way::Basis) {
        statistics = statistics.with([
            (Measure::BasisElements, work.elements),
            (Measure::PrunedElements, work.pruned),
            (Measure::Predecessors, work.predecessors),
        ]);
    }
    if matches!(way, Way::Auto | Way::Forward) {
        statistics = statistics.with([(Measure::Markings, work.markings), (Measure::Firings, work.firings)]);
    }
    if let Some(diagrams) = found.diagrams {
        statistics = statistics.with([
            (Measure::Weight, diagrams.weight),
            (Measure::LastNewWeight, diagrams.n),
            (Measure::Delta, diagrams.delta),
            (Measure::LocalStates, diagrams.local_states as u64),
            (Measure::DiagramHeight, diagrams.height),
            (Measure::DiagramHeightBound, diagrams.bound().max(diagrams.height)),
            (Measure::BddNodes, diagrams.nodes as u64),
            (Measure::BackwardImages, diagrams.rounds),
        ]);
    }
    if let Some(run) = &found.run {
        let tokens = net.problem.most_tokens(&run.initial, &run.transitions).unwrap_or(0);
        statistics.set(Measure::Tokens, tokens);
    }
    statistics
}
