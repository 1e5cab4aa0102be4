//! `preempt show`: a stored counterexample for people, without its model.

use super::delivery::Delivery;
use super::pictures::{Pictures, texts_on_disk};
use super::replay::recording;
use crate::ExitStatus;
use crate::console::Failure;
use crate::files::could_be_written;
use crate::options::ShowLine;
use preempt_core::{Guarantee, Report, RunInfo, Verdict};

pub fn run(line: &ShowLine) -> Result<ExitStatus, Failure> {
    let outputs = [&line.report, &line.svg].into_iter().flatten().map(|path| path.as_path());
    could_be_written(outputs, &[&line.file])?;
    let recorded = recording(&line.file)?;
    let file = recorded.file.unwrap_or_else(|| line.file.display().to_string());
    let sources = texts_on_disk(&recorded.trace);
    let report = Report {
        run: RunInfo { file, ..RunInfo::default() },
        violation: recorded.property,
        counterexample: Some(recorded.trace),
        ..Report::new(Verdict::Violated, Guarantee::Exhaustive)
    };
    let mut delivery = Delivery::as_text(&report, line.full, line.colour);
    let pictures = Pictures { report: &report, headline: None, sources, again: None, history: Vec::new() };
    for (path, text) in pictures.files(line.report.as_deref(), line.svg.as_deref()) {
        delivery.file(&path, text);
    }
    Ok(delivery.deliver())
}
