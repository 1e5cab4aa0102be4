//! Each mirror does what std's does, in every schedule.

mod channels;
mod locks;
mod references;
mod spinning;
mod threads;
mod waits;

use preempt::cell::Cell;
use preempt::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::*};
use preempt::sync::mpsc::{self, TryRecvError, TrySendError};
use preempt::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, TryLockError};
use preempt::{CheckReport, Checker, Strategy, Verdict, hint, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as Collector;
use std::time::Duration;

fn holds(test: impl Fn() + Send + Sync + 'static) -> CheckReport {
    let report = Checker::new().max_duration(Duration::from_secs(30)).run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    report
}

/// What the test returns in some schedule.
fn outcomes<T: Ord + Send + 'static>(test: impl Fn() -> T + Send + Sync + 'static) -> Vec<T> {
    let seen = Arc::new(Collector::new(BTreeSet::new()));
    let collect = Arc::clone(&seen);
    holds(move || {
        let outcome = test();
        collect.lock().unwrap().insert(outcome);
    });
    Arc::into_inner(seen).unwrap().into_inner().unwrap().into_iter().collect()
}
