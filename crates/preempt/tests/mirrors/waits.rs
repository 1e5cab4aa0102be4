//! Waits that end by a notification, a time-out or spuriously.

use super::*;

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

/// A loop around a weak exchange passes, a single one does not; and only if spurious failures are explored.
#[test]
fn weak_exchanges_fail_spuriously_if_that_is_explored() {
    fn single() {
        let flag = AtomicBool::new(false);
        assert!(flag.compare_exchange_weak(false, true, AcqRel, Relaxed).is_ok());
    }
    holds(single);
    let report = Checker::new().spurious(1).run(single);
    assert_eq!(report.executions, 2);
    let failure = report.failure.expect("it may fail");
    assert!(failure.schedule.contains('!'), "{failure}");
    assert!(failure.steps.iter().any(|step| step.operation.contains("spuriously")), "{failure}");
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
fn waits_end_spuriously_if_that_is_explored() {
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
