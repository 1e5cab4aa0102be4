//! Each mirror does what std's does, in every schedule.

use preempt::cell::Cell;
use preempt::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::*};
use preempt::sync::mpsc::{self, TryRecvError, TrySendError};
use preempt::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, TryLockError};
use preempt::{Checker, Report, Verdict, hint, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as Collector;
use std::time::Duration;

fn holds(test: impl Fn() + Send + Sync + 'static) -> Report {
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

#[test]
fn try_lock_fails_and_succeeds() {
    let seen = outcomes(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.lock().unwrap() += 1);
        let got = match lock.try_lock() {
            Ok(value) => Some(*value),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => unreachable!(),
        };
        child.join().unwrap();
        got
    });
    assert_eq!(seen, [None, Some(0), Some(1)]);
}

#[test]
fn a_panic_poisons() {
    holds(|| {
        let lock = Arc::new((Mutex::new(0), RwLock::new(0)));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || {
            let _mutex = other.0.lock();
            let _rwlock = other.1.write();
            panic!("with both locks held");
        });
        assert!(child.join().is_err());
        assert!(lock.0.lock().is_err() && lock.1.read().is_err());
        lock.0.clear_poison();
        assert!(lock.0.lock().is_ok());
    });
}

#[test]
fn any_waiter_may_be_woken() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new((0, Vec::new())), Condvar::new()));
        let handles: Vec<_> = (0..2)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut state = shared.0.lock().unwrap();
                    state.0 += 1;
                    state = shared.1.wait(state).unwrap();
                    state.1.push(i);
                })
            })
            .collect();
        while shared.0.lock().unwrap().0 < 2 {
            thread::yield_now();
        }
        shared.1.notify_one();
        shared.1.notify_one();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        std::mem::take(&mut shared.0.lock().unwrap().1)
    });
    assert_eq!(seen, [[0, 1], [1, 0]]);
}

#[test]
fn a_wait_may_time_out_or_be_notified() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || other.1.notify_all());
        let (guard, result) =
            shared.1.wait_timeout(shared.0.lock().unwrap(), Duration::from_secs(1)).unwrap();
        drop(guard);
        child.join().unwrap();
        result.timed_out()
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_barrier_has_one_leader_each_round() {
    holds(|| {
        let (barrier, leaders) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
        let run = |barrier: &Barrier, leaders: &AtomicU32| {
            for round in 1..=2 {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, SeqCst);
                }
                assert!(leaders.load(SeqCst) + 1 >= round);
            }
        };
        let (b, l) = (Arc::clone(&barrier), Arc::clone(&leaders));
        let child = thread::spawn(move || run(&b, &l));
        run(&barrier, &leaders);
        child.join().unwrap();
        assert_eq!(leaders.load(SeqCst), 2);
    });
}

#[test]
fn channels_deliver_in_order_and_disconnect() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let a = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let b = thread::spawn(move || other.send(3).unwrap());
        let received: Vec<i32> = receiver.iter().collect();
        a.join().unwrap();
        b.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        received
    });
    assert_eq!(seen, [[1, 2, 3], [1, 3, 2], [3, 1, 2]]);
    holds(|| {
        let (sender, receiver) = mpsc::channel();
        drop(receiver);
        assert!(sender.send(1).is_err());
    });
}

#[test]
fn bounded_channels_block_and_meet() {
    for capacity in [0, 1] {
        holds(move || {
            let (sender, receiver) = mpsc::sync_channel(capacity);
            let sent = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&sent);
            let child = thread::spawn(move || {
                for i in 0..3 {
                    sender.send(i).unwrap();
                    count.fetch_add(1, SeqCst);
                }
            });
            for i in 0..3 {
                assert!(sent.load(SeqCst) <= i + capacity);
                assert_eq!(receiver.recv(), Ok(i));
            }
            assert!(receiver.recv().is_err());
            child.join().unwrap();
        });
    }
    holds(|| {
        let (sender, _receiver) = mpsc::sync_channel(1);
        sender.try_send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    });
}

#[test]
fn once_runs_once() {
    holds(|| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0), OnceLock::new()));
        let run = |shared: &(Once, AtomicU32, OnceLock<u32>)| {
            shared.0.call_once(|| {
                shared.1.fetch_add(1, Relaxed);
            });
            assert_eq!(shared.1.load(Relaxed), 1);
            *shared.2.get_or_init(|| 7)
        };
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || run(&other));
        assert_eq!(run(&shared), child.join().unwrap());
        assert_eq!(shared.2.set(3), Err(3));
    });
}

#[test]
fn park_and_unpark() {
    holds(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, main) = (Arc::clone(&flag), thread::current());
        let child = thread::spawn(move || {
            other.store(true, Release);
            main.unpark();
        });
        while !flag.load(Acquire) {
            thread::park();
        }
        child.join().unwrap();
    });
}

#[test]
fn park_with_a_time_out_never_blocks() {
    let seen = outcomes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, main) = (Arc::clone(&flag), thread::current());
        let child = thread::spawn(move || {
            other.store(true, Release);
            main.unpark();
        });
        thread::park_timeout(Duration::from_secs(1));
        let seen = flag.load(Acquire);
        child.join().unwrap();
        seen
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_wait_with_a_condition_and_a_time_out() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let (lock, condvar) = &*shared;
        let (guard, result) =
            condvar.wait_timeout_while(lock.lock().unwrap(), Duration::from_secs(1), |set| !*set).unwrap();
        assert_eq!(*guard, !result.timed_out());
        drop(guard);
        child.join().unwrap();
        result.timed_out()
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn receiving_with_a_time_out() {
    use mpsc::RecvTimeoutError::*;
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || sender.send(1).unwrap());
        let received = receiver.recv_timeout(Duration::from_secs(1));
        child.join().unwrap();
        received.map_err(|error| matches!(error, Timeout))
    });
    assert_eq!(seen, [Ok(1), Err(true)]);
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let child = thread::spawn(move || drop(sender));
        let received = receiver.recv_timeout(Duration::from_secs(1));
        child.join().unwrap();
        matches!(received, Err(Disconnected))
    });
    assert_eq!(seen, [false, true]);
}

/// A loop around a weak exchange passes, a single one does not; and only if failures for no reason are explored.
#[test]
fn weak_exchanges_fail_for_no_reason_if_asked() {
    fn single() {
        let flag = AtomicBool::new(false);
        assert!(flag.compare_exchange_weak(false, true, AcqRel, Relaxed).is_ok());
    }
    holds(single);
    let report = Checker::new().spurious(1).run(single);
    assert_eq!(report.executions, 2);
    let failure = report.failure.expect("it may fail");
    assert!(failure.schedule.contains('!'), "{failure}");
    assert!(failure.steps.iter().any(|step| step.operation.contains("for no reason")), "{failure}");
    let again = Checker::new().spurious(1).replay(&failure.schedule).run(single);
    assert_eq!(again.failure.map(|again| again.message), Some(failure.message));
    for spurious in 0..4 {
        let report = Checker::new().spurious(spurious).run(|| {
            let counter = AtomicUsize::new(0);
            let _ = counter.fetch_update(SeqCst, SeqCst, |value| Some(value + 1));
            assert_eq!(counter.load(SeqCst), 1);
        });
        assert!(report.exhaustive);
        assert_eq!(report.executions, u64::from(spurious) + 1);
    }
}

#[test]
fn waits_end_for_no_reason_if_asked() {
    fn careless() {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut set = shared.0.lock().unwrap();
        if !*set {
            set = shared.1.wait(set).unwrap();
        }
        assert!(*set);
        drop(set);
        child.join().unwrap();
    }
    holds(careless);
    assert!(Checker::new().spurious(1).run(careless).failure.is_some_and(|failure| failure.preemptions == 0));
    fn parked() {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, main) = (Arc::clone(&flag), thread::current());
        let child = thread::spawn(move || {
            other.store(true, SeqCst);
            main.unpark();
        });
        thread::park();
        assert!(flag.load(SeqCst));
        child.join().unwrap();
    }
    holds(parked);
    assert!(Checker::new().spurious(1).run(parked).failure.is_some());
}

#[test]
fn tracked_references() {
    use preempt::sync::tracked;
    let counts = outcomes(|| {
        let shared = tracked::Arc::new(0);
        let other = shared.clone();
        let child = thread::spawn(move || drop(other));
        let count = tracked::Arc::strong_count(&shared);
        child.join().unwrap();
        assert_eq!(tracked::Arc::try_unwrap(shared).unwrap(), 0);
        count
    });
    assert_eq!(counts, [1, 2]);
    let alive = outcomes(|| {
        let shared = tracked::Arc::new(7);
        let weak = tracked::Arc::downgrade(&shared);
        let child = thread::spawn(move || weak.upgrade().map(|value| *value));
        drop(shared);
        child.join().unwrap()
    });
    assert_eq!(alive, [None, Some(7)]);
    // Whoever is last runs the destructor, which does a step of its own.
    struct Last(Arc<Mutex<Vec<thread::ThreadId>>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(thread::current().id());
        }
    }
    let by_main = outcomes(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = tracked::Arc::new(Last(Arc::clone(&log)));
        let mut other = shared.clone();
        let child = thread::spawn(move || {
            tracked::Arc::get_mut(&mut other);
        });
        drop(shared);
        child.join().unwrap();
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 1);
        log[0] == thread::current().id()
    });
    assert_eq!(by_main, [false, true]);
}

#[test]
fn named_scoped_threads() {
    holds(|| {
        let text = String::from("borrowed");
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("reader".into());
            let reader = builder.spawn_scoped(scope, || {
                assert_eq!(thread::current().name(), Some("reader"));
                text.len()
            });
            assert_eq!(reader.unwrap().join().unwrap(), 8);
        });
    });
}

#[test]
fn scoped_threads_borrow() {
    let seen = outcomes(|| {
        let (mut own, counter) = (vec![1], AtomicUsize::new(0));
        let first = thread::scope(|scope| {
            let first = scope.spawn(|| counter.fetch_add(1, SeqCst));
            scope.spawn(|| counter.fetch_add(1, SeqCst));
            own.push(2);
            first.join().unwrap()
        });
        assert_eq!((counter.load(SeqCst), own.len()), (2, 2));
        first
    });
    assert_eq!(seen, [0, 1]);
    // A panic in a scope, and a deadlock inside one: everything is unwound in order.
    let report = Checker::new().run(|| thread::scope(|scope| drop(scope.spawn(|| panic!("inside")))));
    assert!(report.failure.is_some_and(|failure| failure.message.contains("inside")));
    let report = Checker::new().run(|| {
        let (a, text) = (Mutex::new(()), String::from("borrowed"));
        let _held = a.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _text = &text;
                drop(a.lock());
            });
        });
    });
    assert!(report.failure.is_some_and(|failure| failure.message.contains("deadlock")));
}

struct SpinLock {
    taken: AtomicBool,
}

impl SpinLock {
    fn section(&self, f: impl FnOnce()) {
        while self.taken.swap(true, Acquire) {
            hint::spin_loop();
        }
        f();
        self.taken.store(false, Release);
    }
}

fn spin(fair: u32, bound: u32) -> Report {
    Checker::new()
        .fair_bound(Some(fair))
        .max_preemptions(Some(bound))
        .max_duration(Duration::from_secs(20))
        .run(|| {
            let shared = Arc::new((SpinLock { taken: AtomicBool::new(false) }, AtomicUsize::new(0)));
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || {
                        shared.0.section(|| {
                            let value = shared.1.load(Relaxed);
                            shared.1.store(value + 1, Relaxed);
                        });
                    })
                })
                .collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
            assert_eq!(shared.1.load(Relaxed), 3);
        })
}

#[test]
fn a_spin_lock_with_three_threads_finishes_under_the_fair_bound() {
    for (fair, bound) in [(0, 2), (1, 2)] {
        let report = spin(fair, bound);
        println!("spin lock, fair {fair}: {report}");
        assert_eq!(report.verdict, Verdict::Holds, "{report}");
        assert_eq!(report.complete_to, Some(bound));
    }
}

#[test]
fn a_ticket_lock_with_three_threads_finishes_under_the_fair_bound() {
    let report = Checker::new().fair_bound(Some(0)).max_preemptions(Some(2)).run(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
        let handles: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let ticket = shared.0.fetch_add(1, Relaxed);
                    while shared.1.load(Acquire) != ticket {
                        hint::spin_loop();
                    }
                    let value = shared.2.load(Relaxed);
                    shared.2.store(value + 1, Relaxed);
                    shared.1.store(ticket + 1, Release);
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(shared.2.load(Relaxed), 3);
    });
    println!("ticket lock: {report}");
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
}

#[test]
fn what_std_has_besides() {
    holds(|| {
        let word = AtomicUsize::new(3);
        assert_eq!((word.update(SeqCst, SeqCst, |old| old * 2), word.load(SeqCst)), (3, 6));
        assert_eq!(word.try_update(SeqCst, SeqCst, |old| (old != 6).then_some(7)), Err(6));
        let mut items = [1_u32, 2];
        let first: *mut u32 = &raw mut items[0];
        let pointer = AtomicPtr::new(first);
        assert_eq!(pointer.fetch_ptr_add(1, SeqCst), first);
        assert_eq!(pointer.fetch_byte_sub(4, SeqCst), first.wrapping_add(1));
        assert_eq!(pointer.fetch_or(1, SeqCst), first);
        assert_eq!(pointer.fetch_xor(1, SeqCst), first.wrapping_byte_add(1));
        assert_eq!(pointer.load(SeqCst), first);
        let (a, b) = (Cell::new(1), Cell::from(2));
        a.swap(&b);
        a.update(|value| value * 10);
        assert_eq!((a.get(), b.get()), (20, 1));
        assert_eq!(*RwLock::from(5).read().unwrap(), 5);
    });
    let sums = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || (1..3).for_each(|item| sender.send(item).unwrap()));
        let polled: u32 = receiver.try_iter().sum();
        let sum = polled + receiver.into_iter().sum::<u32>();
        child.join().unwrap();
        (polled, sum)
    });
    assert_eq!(sums, [(0, 3), (1, 3), (3, 3)]);
    let wrong = Checker::new().run(|| {
        let _ = AtomicU32::new(0).compare_exchange(0, 1, SeqCst, Release);
    });
    assert!(wrong.failure.is_some_and(|failure| failure.message.contains("no such thing as a release")));
}

/// Nobody receives, or somebody does: only then can a message be handed over without waiting.
#[test]
fn try_send_on_a_rendezvous_channel() {
    holds(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    });
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let child = thread::spawn(move || receiver.recv().ok());
        let sent = sender.try_send(1).is_ok();
        drop(sender);
        (sent, child.join().unwrap())
    });
    assert_eq!(seen, [(false, None), (true, Some(1))]);
}

mod locals {
    use super::*;
    use std::cell::RefCell;

    struct Says(&'static str);

    impl Drop for Says {
        fn drop(&mut self) {
            match self.0 {
                "panics" => panic!("in the destructor of a local"),
                "asks" => LATE.with(|late| late.borrow_mut().push(1)),
                _ => {}
            }
        }
    }

    preempt::thread_local! {
        static SAYS: RefCell<Option<Says>> = const { RefCell::new(None) };
        static LATE: RefCell<Vec<u8>> = RefCell::new(Vec::new());
        /// Every type that std's takes: with a lifetime left out, without `Send`, a function, a trait object.
        static NAME: std::cell::Cell<&str> = const { std::cell::Cell::new("none") };
        static ANY: RefCell<Option<Box<dyn Fn(&str) -> std::rc::Rc<str>>>> = RefCell::new(None);
        static RAW: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(std::ptr::null_mut()) }
    }

    #[test]
    fn destructors() {
        holds(|| {
            let child = thread::spawn(|| {
                SAYS.set(Some(Says("asks")));
                NAME.set("a thread");
                RAW.set(std::ptr::null_mut());
                ANY.with(|any| assert!(any.borrow().is_none()));
            });
            child.join().unwrap();
            assert_eq!(NAME.get(), "none");
        });
        // Nobody who joins is told: a real program aborts.
        let report = Checker::new().run(|| {
            let child = thread::spawn(|| SAYS.set(Some(Says("panics"))));
            drop(child.join());
        });
        let failure = report.failure.expect("a panic");
        assert!(failure.message.contains("in the destructor of a local"), "{failure}");
    }
}

/// The compiler judges: whatever of std's can be used across `catch_unwind` can be here.
#[test]
fn mirrors_are_as_unwind_safe_as_std() {
    use std::panic::{RefUnwindSafe, UnwindSafe};
    fn both<T: UnwindSafe + RefUnwindSafe + ?Sized>() {}
    fn one<T: UnwindSafe>() {}
    type Unsafe = std::cell::Cell<u8>;
    macro_rules! as_std {
        ($test:ident: $($path:ident)::+ : $($type:ty),*) => {{
            { use std::$($path)::+::*; $($test::<$type>();)* }
            { use preempt::$($path)::+::*; $($test::<$type>();)* }
        }};
    }
    as_std!(both: sync: Mutex<Unsafe>, RwLock<Unsafe>, Condvar, Once, Barrier, OnceLock<u8>, LazyLock<u8>);
    as_std!(both: sync::atomic: AtomicBool, AtomicUsize, AtomicI64, AtomicU8, AtomicPtr<u8>);
    as_std!(both: sync::mpsc: Sender<Unsafe>, SyncSender<Unsafe>, Receiver<Unsafe>);
    as_std!(both: thread: Thread, Builder);
    as_std!(both: sync: MutexGuard<'static, u8>, RwLockReadGuard<'static, u8>, RwLockWriteGuard<'static, u8>);
    as_std!(one: cell: UnsafeCell<u8>, Cell<u8>);
    both::<std::sync::Arc<u8>>();
    one::<preempt::sync::tracked::Arc<u8>>();
}

/// The count of a tracked `Arc` is relaxed, as std's: looking at it orders nothing, dropping does.
#[test]
fn counts_of_tracked_arcs_order_nothing() {
    use preempt::FailureKind;
    use preempt::cell::UnsafeCell;
    use preempt::sync::tracked;
    struct Share(UnsafeCell<u8>);
    // SAFETY: whether the accesses are ordered is what the test asks.
    unsafe impl Sync for Share {}
    fn test(alone: fn(&mut tracked::Arc<Share>) -> bool) {
        let mut mine = tracked::Arc::new(Share(UnsafeCell::new(0)));
        let theirs = tracked::Arc::clone(&mine);
        let child = thread::spawn(move || {
            // SAFETY: see above.
            theirs.0.with_mut(|value| unsafe { *value += 1 });
        });
        if alone(&mut mine) {
            // SAFETY: see above.
            mine.0.with_mut(|value| unsafe { *value += 1 });
        }
        child.join().unwrap();
    }
    let report = Checker::new().run(|| test(|arc| tracked::Arc::strong_count(arc) == 1));
    assert_eq!(report.failure.map(|failure| failure.kind), Some(FailureKind::DataRace));
    holds(|| test(|arc| tracked::Arc::get_mut(arc).is_some()));
}
