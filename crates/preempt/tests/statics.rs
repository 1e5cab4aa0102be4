//! Statics work: every run finds them as they were declared. And what outlives a run otherwise is refused.

use preempt::cell::UnsafeCell;
use preempt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use preempt::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use preempt::{CheckReport, Checker, Verdict, thread};
use std::cell::{Cell, RefCell};

fn holds(test: fn()) -> CheckReport {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(report.exhaustive, "{report}");
    report
}

static COUNTER: AtomicUsize = AtomicUsize::new(5);
static QUEUE: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TABLE: RwLock<Option<Box<u32>>> = RwLock::new(None);
static CHANGED: Condvar = Condvar::new();
static BARRIER: Barrier = Barrier::new(2);
static ONCE: Once = Once::new();
static NAME: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<AtomicUsize>> = LazyLock::new(|| vec![AtomicUsize::new(COUNTER.load(SeqCst))]);

#[test]
fn every_run_finds_statics_as_they_were_declared() {
    fn test() {
        assert_eq!(COUNTER.load(SeqCst), 5);
        assert!(TABLE.read().unwrap().is_none());
        let child = thread::spawn(|| {
            QUEUE.lock().unwrap().push("child".into());
            CHANGED.notify_one();
            BARRIER.wait();
            ONCE.call_once(|| *TABLE.write().unwrap() = Some(Box::new(1)));
        });
        let mut queue = QUEUE.lock().unwrap();
        while queue.is_empty() {
            queue = CHANGED.wait(queue).unwrap();
        }
        assert_eq!(*queue, ["child"]);
        drop(queue);
        BARRIER.wait();
        ONCE.call_once(|| *TABLE.write().unwrap() = Some(Box::new(1)));
        assert_eq!(NAME.get_or_init(|| "name".into()), "name");
        assert_eq!(LAZY[0].fetch_add(1, SeqCst), 5);
        assert_eq!(COUNTER.fetch_add(1, SeqCst), 5);
        child.join().unwrap();
        assert_eq!(TABLE.read().unwrap().as_deref(), Some(&1));
    }
    let report = holds(test);
    assert!(report.executions > 1, "{report}");
}

/// Which thread uses an object first makes no difference: a static has as many graphs as an object in an `Arc`.
#[test]
fn statics_add_no_executions() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    let add = || SHARED.store(SHARED.load(SeqCst) + 1, SeqCst);
    for (bound, executions) in [(0, 6), (1, 24), (2, 36), (3, 36)] {
        let report = Checker::new().max_preemptions(Some(bound)).run(move || {
            let handles: Vec<_> = (0..3).map(|_| thread::spawn(add)).collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        });
        assert_eq!((report.executions, report.pruned), (executions, 0));
    }
}

/// The copy's destructor runs, in the run.
#[test]
fn what_a_static_holds_is_dropped_with_the_run() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Noisy;
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPS.fetch_add(1, SeqCst);
        }
    }
    static HELD: Mutex<Option<Noisy>> = Mutex::new(None);
    let report = Checker::new().check_determinism(false).run(|| *HELD.lock().unwrap() = Some(Noisy));
    assert_eq!((report.verdict, report.executions), (Verdict::Holds, 1));
    assert_eq!(DROPS.load(SeqCst), 1);
}

struct Flagged {
    flag: AtomicBool,
    data: UnsafeCell<u32>,
}

// SAFETY: for the test: whether the accesses are ordered is what it asks.
unsafe impl Sync for Flagged {}

#[test]
fn a_data_race_in_a_static() {
    static SHARED: Flagged = Flagged { flag: AtomicBool::new(false), data: UnsafeCell::new(0) };
    let report = Checker::new().run(|| {
        let child = thread::spawn(|| {
            // SAFETY: see above.
            SHARED.data.with_mut(|data| unsafe { *data += 1 });
            SHARED.flag.store(true, Relaxed);
        });
        if SHARED.flag.load(Relaxed) {
            // SAFETY: see above.
            SHARED.data.with(|data| assert_eq!(unsafe { *data }, 1));
        }
        child.join().unwrap();
    });
    assert!(report.failure.is_some_and(|failure| failure.message.contains("data race")));
}

#[test]
fn an_object_of_another_run_is_refused() {
    let outside = Arc::new(Mutex::new(0));
    let report = Checker::new().run(move || {
        let other = Arc::clone(&outside);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        *outside.lock().unwrap() += 1;
        child.join().unwrap();
    });
    let failure = report.failure.expect("two runs share a mutex");
    assert!(failure.message.contains("created outside of the test"), "{failure}");
}

preempt::thread_local! {
    static OWN: Cell<u32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![OWN.get()]);
}

#[test]
fn thread_locals_belong_to_modelled_threads() {
    holds(|| {
        OWN.set(OWN.get() + 1);
        let child = thread::spawn(|| {
            assert_eq!(OWN.get(), 1);
            LIST.with_borrow_mut(|list| list.push(7));
            LIST.take()
        });
        assert_eq!(LIST.with_borrow(Vec::clone), [2]);
        assert_eq!(child.join().unwrap(), [1, 7]);
    });
}

#[test]
fn thread_locals_are_dropped_at_the_end_of_their_thread() {
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            // As in std: what is being dropped is gone, others can be asked for, also for the first time.
            assert!(HELD.try_with(|_| ()).is_err() && OWN.try_with(|_| ()).is_ok());
        }
    }
    preempt::thread_local! {
        static HELD: RefCell<Option<Count>> = const { RefCell::new(None) };
    }
    holds(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&drops);
        thread::spawn(move || HELD.set(Some(Count(count)))).join().unwrap();
        assert_eq!(drops.load(SeqCst), 1);
    });
}
