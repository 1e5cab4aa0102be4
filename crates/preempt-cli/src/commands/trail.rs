//! `--trail FILE`: the counterexample in the format of Spin's trails.

use super::model::{Ready, additions};
use super::outcome::Delivery;
use crate::args::CheckArgs;
use crate::backend::trail::{Trail, write_trail, write_trail_with_formula};
use crate::backend::{Check, ModelText};
use crate::console::{self, Failure};
use crate::files;
use crate::input;
use crate::plan::Input;
use preempt_core::{Outcome, Property, Trace};
use std::path::{Path, PathBuf};

/// Asked before the search: other inputs are nothing that Spin reads.
pub fn refuse_elsewhere(args: &CheckArgs, input: Input) -> Result<(), Failure> {
    match (&args.trail, input) {
        (None, _) | (_, Input::Promela) => Ok(()),
        _ => Err(Failure::new("--trail is for Promela models: Spin reads nothing else").hint("use --trace")),
    }
}

/// The file, if it was asked for and there is a counterexample. The result is known by now and stays what it is, also
/// where no trail can be written.
pub fn write(
    args: &CheckArgs,
    ready: &Ready,
    question: &Check,
    outcome: &Outcome,
    delivery: &mut Delivery,
) -> Result<(), Failure> {
    let (Some(path), Some(property), Some(trace)) =
        (&args.trail, &outcome.violation, &outcome.counterexample)
    else {
        return Ok(());
    };
    if let Some((trail, claim)) = with_formula(args, ready, property, trace).filter(|_| files::keeps(path)) {
        let claim_file = claim_file(path);
        // Spin looks for it beside the model, unless it is told where.
        let place = std::path::absolute(&claim_file).unwrap_or_else(|_| claim_file.clone());
        console::complain(&format!("note: the trail needs the claim: spin -t -N {}\n", place.display()));
        delivery.file(&claim_file, claim);
        delivery.file(path, trail.text);
        return Ok(());
    }
    let model = question.model_of(&ready.model);
    let trail = match write_trail(&ready.interpreter_of(&model)?, &ready.numbers, property, trace) {
        Ok(trail) => trail,
        Err(why) => {
            console::complain(&format!("warning: no trail is written: {}\n", why.0));
            console::complain("help: --trace FILE writes the counterexample for `preempt replay`\n");
            return Ok(());
        }
    };
    if trail.without_claim {
        console::complain("note: the trail has the steps of the processes, without moves of Spin's claim\n");
    }
    delivery.file(path, trail.text);
    Ok(())
}

/// Beside the trail: `run.trail.never`.
fn claim_file(trail: &Path) -> PathBuf {
    let mut name = trail.as_os_str().to_os_string();
    name.push(".never");
    PathBuf::from(name)
}

/// For a formula: the trail with the moves of a claim, and that claim.
fn with_formula(
    args: &CheckArgs,
    ready: &Ready,
    property: &Property,
    trace: &Trace,
) -> Option<(Trail, String)> {
    let (_, source) = ready.sources.sources().find(|(_, source)| source.name == ready.file)?;
    let additions = additions(&args.model, args.ltl.as_deref());
    let (name, text) = (ready.file.as_str(), source.text.as_str());
    let text = ModelText { name, text, additions: &additions };
    write_trail_with_formula(&text, &mut input::read_include, &ready.model, property, trace)
}
