//! The one job of this process: its budget, what is known so far, and who may speak.
//!
//! Everything from the first byte read to the last byte written goes under one [`Budget`]. A signal, the clock or the
//! watcher ([`crate::watcher`]) stops it, and whoever works asks it: engines through [`crate::progress::Watch`], the
//! command itself by [`check`] between its phases. The job is the process's, as its signals and its memory are; so it is
//! one static, and in tests of single parts one without limits.
//!
//! **Invariant:** one result is printed. Whoever wants to print takes the [`Stage`] from `Working`; the watcher holds it
//! from before its first byte until the process ends, so that the main thread waits there and never adds a second.

use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::options::{Colour, Format};
use preempt_core::{Budget, Guarantee, Limits, Report, RunInfo, Snapshot, StopReason, Verdict};
use preempt_report::{TextOptions, render_cut_short, to_json};
use preempt_workbench::{Engine, engine};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a verb asks of its job.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    pub time: Option<Duration>,
    pub memory: Option<u64>,
    /// How the result is printed, for verbs whose result may be "inconclusive"; others say on stderr what stopped them.
    pub answer: Option<(Format, Colour)>,
    pub file: String,
}

#[derive(Debug)]
pub struct Job {
    pub budget: Budget,
    pub terms: Terms,
    started: Instant,
    interrupted: AtomicBool,
    unwritten: AtomicBool,
    stage: Mutex<Stage>,
    known: Mutex<Known>,
}

/// What the main thread is doing, as far as it matters to somebody who wants to end the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing has been said yet.
    Working,
    /// The same, and a checkpoint is being written: it may be finished.
    Saving,
    /// The result is being printed.
    Printing,
    /// The result was printed, and files are being written.
    Writing,
}

#[derive(Debug, Default)]
struct Known {
    /// Who is at work, and what the report says about it.
    begun: Option<(RunInfo, &'static Engine)>,
    progress: Snapshot,
}

static JOB: OnceLock<Job> = OnceLock::new();

/// Begins the job of this process. If there was one already, that one stays.
pub fn begin(terms: Terms) -> &'static Job {
    JOB.get_or_init(|| Job::new(terms))
}

pub fn current() -> &'static Job {
    JOB.get_or_init(|| Job::new(Terms::default()))
}

/// To be asked between two phases: has anybody said that the job must end?
pub fn check() -> Result<(), Failure> {
    current().budget.exhausted().map_or(Ok(()), |reason| Err(Failure::stopped(reason)))
}

impl Job {
    fn new(terms: Terms) -> Job {
        Job {
            budget: Budget::within(&Limits { time: terms.time, ..Limits::default() }),
            terms,
            started: Instant::now(),
            interrupted: AtomicBool::new(false),
            unwritten: AtomicBool::new(false),
            stage: Mutex::new(Stage::Working),
            known: Mutex::default(),
        }
    }

    /// Of the time that was asked for, what the phases before have left.
    pub fn time_left(&self) -> Option<Duration> {
        self.terms.time.map(|most| most.saturating_sub(self.started.elapsed()))
    }

    /// Was it interrupted before?
    pub fn interrupt(&self) -> bool {
        self.budget.stop(StopReason::Interrupted);
        self.interrupted.swap(true, Ordering::Relaxed)
    }

    pub fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A file that was asked for is missing; the exit status must say so.
    pub fn left_unwritten(&self) {
        self.unwritten.store(true, Ordering::Relaxed);
    }

    pub fn is_complete(&self) -> bool {
        !self.unwritten.load(Ordering::Relaxed)
    }

    pub fn about(&self, info: RunInfo, engine: &'static Engine) {
        lock(&self.known).begun = Some((info, engine));
    }

    pub fn saw(&self, progress: &Snapshot) {
        lock(&self.known).progress = *progress;
    }

    pub fn enter(&self, stage: Stage) {
        *self.stage() = stage;
    }

    pub fn stage(&self) -> MutexGuard<'_, Stage> {
        lock(&self.stage)
    }

    /// While a file is being written before the result is known. What is written after it changes nothing.
    pub fn saving(&self) -> Saving<'_> {
        let mut stage = self.stage();
        let before = *stage;
        if before == Stage::Working {
            *stage = Stage::Saving;
        }
        Saving { job: self, before }
    }

    /// The result when nothing else is known than why the job ended. The caller holds the stage.
    pub fn tell_stopped(&self, reason: StopReason) -> ExitStatus {
        let Some((format, colour)) = self.terms.answer else {
            let why = preempt_report::why_stopped(reason);
            Failure::new(format!("{why}, before anything was written")).print();
            return ExitStatus::Inconclusive;
        };
        let report = self.cut_short(reason);
        let text = match format {
            Format::Json => to_json(&report),
            Format::Text => {
                let style = console::stdout_style(colour);
                render_cut_short(&report, &TextOptions { style, ..TextOptions::default() })
            }
        };
        match console::print(&text) {
            Ok(()) => ExitStatus::Inconclusive,
            Err(failure) => {
                failure.print();
                failure.status
            }
        }
    }

    fn cut_short(&self, reason: StopReason) -> Report {
        let known = lock(&self.known);
        let mut report = Report::new(Verdict::Inconclusive(reason), Guarantee::Exhaustive);
        match &known.begun {
            Some((info, engine)) => {
                report.run = info.clone();
                report.statistics = engine.statistics(&known.progress);
            }
            None => {
                let (file, engine) = (self.terms.file.clone(), engine::AUTO.into());
                report.run = RunInfo { file, engine, answered_by: None, options: engine::reported(&[]) };
            }
        }
        report.statistics.time = Some(self.started.elapsed());
        report
    }
}

/// A thread that panicked has left whole values behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the stage `Saving` when it is dropped.
#[derive(Debug)]
pub struct Saving<'a> {
    job: &'a Job,
    before: Stage,
}

impl Drop for Saving<'_> {
    fn drop(&mut self) {
        self.job.enter(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::Measure;

    #[test]
    fn what_is_left_of_the_time_shrinks() {
        let job = Job::new(Terms { time: Some(Duration::from_secs(60)), ..Terms::default() });
        std::thread::sleep(Duration::from_millis(2));
        assert!(job.time_left().is_some_and(|left| left < Duration::from_secs(60)));
        assert_eq!(Job::new(Terms::default()).time_left(), None);
    }

    #[test]
    fn saving_ends_where_it_began() {
        let job = Job::new(Terms::default());
        for before in [Stage::Working, Stage::Writing] {
            job.enter(before);
            let during = if before == Stage::Working { Stage::Saving } else { before };
            let saving = job.saving();
            assert_eq!(*job.stage(), during);
            drop(saving);
            assert_eq!(*job.stage(), before);
        }
    }

    #[test]
    fn a_job_that_was_cut_short_has_the_last_numbers() {
        let job = Job::new(Terms { file: "a.pml".into(), ..Terms::default() });
        let report = job.cut_short(StopReason::Time);
        assert_eq!((report.run.file.as_str(), report.run.engine.as_str()), ("a.pml", "auto"));
        assert_eq!(report.statistics.get(Measure::States), None);
        job.saw(&Snapshot { states: 7, transitions: 9, ..Snapshot::default() });
        let engine = engine::find("explicit").expect("it is registered");
        job.about(RunInfo { file: "b.pml".into(), ..RunInfo::default() }, engine);
        let report = job.cut_short(StopReason::Memory);
        let numbers =
            [Measure::States, Measure::Transitions, Measure::BddNodes].map(|it| report.statistics.get(it));
        assert_eq!((report.run.file.as_str(), numbers), ("b.pml", [Some(7), Some(9), None]));
        assert_eq!(report.verdict, Verdict::Inconclusive(StopReason::Memory));
        assert!(!job.interrupt() && job.interrupt() && job.was_interrupted());
    }
}
