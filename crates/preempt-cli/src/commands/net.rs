//! `preempt check` for nets: can a target be covered, with any number of tokens?

use super::again::{self, Found};
use super::certify;
use super::explicit;
use super::model::no_plan;
use super::outcome::{Delivery, present};
use crate::ExitStatus;
use crate::args::{CheckArgs, Colour, Format};
use crate::console::{self, Failure};
use crate::input;
use crate::job;
use crate::plan::{Engine, Input, Plan, plan};
use crate::progress::Watch;
use preempt_core::{Budget, Diagnostic, SourceMap, StopReason, Verdict};
use preempt_net::mcc::{self, CoverProperty, Quantifier};
use preempt_net::{Problem, pnml, spec};
use preempt_report::style::{Ink, Style};
use preempt_report::{RunInfo, Setting, TextOptions, render_diagnostics, to_json};
use preempt_wsts::{CoverOptions, CoverReport, Diagrams};
use std::path::Path;

pub fn check(args: &CheckArgs, source: input::Model, engine: Engine) -> Result<ExitStatus, Failure> {
    refuse_what_does_not_fit(args)?;
    let Plan::NetByCoverability(by) =
        plan(source.input, engine).map_err(|why| no_plan(source.input, engine, why))?
    else {
        return Err(no_plan(source.input, engine, "it takes no nets"));
    };
    let (file, source_input) = (source.name.clone(), source.input);
    let wanted = args.property.as_deref();
    let Some(asked) = load(source, args.properties.as_deref(), wanted, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    asked.has_target(&file)?;
    if let Some(why) = by.refuses(&asked.problem) {
        return Err(no_plan(source_input, engine, why));
    }
    job::current().about(RunInfo { file: file.clone(), engine: engine.name().into(), options: Vec::new() });
    let mut watch = Watch::start();
    let options = CoverOptions { engine: by, limits: args.search.limits(), ..CoverOptions::default() };
    let mut checked = preempt_wsts::check(&asked.problem, &options, &mut watch);
    watch.finish();
    // The engines may know only that they were told to stop, and not why.
    if let (Verdict::Inconclusive(StopReason::Interrupted), Some(reason)) =
        (checked.outcome.verdict, job::current().budget.stopped())
    {
        checked.outcome.verdict = Verdict::Inconclusive(reason);
    }
    if let Some(error) = &checked.internal_error {
        return Err(Failure::new(format!("internal error: {error}")));
    }
    asked.name_what_is_violated(&mut checked, &job::current().budget);
    let answered_by = Setting::Text(checked.answered_by.name().into());
    let mut options = vec![("answered_by".to_string(), answered_by)];
    options.extend(checked.diagrams.iter().flat_map(numbers));
    let info = RunInfo { file, engine: engine.name().into(), options };
    let again = again::command(args, source_input, Found::Covering(checked.answered_by.name()));
    let text = TextOptions { full: args.full, again, ..TextOptions::default() };
    let result = present(&info, &checked.outcome, &args.output, text);
    let text = || words(&asked, &checked, &result, console::stdout_style(args.output.color));
    let result = if args.output.format == Format::Text { text() } else { result.clone() };
    let mut delivery = Delivery::of(result, checked.outcome.verdict);
    if let (Some(path), Some(certificate)) = (&args.certificate, &checked.certificate) {
        delivery.file(path, certificate.write(&asked.problem.net));
    }
    if let (Some(path), Some(_)) = (&args.trace, &checked.outcome.counterexample) {
        delivery.file(path, to_json(&info, &checked.outcome));
    }
    Ok(delivery.deliver())
}

/// A net with its targets; those of all properties together, so that one certificate is about all of them.
pub struct Asked {
    pub problem: Problem,
    pub properties: Vec<CoverProperty>,
    pub sources: SourceMap,
}

/// `None` if the input has errors; they have been printed.
pub fn load(
    source: input::Model,
    properties: Option<&Path>,
    wanted: Option<&str>,
    colour: Colour,
) -> Result<Option<Asked>, Failure> {
    let mut sources = SourceMap::new();
    let id = sources.add(source.name.as_str(), source.text.as_str());
    let budget = &job::current().budget;
    let (mut problem, mut diagnostics) = match source.input {
        Input::Pnml => pnml::read_within(id, &source.text, budget),
        Input::Net => spec::read_within(id, &source.text, budget),
        other => return Err(Failure::new(format!("this is {}, and no net", other.name()))),
    };
    let mut read = Vec::new();
    match properties {
        Some(path) if source.input == Input::Pnml => {
            let text = input::text_of(path)?;
            let id = sources.add(path.display().to_string().as_str(), text.as_str());
            // Names mean nothing before the net is understood.
            if !diagnostics.iter().any(Diagnostic::is_error) {
                let found = mcc::read_within(&problem.net, id, &text, wanted, budget);
                read = found.0;
                diagnostics.extend(found.1);
            }
        }
        Some(_) => {
            return Err(Failure::new("--properties is for PNML nets; this net has a target of its own"));
        }
        None if wanted.is_some() => {
            return Err(Failure::new("--property needs a file of properties, as in --properties FILE"));
        }
        None => {}
    }
    // What was cut short is no net.
    job::check()?;
    problem.targets.extend(read.iter().flat_map(|property| property.targets.iter().cloned()));
    let style = console::stderr_style(colour);
    console::complain(&render_diagnostics(&diagnostics, &sources, console::stderr_width(), style));
    if diagnostics.iter().any(Diagnostic::is_error) {
        if read.len() + diagnostics.len() > 1 && properties.is_some() && wanted.is_none() {
            console::complain("help: --property NAME asks for one property only\n");
        }
        return Ok(None);
    }
    Ok(Some(Asked { problem, properties: read, sources }))
}

impl Asked {
    pub fn has_target(&self, file: &str) -> Result<(), Failure> {
        if self.problem.targets.is_empty() && self.properties.is_empty() {
            return Err(Failure::new(format!("`{file}` has no target"))
                .hint("give a file of properties, as in --properties ReachabilityCardinality.xml"));
        }
        Ok(())
    }

    /// The property whose target the run covers, and what that says about it.
    fn name_what_is_violated(&self, checked: &mut CoverReport, budget: &Budget) {
        if checked.outcome.verdict != Verdict::Violated {
            return;
        }
        let Some(run) = &checked.run else { return };
        // The same run with places in the text; one of them at a time, as it may be long. Where there was no time to tell
        // it, there is none now.
        if checked.outcome.counterexample.take().is_some() {
            checked.outcome.counterexample = run.trace(&self.problem, Some(&self.sources), budget);
        }
        let Some(last) = self.problem.end_of(&run.initial, &run.transitions) else { return };
        let covered = |property: &&CoverProperty| property.targets.iter().any(|target| last.covers(target));
        if let (Some(property), Some(violation)) =
            (self.properties.iter().find(covered), &mut checked.outcome.violation)
        {
            violation.name = match property.quantifier {
                Quantifier::Reachable => format!("EF {} is true", property.id),
                Quantifier::Invariant => format!("AG {} is false", property.id),
            };
        }
    }

    /// What "holds" says about each property.
    fn checked(&self) -> Vec<String> {
        let one = |property: &CoverProperty| match property.quantifier {
            Quantifier::Reachable => format!("EF {} is false", property.id),
            Quantifier::Invariant => format!("AG {} is true", property.id),
        };
        self.properties.iter().map(one).collect()
    }
}

/// The result for people: a proof says what it is made of, and a run how many tokens it takes.
fn words(asked: &Asked, checked: &CoverReport, result: &str, style: Style) -> String {
    let by = checked.answered_by.name();
    let seconds = checked.outcome.stats.time.as_secs_f64();
    match (&checked.run, &checked.certificate) {
        (_, Some(certificate)) => {
            let mut text = format!("{}: ", style.paint(Ink::Good, "holds"));
            text.push_str(match asked.problem.targets.len() {
                1 => "the target cannot be covered",
                _ => "no target can be covered",
            });
            let parametric = asked.problem.initial.iter().any(|range| range.high.is_none());
            text.push_str(if parametric { ", whatever the number of tokens\n" } else { "\n" });
            for line in asked.checked() {
                text.push_str(&format!("  {line}\n"));
            }
            text.push_str(&format!("certified ({by}, {seconds:.2} s):\n{}", certify::summary(certificate)));
            text.push_str(&weights(checked));
            text
        }
        (Some(run), _) => {
            let most = asked.problem.most_tokens(&run.initial, &run.transitions).unwrap_or(0);
            let tokens = if most == 1 { "1 token".into() } else { format!("{most} tokens") };
            let fewest = if checked.fewest_tokens { "no run does with fewer" } else { "fewer may do" };
            let untold = match &checked.outcome.counterexample {
                Some(_) => String::new(),
                None => format!(
                    "its run of {} steps was replayed; to show it is beyond the limits\n",
                    run.transitions.len()
                ),
            };
            format!("{result}found ({by}): at most {tokens} at once; {fewest}\n{untold}{}", weights(checked))
        }
        _ => format!("{result}{}", weights(checked)),
    }
}

/// What the engine by weight needed.
fn weights(checked: &CoverReport) -> String {
    let Some(d) = checked.diagrams else { return String::new() };
    format!(
        "  weights up to {} (n = {}, delta = {}), {} local states in {} bits:\n  \
         diagrams of height {} (at most {}), {} nodes, {} backward images\n",
        d.weight,
        d.n,
        d.delta,
        d.local_states,
        d.bits_per_slot,
        d.height,
        d.bound().max(d.height),
        d.nodes,
        d.rounds
    )
}

fn numbers(d: &Diagrams) -> Vec<(String, Setting)> {
    let number = |name: &str, value: u64| (name.to_string(), Setting::Number(value));
    vec![
        number("weight", d.weight),
        number("n", d.n),
        number("delta", d.delta),
        number("local_states", d.local_states as u64),
        number("height", d.height),
        number("height_bound", d.bound()),
        number("nodes", d.nodes as u64),
        number("backward_images", d.rounds),
    ]
}

/// A net has no processes to preempt, no formulas, and no states that are visited one by one.
fn refuse_what_does_not_fit(args: &CheckArgs) -> Result<(), Failure> {
    let options = [
        ("--ltl", args.ltl.is_some()),
        ("--non-progress", args.non_progress),
        ("--weak-fairness", args.weak_fairness),
        ("-D", !args.model.defines.is_empty()),
        ("--dialect", args.model.dialect.is_some()),
        ("--error-label", args.model.error_label.is_some()),
    ];
    let own = options.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    match own.or(explicit::mentioned(&args.search, args)) {
        Some(name) => Err(Failure::new(format!("{name} does not apply to a net"))
            .hint("a net is asked one thing: whether its target can be covered")),
        None => Ok(()),
    }
}
