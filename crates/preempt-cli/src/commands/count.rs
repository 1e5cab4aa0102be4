//! `preempt count`: the size of the state space.

use super::model::ready;
use super::outcome::{explicit, info, options, present};
use crate::ExitStatus;
use crate::args::CountArgs;
use crate::backend::{Goal, search};
use crate::console::{self, Failure};
use crate::plan::Engine;
use crate::progress::Watch;
use preempt_report::TextOptions;

pub fn run(args: &CountArgs) -> Result<ExitStatus, Failure> {
    let engine = args.search.engine.unwrap_or(Engine::Reference);
    let Some(ready) = ready(&args.model, engine, None, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let interpreter = ready.interpreter()?;
    let mut watch = Watch::start();
    let outcome = match engine {
        Engine::Explicit => explicit(&ready, &args.search, Goal::Count, &mut watch),
        _ => Ok(search::count(&interpreter, &options(&args.search), &mut watch)),
    };
    watch.finish();
    let outcome = outcome?;
    let info = info(&ready.file, engine, &args.search, None);
    console::print(&present(&info, &outcome, &args.output, TextOptions::default()))?;
    Ok(outcome.verdict.into())
}
