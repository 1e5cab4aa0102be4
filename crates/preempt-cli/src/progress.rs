//! Watching a search: a line on stderr, and the word to stop.

use crate::console::{complain, stderr_width};
use crate::job::{self, Job};
use preempt_core::{Budget, Progress, Snapshot, StopReason};
use preempt_report::Sample;
use preempt_workbench::Engine;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Half a second: fast enough to see that something happens, slow enough to read.
const INTERVAL: Duration = Duration::from_millis(500);
/// Prints how far the search is, if stderr is a terminal, keeps the last numbers, and passes on that it must end: because
/// the user wants it, because time is over, or because the process has too much memory.
#[derive(Debug)]
pub struct Watch {
    job: &'static Job,
    started: Instant,
    /// When the line was last drawn; `None` if it never was, so that there is nothing to erase.
    drawn: Option<Instant>,
    is_terminal: bool,
    /// What the two numbers count that every search has.
    counts: [&'static str; 2],
    history: History,
}

/// How the numbers grew: a sample now and then, never more than can be drawn.
#[derive(Debug)]
struct History {
    samples: Vec<Sample>,
    every: Duration,
}

/// So many points of a curve can be told apart.
const MOST_SAMPLES: usize = 256;

impl History {
    fn new() -> History {
        History { samples: Vec::new(), every: Duration::from_millis(1) }
    }

    /// When there are too many, every other one goes, and the next come half as often.
    fn note(&mut self, progress: &Snapshot, time: Duration) {
        if self.samples.last().is_some_and(|last| time < last.time + self.every) {
            return;
        }
        if self.samples.len() == MOST_SAMPLES {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.every *= 2;
        }
        self.samples.push(Sample { time, states: progress.states, bytes: progress.bytes });
    }
}

impl Watch {
    pub fn start(engine: Option<&Engine>) -> Watch {
        Watch {
            job: job::current(),
            started: Instant::now(),
            drawn: None,
            history: History::new(),
            is_terminal: std::io::stderr().is_terminal(),
            counts: match engine.map(|engine| engine.counts) {
                Some([Some(one), Some(other)]) => [one.label(), other.label()],
                Some([Some(one), None]) => [one.label(), "computed"],
                _ => ["visited", "computed"],
            },
        }
    }

    /// Erases the line, so that what follows starts on an empty one; how the numbers grew.
    pub fn finish(self) -> Vec<Sample> {
        if self.drawn.is_some() {
            erase_line();
        }
        self.history.samples
    }
}

/// If there can be one.
pub fn erase_line() {
    if std::io::stderr().is_terminal() {
        complain("\r\x1b[K");
    }
}

impl Progress for Watch {
    fn update(&mut self, progress: &Snapshot) {
        self.job.saw(progress);
        let now = Instant::now();
        self.history.note(progress, now - self.started);
        if !self.is_terminal || now - self.drawn.unwrap_or(self.started) < INTERVAL {
            return;
        }
        self.drawn = Some(now);
        let mut line = line(progress, now - self.started, self.counts);
        // A line that wraps cannot be erased.
        line.truncate(stderr_width().saturating_sub(1));
        complain(&format!("\r\x1b[K{line}"));
    }

    fn stop(&self) -> Option<StopReason> {
        self.job.budget.exhausted()
    }

    fn budget(&self) -> Budget {
        self.job.budget.clone()
    }
}

/// ASCII only.
fn line(progress: &Snapshot, elapsed: Duration, [states, transitions]: [&str; 2]) -> String {
    let speed = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    let memory = match progress.bytes {
        0 => String::new(),
        bytes => format!("  {}B", short(bytes)),
    };
    format!(
        "{}s  level {}  {} {states} ({}/s)  {} {transitions}  depth {}  waiting {}{memory}",
        elapsed.as_secs(),
        progress.level,
        short(progress.states),
        short(speed as u64),
        short(progress.transitions),
        progress.depth,
        short(progress.frontier),
    )
}

/// `12.3M`: a number that changes twice a second needs no more digits.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.1}G", number as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_short() {
        let progress = Snapshot {
            states: 12_345_678,
            transitions: 999_999_999,
            frontier: 54_321,
            depth: 123_456,
            level: 12,
            bytes: 2_500_000_000,
        };
        let line = line(&progress, Duration::from_secs(100), ["states", "transitions"]);
        assert_eq!(
            line,
            "100s  level 12  12.3M states (123.5k/s)  1000.0M transitions  depth 123456  waiting 54.3k  2.5GB"
        );
        assert!(line.is_ascii());
    }

    #[test]
    fn nothing_is_asked_to_stop_by_itself() {
        let mut watch = Watch::start(None);
        watch.update(&Snapshot::default());
        assert_eq!(watch.stop(), None);
        watch.finish();
    }
}
