//! Mutexes, barriers and what runs once.

use super::*;

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
