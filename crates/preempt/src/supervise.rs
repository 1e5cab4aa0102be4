//! A search has a thread of the operating system for itself, and a watchdog.
//!
//! A panic that must not unwind leaves its OS thread unfit for another run (see `runtime::hook`), so every search and every
//! replay begins on a fresh one, under the name of the thread that called for it. That thread watches meanwhile: code of
//! the user that does not come back waits for something that is not modelled, for ever, since all threads of the test
//! share the one that waits.

use crate::runtime::tally::Tally;
use crate::runtime::thread::{CodeLocation, Label};
use crate::runtime::word::{hand_over, last_run};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the watchdog sees of a program under test: written by the thread that runs it.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    /// Goes up whenever code of the user begins and ends: odd while it runs.
    beats: AtomicU64,
    thread: AtomicUsize,
    /// Of the operation that it does; null before its first.
    location: AtomicPtr<Location<'static>>,
    verb: AtomicPtr<u8>,
    verb_len: AtomicUsize,
    /// The names of this run's threads that have one.
    labels: Mutex<Vec<(usize, String)>>,
    /// Two threads have used the same object.
    pub shared: AtomicBool,
    /// What the program has done, once it has ended.
    tally: Mutex<Tally>,
}

impl Heartbeat {
    pub fn begin(&self, thread: usize, doing: Option<(Label, CodeLocation)>) {
        let beats = self.beats.load(Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        let location = doing.map_or(std::ptr::null(), |(_, location)| std::ptr::from_ref(location));
        let verb = doing.map_or("", |(label, _)| label.verb);
        self.location.store(location.cast_mut(), Ordering::Relaxed);
        self.verb.store(verb.as_ptr().cast_mut(), Ordering::Relaxed);
        self.verb_len.store(verb.len(), Ordering::Relaxed);
        self.beats.store(beats + 1, Ordering::Release);
    }

    pub fn end(&self) {
        let beats = self.beats.load(Ordering::Relaxed);
        self.beats.store(beats + 1, Ordering::Release);
    }

    pub fn tallied(&self, tally: Tally) {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) = tally;
    }

    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another run.
    pub fn start(&self) {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub fn name(&self, thread: usize, label: String) {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).push((thread, label));
    }

    /// Who runs, and since which operation. `None` if it has come back meanwhile.
    fn describe(&self, beats: u64) -> Option<String> {
        let thread = self.thread.load(Ordering::Acquire);
        let (location, verb) = (self.location.load(Ordering::Acquire), self.verb.load(Ordering::Acquire));
        let len = self.verb_len.load(Ordering::Acquire);
        if self.beats.load(Ordering::Acquire) != beats {
            return None;
        }
        let labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        let label = labels.iter().find(|(number, _)| *number == thread).map(|(_, label)| label.as_str());
        let label = label.unwrap_or(if thread == 0 { "main" } else { "thread" });
        // SAFETY: the fields were written by one `begin`, since nothing has begun or ended while they were read: a
        // reference to a static location, or null, and the parts of a static string.
        #[allow(unsafe_code)]
        let since = unsafe {
            location.as_ref().map(|at| {
                let verb = std::slice::from_raw_parts(verb, len);
                format!("{} at {at}", String::from_utf8_lossy(verb))
            })
        };
        let since = since.unwrap_or_else(|| "its beginning".into());
        Some(format!("{label}({thread}), since {since}"))
    }
}

/// Those of all programs that a search runs side by side.
pub(crate) type Heartbeats = Arc<Mutex<Vec<Arc<Heartbeat>>>>;

/// Runs the work on a thread of its own, and passes on its panic. If code of the user runs for longer than `patience`
/// without an operation, returns who it is; the thread is left where it hangs.
pub(crate) fn run_supervised<T: Send + 'static>(
    heartbeats: &Heartbeats,
    patience: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let name = std::thread::current().name().map(str::to_string);
    let builder = name.into_iter().fold(std::thread::Builder::new(), std::thread::Builder::name);
    let (done, result) = channel();
    let worker = builder.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // If nobody listens any more, the test has been given up.
        drop(done.send((result, last_run())));
    });
    drop(worker.expect("a thread for the search"));
    let mut seen: Vec<(u64, Instant)> = Vec::new();
    loop {
        let pause = patience.map_or(Duration::from_secs(60), |patience| patience / 4);
        match result.recv_timeout(pause) {
            Ok((result, past)) => {
                hand_over(past);
                return Ok(result.unwrap_or_else(|payload| resume_unwind(payload)));
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the search has ended without a result"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(patience) = patience else { continue };
        let heartbeats = heartbeats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (i, heartbeat) in heartbeats.iter().enumerate() {
            let beats = heartbeat.beats.load(Ordering::Acquire);
            match seen.get_mut(i) {
                None => seen.push((beats, Instant::now())),
                Some((before, since)) if *before == beats && beats % 2 == 1 => {
                    if since.elapsed() >= patience
                        && let Some(who) = heartbeat.describe(beats)
                    {
                        return Err(who);
                    }
                }
                Some(other) => *other = (beats, Instant::now()),
            }
        }
    }
}
