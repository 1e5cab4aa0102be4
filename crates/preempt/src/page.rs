//! The result of a check as a page to look at ([`preempt_report::html`]).

use crate::checker::Checker;
use crate::report::{CheckReport, Failure};
use crate::source::Sources;
use preempt_core::{
    Guarantee, Measure, Minimality, Property, PropertyKind, Report, RunInfo, Statistics, Trace,
};
use preempt_report::{Page, Points, render_html};
use std::path::{Path, PathBuf};

impl Checker {
    /// Writes the result as a page: the failing run as a chart with a lane for each thread, the source beside it with the line at
    /// which every thread stands, and the values at every step. One file that opens from disk and loads nothing.
    ///
    /// If it cannot be written, stderr says why; the result of the check is the same.
    ///
    /// ```
    /// use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// use preempt::{Checker, sync::Arc, thread};
    ///
    /// let page = std::env::temp_dir().join(format!("preempt-page-{}.html", std::process::id()));
    /// let report = Checker::new().report_html(&page).run(|| {
    ///     let counter = Arc::new(AtomicUsize::new(0));
    ///     let other = Arc::clone(&counter);
    ///     let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    ///     counter.store(counter.load(SeqCst) + 1, SeqCst);
    ///     child.join().unwrap();
    ///     assert_eq!(counter.load(SeqCst), 2);
    /// });
    /// assert!(report.failure.is_some());
    /// # let text = std::fs::read_to_string(&page)?;
    /// # assert!(text.contains("violated: ") && text.contains("\"mover\":\"thread\""));
    /// # std::fs::remove_file(&page)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn report_html(mut self, path: impl AsRef<Path>) -> Checker {
        self.page = Some(path.as_ref().to_path_buf());
        self
    }
}

/// Writes the page, or says why not.
pub(crate) fn write(report: &CheckReport, path: &PathBuf) {
    if let Err(error) = std::fs::write(path, page(report)) {
        eprintln!("preempt: cannot write to `{}`: {error}", path.display());
    }
}

fn page(report: &CheckReport) -> String {
    let failure = report.failure.as_ref();
    let trace = failure.map(Failure::trace);
    let what = |failure: &Failure| failure.message.lines().next().unwrap_or_default().to_string();
    let check = failure.map(|failure| failure.check.clone());
    let whole = Report {
        run: RunInfo { file: check.unwrap_or_default(), engine: "stateless".into(), ..RunInfo::default() },
        violation: failure.map(|failure| Property::new(PropertyKind::Assertion, what(failure), None)),
        statistics: Statistics::default().with([(Measure::Executions, report.executions)]),
        ..Report::new(report.verdict, Guarantee::Exhaustive)
    };
    let sources = trace.as_ref().map_or(Vec::new(), texts);
    let minimality = match failure {
        Some(failure) if failure.fewest_preemptions => Minimality::Fewest,
        _ => Minimality::Nothing,
    };
    let mut whole = Report { counterexample: trace, minimality, ..whole };
    // The first line of the message is the headline.
    for line in failure.iter().flat_map(|failure| failure.message.lines().skip(1)) {
        whole.note(line.trim());
    }
    // What a check that found nothing rests on is for its own words to say.
    let headline = failure.is_none().then(|| report.to_string());
    let again = failure.filter(|failure| !failure.schedule.is_empty()).map(again);
    let title = match report.operations.is_empty() {
        true => "operations: none".to_string(),
        false => format!("operations: {}", report.by_thread()),
    };
    let points = Some(Points { title, parts: report.points() });
    render_html(&Page {
        report: &whole,
        headline,
        sources: &sources,
        mover: "thread",
        again,
        history: &[],
        points,
    })
}

fn again(failure: &Failure) -> String {
    let test = failure.test.as_deref().unwrap_or_default();
    format!("PREEMPT_REPLAY='{}={}' cargo test {test}", failure.check, failure.schedule)
}

/// The files that the run names, as far as they are found.
fn texts(trace: &Trace) -> Vec<(String, String)> {
    let mut sources = Sources::default();
    let mut texts: Vec<(String, String)> = Vec::new();
    for place in trace.steps.iter().filter_map(|step| step.location.as_ref()) {
        if texts.iter().all(|(name, _)| *name != place.file)
            && let Some(text) = sources.read(&place.file)
        {
            texts.push((place.file.clone(), text.to_string()));
        }
    }
    texts
}
