//! Atomics have the size of a word and nothing beside their value: what moves, what is forgotten, what is used again.

use preempt::sync::Arc;
use preempt::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::*};
use preempt::{Checker, FailureKind, check, thread};
use std::mem::{ManuallyDrop, MaybeUninit, forget, size_of};

fn fails(test: fn()) -> FailureKind {
    Checker::new().run(test).failure.expect("it fails").kind
}

#[test]
fn sizes_are_those_that_code_depends_on() {
    assert_eq!(size_of::<AtomicUsize>(), size_of::<usize>());
    assert_eq!(size_of::<AtomicU64>(), 8);
    assert_eq!(size_of::<AtomicPtr<u8>>(), size_of::<*mut u8>());
    assert_eq!(size_of::<AtomicBool>(), 8, "loom's have the size of a word, whatever their type");
}

#[test]
fn an_atomic_can_be_moved_between_its_uses() {
    check(|| {
        let atomic = AtomicUsize::new(1);
        atomic.fetch_add(1, Relaxed);
        let shared = Arc::new(atomic);
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || other.fetch_add(1, Relaxed));
        shared.fetch_add(1, Relaxed);
        child.join().unwrap();
        let atomic = Arc::into_inner(shared).unwrap();
        assert_eq!(atomic.load(Relaxed), 4);
        assert_eq!(atomic.into_inner(), 4);
    });
}

/// Two atomics one after the other in the same memory are two objects: a release to the first is none to the second.
#[test]
fn memory_that_is_used_again_is_another_object() {
    let report = Checker::new().run(|| {
        let mut memory = Box::new(ManuallyDrop::new(AtomicUsize::new(7)));
        memory.store(8, Release);
        *memory = ManuallyDrop::new(AtomicUsize::new(1));
        assert_eq!(memory.load(Acquire), 1);
        let mut raw = Box::new(MaybeUninit::<AtomicU64>::uninit());
        for round in 0..3 {
            let atomic = raw.write(AtomicU64::new(round));
            assert_eq!(atomic.fetch_add(1, Relaxed), round);
        }
        forget(memory);
    });
    assert!(report.failure.is_none(), "{report}");
    assert_eq!(report.executions, 1);
}

#[test]
fn the_value_can_be_had_without_steps() {
    check(|| {
        let mut atomic = AtomicUsize::new(1);
        atomic.store(5, Relaxed);
        *atomic.get_mut() += 1;
        assert_eq!(atomic.load(Relaxed), 6);
        assert_eq!(atomic.with_mut(|value| std::mem::replace(value, 9)), 6);
        // SAFETY: nobody else has the atomic.
        assert_eq!(unsafe { atomic.unsync_load() }, 9);
        assert_eq!(atomic.compare_and_swap(9, 10, AcqRel), 9);
        assert_eq!(format!("{atomic:?}"), "10");
    });
}

#[test]
fn small_and_large_values_and_pointers_keep_theirs() {
    check(|| {
        let flag = AtomicBool::new(true);
        assert!(flag.swap(false, Relaxed) && !flag.load(Relaxed));
        let large = AtomicU64::new(u64::MAX);
        assert_eq!(large.fetch_add(2, Relaxed), u64::MAX);
        assert_eq!(large.load(Relaxed), 1);
        let mut target = 3;
        let pointer = AtomicPtr::new(&raw mut target);
        // SAFETY: it points to `target`, which nobody else uses.
        unsafe { *pointer.load(Relaxed) += 1 };
        assert_eq!(target, 4);
    });
}

#[test]
fn an_atomic_from_outside_keeps_its_value_after_the_run_and_is_refused_by_a_second() {
    let outside = Arc::new(AtomicUsize::new(3));
    let inside = Arc::clone(&outside);
    let report = Checker::new().run(move || {
        inside.fetch_add(1, Relaxed);
    });
    assert!(report.failure.is_none(), "{report}");
    assert_eq!(format!("{outside:?}"), "4");
    let report = Checker::new().run(move || {
        outside.fetch_add(1, Relaxed);
    });
    assert!(report.to_string().contains("used by more than one run"), "{report}");
}

#[test]
fn a_static_starts_anew_in_every_run() {
    static COUNT: AtomicUsize = AtomicUsize::new(5);
    check(|| {
        let child = thread::spawn(|| COUNT.fetch_add(1, Relaxed));
        COUNT.fetch_add(1, Relaxed);
        child.join().unwrap();
        assert_eq!(COUNT.load(Relaxed), 7);
    });
}

#[test]
fn a_load_that_is_not_atomic_races_with_a_store() {
    let racy = || {
        let atomic = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&atomic);
        // SAFETY: a data race is reported, and none happens: modelled threads share an OS thread.
        let child = thread::spawn(move || unsafe { other.unsync_load() });
        atomic.store(1, Release);
        child.join().unwrap();
    };
    assert_eq!(fails(racy), FailureKind::DataRace);
    check(|| {
        let atomic = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&atomic);
        let child = thread::spawn(move || other.store(1, Relaxed));
        child.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { atomic.unsync_load() }, 1);
    });
}

#[test]
fn with_mut_races_with_loads_too() {
    struct Shared(std::cell::UnsafeCell<AtomicUsize>);
    // SAFETY: whether the accesses are ordered is what the test is about.
    unsafe impl Sync for Shared {}
    let racy = || {
        let atomic = Arc::new(Shared(AtomicUsize::new(0).into()));
        let other = Arc::clone(&atomic);
        // SAFETY: modelled threads share an OS thread, and no reference is kept beyond a step.
        let child = thread::spawn(move || unsafe { (*other.0.get()).load(Relaxed) });
        // SAFETY: as above.
        unsafe { (*atomic.0.get()).with_mut(|value| *value = 1) };
        child.join().unwrap();
    };
    assert_eq!(fails(racy), FailureKind::DataRace);
}
