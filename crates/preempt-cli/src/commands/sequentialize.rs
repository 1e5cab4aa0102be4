//! `preempt sequentialize`: a concurrent program with a bound on contexts, as a sequential program.

use super::load::{Read, load, read};
use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::files::{self, could_be_written};
use crate::job::{self, Stage};
use crate::options::CommandLine;
use preempt_workbench::sequentialize::{Language, sequentialize};

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    could_be_written(line.path("output"), &[&line.file])?;
    let Read { plan, source } = read(line)?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    let language = match line.request.text("to") {
        Some("c") => Language::C,
        Some("promela") => Language::Promela,
        Some("smv") => Language::Smv,
        _ => Language::Boolean,
    };
    let contexts = usize::try_from(line.number("contexts")).unwrap_or(usize::MAX);
    let text = sequentialize(input.model()?, contexts, language, &job::current().budget)?;
    match line.path("output") {
        Some(path) => files::write(path, &text).map_err(Failure::unwritten)?,
        None => {
            job::current().enter(Stage::Printing);
            console::print(&text)?;
        }
    }
    Ok(ExitStatus::Holds)
}
