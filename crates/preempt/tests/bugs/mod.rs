//! Known bugs of small concurrent programs, each found with the fewest preemptions that show it, and replayed.
//! The programs follow SCTBench's in structure; `correct` variants are explored completely and hold.

mod conditions;
mod lock_free;
mod locks;

use preempt::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Condvar, Mutex};
use preempt::{Checker, FailureKind, Strategy, Verdict, thread};

type Body = Box<dyn FnOnce() + Send>;

fn run_all(bodies: Vec<Body>) {
    let handles: Vec<_> = bodies.into_iter().map(thread::spawn).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

fn body(f: impl FnOnce() + Send + 'static) -> Body {
    Box::new(f)
}

/// Not found with fewer preemptions, found with so many, and found again from its schedule; by the default and by
/// paper 003's algorithm.
fn found_at(preemptions: u32, kind: FailureKind, test: fn()) {
    found_by(Strategy::Marking, preemptions, kind, test);
    found_by(Strategy::Bpor, preemptions, kind, test);
}

fn found_by(strategy: Strategy, preemptions: u32, kind: FailureKind, test: fn()) {
    let report = Checker::new().strategy(strategy).run(test);
    let failure = report.failure.clone().unwrap_or_else(|| panic!("{strategy:?} does not find it: {report}"));
    println!("{strategy:?}: {} executions", report.executions);
    assert_eq!((failure.kind, failure.preemptions), (kind, preemptions), "{strategy:?}: {failure}");
    assert_eq!(report.complete_to, preemptions.checked_sub(1), "{strategy:?}");
    let again = Checker::new().replay(&failure.schedule).run(test).failure.expect("it fails again");
    assert_eq!((again.kind, again.message, again.steps), (failure.kind, failure.message, failure.steps));
}

fn correct(test: fn()) {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(report.exhaustive, "{report}");
}
