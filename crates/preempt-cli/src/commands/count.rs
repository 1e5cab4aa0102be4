//! `preempt count`: the size of the state space.

use super::model::ready;
use super::outcome::{info, options, present};
use crate::ExitStatus;
use crate::args::CountArgs;
use crate::backend::search;
use crate::console::{self, Failure};
use crate::plan::Engine;
use crate::progress::Watch;
use preempt_report::TextOptions;

pub fn run(args: &CountArgs) -> Result<ExitStatus, Failure> {
    let engine = Engine::Reference;
    let Some(ready) = ready(&args.model, engine, None, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let interpreter = ready.interpreter()?;
    let mut watch = Watch::start();
    let outcome = search::count(&interpreter, &options(&args.search), &mut watch);
    watch.finish();
    let info = info(&ready.file, engine, &args.search, None);
    console::print(&present(&info, &outcome, &args.output, TextOptions::default()))?;
    Ok(outcome.verdict.into())
}
