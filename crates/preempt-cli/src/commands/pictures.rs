//! The result as pictures: `--report FILE` is a page with everything, `--svg FILE` the chart of the run alone.

use super::delivery::Delivery;
use crate::options::CommandLine;
use preempt_core::{Report, SourceMap, Trace};
use preempt_report::{Page, Sample, render_html, render_svg};
use std::path::{Path, PathBuf};

/// What is to be drawn, and with what.
pub struct Pictures<'a> {
    pub report: &'a Report,
    /// In place of the verdict, for a run that was not asked for one.
    pub headline: Option<String>,
    /// Name and text of each file.
    pub sources: Vec<(String, String)>,
    pub again: Option<String>,
    pub history: Vec<Sample>,
}

/// Options that name a picture to be written.
pub const OUTPUTS: [&str; 2] = ["report", "svg"];

/// Every text that was read, included ones too.
pub fn texts(sources: &SourceMap) -> Vec<(String, String)> {
    sources.sources().map(|(_, source)| (source.name.clone(), source.text.clone())).collect()
}

/// The texts that a run names, as far as they can be found from here.
pub fn texts_on_disk(trace: &Trace) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    let partners = trace.steps.iter().filter_map(|step| step.partner.as_ref()?.location.as_ref());
    for place in trace.steps.iter().filter_map(|step| step.location.as_ref()).chain(partners) {
        if !names.contains(&place.file.as_str()) {
            names.push(&place.file);
        }
    }
    let text = |name: &str| Some((name.to_string(), std::fs::read_to_string(name).ok()?));
    names.into_iter().filter_map(text).collect()
}

impl Pictures<'_> {
    /// As files of a result; only a run can be drawn as a chart.
    pub fn join(self, line: &CommandLine, delivery: &mut Delivery) {
        for (path, text) in self.files(line.path("report"), line.path("svg")) {
            delivery.file(&path, text);
        }
    }

    pub fn files(self, page: Option<&Path>, chart: Option<&Path>) -> Vec<(PathBuf, String)> {
        let Pictures { report, headline, sources, again, history } = self;
        let mut files = Vec::new();
        if let Some(path) = page {
            let page = Page {
                report,
                headline,
                sources: &sources,
                mover: "process",
                again,
                history: &history,
                points: None,
            };
            files.push((path.to_path_buf(), render_html(&page)));
        }
        if let (Some(path), Some(trace)) = (chart, &report.counterexample) {
            files.push((path.to_path_buf(), render_svg(trace, report.violation.as_ref())));
        }
        files
    }
}
