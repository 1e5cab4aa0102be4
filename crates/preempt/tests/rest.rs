//! What goes beyond locks and atomics: leaks, memory, futures, time, and the newer parts of `std::sync`.

use preempt::alloc::{Layout, Track};
use preempt::future::{self, AtomicWaker, JoinError};
use preempt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use preempt::sync::{
    Condvar, LazyLock, Mutex, Notify, Once, OnceLock, RwLock, RwLockWriteGuard, mpsc, tracked,
};
use preempt::time::{Duration, Instant};
use preempt::{Checker, FailureKind, check, thread};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

fn kind(checker: &Checker, test: impl Fn() + Send + Sync + 'static) -> Option<FailureKind> {
    checker.run(test).failure.map(|failure| failure.kind)
}

fn leak(test: fn()) -> bool {
    match kind(&Checker::new().check_leaks(true), test) {
        None => false,
        Some(FailureKind::Leak) => true,
        Some(other) => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_freed_is_a_leak_if_leaks_are_checked() {
    assert!(leak(|| std::mem::forget(tracked::Arc::new(1))));
    assert!(leak(|| std::mem::forget(Track::new(1))));
    assert!(leak(|| {
        // SAFETY: the layout has a size.
        let memory = unsafe { preempt::alloc::alloc(Layout::new::<u64>()) };
        assert!(!memory.is_null());
    }));
    assert!(!leak(|| {
        let one = tracked::Arc::new(Track::new(1));
        let two = tracked::Arc::clone(&one);
        thread::spawn(move || drop(two));
        assert_eq!(Track::new(**one).into_inner(), 1);
        let (layout, larger) = (Layout::new::<u64>(), Layout::new::<[u64; 2]>());
        // SAFETY: the layouts have sizes, and the memory is given back with the layout that it has.
        unsafe {
            let memory = preempt::alloc::alloc_zeroed(layout);
            assert_eq!(*memory, 0);
            let memory = preempt::alloc::realloc(memory, layout, larger.size());
            preempt::alloc::dealloc(memory, larger);
        }
    }));
    assert_eq!(kind(&Checker::new(), || std::mem::forget(tracked::Arc::new(1))), None);
}

#[test]
fn what_a_static_owns_is_no_leak() {
    static KEPT: Mutex<Option<tracked::Arc<u8>>> = Mutex::new(None);
    assert!(!leak(|| *KEPT.lock().unwrap() = Some(tracked::Arc::new(1))));
}

#[test]
fn a_leak_says_where() {
    struct Node(Mutex<Option<tracked::Arc<Node>>>);
    let report = Checker::new().check_leaks(true).run(|| {
        let node = tracked::Arc::new(Node(Mutex::new(None)));
        *node.0.lock().unwrap() = Some(tracked::Arc::clone(&node));
    });
    let text = report.to_string();
    assert!(text.contains("leak: ") && text.contains("tests/rest.rs"), "{text}");
}

#[test]
fn freeing_twice_is_a_failure() {
    let layout = Layout::new::<u64>();
    let twice = move || {
        let track = |address| preempt::alloc::Track::new(address);
        // SAFETY: the layout has a size.
        let memory = track(unsafe { preempt::alloc::alloc(layout) });
        // SAFETY: allocated above, with this layout.
        unsafe { preempt::alloc::dealloc(*memory, layout) };
        assert!(!memory.is_null());
        // SAFETY: not freed a second time by the allocator: the check comes first.
        unsafe { preempt::alloc::dealloc(*memory, layout) };
    };
    assert_eq!(kind(&Checker::new(), twice), Some(FailureKind::Panic));
}

#[test]
fn counted_references_as_std_has_them() {
    check(|| {
        let text: tracked::Arc<str> = "abc".into();
        assert_eq!((&*text, format!("{text}")), ("abc", "abc".to_string()));
        let dynamic: tracked::Arc<dyn Fn() -> u8> = tracked::Arc::from_std(Arc::new(|| 3));
        assert_eq!(dynamic(), 3);
        let raw = tracked::Arc::into_raw(tracked::Arc::new(5));
        // SAFETY: the pointer comes from `into_raw`, and each reference is given back once.
        unsafe {
            tracked::Arc::increment_strong_count(raw);
            tracked::Arc::decrement_strong_count(raw);
            let mut back = tracked::Arc::from_raw(raw);
            assert_eq!(tracked::Arc::get_mut(&mut back), Some(&mut 5));
            *tracked::Arc::make_mut(&mut back) += 1;
            assert_eq!(*back, 6);
        }
        assert_eq!(*tracked::Arc::pin(7), 7);
        assert!(tracked::Weak::<u8>::new().upgrade().is_none());
    });
}

/// Clones commute, drops do not: who is last may be either.
#[test]
fn clones_of_a_reference_are_independent() {
    let report = Checker::new().run(|| {
        let shared = Arc::new(tracked::Arc::new(0));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || std::mem::forget(tracked::Arc::clone(&other)));
        std::mem::forget(tracked::Arc::clone(&shared));
        child.join().unwrap();
        std::mem::forget(shared);
    });
    assert!(report.failure.is_none() && report.executions == 1, "{report}");
}

#[test]
fn what_is_not_send_can_be_spawned() {
    check(|| {
        let shared = Rc::new(AtomicUsize::new(0));
        let other = Rc::clone(&shared);
        let child = thread::Builder::new().spawn_local(move || other.fetch_add(1, SeqCst)).unwrap();
        let third = Rc::clone(&shared);
        thread::spawn_local(move || third.fetch_add(1, SeqCst)).join().unwrap();
        child.join().unwrap();
        assert_eq!(shared.load(SeqCst), 2);
    });
}

#[test]
fn a_notification_is_waited_for_and_kept() {
    check(|| {
        let notify = Arc::new(Notify::new());
        let other = Arc::clone(&notify);
        let child = thread::spawn(move || other.wait());
        notify.notify();
        child.join().unwrap();
    });
    assert_eq!(kind(&Checker::new(), || Notify::new().wait()), Some(FailureKind::Deadlock));
    // A wait that ends for no reason, once.
    check(|| {
        let notify = Arc::new(Notify::with_spurious_wakeup());
        let other = Arc::clone(&notify);
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let child = thread::spawn(move || {
            set.store(true, SeqCst);
            other.notify();
        });
        while !flag.load(SeqCst) {
            notify.wait();
        }
        child.join().unwrap();
    });
}

#[test]
fn a_future_is_polled_until_it_is_woken() {
    check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waker = Arc::new(AtomicWaker::new());
        let (set, wake) = (Arc::clone(&flag), Arc::clone(&waker));
        let child = thread::spawn(move || {
            set.store(true, Release);
            wake.wake();
        });
        future::block_on(std::future::poll_fn(|context| {
            waker.register_by_ref(context.waker());
            if flag.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
        child.join().unwrap();
    });
    // Registered after the look: the wake may come in between.
    let lost = || {
        let (flag, waker) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicWaker::new()));
        let (set, wake) = (Arc::clone(&flag), Arc::clone(&waker));
        thread::spawn(move || {
            set.store(true, Release);
            wake.wake();
        });
        future::block_on(std::future::poll_fn(|context| match flag.load(Acquire) {
            true => Poll::Ready(()),
            false => {
                waker.register_by_ref(context.waker());
                Poll::Pending
            }
        }));
    };
    assert_eq!(kind(&Checker::new(), lost), Some(FailureKind::Deadlock));
}

#[test]
fn tasks_are_joined_aborted_and_left() {
    check(|| {
        let task = future::spawn(async {
            future::yield_now().await;
            5
        });
        assert_eq!(future::block_on(task), Ok(5));
        let endless = future::spawn(std::future::pending::<()>());
        endless.abort_handle().abort();
        assert_eq!(future::block_on(endless), Err(JoinError::Cancelled));
        drop(future::spawn_local(std::future::pending::<()>()));
    });
}

#[test]
fn time_goes_on_with_sleep_and_with_what_is_known() {
    check(|| {
        let start = Instant::now();
        assert_eq!(start.elapsed(), Duration::ZERO);
        let child = thread::spawn(|| thread::sleep(Duration::from_secs(3600)));
        child.join().unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(3600), "a join hands on the time");
        let (_sender, receiver) = mpsc::channel::<u8>();
        assert!(receiver.recv_timeout(Duration::from_secs(1)).is_err());
        thread::park_timeout(Duration::from_secs(1));
        let lock = Mutex::new(());
        let (_guard, result) =
            Condvar::new().wait_timeout(lock.lock().unwrap(), Duration::from_secs(1)).unwrap();
        assert!(result.timed_out());
        assert_eq!(start + Duration::from_secs(3603), Instant::now());
        assert_eq!(Instant::now().checked_sub(Duration::from_secs(4000)), None);
    });
}

#[test]
fn waiting_for_what_is_made_once() {
    check(|| {
        let (once, cell) = (Arc::new(Once::new()), Arc::new(OnceLock::new()));
        let (one, other) = (Arc::clone(&once), Arc::clone(&cell));
        let child = thread::spawn(move || {
            one.wait();
            assert!(one.is_completed());
            *other.wait()
        });
        once.call_once(|| ());
        cell.set(4).unwrap();
        assert_eq!(child.join().unwrap(), 4);
    });
    assert_eq!(kind(&Checker::new(), || Once::new().wait()), Some(FailureKind::Deadlock));
    check(|| {
        let mut lazy = LazyLock::new(|| 3);
        assert_eq!(LazyLock::get(&lazy), None);
        *LazyLock::force_mut(&mut lazy) += 1;
        assert_eq!((LazyLock::get(&lazy), *lazy), (Some(&4), 4));
    });
}

#[test]
fn a_writer_becomes_a_reader_without_another_writer_in_between() {
    check(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.write().unwrap() += 10);
        let mut guard = lock.write().unwrap();
        *guard += 1;
        let written = *guard;
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(*guard, written);
        drop(guard);
        child.join().unwrap();
        assert_eq!(format!("{}", lock.read().unwrap()), "11");
    });
}

#[test]
fn an_access_to_a_cell_lasts_as_long_as_its_pointer() {
    struct Shared(preempt::cell::UnsafeCell<u8>, AtomicBool);
    // SAFETY: whether the accesses are ordered is what the test is about.
    unsafe impl Sync for Shared {}
    let test = |use_of: fn(&Shared)| {
        move || {
            let shared = Arc::new(Shared(preempt::cell::UnsafeCell::new(0), AtomicBool::new(false)));
            let other = Arc::clone(&shared);
            let child = thread::spawn(move || {
                if other.1.load(Acquire) {
                    let pointer = other.0.const_ptr();
                    // SAFETY: the cell lives; a writer beside would be reported.
                    assert_eq!(unsafe { *pointer.deref() }, 1);
                }
            });
            use_of(&shared);
            child.join().unwrap();
        }
    };
    fn write(pointer: &preempt::cell::MutPtr<u8>) {
        // SAFETY: the cell lives; somebody beside would be reported.
        unsafe { *pointer.deref() = 1 };
    }
    fn release(shared: &Shared) {
        shared.1.store(true, Release);
    }
    let dropped_before: fn(&Shared) = |shared| {
        write(&shared.0.mut_ptr());
        release(shared);
    };
    // Nothing is done with it any more, though it is still there.
    let dropped_after: fn(&Shared) = |shared| {
        let pointer = shared.0.mut_ptr();
        write(&pointer);
        release(shared);
    };
    let used_after: fn(&Shared) = |shared| {
        let pointer = shared.0.mut_ptr();
        write(&pointer);
        release(shared);
        write(&pointer);
    };
    // A reference may be used until the last step but one.
    let dropped_late: fn(&Shared) = |shared| {
        let pointer = shared.0.mut_ptr();
        write(&pointer);
        release(shared);
        shared.1.load(Acquire);
        drop(pointer);
    };
    assert_eq!(kind(&Checker::new(), test(dropped_before)), None);
    assert_eq!(kind(&Checker::new(), test(dropped_after)), None);
    assert_eq!(kind(&Checker::new(), test(used_after)), Some(FailureKind::DataRace));
    assert_eq!(kind(&Checker::new(), test(dropped_late)), Some(FailureKind::DataRace));
}
