//! What people read: values, names of objects, racing accesses, and the test that repeats a failing run.

use preempt::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Condvar, Mutex, mpsc};
use preempt::{CheckReport, Checker, FailureKind, OperationCount, Verdict, thread};
use std::time::Duration;

fn lost_update() -> CheckReport {
    Checker::new().run(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&counter);
        let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
        counter.store(counter.load(SeqCst) + 1, SeqCst);
        child.join().unwrap();
        assert_eq!(counter.load(SeqCst), 2, "an update is lost");
    })
}

/// The text that a failure offers is this test, word for word but for what it is expected to do.
#[test]
fn a_failing_run_is_a_test() {
    let failure = lost_update().failure.expect("found");
    let here = include_str!("reports.rs").replace("#[should_panic(expected = \"an update is lost\")]\n", "");
    let text = failure.reproduction();
    assert!(here.contains(&text), "{text}");
    assert!(failure.to_string().contains(&text), "{failure}");
}

/// A schedule in which the check at crates/preempt/tests/reports.rs:9 fails.
#[test]
#[should_panic(expected = "an update is lost")]
fn a_failing_run_is_a_test_fails_in_this_schedule() {
    let report = preempt::Checker::new().replay("p1:0x2.1x2.0x3").run(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&counter);
        let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
        counter.store(counter.load(SeqCst) + 1, SeqCst);
        child.join().unwrap();
        assert_eq!(counter.load(SeqCst), 2, "an update is lost");
    });
    assert!(report.failure.is_none(), "{report}");
}

/// What a replay needs beside the schedule is part of the test.
#[test]
fn a_failing_run_is_a_test_with_its_options() {
    let leak = || std::mem::forget(preempt::alloc::Track::new(1));
    let failure = Checker::new().check_leaks(true).spurious(2).max_steps(99).run(leak).failure.unwrap();
    let text = failure.reproduction();
    assert!(
        text.contains("new().spurious(2).check_leaks(true).max_steps(99).replay(\"p1:\").run(leak)"),
        "{text}"
    );
}

fn operations(report: &CheckReport) -> Vec<&str> {
    let failure = report.failure.as_ref().expect("it fails");
    failure.steps.iter().map(|step| step.operation.as_str()).collect()
}

#[test]
fn steps_have_values() {
    let report = lost_update();
    let expected = [
        "spawn thread(1)",
        "counter: load -> 0",
        "counter: load -> 0",
        "counter: store(1)",
        "counter: store(1)",
        "join thread(1)",
        "counter: load -> 1",
    ];
    assert_eq!(operations(&report), expected, "{report}");
    let text = report.to_string();
    assert!(text.contains("counter = 1") && text.contains("counter: AtomicUsize, first used at "), "{text}");
    let report = Checker::new().run(|| {
        let number = AtomicUsize::new(7);
        number.fetch_add(1, SeqCst);
        _ = number.compare_exchange(8, 9, SeqCst, SeqCst);
        _ = number.compare_exchange(8, 10, SeqCst, SeqCst);
        number.swap(3, SeqCst);
        let (mut a, mut b) = (1, 2);
        let pointer = AtomicPtr::new(std::ptr::null_mut());
        pointer.store(&raw mut a, SeqCst);
        pointer.swap(&raw mut b, SeqCst);
        _ = pointer.compare_exchange(&raw mut a, std::ptr::null_mut(), SeqCst, SeqCst);
        panic!("look at the steps");
    });
    let expected = [
        "number: fetch_add(1) -> 7",
        "number: compare_exchange(8 -> 9)",
        "number: compare_exchange(8 -> 10) failed: 9",
        "number: swap(3) -> 9",
        "pointer: store(&1)",
        "pointer: swap(&2) -> &1",
        "pointer: compare_exchange(&1 -> null) failed: &2",
    ];
    assert_eq!(operations(&report), expected, "{report}");
    let values: Vec<_> =
        report.failure.iter().flat_map(|f| &f.steps).map(|step| step.value.as_deref()).collect();
    let expected = [Some("8"), Some("9"), None, Some("3"), Some("&1"), Some("&2"), None];
    assert_eq!(values, expected);
}

#[test]
fn other_steps_say_what_came_of_them() {
    let report = Checker::new().run(|| {
        let (lock, changed) = (Mutex::new(0), Condvar::new());
        let guard = lock.lock().unwrap();
        assert!(lock.try_lock().is_err());
        drop(changed.wait_timeout(guard, Duration::from_secs(1)).unwrap());
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(1).unwrap();
        assert!(sender.try_send(2).is_err());
        assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_err());
        assert!(thread::spawn(|| panic!("expected")).join().is_err());
        panic!("look at the steps");
    });
    let steps = operations(&report);
    for expected in [
        "lock: lock",
        "lock: try_lock -> would block",
        "changed: wake -> timed out",
        "sender: send message 1",
        "sender: send -> full",
        "sender: try_recv message 1",
        "sender: try_recv -> empty",
        "join thread(1) -> panicked",
    ] {
        assert!(steps.contains(&expected), "{expected}\n{report}");
    }
    let objects = &report.failure.as_ref().expect("it fails").objects;
    let lock = objects.iter().find(|object| object.name == "lock").expect("it is used");
    assert_eq!(lock.type_name, "Mutex<i32>");
    assert!(lock.made.as_ref().is_some_and(|made| made.file.ends_with("reports.rs")));
}

/// Two objects that the test calls the same are told apart.
#[test]
fn names_are_unique() {
    let report = Checker::new().run(|| {
        for atomic in [AtomicUsize::new(1), AtomicUsize::new(2)] {
            atomic.load(SeqCst);
        }
        panic!("look at the steps");
    });
    assert_eq!(operations(&report), ["atomic: load -> 1", "atomic #2: load -> 2"]);
}

#[test]
fn coverage_is_one_line() {
    let sections = || {
        let lock = Arc::new(Mutex::new(0));
        let children = [(); 2].map(|()| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || (0..2).for_each(|_| *lock.lock().unwrap() += 1))
        });
        children.into_iter().for_each(|child| child.join().unwrap());
    };
    let report = Checker::new().max_preemptions(Some(1)).run(sections);
    let expected = "4 executions, all graphs with at most 1 preemption under sequential consistency; 0 cut";
    assert_eq!(report.coverage(), expected);
    let report = Checker::new().run(sections);
    assert_eq!(report.to_string(), "6 executions, all graphs under sequential consistency; 0 cut");
    assert_eq!(report.verdict, Verdict::Holds);
}

#[preempt::test]
fn the_attribute_makes_a_test() {
    let total = Arc::new(Mutex::new(0));
    let other = Arc::clone(&total);
    let child = thread::spawn(move || *other.lock().unwrap() += 1);
    *total.lock().unwrap() += 1;
    child.join().unwrap();
    assert_eq!(*total.lock().unwrap(), 2);
}

/// The function is still there.
#[test]
fn the_function_under_the_attribute_can_be_called() {
    let report = Checker::new().run(the_attribute_makes_a_test);
    assert_eq!((report.verdict, report.executions), (Verdict::Holds, 2));
}

/// It fails, and says how to keep the run.
#[preempt::test(max_preemptions = 1, check_leaks)]
#[should_panic(expected = ".check_leaks(true).replay(\"p1:0\").run(a_child_panics)")]
fn a_child_panics() {
    thread::spawn(|| panic!("nobody joins"));
}

#[preempt::test(max_preemptions = 0)]
#[should_panic(expected = "the test returned an error: \"no\"")]
fn an_error_is_a_failure() -> Result<(), &'static str> {
    thread::spawn(|| ()).join().unwrap();
    Err("no")
}

#[preempt::test(spurious = 1)]
async fn an_async_function() {
    assert_eq!(preempt::future::spawn(async { 1 }).await, Ok(1));
}

/// With so few preemptions nothing is found.
#[preempt::test(max_preemptions = 0)]
fn options_count() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    counter.store(counter.load(SeqCst) + 1, SeqCst);
    child.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2);
}

#[test]
fn racing_accesses_are_rows() {
    struct Share(preempt::cell::UnsafeCell<u32>);
    // SAFETY: whether the accesses are ordered is what the test is about.
    unsafe impl Sync for Share {}
    let report = Checker::new().run(|| {
        let x = Arc::new(Share(preempt::cell::UnsafeCell::new(0)));
        let y = Arc::clone(&x);
        // SAFETY: see above.
        let child = thread::spawn(move || x.0.with_mut(|p| unsafe { *p += 1 }));
        // SAFETY: see above.
        y.0.with(|p| unsafe { *p });
        child.join().unwrap();
    });
    let failure = report.failure.as_ref().expect("they race");
    assert_eq!(failure.kind, FailureKind::DataRace);
    let rows: Vec<_> = failure.steps.iter().filter(|step| !step.scheduled).collect();
    let seen: Vec<_> = rows.iter().map(|row| (row.thread, row.operation.as_str())).collect();
    assert_eq!(seen, [(0, "x.0: read ✗ races"), (1, "x.0: write ✗ races")], "{report}");
}

/// Every step is counted, by its thread and line, and it is known where another thread came in between.
#[test]
fn operations_by_thread_and_line() {
    let test = || {
        let (shared, private) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let other = Arc::clone(&shared);
        private.load(SeqCst);
        let child =
            thread::Builder::new().name("writer".into()).spawn(move || other.store(1, SeqCst)).unwrap();
        private.store(1, SeqCst);
        shared.load(SeqCst);
        child.join().unwrap();
    };
    for threads in [1, 2] {
        let report = Checker::new().threads(threads).run(test);
        assert_eq!(report.operations.iter().map(|it| it.times).sum::<u64>(), report.steps, "{report}");
        let count = |thread: &str, operation: &str, nth: usize| {
            let alike = |it: &&OperationCount| it.thread == thread && it.operation == operation;
            let found = report.operations.iter().filter(alike).nth(nth).expect("it is done");
            (found.times, found.delayed)
        };
        assert_eq!(report.executions, 2);
        // Before there is another thread nobody comes in between.
        assert_eq!(count("main(0)", "load", 0), (2, 0));
        // The store comes before the load in one run and behind it in the other.
        let (stores, loads) = (count("writer(1)", "store", 0), count("main(0)", "load", 1));
        assert_eq!((stores.0, loads.0), (2, 2));
        assert!(stores.1 + loads.1 >= 2, "{}", report.scheduling_points());
        let text = report.scheduling_points();
        assert!(text.contains("writer(1)") && text.contains("shared: load"), "{text}");
    }
    // A replay is no search, and the run of a failure is not counted twice.
    let failing = || {
        thread::spawn(|| ()).join().unwrap();
        AtomicUsize::new(0).load(SeqCst);
        panic!("at the end");
    };
    let report = Checker::new().run(failing);
    assert_eq!(report.operations.iter().map(|it| it.times).sum::<u64>(), report.steps, "{report}");
    assert_eq!(
        Checker::new().run(|| ()).scheduling_points(),
        "operations: none, so there was no scheduling point\n"
    );
}

/// A data race as a page, which `.ci/browser` looks at where there is a browser.
#[test]
fn a_race_is_a_page() {
    struct Slot(preempt::cell::UnsafeCell<u32>, AtomicUsize);
    // SAFETY: it is not; that is what the page shows.
    #[allow(unsafe_code)]
    unsafe impl Sync for Slot {}
    let page = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-race.html");
    let report = Checker::new().report_html(&page).run(|| {
        let slot = Arc::new(Slot(preempt::cell::UnsafeCell::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&slot);
        let writer = thread::Builder::new().name("writer".into()).spawn(move || {
            // The flag is raised before the value is there.
            other.1.store(1, SeqCst);
            other.0.with_mut(|_| ());
        });
        if slot.1.load(SeqCst) == 1 {
            slot.0.with(|_| ());
        }
        writer.unwrap().join().unwrap();
    });
    assert_eq!(report.failure.expect("it races").kind, FailureKind::DataRace);
    let text = std::fs::read_to_string(&page).expect("it was written");
    for part in [
        "\"verdict\":\"violated\"",
        "\"mover\":\"thread\"",
        "writer(1)",
        "write ✗ races",
        "operations: ",
        "slot.1: load",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
