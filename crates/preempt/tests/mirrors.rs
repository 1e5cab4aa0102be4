//! Each mirror does what std's does, in every schedule.

use preempt::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
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
