//! The thread that looks at the clock and at the memory of the process while the others work.
//!
//! Engines count what they keep and stop at the limit by themselves. What they do not count (the heap's own tables, the
//! front ends, texts that are being made) is measured here, so the threshold lies above the limit: 1.1 times and 64 MB at
//! which everybody is asked to stop, and 1.2 times and 80 MB at which nobody is waited for. A sample every 10 ms leaves
//! what is allocated meanwhile, and with it the whole stays below 1.3 times and 100 MB.
//!
//! The last resort: if a phase does not react within [`GRACE`], the watcher prints the result that is then known to
//! everybody, "inconclusive", and ends the process.

use crate::ExitStatus;
use crate::console;
use crate::files;
use crate::job::{Job, Stage};
use crate::memory;
use crate::progress;
use crate::signals::KILLED_BY_INTERRUPT;
use preempt_core::StopReason;
use std::time::{Duration, Instant};

const SAMPLE: Duration = Duration::from_millis(10);
/// The machine's free memory is looked at less often than the process's own.
const SAMPLES_OF_THE_MACHINE: u32 = 8;
/// How long whoever works may take to react.
const GRACE: Duration = Duration::from_millis(500);
const MB: u64 = 1 << 20;
/// A machine with less free memory than this is in trouble, whoever uses it.
const SCARCE: u64 = 256 * MB;

/// When to ask for an end, and when to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thresholds {
    ask: u64,
    end: u64,
}

impl Thresholds {
    /// From what the user wants to spend, or else from most of what is free.
    fn new(wanted: Option<u64>, free: Option<u64>) -> Thresholds {
        let part = |of: u64, percent: u64| (u128::from(of) * u128::from(percent) / 100) as u64;
        match (wanted, free) {
            (Some(most), _) => Thresholds {
                ask: most.saturating_add(most / 10).saturating_add(64 * MB),
                end: most.saturating_add(most / 5).saturating_add(80 * MB),
            },
            (None, Some(free)) => Thresholds { ask: part(free, 90), end: part(free, 95) },
            (None, None) => Thresholds { ask: u64::MAX, end: u64::MAX },
        }
    }
}

/// How much memory the process may have when nobody said it: more ends the search. `None` if the system does not tell.
pub fn automatic_limit() -> Option<u64> {
    memory::available().map(|free| Thresholds::new(None, Some(free)).ask)
}

/// Begins to watch, for as long as the process lives. If there can be no other thread, whoever works keeps the clock.
pub fn start(job: &'static Job) {
    let _ = std::thread::Builder::new().name("watcher".into()).spawn(move || watch(job));
}

fn watch(job: &Job) {
    let thresholds = Thresholds::new(job.terms.memory, memory::available());
    let mut stopped: Option<(StopReason, Instant)> = None;
    let mut samples = 0u32;
    loop {
        std::thread::sleep(SAMPLE);
        samples = samples.wrapping_add(1);
        let resident = memory::resident().unwrap_or(0);
        let is_scarce = resident > SCARCE
            && samples.is_multiple_of(SAMPLES_OF_THE_MACHINE)
            && memory::available().is_some_and(|free| free < SCARCE);
        if resident > thresholds.ask || is_scarce {
            job.budget.stop(StopReason::Memory);
        }
        let Some(reason) = job.budget.exhausted() else { continue };
        let (_, since) = stopped.get_or_insert((reason, Instant::now()));
        if *job.stage() == Stage::Saving {
            *since = Instant::now();
        }
        if since.elapsed() >= GRACE || resident > thresholds.end {
            last_resort(job, reason);
        }
    }
}

/// Ends the process, unless it is printing its result.
fn last_resort(job: &Job, reason: StopReason) {
    let stage = job.stage();
    match *stage {
        Stage::Working | Stage::Saving => {
            files::remove_temporaries();
            progress::erase_line();
            let status = job.tell_stopped(reason);
            std::process::exit(status as i32);
        }
        // Half a result on a pipe that nobody reads, or on a terminal where it is not wanted.
        Stage::Printing if job.was_interrupted() => {
            files::remove_temporaries();
            std::process::exit(KILLED_BY_INTERRUPT);
        }
        // Whoever reads slowly may read to the end.
        Stage::Printing => {}
        Stage::Writing => {
            files::remove_temporaries();
            let why = preempt_report::why_stopped(reason);
            console::complain(&format!("error: not every file was written: {why}\n"));
            std::process::exit(ExitStatus::Unwritten as i32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_stays_below_what_is_promised() {
        for most in [0, MB, 100 * MB, 3 << 30, u64::MAX / 2] {
            let Thresholds { ask, end } = Thresholds::new(Some(most), Some(5));
            let promised = most.saturating_add(most / 10 * 3).saturating_add(100 * MB);
            assert!(most < ask && ask < end && end <= promised - 20 * MB, "{most}");
        }
        assert!(Thresholds::new(Some(u64::MAX), None).ask == u64::MAX);
    }

    #[test]
    fn without_a_limit_most_of_what_is_free_may_be_used() {
        assert_eq!(Thresholds::new(None, Some(1000)), Thresholds { ask: 900, end: 950 });
        assert_eq!(Thresholds::new(None, None).end, u64::MAX);
    }
}
