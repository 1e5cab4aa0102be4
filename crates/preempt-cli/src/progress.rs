//! Watching a search: a line on stderr, and the word to stop.

use crate::console::{complain, progress_width};
use crate::job::{self, Job};
use crate::watcher;
use preempt_core::{Budget, Progress, Snapshot, StopReason};
use preempt_report::Sample;
use preempt_workbench::Plan;
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
    /// What is counted, and how much of it there may be.
    scale: Scale,
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

/// What the numbers of a search count, and how far they may go.
#[derive(Debug, Clone, Default)]
struct Scale {
    /// What the two numbers count that every search has.
    counts: [&'static str; 2],
    /// In the plural, and how many at most.
    levels: Option<(&'static str, Option<u32>)>,
    time: Option<Duration>,
    states: Option<u64>,
    memory: Option<u64>,
}

impl Scale {
    fn of(plan: &Plan) -> Scale {
        let limits = &plan.settings.limits;
        Scale {
            counts: match plan.engine.map(|engine| engine.counts) {
                Some([Some(one), Some(other)]) => [one.label(), other.label()],
                Some([Some(one), None]) => [one.label(), "computed"],
                _ => ["visited", "computed"],
            },
            levels: plan.levels(),
            time: job::current().terms.time,
            states: limits.states,
            memory: limits.memory_bytes.or(job::current().terms.memory).or_else(watcher::automatic_limit),
        }
    }
}

impl Watch {
    pub fn start(plan: &Plan) -> Watch {
        Watch::with(Scale::of(plan))
    }

    /// Watches, and says nothing: one of several processes speaks for all.
    pub fn silent(plan: &Plan) -> Watch {
        Watch { is_terminal: false, ..Watch::start(plan) }
    }

    fn with(scale: Scale) -> Watch {
        Watch {
            job: job::current(),
            started: Instant::now(),
            drawn: None,
            history: History::new(),
            is_terminal: std::io::stderr().is_terminal(),
            scale,
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
        // A line that wraps cannot be erased.
        let line = line(progress, now - self.started, &self.scale, progress_width().saturating_sub(1));
        complain(&format!("\r\x1b[K{line}"));
    }

    fn stop(&self) -> Option<StopReason> {
        self.job.budget.exhausted()
    }

    fn budget(&self) -> Budget {
        self.job.budget.clone()
    }
}

const BETWEEN: &str = "  ";

/// As many of its parts as fit, the most important first; none is ever cut. ASCII only.
fn line(progress: &Snapshot, elapsed: Duration, scale: &Scale, width: usize) -> String {
    let of = |number: String, most: Option<String>| match most {
        Some(most) => format!("{number} of {most}"),
        None => number,
    };
    let [states, transitions] = scale.counts;
    let speed = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    let mut parts = vec![
        of(elapsed.as_secs().to_string(), scale.time.map(|most| most.as_secs().to_string())) + " s",
        of(short(progress.states), scale.states.map(short)) + " " + states,
        format!("{}/s", short(speed as u64)),
    ];
    if let Some((unit, most)) = scale.levels {
        // Below the first level there is nothing to tell, unless somebody waits for the last.
        if progress.level > 0 || most.is_some() {
            let level = of(progress.level.to_string(), most.map(|most| most.to_string()));
            parts.push(format!("{level} {unit}"));
        }
    }
    if progress.bytes > 0 {
        parts.push(of(in_bytes(progress.bytes), scale.memory.map(in_bytes)));
    }
    if progress.frontier > 0 {
        parts.push(format!("{} waiting", short(progress.frontier)));
    }
    parts.push(format!("{} {transitions}", short(progress.transitions)));
    if progress.depth > 0 {
        parts.push(format!("depth {}", short(progress.depth)));
    }
    while parts.join(BETWEEN).len() > width && !parts.is_empty() {
        parts.pop();
    }
    parts.join(BETWEEN)
}

/// `2.5 GiB`, as the result has it.
fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// `12.3M`: a number that changes twice a second needs no more digits.
fn short(number: u64) -> String {
    let scaled = |unit: f64| number as f64 / unit;
    match number {
        0..10_000 => number.to_string(),
        10_000..999_950 => format!("{:.1}k", scaled(1e3)),
        999_950..999_950_000 => format!("{:.1}M", scaled(1e6)),
        _ => format!("{:.1}G", scaled(1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Snapshot = Snapshot {
        states: 12_345_678,
        transitions: 999_999_999,
        frontier: 54_321,
        depth: 123_456,
        level: 12,
        bytes: 2_500_000_000,
    };

    #[test]
    fn the_line_has_the_units_of_the_engine_and_the_limits() {
        let scale = Scale { counts: ["states", "transitions"], ..Scale::default() };
        let text = line(&FAR, Duration::from_secs(100), &scale, 200);
        assert_eq!(
            text,
            "100 s  12.3M states  123.5k/s  2.3 GiB  54.3k waiting  1.0G transitions  depth 123.5k"
        );
        let scale = Scale {
            levels: Some(("preemptions", Some(20))),
            time: Some(Duration::from_secs(600)),
            states: Some(50_000_000),
            memory: Some(8 << 30),
            ..scale
        };
        let text = line(&FAR, Duration::from_secs(100), &scale, 200);
        assert_eq!(
            text,
            "100 of 600 s  12.3M of 50.0M states  123.5k/s  12 of 20 preemptions  2.3 GiB of 8.0 GiB  54.3k waiting  \
             1.0G transitions  depth 123.5k"
        );
        assert!(text.is_ascii());
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_no_number_is_cut() {
        let scale = Scale {
            counts: ["states", "transitions"],
            levels: Some(("preemptions", None)),
            ..Scale::default()
        };
        let whole = line(&FAR, Duration::from_secs(100), &scale, usize::MAX);
        for width in 0..whole.len() + 2 {
            let text = line(&FAR, Duration::from_secs(100), &scale, width);
            assert!(text.len() <= width, "{text}");
            assert!(whole.starts_with(&text), "{text}");
            assert!(
                text.len() == whole.len() || text.is_empty() || whole[text.len()..].starts_with("  "),
                "{text}"
            );
        }
        assert_eq!(line(&FAR, Duration::from_secs(100), &scale, 40), "100 s  12.3M states  123.5k/s");
    }

    #[test]
    fn nothing_is_asked_to_stop_by_itself() {
        let mut watch = Watch::with(Scale::default());
        watch.update(&Snapshot::default());
        assert_eq!(watch.stop(), None);
        watch.finish();
    }
}
