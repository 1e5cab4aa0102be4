//! Every kind of failure is found, told and replayed.

use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use preempt::sync::{Arc, Mutex, RwLock, mpsc};
use preempt::{Checker, Failure, FailureKind, Strategy, Verdict, hint, thread};

/// The failure, after it has been replayed from its string.
fn fails(kind: FailureKind, preemptions: u32, test: fn()) -> Failure {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Violated, "{report}");
    let failure = report.failure.expect("a violation has a failure");
    println!("{failure}");
    assert_eq!(failure.kind, kind, "{failure}");
    assert_eq!(failure.preemptions, preemptions, "{failure}");
    let again = Checker::new().replay(&failure.schedule).run(test).failure.expect("it fails again");
    assert_eq!(again.message, failure.message);
    assert_eq!(again.steps, failure.steps);
    assert_eq!(again.schedule, failure.schedule);
    failure
}

fn holds(test: fn()) {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(report.exhaustive, "{report}");
}

#[test]
fn a_lost_update() {
    let failure = fails(FailureKind::Panic, 1, || {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&counter);
        let add = |counter: &AtomicUsize| {
            let value = counter.load(Ordering::SeqCst);
            counter.store(value + 1, Ordering::SeqCst);
        };
        let child = thread::spawn(move || add(&other));
        add(&counter);
        child.join().unwrap();
        assert_eq!(counter.load(Ordering::SeqCst), 2, "an update is lost");
    });
    assert!(failure.message.contains("an update is lost"), "{}", failure.message);
    assert!(failure.message.contains("failures.rs"), "{}", failure.message);
    assert!(failure.steps.iter().all(|step| step.location.file.ends_with("failures.rs")));
    assert_eq!(failure.steps.iter().filter(|step| step.preemption).count(), 1);
}

#[test]
fn a_deadlock_names_the_circle() {
    let failure = fails(FailureKind::Deadlock, 1, || {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
        let child = thread::Builder::new()
            .name("child".into())
            .spawn(move || {
                let _b = b2.lock().unwrap();
                let _a = a2.lock().unwrap();
            })
            .unwrap();
        {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        }
        child.join().unwrap();
    });
    assert!(failure.message.contains("in a circle"), "{}", failure.message);
    assert!(
        failure.message.contains("child(1)") && failure.message.contains("main(0)"),
        "{}",
        failure.message
    );
}

#[test]
fn locking_twice() {
    let failure = fails(FailureKind::Deadlock, 0, || {
        let lock = Mutex::new(());
        let _first = lock.lock();
        let _second = lock.lock();
    });
    assert!(failure.message.contains("holds itself"), "{}", failure.message);
}

struct Shared {
    flag: AtomicBool,
    data: UnsafeCell<u32>,
}

// SAFETY: for the tests: whether the accesses are ordered is what they ask.
unsafe impl Sync for Shared {}

fn publish(store: Ordering, load: Ordering) {
    let shared = Arc::new(Shared { flag: AtomicBool::new(false), data: UnsafeCell::new(0) });
    let other = Arc::clone(&shared);
    let child = thread::spawn(move || {
        // SAFETY: see above.
        other.data.with_mut(|data| unsafe { *data = 1 });
        other.flag.store(true, store);
    });
    if shared.flag.load(load) {
        // SAFETY: see above.
        shared.data.with(|data| unsafe { assert_eq!(*data, 1) });
    }
    child.join().unwrap();
}

#[test]
fn a_data_race_behind_a_relaxed_flag() {
    let failure = fails(FailureKind::DataRace, 1, || publish(Ordering::Relaxed, Ordering::Acquire));
    assert!(
        failure.message.contains("writes shared.data at") && failure.message.contains("reads shared.data at"),
        "{}",
        failure.message
    );
    fails(FailureKind::DataRace, 1, || publish(Ordering::Release, Ordering::Relaxed));
    holds(|| publish(Ordering::Release, Ordering::Acquire));
    holds(|| publish(Ordering::SeqCst, Ordering::SeqCst));
}

#[test]
fn fences_synchronise() {
    holds(|| {
        let shared = Arc::new(Shared { flag: AtomicBool::new(false), data: UnsafeCell::new(0) });
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            // SAFETY: see above.
            other.data.with_mut(|data| unsafe { *data = 1 });
            fence(Ordering::Release);
            other.flag.store(true, Ordering::Relaxed);
        });
        if shared.flag.load(Ordering::Relaxed) {
            fence(Ordering::Acquire);
            // SAFETY: see above.
            shared.data.with(|data| unsafe { assert_eq!(*data, 1) });
        }
        child.join().unwrap();
    });
}

#[test]
fn two_writers_without_any_order_race_without_a_preemption() {
    fails(FailureKind::DataRace, 0, || {
        let shared = Arc::new(Shared { flag: AtomicBool::new(false), data: UnsafeCell::new(0) });
        let write = |shared: &Shared| {
            shared.flag.load(Ordering::Relaxed);
            // SAFETY: see above.
            shared.data.with_mut(|data| unsafe { *data += 1 });
        };
        let (a, b) = (Arc::clone(&shared), Arc::clone(&shared));
        let handles = [thread::spawn(move || write(&a)), thread::spawn(move || write(&b))];
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    });
}

/// What a thread does after a release is not made known by it.
#[test]
fn accesses_behind_a_release_race() {
    fn new() -> Arc<Shared> {
        Arc::new(Shared { flag: AtomicBool::new(false), data: UnsafeCell::new(0) })
    }
    fn write(shared: &Shared) {
        // SAFETY: see above.
        shared.data.with_mut(|data| unsafe { *data += 1 });
    }
    // Spawning releases to the child what was before, and nothing else.
    fails(FailureKind::DataRace, 0, || {
        let shared = new();
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || write(&other));
        write(&shared);
        child.join().unwrap();
    });
    fails(FailureKind::DataRace, 0, || {
        let (shared, lock) = (new(), Arc::new(Mutex::new(())));
        let (other, its) = (Arc::clone(&shared), Arc::clone(&lock));
        let child = thread::spawn(move || {
            let guard = its.lock().unwrap();
            write(&other);
            drop(guard);
        });
        drop(lock.lock().unwrap());
        write(&shared);
        child.join().unwrap();
    });
    fails(FailureKind::DataRace, 0, || {
        let shared = new();
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            if other.flag.load(Ordering::Acquire) {
                // SAFETY: see above.
                other.data.with(|data| unsafe { *data });
            }
        });
        shared.flag.store(true, Ordering::Release);
        write(&shared);
        child.join().unwrap();
    });
    // The same behind a fence, whose promise a relaxed store passes on.
    fails(FailureKind::DataRace, 0, || {
        let shared = new();
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            if other.flag.load(Ordering::Acquire) {
                write(&other);
            }
        });
        fence(Ordering::Release);
        write(&shared);
        shared.flag.store(true, Ordering::Relaxed);
        child.join().unwrap();
    });
}

#[test]
fn a_livelock() {
    let failure = Checker::new()
        .max_steps(300)
        .run(|| {
            let flag = AtomicBool::new(false);
            while !flag.load(Ordering::SeqCst) {
                hint::spin_loop();
            }
        })
        .failure
        .expect("nobody sets the flag");
    assert_eq!(failure.kind, FailureKind::Livelock);
    assert!(failure.message.contains("600 steps"), "{}", failure.message);
}

#[test]
fn a_joined_panic_is_handled_and_others_are_not() {
    holds(|| assert!(thread::spawn(|| panic!("expected")).join().is_err()));
    let failure = fails(FailureKind::Panic, 0, || drop(thread::spawn(|| panic!("nobody joins"))));
    assert!(failure.message.contains("nobody joins"), "{}", failure.message);
    let failure = fails(FailureKind::Panic, 0, || thread::spawn(|| panic!("the cause")).join().unwrap());
    assert!(failure.message.lines().next().unwrap().contains("the cause"), "{}", failure.message);
}

#[test]
fn a_caught_panic_is_none() {
    holds(|| {
        let lock = Mutex::new(0);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.lock();
            panic!("while the lock is held");
        }));
        assert!(caught.is_err());
        // Unlocking was deferred while the thread was panicking, and is done by now.
        assert!(lock.lock().is_err(), "the lock is poisoned");
    });
}

#[test]
fn a_test_that_is_not_deterministic() {
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let report = Checker::new().run(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        if RUNS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            drop(lock.try_lock());
        } else {
            thread::yield_now();
        }
        child.join().unwrap();
    });
    assert_eq!(report.failure.map(|failure| failure.kind), Some(FailureKind::Nondeterminism));
}

#[test]
#[should_panic(expected = "tests/failures.rs:274=p1:")]
fn check_panics_with_the_report() {
    preempt::check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let child = thread::spawn(move || other.store(true, Ordering::SeqCst));
        assert!(!flag.load(Ordering::SeqCst));
        child.join().unwrap();
    });
}

#[test]
fn a_schedule_that_does_not_fit_is_said_to_be_one() {
    let report = Checker::new().replay("p1:0.7").run(|| drop(Mutex::new(()).lock()));
    assert!(report.failure.is_some_and(|failure| failure.message.contains("does not fit")));
}

/// Who reads a lock is named as well as who writes it, and what was never used has no name to be confused by.
#[test]
fn a_deadlock_names_readers() {
    let failure = fails(FailureKind::Deadlock, 0, || {
        let lock = Arc::new(RwLock::new(0));
        let (sender, receiver) = mpsc::channel();
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || {
            *other.write().unwrap() = 1;
            sender.send(1).unwrap();
        });
        let reading = lock.read().unwrap();
        receiver.recv().unwrap();
        drop(reading);
        child.join().unwrap();
    });
    let lines: Vec<&str> = failure.message.lines().collect();
    assert!(lines[1].ends_with(": receiver: receive"), "{}", failure.message);
    assert!(lines[2].ends_with(": lock: write lock, held by main(0)"), "{}", failure.message);
}

/// What was joined and handled is not what went wrong later.
#[test]
fn a_handled_panic_is_not_told() {
    let failure = fails(FailureKind::Panic, 0, || {
        assert!(thread::spawn(|| panic!("handled")).join().is_err());
        thread::spawn(|| panic!("the cause")).join().unwrap();
    });
    let first = failure.message.lines().next().unwrap_or_default();
    assert!(first.contains("the cause") && !failure.message.contains("handled"), "{}", failure.message);
    let failure = fails(FailureKind::Panic, 0, || {
        assert!(thread::spawn(|| panic!("handled")).join().is_err());
        panic!("something else");
    });
    assert!(failure.message.lines().next().unwrap_or_default().contains("something else"));
    assert!(!failure.message.contains("handled"), "{}", failure.message);
}

/// Every step has a place in the test, also those that the end of a scope does.
#[test]
fn places_are_places_of_the_test() {
    let failure = fails(FailureKind::Panic, 0, || {
        let (lock, (sender, receiver)) = (Mutex::new(0), mpsc::channel::<u8>());
        {
            *lock.lock().unwrap() += 1;
        }
        drop(sender);
        assert!(receiver.recv().is_ok());
    });
    assert!(failure.steps.iter().any(|step| step.operation.ends_with("unlock")));
    assert!(failure.steps.iter().all(|step| step.location.file.ends_with("failures.rs")), "{failure}");
    assert!(failure.to_string().contains("a run with the fewest preemptions: "), "{failure}");
    assert!(failure.to_string().contains(", 1 thread\n"), "{failure}");
    let chance = Checker::new().strategy(Strategy::Random(1)).run(|| panic!("always")).failure;
    assert!(chance.is_some_and(|chance| !chance.to_string().contains("fewest")));
}
