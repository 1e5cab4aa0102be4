//! A report on its way out: notes, the result, then files.

use crate::ExitStatus;
use crate::console;
use crate::files;
use crate::job::{self, Stage};
use crate::options::{Colour, CommandLine, Format};
use preempt_core::{Report, Verdict};
use preempt_report::{TextOptions, render_notes, render_report, to_json};
use std::path::{Path, PathBuf};

/// A result on its way out: the text first, then the files, each whole or not at all. What cannot be written spoils nothing
/// of the rest; stderr says what it was, and the exit status that there was something.
#[derive(Debug)]
pub struct Delivery {
    text: String,
    verdict: Verdict,
    files: Vec<(PathBuf, String)>,
}

impl Delivery {
    /// What the report notes goes to stderr at once.
    pub fn of(report: &Report, again: Option<String>, line: &CommandLine) -> Delivery {
        console::complain(&render_notes(report, console::note_width(), console::stderr_style(line.colour())));
        let text = match line.format() {
            Format::Json => to_json(report),
            Format::Text => {
                let (width, style) = (console::stdout_width(), console::stdout_style(line.colour()));
                let full = line.flag("full");
                render_report(report, &TextOptions { width, style, full, again, ..TextOptions::default() })
            }
        };
        Delivery { text, verdict: report.verdict, files: Vec::new() }
    }

    /// The same, for people only.
    pub fn as_text(report: &Report, full: bool, colour: Colour) -> Delivery {
        let (width, style) = (console::stdout_width(), console::stdout_style(colour));
        let text = render_report(report, &TextOptions { width, style, full, ..TextOptions::default() });
        Delivery { text, verdict: report.verdict, files: Vec::new() }
    }

    pub fn file(&mut self, path: &Path, text: String) {
        self.files.push((path.to_path_buf(), text));
    }

    pub fn deliver(self) -> ExitStatus {
        let job = job::current();
        job.enter(Stage::Printing);
        let verdict = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive(_) => "inconclusive",
        };
        let mut failures = Vec::new();
        failures.extend(console::print(&self.text).err());
        job.enter(Stage::Writing);
        failures.extend(self.files.iter().filter_map(|(path, text)| files::write(path, text).err()));
        for failure in &failures {
            let failure = failure.clone();
            failure.hint(format!("the answer itself is: {verdict}")).print();
        }
        if failures.is_empty() && job.is_complete() { self.verdict.into() } else { ExitStatus::Unwritten }
    }
}
