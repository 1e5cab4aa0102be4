//! Runs that do not end well: cut, hanging, too deep, too long. Whatever happens, there is a report.

use preempt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use preempt::sync::{Arc, Condvar, Mutex, mpsc};
use preempt::{CheckReport, Checker, Failure, FailureKind, Verdict, hint, thread};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

fn fails(kind: FailureKind, test: fn()) -> Failure {
    let report = Checker::new().watchdog(Some(Duration::from_millis(300))).run(test);
    let failure = report.failure.expect("it fails");
    assert_eq!(failure.kind, kind, "{failure}");
    failure
}

fn holds(test: fn()) -> CheckReport {
    let report = Checker::new().max_preemptions(Some(2)).run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    report
}

/// Runs a closure when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The states in which destructors would run cannot occur.
#[test]
fn no_code_runs_for_a_run_that_was_cut() {
    static DROPS: AtomicU32 = AtomicU32::new(0);
    fails(FailureKind::Deadlock, || {
        let _noisy = OnDrop(|| DROPS.store(1, Relaxed));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _panics = OnDrop(|| panic!("the lock was never taken"));
                let blocked = Mutex::new(());
                let _first = blocked.lock();
                let _second = blocked.lock();
            });
        });
    });
    assert_eq!(DROPS.load(Relaxed), 0);
}

/// A guard that must not be dropped before the flag is set never is, though runs are cut under the fair bound.
#[test]
fn a_correct_test_with_a_destructor_that_asserts() {
    holds(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let child = thread::spawn(move || {
            let _guard = OnDrop(|| assert!(other.load(SeqCst), "dropped too early"));
            while !other.load(SeqCst) {
                hint::spin_loop();
            }
        });
        flag.store(true, SeqCst);
        child.join().unwrap();
    });
}

#[test]
fn a_destructor_that_panics_in_a_panic() {
    let failure = fails(FailureKind::Panic, || {
        let _second = OnDrop(|| panic!("in the destructor"));
        panic!("the cause");
    });
    let lines: Vec<&str> = failure.message.lines().collect();
    assert!(lines[0].ends_with("the cause") && lines[1].ends_with("in the destructor"), "{failure}");
    // The process lives, and so do its other threads and checks.
    fails(FailureKind::Panic, || {
        let child = thread::spawn(|| {
            let _second = OnDrop(|| panic!("in the destructor"));
            panic!("the cause");
        });
        drop(child.join());
    });
    holds(|| assert!(thread::spawn(|| panic!("handled")).join().is_err()));
}

fn deep(levels: usize) -> usize {
    let frame = hint::black_box([levels; 128]);
    if levels == 0 { 0 } else { deep(levels - 1) + hint::black_box(frame)[0] }
}

fn deep_with(stack: Option<usize>) {
    let builder = thread::Builder::new().name("diver".into());
    let builder = stack.into_iter().fold(builder, thread::Builder::stack_size);
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let child = builder.spawn(move || {
        other.fetch_add(1, SeqCst);
        deep(300)
    });
    child.unwrap().join().unwrap();
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_overflow_names_the_thread() {
    let failure = fails(FailureKind::StackOverflow, || deep_with(Some(64 << 10)));
    assert!(failure.message.starts_with("diver(1) has overflowed its stack of 64 KiB"), "{failure}");
    assert!(failure.message.contains("endings.rs:"), "{failure}");
    let endless = fails(FailureKind::StackOverflow, || assert_eq!(deep(usize::MAX), 0));
    assert!(endless.message.starts_with("main(0) has overflowed"), "{endless}");
}

#[test]
fn stacks_are_as_large_as_asked_for() {
    holds(|| deep_with(None));
    holds(|| deep_with(Some(1 << 20)));
}

#[test]
fn a_mutex_of_std_that_is_left_in_a_test() {
    let failure = fails(FailureKind::Hang, || {
        let lock = Arc::new((std::sync::Mutex::new(()), AtomicUsize::new(0)));
        let other = Arc::clone(&lock);
        let child = thread::Builder::new().name("child".into()).spawn(move || {
            other.1.load(SeqCst);
            drop(other.0.lock());
        });
        let guard = lock.0.lock();
        lock.1.store(1, SeqCst);
        drop(guard);
        child.unwrap().join().unwrap();
    });
    assert!(failure.message.contains("child(1), since load at "), "{failure}");
    assert!(failure.message.contains("endings.rs:"), "{failure}");
}

#[test]
fn nothing_shared() {
    let report = holds(|| {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let other = std::sync::Arc::clone(&count);
        let child = thread::spawn(move || other.fetch_add(1, SeqCst));
        count.fetch_add(1, SeqCst);
        child.join().unwrap();
    });
    assert!(report.nothing_shared && report.to_string().contains("nothing was shared"), "{report}");
    let report = holds(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&count);
        thread::spawn(move || other.fetch_add(1, SeqCst)).join().unwrap();
        count.fetch_add(1, SeqCst);
    });
    assert!(!report.nothing_shared && !report.to_string().contains("nothing was shared"), "{report}");
}

/// "Complete" says of what.
#[test]
fn complete_under_a_memory_model() {
    let report = Checker::new().run(|| drop(Mutex::new(()).lock()));
    assert!(report.to_string().starts_with("1 execution, all graphs under sequential consistency; 0 cut"));
}

#[test]
fn two_runs_that_differ() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let failure = fails(FailureKind::Nondeterminism, || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        match RUNS.fetch_add(1, Relaxed) % 2 {
            0 => drop(lock.try_lock()),
            _ => drop(lock.lock()),
        }
        child.join().unwrap();
    });
    assert!(failure.message.contains("one did: try_lock at "), "{failure}");
    assert!(failure.message.contains("the other would do: lock at "), "{failure}");
}

/// A time-out is a yield: who waits again and again lets others run.
#[test]
fn time_outs_in_a_loop() {
    holds(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut done = shared.0.lock().unwrap();
        while !*done {
            done = shared.1.wait_timeout(done, Duration::from_millis(1)).unwrap().0;
        }
        drop(done);
        child.join().unwrap();
    });
    holds(|| {
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || sender.send(1).unwrap());
        while receiver.recv_timeout(Duration::from_millis(1)).is_err() {}
        child.join().unwrap();
    });
    holds(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let child = thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::park_timeout(Duration::from_millis(1));
        }
        child.join().unwrap();
    });
}

#[test]
fn a_long_run_of_one_thread_is_no_livelock() {
    let report = holds(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&counter);
        let child = thread::spawn(move || (0..12_000).for_each(|i| other.store(i + 1, SeqCst)));
        child.join().unwrap();
        assert_eq!(counter.load(SeqCst), 12_000);
    });
    assert_eq!(report.executions, 1);
}
