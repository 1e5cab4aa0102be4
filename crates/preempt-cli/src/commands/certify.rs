//! `preempt certify`: does a certificate show that no target can be covered?

use super::load::{Read, load, read};
use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::input;
use crate::job::{self, Stage};
use crate::options::CommandLine;
use preempt_workbench::certify::certify;
use std::path::Path;

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    let Read { plan, source } = read(line)?;
    let text = input::text_of(line.second.as_deref().unwrap_or(Path::new("")))?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    let certified = certify(&input, &text, &job::current().budget)?;
    let summary: String = certified.summary.iter().map(|line| format!("  {line}\n")).collect();
    job::current().enter(Stage::Printing);
    console::print(&format!("certified: {}\n{summary}", certified.statement))?;
    Ok(ExitStatus::Holds)
}
