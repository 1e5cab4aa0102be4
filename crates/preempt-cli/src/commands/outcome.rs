//! From an outcome to what is printed.

use super::model::Ready;
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::backend::{self, ExplicitOptions, Goal, Options};
use crate::console::{self, Failure};
use crate::plan::Engine;
use preempt_core::{Observer, Outcome};
use preempt_report::{RunInfo, Setting, TextOptions, render_outcome, to_json};

pub fn options(search: &SearchArgs) -> Options {
    Options { bound: search.bound, fair_switch: search.fair_switch, limits: search.limits() }
}

/// The explicit engine, for what it can answer.
pub fn explicit(
    ready: &Ready,
    search: &SearchArgs,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Outcome, Failure> {
    let options = ExplicitOptions {
        bound: search.bound,
        fair_switch: search.fair_switch,
        limits: search.limits(),
        ..ExplicitOptions::default()
    };
    backend::explore(&ready.model, &ready.sources, &options, goal, observer)
        .map(|report| report.outcome)
        .map_err(|why| Failure::new(why.to_string()).hint("use --engine reference"))
}

/// What the JSON result says about how it was made.
pub fn info(file: &str, engine: Engine, search: &SearchArgs, weakly_fair: Option<bool>) -> RunInfo {
    let text = |text: &str| Setting::Text(text.into());
    let bound = search.bound.map_or(Setting::Unset, |bound| Setting::Number(bound.into()));
    let mut settings = vec![
        ("search", text("fewest-preemptions")),
        ("store", text("exact")),
        ("reduction", text("none")),
        ("bound", bound),
        ("fair_switch", Setting::Flag(search.fair_switch)),
    ];
    settings.extend(weakly_fair.map(|fair| ("weak_fairness", Setting::Flag(fair))));
    let options = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    RunInfo { file: file.to_string(), engine: engine.name().into(), options }
}

/// The result as it goes to stdout.
pub fn present(info: &RunInfo, outcome: &Outcome, output: &OutputArgs, text: TextOptions) -> String {
    match output.format {
        Format::Json => to_json(info, outcome),
        Format::Text => {
            let style = console::stdout_style(output.color);
            render_outcome(outcome, &TextOptions { style, width: console::stdout_width(), ..text })
        }
    }
}
