//! A test that depends on anything but its schedule is told so, whatever it depends on and however few runs it has.

use preempt::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Mutex, RwLock, mpsc};
use preempt::{CheckReport, Checker, FailureKind, Verdict, thread};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Instant, SystemTime};

/// Two runs do other things.
#[track_caller]
fn operations_differ(test: fn()) -> String {
    let report = Checker::new().run(test);
    let failure = report.failure.expect("it fails");
    assert_eq!(failure.kind, FailureKind::Nondeterminism, "{failure}");
    assert!(
        failure.message.contains("one did: ") && failure.message.contains("determinism.rs:"),
        "{failure}"
    );
    failure.message
}

/// Two runs see other values.
#[track_caller]
fn values_differ(test: fn()) -> String {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    let what = report.differing_values.expect("it is told");
    assert!(what.contains("determinism.rs:") && what.contains("in the other: "), "{what}");
    what
}

#[track_caller]
fn nothing_differs(test: fn()) -> CheckReport {
    let report = Checker::new().run(test);
    assert!(report.failure.is_none() && report.differing_values.is_none(), "{report}");
    report
}

/// Random bits: the keys of a hasher are others each time.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[test]
fn a_random_number_decides_what_is_done() {
    operations_differ(|| {
        let lock = Mutex::new(0);
        for _ in 0..random() % 1000 {
            drop(lock.lock());
        }
    });
    operations_differ(|| {
        let lock = RwLock::new(0);
        for bit in 0..64 {
            match random() >> bit & 1 {
                0 => drop(lock.read()),
                _ => drop(lock.write()),
            }
        }
    });
    // By a thread of many, in the last of its steps.
    operations_differ(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&count);
        let child = thread::spawn(move || {
            other.fetch_add(1, SeqCst);
            (0..random() % 1000).for_each(|_| _ = other.load(SeqCst));
        });
        child.join().unwrap();
        count.fetch_add(1, SeqCst);
    });
}

#[test]
fn a_random_number_is_stored() {
    let what = values_differ(|| AtomicU64::new(0).store(random(), SeqCst));
    assert!(what.contains("step 1 of main(0), store at "), "{what}");
    values_differ(|| {
        let seen = Arc::new(AtomicU64::new(0));
        let other = Arc::clone(&seen);
        let child = thread::spawn(move || _ = other.compare_exchange(0, random(), SeqCst, SeqCst));
        child.join().unwrap();
    });
}

#[test]
fn time_is_stored() {
    values_differ(|| {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        AtomicU64::new(0).store(now.as_nanos() as u64, SeqCst);
    });
    values_differ(|| {
        let (begin, spent) = (Instant::now(), AtomicU64::new(0));
        thread::spawn(|| ()).join().unwrap();
        spent.fetch_add(begin.elapsed().as_nanos() as u64, SeqCst);
    });
}

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Of two orders each has a half, so this is told in all but one of 256 tests: eight keys are left nearly no chance.
#[test]
fn the_order_of_a_hash_map() {
    values_differ(|| {
        let (sum, map) = (AtomicU64::new(0), HashMap::from(NAMES.map(|name| (name, name.as_bytes()[0]))));
        map.values().for_each(|value| sum.store(u64::from(*value), SeqCst));
    });
    operations_differ(|| {
        let locks: HashMap<&str, Mutex<()>> = HashMap::from(NAMES.map(|name| (name, Mutex::new(()))));
        NAMES.iter().for_each(|name| drop(locks[name].lock()));
        locks.values().for_each(|lock| drop(lock.lock()));
    });
    operations_differ(|| {
        let (sender, receiver) = mpsc::channel();
        let map = HashMap::from(NAMES.map(|name| (name, name == "e")));
        map.values().for_each(|&send| if send { sender.send(1).unwrap() } else { _ = receiver.try_recv() });
    });
}

/// A panic that comes and goes.
#[test]
fn an_assertion_that_depends_on_chance() {
    let report = Checker::new().run(|| {
        let lock = Mutex::new(0);
        drop(lock.lock());
        assert!(!random().is_multiple_of(2), "chance");
    });
    // The search meets it at once, or the repetition does.
    assert!(report.failure.is_some(), "{report}");
}

/// In every strategy, and with several threads of the operating system.
#[test]
fn in_every_search() {
    let test = || AtomicU64::new(0).store(random(), SeqCst);
    for strategy in [preempt::Strategy::Bpor, preempt::Strategy::Random(1), preempt::Strategy::RoundRobin] {
        let report = Checker::new().strategy(strategy).max_executions(3).run(test);
        assert!(report.differing_values.is_some(), "{report}");
    }
    assert!(Checker::new().threads(2).run(test).differing_values.is_some());
    assert!(Checker::new().check_determinism(false).run(test).differing_values.is_none());
}

/// Addresses are no choice of the test's, also where they are kept in integers.
#[test]
fn addresses_and_virtual_time_are_no_chance() {
    nothing_differs(|| {
        let place = AtomicUsize::new(0);
        let on_the_heap = Box::new(7);
        place.store(std::ptr::from_ref(&*on_the_heap).addr(), SeqCst);
        place.load(SeqCst);
    });
    nothing_differs(|| {
        let begin = preempt::time::Instant::now();
        thread::yield_now();
        AtomicU64::new(0).store(begin.elapsed().as_nanos() as u64, SeqCst);
    });
    let report = nothing_differs(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        child.join().unwrap();
    });
    assert_eq!(report.executions, 2, "repetitions are not counted");
}
