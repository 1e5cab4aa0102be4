//! `preempt check` and `preempt count`: read, plan, load, run, present.

use super::delivery::Delivery;
use super::load::{Read, load, read};
use super::pictures::{self, Pictures};
use super::trail;
use crate::ExitStatus;
use crate::checkpoint::Files;
use crate::console::Failure;
use crate::files::could_be_written;
use crate::job;
use crate::options::{CommandLine, again};
use crate::progress::Watch;
use crate::scratch::Folder;
use preempt_core::Verdict;
use preempt_report::to_json;
use preempt_workbench::{Checkpoints, Context, Input};

/// Options that name a file to be written.
const OUTPUTS: [&str; 4] = ["trace", "trail", "certificate", "checkpoint"];

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    could_be_written(
        OUTPUTS.iter().chain(&pictures::OUTPUTS).filter_map(|name| line.path(name)),
        &[&line.file],
    )?;
    let Read { mut plan, source } = read(line)?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    if let Some(engine) = plan.engine {
        job::current().about(plan.info(input.file(), engine), engine);
    }
    // Of the time that was asked for, what reading has left.
    plan.settings.limits.time = job::current().time_left();
    let mut files = Files::open(line)?;
    let mut watch = Watch::start(&plan);
    let checkpoints = Files::are_wanted(line).then_some(&mut files as &mut dyn Checkpoints);
    let scratch = line.path("disk").map(Folder::open).transpose()?;
    let report = plan.run(&input, &mut Context { progress: &mut watch, checkpoints, scratch });
    let history = watch.finish();
    let mut report = report?;
    if let Some(error) = files.error() {
        report.warn(error);
        // A search that came to its end needs no checkpoint.
        if matches!(report.verdict, Verdict::Inconclusive(_)) {
            job::current().left_unwritten();
        }
    }
    let again = again::command(line, &plan, &report);
    let mut delivery = Delivery::of(&report, again.clone(), line);
    if let (Some(path), Some(_)) = (line.path("trace"), &report.counterexample) {
        delivery.file(path, to_json(&report));
    }
    if let (Some(path), Some(certificate)) = (line.path("certificate"), &report.certificate) {
        delivery.file(path, certificate.text.clone());
    }
    if let (Some(path), Input::Model(loaded)) = (line.path("trail"), &input) {
        trail::write(path, &plan, loaded, &report, &mut delivery);
    }
    let sources = pictures::texts(input.sources());
    Pictures { report: &report, headline: None, sources, again, history }.join(line, &mut delivery);
    Ok(delivery.deliver())
}
