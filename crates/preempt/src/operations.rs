//! Which operations a search has done, thread by thread and line by line: where the threads of a test can be told apart by the order
//! of their steps, and where not.

use crate::naming::place;
use crate::report::CheckReport;
use crate::source::{Sources, is_own};
use crate::supervise::Heartbeats;
use preempt_core::{Location, Unit};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// An operation of a thread at one place of the test, over all runs of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationCount {
    /// `name(number)`; the number is that of the first run that did it.
    pub thread: String,
    /// What the thread did: `load`, `lock`.
    pub operation: String,
    /// Where in the test; none for what only this crate or std knows of, such as the end of a task.
    pub location: Option<Location>,
    /// How often, over all runs.
    pub times: u64,
    /// How often another thread has moved before, since this one had come here: it is a scheduling point of these runs.
    pub delayed: u64,
}

/// What all programs of a search have done together; they count anew then.
pub(crate) fn operations(heartbeats: &Heartbeats) -> Vec<OperationCount> {
    let mut threads: BTreeMap<u64, (usize, String)> = BTreeMap::new();
    let mut counts: BTreeMap<(u64, Option<Location>, &'static str), (u64, u64)> = BTreeMap::new();
    for heartbeat in heartbeats.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        for (name, entry) in heartbeat.take_tally().entries() {
            let number = entry.thread;
            let label = entry.label.as_deref().unwrap_or(if number == 0 { "main" } else { "thread" });
            threads.entry(name).or_insert_with(|| (number, format!("{label}({number})")));
            // What std calls back, such as a waker, stands in a text that nobody has written here.
            let file = entry.location.file();
            let location = (!is_own(file) && !file.starts_with("/rustc/")).then(|| place(entry.location));
            let count = counts.entry((name, location, entry.verb)).or_default();
            *count = (count.0 + entry.times, count.1 + entry.delayed);
        }
    }
    let mut operations: Vec<(usize, OperationCount)> = Vec::with_capacity(counts.len());
    for ((name, location, verb), (times, delayed)) in counts {
        let (number, thread) = &threads[&name];
        let (thread, operation) = (thread.clone(), verb.to_string());
        operations.push((*number, OperationCount { thread, operation, location, times, delayed }));
    }
    // Places stand in their order already.
    operations.sort_by_key(|(number, _)| *number);
    operations.into_iter().map(|(_, operation)| operation).collect()
}

/// So many operations are listed in text.
const LINES: usize = 12;

impl CheckReport {
    /// The operations of each thread and the lines at which others came in between, as text; some lines of it, since
    /// [`CheckReport::operations`] has them all.
    ///
    /// ```
    /// use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// use preempt::{Checker, sync::Arc, thread};
    ///
    /// let report = Checker::new().run(|| {
    ///     let counter = Arc::new(AtomicUsize::new(0));
    ///     let other = Arc::clone(&counter);
    ///     let child = thread::spawn(move || other.fetch_add(1, SeqCst));
    ///     counter.fetch_add(1, SeqCst);
    ///     child.join().unwrap();
    /// });
    /// let text = report.scheduling_points();
    /// assert!(text.starts_with("operations: 6 of main(0), 2 of thread(1)\n"), "{text}");
    /// assert_eq!(report.operations.iter().map(|it| it.times).sum::<u64>(), report.steps);
    /// ```
    pub fn scheduling_points(&self) -> String {
        if self.operations.is_empty() {
            return "operations: none, so there was no scheduling point\n".into();
        }
        let mut text = format!("operations: {}\n", self.by_thread());
        let mut rows = Vec::new();
        for (thread, points) in self.points() {
            for (number, (unit, remark)) in points.into_iter().enumerate() {
                let place = unit.location.map(|it| format!("{}:{}", it.file, it.line)).unwrap_or_default();
                let thread = if number == 0 { thread.clone() } else { String::new() };
                rows.push([thread, place, unit.text, remark]);
            }
        }
        let shown = if rows.len() <= LINES + 1 { rows.len() } else { LINES };
        let width =
            |column: usize| rows[..shown].iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2].map(width);
        for [thread, place, what, remark] in &rows[..shown] {
            let [first, second, third] = widths;
            let line = format!("  {thread:first$}  {place:second$}  {what:third$}  {remark}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        if shown < rows.len() {
            text.push_str(&format!("  and {} more\n", rows.len() - shown));
        }
        text
    }

    /// `4 of main(0), 2 of thread(1)`.
    pub(crate) fn by_thread(&self) -> String {
        let threads = self.operations.chunk_by(|one, other| one.thread == other.thread);
        let counts = threads.map(|all| (&all[0].thread, all.iter().map(|it| it.times).sum::<u64>()));
        counts.map(|(thread, times)| format!("{times} of {thread}")).collect::<Vec<_>>().join(", ")
    }

    /// For each thread its operations as the test calls them, with what is to be said of them.
    pub(crate) fn points(&self) -> Vec<(String, Vec<(Unit, String)>)> {
        let mut sources = Sources::default();
        let threads = self.operations.chunk_by(|one, other| one.thread == other.thread);
        let mut point = |it: &OperationCount| {
            let at = it.location.as_ref();
            let object = at.and_then(|at| sources.receiver(&at.file, at.line, at.column));
            let text = object.map_or(it.operation.clone(), |object| format!("{object}: {}", it.operation));
            (Unit { location: it.location.clone(), text }, remark(it))
        };
        threads.map(|all| (all[0].thread.clone(), all.iter().map(&mut point).collect())).collect()
    }
}

fn remark(it: &OperationCount) -> String {
    let times = if it.times == 1 { "once".to_string() } else { format!("{} times", it.times) };
    match it.delayed {
        0 => format!("{times}, never with another thread in between"),
        all if all == it.times => format!("{times}, always with another thread in between"),
        some => format!("{times}, {some} with another thread in between"),
    }
}
