//! `preempt replay`: a stored counterexample, executed again.

use super::delivery::Delivery;
use super::load::{Read, load, read};
use super::pictures::{self, Pictures};
use crate::ExitStatus;
use crate::console::Failure;
use crate::files::could_be_written;
use crate::input;
use crate::job;
use crate::options::CommandLine;
use preempt_report::{Recorded, read_counterexample};
use preempt_workbench::replay::{formula_outside_of_the_model, replay};
use std::path::Path;

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    let stored = line.second.as_deref().unwrap_or(Path::new(""));
    could_be_written(pictures::OUTPUTS.iter().filter_map(|name| line.path(name)), &[&line.file, stored])?;
    let recorded = recording(stored)?;
    let Read { mut plan, source } = read(line)?;
    let Some(mut input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    if let Some(formula) = formula_outside_of_the_model(input.model()?, &recorded) {
        plan.settings.ltl = Some(formula);
        let Some(with_formula) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
        input = with_formula;
    }
    let report = replay(input.model()?, &recorded, &job::current().budget)?;
    let mut delivery = Delivery::of(&report, None, line);
    let sources = pictures::texts(input.sources());
    let pictures = Pictures { report: &report, headline: None, sources, again: None, history: Vec::new() };
    pictures.join(line, &mut delivery);
    Ok(delivery.deliver())
}

pub(super) fn recording(path: &Path) -> Result<Recorded, Failure> {
    let text = input::text_of(path)?;
    let recorded = read_counterexample(&text);
    job::check()?;
    recorded.map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))
}
