//! From an outcome to what is printed.

use crate::args::{Format, OutputArgs, SearchArgs, SearchOrder};
use crate::backend::{ExplicitOptions, Options, Storage};
use crate::console;
use crate::plan::Engine;
use preempt_core::Outcome;
use preempt_report::{RunInfo, Setting, TextOptions, properties_to_json, render_outcome};

pub fn options(search: &SearchArgs) -> Options {
    Options { bound: search.bound, fair_switch: search.fair_switch, limits: search.limits() }
}

/// What the JSON result says about how it was made.
pub fn info(
    file: &str,
    engine: Engine,
    search: &SearchArgs,
    explicit: Option<&ExplicitOptions>,
    weakly_fair: Option<bool>,
) -> RunInfo {
    let text = |text: &str| Setting::Text(text.into());
    let bound = search.bound.map_or(Setting::Unset, |bound| Setting::Number(bound.into()));
    let (order, reduction, successors) =
        explicit.map_or(("fewest-preemptions", "none", "interpreted"), super::explicit::names);
    let (order, store) = match (search.search, explicit.map(|explicit| explicit.store)) {
        (Some(SearchOrder::Swarm), _) => ("swarm", "bitstate"),
        (Some(SearchOrder::Random), _) => ("random", "none"),
        (_, None | Some(Storage::Exact)) => (order, "exact"),
        (_, Some(Storage::Compact { .. })) => (order, "compact"),
        (_, Some(Storage::Bitstate { .. })) => (order, "bitstate"),
    };
    let mut settings = vec![
        ("search", text(order)),
        ("store", text(store)),
        ("reduction", text(reduction)),
        ("successors", text(successors)),
        ("bound", bound),
        ("fair_switch", Setting::Flag(search.fair_switch)),
    ];
    settings.extend(weakly_fair.map(|fair| ("weak_fairness", Setting::Flag(fair))));
    let options = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    RunInfo { file: file.to_string(), engine: engine.name().into(), options }
}

/// The same for programs.
pub fn json(info: &RunInfo, outcome: &Outcome, text: &TextOptions) -> String {
    let all = (!text.all.is_empty()).then_some(text.all.as_slice());
    properties_to_json(info, outcome, &text.properties, all)
}

/// The result as it goes to stdout.
pub fn present(info: &RunInfo, outcome: &Outcome, output: &OutputArgs, text: TextOptions) -> String {
    match output.format {
        Format::Json => json(info, outcome, &text),
        Format::Text => {
            let style = console::stdout_style(output.color);
            render_outcome(outcome, &TextOptions { style, width: console::stdout_width(), ..text })
        }
    }
}
