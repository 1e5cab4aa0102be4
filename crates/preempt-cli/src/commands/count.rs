//! `preempt count`: the size of the state space.

use super::search::{present, search};
use crate::ExitStatus;
use crate::args::CountArgs;
use crate::backend::reference;
use crate::console::{self, Failure};
use preempt_report::TextOptions;

pub fn run(args: &CountArgs) -> Result<ExitStatus, Failure> {
    let searched = search(&args.model, &args.search, args.output.color, reference::count)?;
    let Some(outcome) = searched.outcome else { return Ok(ExitStatus::Input) };
    console::print(&present(&searched.info, &outcome, &args.output, TextOptions::default()))?;
    Ok(outcome.verdict.into())
}
