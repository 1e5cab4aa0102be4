//! Every name of loom's, in its smallest use.

use loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
use loom::cell::{Cell, UnsafeCell};
use loom::future::{AtomicWaker, block_on};
use loom::model::Builder;
use loom::sync::atomic::{AtomicUsize, Ordering::*, fence, spin_loop_hint};
use loom::sync::{Arc, Barrier, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::{model, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

/// What a model panics with.
fn failure(test: impl Fn() + Send + Sync + 'static) -> String {
    let result = catch_unwind(AssertUnwindSafe(|| model(test)));
    *result.expect_err("it fails").downcast::<String>().expect("a text")
}

#[test]
fn a_builder_has_looms_fields() {
    let mut builder = Builder::new();
    builder.max_threads = 3;
    builder.preemption_bound = Some(1);
    builder.max_permutations = Some(100);
    builder.max_duration = Some(std::time::Duration::from_secs(10));
    builder.checkpoint_file("no/such/directory");
    builder.checkpoint_interval = 1;
    (builder.expect_explicit_explore, builder.location, builder.log) = (true, true, false);
    builder.check(|| {
        loom::explore();
        loom::skip_branch();
        loom::stop_exploring();
        thread::spawn(|| ()).join().unwrap();
    });
    builder.max_branches = 2;
    let long = || (0..3).for_each(|_| thread::yield_now());
    assert!(catch_unwind(AssertUnwindSafe(|| builder.check(long))).is_err());
}

#[test]
fn what_is_lost_or_raced_for_is_a_failure() {
    assert!(failure(|| std::mem::forget(Arc::new(1))).contains("leak"));
    assert!(failure(|| std::mem::forget(Track::new(1))).contains("leak"));
    let racy = || {
        let cell = Rc::new(UnsafeCell::new(0));
        let other = Rc::clone(&cell);
        // SAFETY: modelled threads share an OS thread; that nothing orders the accesses is what the test is about.
        let child = thread::spawn(move || other.with_mut(|value| unsafe { *value += 1 }));
        // SAFETY: as above.
        cell.with(|value| unsafe { *value });
        child.join().unwrap();
    };
    assert!(failure(racy).contains("data race"));
}

#[test]
fn memory_is_followed() {
    model(|| {
        let layout = Layout::new::<u64>();
        // SAFETY: the layout has a size, and the memory is given back with it.
        unsafe {
            dealloc(alloc(layout), layout);
            dealloc(alloc_zeroed(layout), layout);
        }
        let mut track = Track::new(1);
        *track.get_mut() += *track.get_ref();
        assert_eq!(track.into_inner(), 2);
    });
}

#[test]
fn cells_lend_pointers() {
    model(|| {
        let cell = UnsafeCell::new(1);
        // SAFETY: nobody else has the cell, and one pointer to it is used at a time.
        unsafe {
            *cell.get_mut().deref() += 1;
            cell.get_mut().with(|pointer| *pointer += 1);
            assert_eq!(*cell.get().deref() + cell.get().with(|pointer| *pointer), 6);
        }
        assert_eq!(cell.into_inner(), 3);
        let cell = Cell::new(1);
        cell.set(cell.get() + 1);
        assert_eq!((cell.replace(5), cell.take()), (2, 5));
    });
}

#[test]
fn atomics_have_looms_extras() {
    model(|| {
        let mut atomic = AtomicUsize::new(1);
        atomic.with_mut(|value| *value += 1);
        // SAFETY: nobody else has the atomic.
        assert_eq!(unsafe { atomic.unsync_load() }, 2);
        assert_eq!(atomic.compare_and_swap(2, 3, SeqCst), 2);
        fence(SeqCst);
        spin_loop_hint();
        loom::hint::spin_loop();
        assert_eq!(atomic.into_inner(), 3);
    });
}

loom::lazy_static! {
    /// A value for each run.
    static ref COUNT: Arc<AtomicUsize> = Arc::new(AtomicUsize::new(5));
}

loom::thread_local! {
    static LOCAL: std::cell::Cell<u8> = std::cell::Cell::new(1);
}

#[test]
fn statics_and_locals_start_anew() {
    model(|| {
        COUNT.fetch_add(1, SeqCst);
        assert_eq!(COUNT.load(SeqCst), 6);
        LOCAL.with(|local| local.set(2));
        assert_eq!(thread::spawn(|| LOCAL.with(std::cell::Cell::get)).join().unwrap(), 1);
    });
    let late = failure(|| drop(thread::spawn(|| COUNT.load(SeqCst))));
    assert!(late.contains("after the end of the main thread"), "{late}");
}

#[test]
fn futures_are_polled_for_no_reason_too() {
    let polled = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let most = std::sync::Arc::clone(&polled);
    model(move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicWaker::new()));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            other.0.store(1, Release);
            other.1.wake();
        });
        let mut polls = 0;
        block_on(std::future::poll_fn(|context| {
            polls += 1;
            shared.1.register(context.waker().clone());
            if shared.0.load(Acquire) == 1 { Poll::Ready(()) } else { Poll::Pending }
        }));
        most.fetch_max(polls, SeqCst);
        child.join().unwrap();
    });
    assert_eq!(polled.load(SeqCst), 3);
}

#[test]
fn threads_need_not_be_send_and_main_has_no_name() {
    model(|| {
        assert_eq!(thread::current().name(), None);
        let shared = Rc::new(Notify::new());
        let other = Rc::clone(&shared);
        let child = thread::Builder::new().name("child".into()).stack_size(1 << 12).spawn(move || {
            other.wait();
            thread::current().name().map(str::to_string)
        });
        shared.notify();
        assert_eq!(child.unwrap().join().unwrap().as_deref(), Some("child"));
        let main = thread::current();
        thread::spawn(move || main.unpark());
        thread::park();
    });
}

#[test]
fn locks_and_channels() {
    model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(0), Barrier::new(2)));
        let other = Arc::clone(&shared);
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || {
            *other.2.write().unwrap() += 1;
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
            sender.send(*other.2.read().unwrap()).unwrap();
            other.3.wait();
        });
        let mut set = shared.0.lock().unwrap();
        while !*set {
            set = shared.1.wait(set).unwrap();
        }
        drop(set);
        assert_eq!(receiver.recv(), Ok(1));
        shared.3.wait();
        child.join().unwrap();
    });
    model(|| {
        let dynamic: Arc<dyn Fn() -> u8> = Arc::from_std(std::sync::Arc::new(|| 1));
        let other = Arc::clone(&dynamic);
        assert!(Arc::ptr_eq(&dynamic, &other) && dynamic() == other());
        drop(other);
        let number = Arc::new(1);
        assert_eq!((Arc::strong_count(&number), Arc::try_unwrap(number)), (1, Ok(1)));
    });
}

/// loom repeats whole schedules, so what threads do may depend on objects of std's, if a yield lies in between.
#[test]
fn threads_may_meet_in_objects_of_std_at_yields() {
    model(|| {
        let slots = std::sync::Arc::new([(); 4].map(|()| AtomicUsize::new(0)));
        let producer = |from: usize| {
            let slots = std::sync::Arc::clone(&slots);
            thread::spawn(move || slots[from..from + 2].iter().for_each(|slot| slot.store(1, Release)))
        };
        let children = [producer(0), producer(2)];
        let mut seen = 0;
        while std::sync::Arc::strong_count(&slots) > 1 {
            seen += slots.iter().map(|slot| slot.swap(0, AcqRel)).sum::<usize>();
            thread::yield_now();
        }
        children.into_iter().for_each(|child| child.join().unwrap());
        assert_eq!(seen + slots.iter().map(|slot| slot.load(Relaxed)).sum::<usize>(), 4);
    });
}

/// A failing schedule is kept, and run before anything else.
#[test]
fn a_checkpoint_file_keeps_what_fails() {
    let file = std::env::temp_dir().join(format!("loom-checkpoint-{}", std::process::id()));
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let check = |bug: bool| {
        let (mut builder, runs) = (Builder::new(), std::sync::Arc::clone(&runs));
        builder.checkpoint_file(file.to_str().unwrap());
        let before = runs.load(SeqCst);
        let counted = std::sync::Arc::clone(&runs);
        let result = catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                counted.fetch_add(1, SeqCst);
                let count = Arc::new(AtomicUsize::new(0));
                let other = Arc::clone(&count);
                let child = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
                count.store(count.load(SeqCst) + 1, SeqCst);
                child.join().unwrap();
                assert!(!bug || count.load(SeqCst) == 2, "an update is lost");
            })
        }));
        (result.is_err(), runs.load(SeqCst) - before)
    };
    let (failed, searched) = check(true);
    let (again, replayed) = check(true);
    assert!(failed && again && replayed == 1 && searched > 1, "{searched} runs, then {replayed}");
    let (fixed, all) = check(false);
    assert!(!fixed && all > 1, "{all} runs");
    std::fs::remove_file(file).unwrap();
}
