//! The engines for nets: can a target be covered? Each finds a run, or a proof with a certificate. Programs with any number of
//! threads are nets too (`any_number`).

use super::{Context, Engine, reported};
use crate::error::Error;
use crate::executed::executed_transitions;
use crate::frontend::{Input, Kind, LoadedNet, in_words};
use crate::plan::Plan;
use crate::verb::Verb;
use preempt_core::{
    Budget, CertificateText, FormulaAnswer, Limits, Measure, Minimality, Property, PropertyKind,
    PropertyResult, Report, Statistics, StopReason, Verdict,
};
use preempt_net::{NetProperty, Question};
use preempt_wsts::{Answer, Certificate, CoverOptions, CoverReport, Engine as Way, Run};
use std::time::{Duration, Instant};

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
    "pre-checks, basis and forward at the same time; the first answer wins"
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
        Kind::Net | Kind::System | Kind::Model => Ok(&[Verb::Check]),
    }
}

/// What rests on linear programs over places, and on the firing rule of nets.
fn takes_nets(kind: Kind) -> Result<&'static [Verb], &'static str> {
    match kind {
        Kind::System | Kind::Model => Err("it knows nets only"),
        Kind::Net => takes(kind),
    }
}

fn check(way: Way, plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    if let Input::Model(loaded) = input {
        return super::any_number::check(way, plan, loaded, context);
    }
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
    let begin = Instant::now();
    let limits = plan.settings.limits;
    // Where several are asked for, one that is hard must leave time for the others.
    let time = match net.properties.len() {
        0 | 1 => limits.time,
        _ => Some(limits.time.map_or(TOGETHER, |time| (time / 3).min(TOGETHER))),
    };
    let options = CoverOptions { engine: way, limits: Limits { time, ..limits }, ..CoverOptions::default() };
    let only_others = net.problem.targets.is_empty();
    let found = preempt_wsts::check(&net.problem, &options, context.progress);
    if let Some(error) = &found.internal_error {
        return Err(Error::refused(format!("internal error: {error}")));
    }
    let budget = context.progress.budget();
    let mut report = Report {
        statistics: numbers(way, net, &found),
        minimality: if found.fewest_tokens { Minimality::FewestTokens } else { Minimality::Nothing },
        statement: found.certificate.as_ref().map(|_| statement(net)),
        certificate: found.certificate.as_ref().filter(|_| !only_others).map(|it| certificate(it, net)),
        again: found.run.iter().map(|_| ("engine", found.answered_by.name().to_string())).collect(),
        ..Report::from(found.outcome.clone())
    };
    if !net.properties.is_empty() {
        let left = limits.time.map(|time| time.saturating_sub(begin.elapsed()));
        let options = CoverOptions { limits: Limits { time: left, ..limits }, ..options };
        answer_properties(net, &found, &options, &mut report, context);
    }
    // The engines may know only that they were told to stop, and not why.
    if let (Verdict::Inconclusive(StopReason::Interrupted), Some(reason)) = (report.verdict, budget.stopped())
    {
        report.verdict = Verdict::Inconclusive(reason);
    }
    if !matches!(report.verdict, Verdict::Inconclusive(_)) && !only_others {
        report.run.answered_by = Some(found.answered_by.name().into());
    }
    if net.properties.is_empty()
        && let Some(run) = &found.run
    {
        show_run(net, run, &budget, &mut report);
    }
    report.executed = executed_transitions(net, &budget);
    report.run.options = reported(&[]);
    Ok(report)
}

/// All targets of a file together have this time: then each property gets its own.
const TOGETHER: Duration = Duration::from_secs(10);

/// The run with places in the text.
fn show_run(net: &LoadedNet, run: &Run, budget: &Budget, report: &mut Report) {
    // One telling of it at a time, as it may be long; where there was no time for one, there is none now.
    if report.counterexample.take().is_some() {
        report.counterexample = run.trace(&net.problem, Some(&net.sources), budget);
    }
    if report.counterexample.is_none() {
        let steps = run.transitions.len();
        report.note(format!("the run of {steps} steps was replayed; to show it is beyond the limits"));
    }
}

/// What is known about each property. The targets of all of them were asked for together, which answers those that one proof or
/// one run is about; the others are asked one by one.
fn answer_properties(
    net: &LoadedNet,
    together: &CoverReport,
    options: &CoverOptions,
    report: &mut Report,
    context: &mut Context<'_>,
) {
    let end = |run: &Run| net.problem.end_of(&run.initial, &run.transitions);
    let last = together.run.as_ref().and_then(end);
    let known = |property: &NetProperty| match &property.question {
        Question::Unsupported(reason) => Some(Answer::Unsupported(reason.clone())),
        _ if last.as_ref().is_some_and(|last| property.is_reached(&net.problem.net, last)) => {
            together.run.clone().map(Answer::Reached)
        }
        Question::Cover(_) if together.certificate.is_some() => Some(Answer::Unreachable("by a certificate")),
        // There is nobody else to ask about it.
        Question::Cover(_) if net.properties.len() == 1 => match together.outcome.verdict {
            Verdict::Inconclusive(reason) => Some(Answer::Unknown(reason)),
            _ => None,
        },
        Question::Cover(_) | Question::Reach(_) => None,
    };
    let mut answers: Vec<Option<Answer>> = net.properties.iter().map(known).collect();
    let open: Vec<&NetProperty> = net
        .properties
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.is_none())
        .map(|(it, _)| it)
        .collect();
    let found = preempt_wsts::answer_each(&net.problem, &open, options, context.progress);
    answers
        .iter_mut()
        .filter(|answer| answer.is_none())
        .zip(found)
        .for_each(|(open, found)| *open = Some(found));

    let mut undone = None;
    let mut reached = None;
    for (number, (property, answer)) in net.properties.iter().zip(answers).enumerate() {
        let (answer, verdict) = match answer {
            Some(Answer::Reached(run)) => {
                reached.get_or_insert((number, run));
                (truth(property.quantifier.value(true)), Verdict::Violated)
            }
            Some(Answer::Unreachable(_)) => {
                (truth(property.quantifier.value(false)), Verdict::conclude(false, None))
            }
            Some(Answer::Unsupported(reason)) => {
                undone.get_or_insert(StopReason::Partial);
                (FormulaAnswer::Unsupported(reason), Verdict::Inconclusive(StopReason::Partial))
            }
            Some(Answer::Unknown(reason)) => {
                undone = Some(reason);
                (FormulaAnswer::Unknown, Verdict::Inconclusive(reason))
            }
            None => (FormulaAnswer::Unknown, Verdict::Inconclusive(StopReason::Partial)),
        };
        let name = match &answer {
            FormulaAnswer::Unsupported(_) => property.id.clone(),
            _ => format!("{} {}", property.quantifier.name(), property.id),
        };
        let answer = Some(answer);
        report.properties.push(PropertyResult { name, verdict, violation: None, cost: None, answer });
    }
    report.verdict = Verdict::conclude(reached.is_some(), undone);
    if report.verdict != Verdict::Holds {
        report.statement = None;
    }
    if let Some((number, run)) = reached {
        let words = in_words(&net.properties[number], true);
        let violation = Property::new(PropertyKind::Coverability, words, None);
        report.properties[number].violation = Some(violation.clone());
        (report.violation, report.shown) = (Some(violation), number);
        if together.run.as_ref() != Some(&run) {
            report.minimality = Minimality::Nothing;
            report.counterexample = run.trace(&net.problem, None, &context.progress.budget());
        }
        show_run(net, &run, &context.progress.budget(), report);
    }
}

fn truth(value: bool) -> FormulaAnswer {
    if value { FormulaAnswer::True } else { FormulaAnswer::False }
}

fn statement(net: &LoadedNet) -> String {
    let parametric = net.problem.initial.iter().any(|range| range.high.is_none());
    let tokens = if parametric { ", whatever the number of tokens" } else { "" };
    match (net.properties.as_slice(), net.problem.targets.len()) {
        ([property], _) => format!("{}{tokens}", in_words(property, false)),
        ([_, _, ..], _) => format!("nothing that is asked for can be reached{tokens}"),
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
