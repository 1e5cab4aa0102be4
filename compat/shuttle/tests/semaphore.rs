//! shuttle's semaphore.

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness, TryAcquireError};
use shuttle::future::{block_on, spawn};
use shuttle::sync::Arc;
use shuttle::{check_dfs, thread};
use std::collections::BTreeSet;
use std::future::Future;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

#[test]
fn permits_are_taken_and_given_back() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        check_dfs(
            move || {
                let semaphore = Arc::new(BatchSemaphore::new(1, fairness));
                let other = Arc::clone(&semaphore);
                let child = thread::spawn(move || {
                    other.acquire_blocking(2).unwrap();
                    assert_eq!(other.try_acquire(1), Err(TryAcquireError::NoPermits));
                    other.release(1);
                });
                semaphore.release(1);
                child.join().unwrap();
                assert_eq!(semaphore.available_permits(), 1);
            },
            None,
        );
    }
}

/// Two who wait get their permits in the order of their coming, or in any.
#[test]
fn who_has_waited_longest_comes_first_if_it_is_fair() {
    for (fairness, orders) in [(Fairness::StrictlyFair, 1), (Fairness::Unfair, 2)] {
        let seen = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
        let all = std::sync::Arc::clone(&seen);
        check_dfs(
            move || {
                let semaphore = Arc::new(BatchSemaphore::new(0, fairness));
                let mut first = pin!(semaphore.acquire(1));
                let mut context = Context::from_waker(Waker::noop());
                assert!(first.as_mut().poll(&mut context).is_pending());
                let other = Arc::clone(&semaphore);
                let second = thread::spawn(move || other.try_acquire(1).is_ok());
                semaphore.release(1);
                let got = first.as_mut().poll(&mut context).is_ready();
                all.lock().unwrap().insert((got, second.join().unwrap()));
            },
            None,
        );
        let seen = seen.lock().unwrap().clone();
        assert!(seen.contains(&(true, false)), "{fairness:?}: {seen:?}");
        assert_eq!(seen.len(), orders, "{fairness:?}: {seen:?}");
    }
}

#[test]
fn whoever_leaves_gives_back_what_it_was_given() {
    check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::new(0, Fairness::StrictlyFair));
            let mut context = Context::from_waker(Waker::noop());
            {
                let mut large = pin!(semaphore.acquire(2));
                assert!(large.as_mut().poll(&mut context).is_pending());
                let mut small = pin!(semaphore.acquire(1));
                assert!(small.as_mut().poll(&mut context).is_pending());
                semaphore.release(1);
                assert_eq!(semaphore.available_permits(), 1, "the first wants more");
                // Both leave, the small one first.
            }
            assert_eq!(semaphore.available_permits(), 1);
            block_on(semaphore.acquire(1)).unwrap();
        },
        None,
    );
}

#[test]
fn one_that_is_closed_tells_who_waits() {
    check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::default());
            let other = Arc::clone(&semaphore);
            let task = spawn(async move { other.acquire(1).await.is_err() });
            semaphore.close();
            assert!(block_on(task).unwrap() && semaphore.is_closed());
            assert_eq!(semaphore.try_acquire(1), Err(TryAcquireError::Closed));
        },
        None,
    );
    let stuck = catch_unwind(|| check_dfs(|| BatchSemaphore::default().acquire_blocking(1).unwrap(), None));
    assert!(stuck.unwrap_err().downcast::<String>().unwrap().contains("deadlock"));
}
