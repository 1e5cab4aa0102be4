//! The report as a page: one file that opens from disk, with the run as a chart, the sources beside it, every variable at
//! every step, and the numbers as pictures.
//!
//! The page is written by hand, without a build step: `page.html` is its frame, `page.css` how it looks, and the scripts are
//! one file an idea (`run.js` knows the run, `chart.js` draws it, and so on). What a model says reaches it as data
//! ([`embedded`]) and is only ever shown as text: no script makes markup from a string, and the page may load nothing.

mod data;
mod embedded;

use preempt_core::{Report, Unit};
use std::time::Duration;

/// What a page is made from.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// The answer, with its runs.
    pub report: &'a Report,
    /// In place of the verdict, for a run that was made and not searched for.
    pub headline: Option<String>,
    /// Name and text of the files that its places name; one that is missing is not shown.
    pub sources: &'a [(String, String)],
    /// What moves: `process` or `thread`.
    pub mover: &'a str,
    /// The command that shows the same again.
    pub again: Option<String>,
    /// The numbers of the search while it was under way.
    pub history: &'a [Sample],
    /// What was executed, for a search that tells it in other words than the report.
    pub points: Option<Points>,
}

/// Places of the input and what became of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// What stands above them.
    pub title: String,
    /// For each process or thread its places, with a remark.
    pub parts: Vec<(String, Vec<(Unit, String)>)>,
}

/// How far a search was at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Since it began.
    pub time: Duration,
    /// That it had met, or whatever its engine counts first.
    pub states: u64,
    /// That it used.
    pub bytes: u64,
}

const FRAME: &str = include_str!("page.html");
const LOOKS: &str = include_str!("page.css");
const SCRIPTS: [&str; 7] = [
    include_str!("elements.js"),
    include_str!("run.js"),
    include_str!("chart.js"),
    include_str!("source.js"),
    include_str!("variables.js"),
    include_str!("numbers.js"),
    include_str!("main.js"),
];

/// The whole page.
///
/// ```
/// use preempt_core::{Guarantee, Report, Verdict};
/// use preempt_report::{Page, render_html};
///
/// let report = Report::new(Verdict::conclude(false, None), Guarantee::Exhaustive);
/// let page = Page { report: &report, headline: None, sources: &[], mover: "process", again: None, history: &[], points: None };
/// assert!(render_html(&page).contains("no violation"));
/// ```
pub fn render_html(page: &Page<'_>) -> String {
    let mut known = String::new();
    data::of_page(page).write(&mut known);
    // In one pass over the frame: what is put in is not looked at again.
    let mut out = String::with_capacity(known.len() + 64 * 1024);
    for part in FRAME.split("@@") {
        match part {
            "looks" => out.push_str(LOOKS),
            "data" => out.push_str(&known),
            "scripts" => SCRIPTS.iter().for_each(|script| out.push_str(script)),
            text => out.push_str(text),
        }
    }
    out
}

#[cfg(test)]
mod tests;
