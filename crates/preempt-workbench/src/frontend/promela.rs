//! Promela.

use super::{FrontEnd, Kind, LoadRequest, Loaded, TrailRequest};
use crate::checks::shown_check;
use crate::error::Error;
use crate::settings::Settings;
use preempt_core::Budget;
use preempt_promela::trail::{write_trail, write_trail_with_formula};
use preempt_promela::{Additions, ModelText};

pub const PROMELA: FrontEnd = FrontEnd {
    name: "promela",
    alias: None,
    title: "Promela",
    noun: "a Promela model",
    plural: "Promela models",
    extensions: &["pml", "pr", "prom", "promela", "pm", "prm", "spin", "sumo"],
    kind: Kind::Model,
    engines: &["explicit", "symbolic", "reference"],
    has_runtime_errors: true,
    any_threads: false,
    load,
    reads_properties: false,
    write_net: Some(super::net::write_promela),
    write_trail: Some(trail),
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let additions = additions(request.settings, request.budget);
    let loaded = preempt_promela::load(request.name, request.text, &additions, request.read);
    let preempt_promela::Loaded { model, numbers, sources, diagnostics, stopped: _ } = loaded;
    Loaded::of_model(request.name, model.map(|model| (model, numbers)), sources, diagnostics)
}

/// What the settings say about a model.
fn additions(settings: &Settings, budget: &Budget) -> Additions {
    Additions { defines: settings.defines.clone(), formula: settings.ltl.clone(), budget: budget.clone() }
}

/// How a front end writes a counterexample for Spin.
pub type WriteTrail = fn(&mut TrailRequest<'_>) -> Result<TrailText, Error>;

/// A counterexample in the format of Spin's trails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailText {
    /// The trail, as `spin -t` reads it.
    pub text: String,
    /// The claim whose moves the trail has: Spin must be told of it, as the model does not have it.
    pub claim: Option<String>,
    /// It has the steps of the processes, without moves of the claim that Spin makes itself.
    pub without_claim: bool,
}

/// For a formula the trail with the moves of a claim, and that claim; else the steps of the processes.
fn trail(request: &mut TrailRequest<'_>) -> Result<TrailText, Error> {
    let (Some(property), Some(trace)) = (&request.report.violation, &request.report.counterexample) else {
        return Err(Error::refused("there is no counterexample"));
    };
    let loaded = request.loaded;
    let own = loaded.sources.sources().find(|(_, source)| source.name == loaded.file);
    let additions = additions(request.settings, request.budget);
    let with_formula = own.filter(|_| request.with_claim).and_then(|(_, source)| {
        let text = ModelText { name: &loaded.file, text: &source.text, additions: &additions };
        write_trail_with_formula(&text, request.read, &loaded.model, property, trace)
    });
    if let Some((trail, claim)) = with_formula {
        return Ok(TrailText { text: trail.text, claim: Some(claim), without_claim: false });
    }
    let check = shown_check(request.settings, &loaded.model, request.report)?;
    let model = check.model_of(&loaded.model);
    let interpreter = loaded.interpreter_of(&model, request.budget)?;
    let trail =
        write_trail(&interpreter, &loaded.numbers, property, trace).map_err(|why| Error::refused(why.0))?;
    Ok(TrailText { text: trail.text, claim: None, without_claim: trail.without_claim })
}
