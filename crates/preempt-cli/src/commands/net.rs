//! `preempt check` for nets: can a target be covered, with any number of tokens?

use super::check::{cannot_write, could_be_written};
use super::outcome::{info, present};
use crate::ExitStatus;
use crate::args::CheckArgs;
use crate::console::{self, Failure};
use crate::input;
use crate::plan::Engine;
use crate::progress::Watch;
use preempt_core::{Diagnostic, SourceMap};
use preempt_report::{TextOptions, render_diagnostics, to_json};
use preempt_wsts::Options;

pub fn check(args: &CheckArgs, source: input::Model) -> Result<ExitStatus, Failure> {
    refuse_what_does_not_fit(args)?;
    if let Some(path) = &args.certificate {
        could_be_written(path)?;
    }
    let mut sources = SourceMap::new();
    let id = sources.add(source.name.as_str(), source.text.as_str());
    let (problem, diagnostics) = preempt_net::spec::read(id, &source.text);
    let style = console::stderr_style(args.output.color);
    console::complain(&render_diagnostics(&diagnostics, &sources, console::stderr_width(), style));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(ExitStatus::Input);
    }
    let mut watch = Watch::start();
    let checked = preempt_wsts::check(
        &problem,
        &Options { limits: args.search.limits(), ..Options::default() },
        &mut watch,
    );
    watch.finish();
    if let Some(error) = &checked.internal_error {
        return Err(Failure::new(format!("internal error: {error}")));
    }
    let info = info(&source.name, Engine::Wsts, &args.search, None, None);
    let text = TextOptions { full: args.full, ..TextOptions::default() };
    console::print(&present(&info, &checked.outcome, &args.output, text))?;
    if let (Some(path), Some(certificate)) = (&args.certificate, &checked.certificate) {
        std::fs::write(path, certificate.write(&problem.net))
            .map_err(|error| cannot_write(path, &error.to_string()))?;
    }
    if let (Some(path), Some(_)) = (&args.trace, &checked.outcome.counterexample) {
        std::fs::write(path, to_json(&info, &checked.outcome))
            .map_err(|error| cannot_write(path, &error.to_string()))?;
    }
    Ok(checked.outcome.verdict.into())
}

/// A net has no processes to preempt and no formulas.
fn refuse_what_does_not_fit(args: &CheckArgs) -> Result<(), Failure> {
    let options = [
        ("--bound", args.search.bound.is_some()),
        ("--fair-switch", args.search.fair_switch),
        ("--property", args.property.is_some()),
        ("--ltl", args.ltl.is_some()),
        ("--non-progress", args.non_progress),
        ("--weak-fairness", args.weak_fairness),
        ("-D", !args.model.defines.is_empty()),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::new(format!("{name} does not apply to a net"))
            .hint("a net is asked one thing: whether its target can be covered")),
        None => Ok(()),
    }
}
