//! What `check` and `count` share: from the file to an outcome, and from an outcome to what is printed.

use crate::args::{Colour, Format, ModelArgs, OutputArgs, SearchArgs};
use crate::backend::{self, Loaded, reference};
use crate::console::{self, Failure};
use crate::input;
use crate::plan::{Engine, Plan, plan};
use crate::progress::Watch;
use preempt_core::{Observer, Outcome, SourceMap};
use preempt_report::{RunInfo, Setting, TextOptions, render_diagnostics, render_outcome, to_json};

/// `None` if the input has errors; they have been printed.
pub struct Searched {
    pub info: RunInfo,
    pub outcome: Option<Outcome>,
}

type Explore = fn(&backend::Model, &SourceMap, &reference::Options, &mut dyn Observer) -> Outcome;

pub fn search(
    model: &ModelArgs,
    search: &SearchArgs,
    colour: Colour,
    explore: Explore,
) -> Result<Searched, Failure> {
    let engine = Engine::Reference;
    let source = input::read(model)?;
    let info = RunInfo { file: source.name.clone(), engine: engine.name().into(), options: settings(search) };
    let plan = plan(source.input, engine).map_err(|why| {
        Failure::new(format!("{} with the {} engine: {why}", source.input.name(), engine.name()))
    })?;
    let outcome = match plan {
        Plan::PromelaByReference => {
            let defines: Vec<(String, String)> =
                model.defines.iter().map(|define| (define.name.clone(), define.value.clone())).collect();
            let loaded = backend::load(&source.name, &source.text, &defines, &mut input::read_include);
            sound(loaded, colour).map(|(model, sources)| {
                let options = reference::Options {
                    bound: search.bound,
                    fair_switch: search.fair_switch,
                    limits: search.limits(),
                };
                let mut watch = Watch::start();
                let outcome = explore(&model, &sources, &options, &mut watch);
                watch.finish();
                outcome
            })
        }
    };
    Ok(Searched { info, outcome })
}

/// Prints the diagnostics; the model if none of them is an error. A front end without a model has said why.
fn sound(loaded: Loaded, colour: Colour) -> Option<(backend::Model, SourceMap)> {
    let Loaded { model, sources, diagnostics } = loaded;
    let style = console::stderr_style(colour);
    console::complain(&render_diagnostics(&diagnostics, &sources, console::stderr_width(), style));
    if diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
        return None;
    }
    if !diagnostics.is_empty() {
        // On a terminal the result follows: keep it apart from the warnings.
        console::complain("\n");
    }
    model.map(|model| (model, sources))
}

/// As the JSON result lists them.
fn settings(search: &SearchArgs) -> Vec<(String, Setting)> {
    let text = |text: &str| Setting::Text(text.into());
    let bound = search.bound.map_or(Setting::Unset, |bound| Setting::Number(bound.into()));
    [
        ("search", text("fewest-preemptions")),
        ("store", text("exact")),
        ("reduction", text("none")),
        ("bound", bound),
        ("fair_switch", Setting::Flag(search.fair_switch)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_string(), value))
    .collect()
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
