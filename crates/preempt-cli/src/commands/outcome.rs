//! From an outcome to what is printed.

use crate::ExitStatus;
use crate::args::{CheckArgs, Format, OutputArgs, SearchArgs, SearchOrder};
use crate::backend::{ReferenceOptions, SearchOptions, Storage};
use crate::console;
use crate::files;
use crate::job::{self, Stage};
use crate::plan::Engine;
use preempt_core::{Outcome, Verdict};
use preempt_report::{RunInfo, Setting, TextOptions, properties_to_json, render_outcome};
use std::path::{Path, PathBuf};

pub fn options(search: &SearchArgs) -> ReferenceOptions {
    ReferenceOptions { bound: search.bound, fair_switch: search.fair_switch, limits: search.limits() }
}

/// What the JSON result says about how it was made.
pub fn info(
    file: &str,
    engine: Engine,
    search: &SearchArgs,
    explicit: Option<&SearchOptions>,
    weakly_fair: Option<bool>,
) -> RunInfo {
    let text = |text: &str| Setting::Text(text.into());
    let bound = search.bound.map_or(Setting::Unset, |bound| Setting::Number(bound.into()));
    let (order, reduction, successors) =
        explicit.map_or(("fewest-preemptions", "none", "interpreted"), super::explicit::names);
    let (order, store) = match (search.search, explicit.map(|explicit| explicit.store)) {
        (Some(SearchOrder::Swarm), _) => ("swarm", "bitstate"),
        (Some(SearchOrder::Random), _) => ("random", "none"),
        (_, None | Some(Storage::Exact)) => (order, "exact"),
        (_, Some(Storage::Compact { .. })) => (order, "compact"),
        (_, Some(Storage::Bitstate { .. })) => (order, "bitstate"),
    };
    let mut settings = vec![
        ("search", text(order)),
        ("store", text(store)),
        ("reduction", text(reduction)),
        ("successors", text(successors)),
        ("bound", bound),
        ("fair_switch", Setting::Flag(search.fair_switch)),
    ];
    settings.extend(weakly_fair.map(|fair| ("weak_fairness", Setting::Flag(fair))));
    let options = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    RunInfo { file: file.to_string(), engine: engine.name().into(), options }
}

/// The same for programs.
pub fn json(info: &RunInfo, outcome: &Outcome, text: &TextOptions) -> String {
    let all = (!text.all.is_empty()).then_some(text.all.as_slice());
    properties_to_json(info, outcome, &text.properties, all)
}

/// The result as it goes to stdout.
pub fn present(info: &RunInfo, outcome: &Outcome, output: &OutputArgs, text: TextOptions) -> String {
    match output.format {
        Format::Json => json(info, outcome, &text),
        Format::Text => {
            let style = console::stdout_style(output.color);
            render_outcome(outcome, &TextOptions { style, width: console::stdout_width(), ..text })
        }
    }
}

/// Every file that `check` may be asked to write.
pub fn outputs(args: &CheckArgs) -> impl Iterator<Item = &Path> {
    let files = [&args.trace, &args.trail, &args.certificate, &args.search.checkpoint];
    files.into_iter().flatten().map(PathBuf::as_path)
}

/// A result on its way out: the text first, then the files, each whole or not at all. What cannot be written spoils nothing
/// of the rest; stderr says what it was, and the exit status that there was something.
#[derive(Debug)]
pub struct Delivery {
    text: String,
    verdict: Verdict,
    files: Vec<(PathBuf, String)>,
}

impl Delivery {
    pub fn of(text: String, verdict: Verdict) -> Delivery {
        Delivery { text, verdict, files: Vec::new() }
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
