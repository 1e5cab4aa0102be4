//! Locks: too few, the wrong ones, or in the wrong order.

use super::*;

#[test]
fn account() {
    found_at(0, FailureKind::Panic, || {
        let state = Arc::new(Mutex::new((1, false, false)));
        let (a, b, c) = (Arc::clone(&state), Arc::clone(&state), Arc::clone(&state));
        run_all(vec![
            body(move || {
                let (balance, deposited, withdrawn) = *a.lock().unwrap();
                if deposited && withdrawn {
                    assert_eq!(balance, 1 - 2 - 4);
                }
            }),
            body(move || {
                let mut state = b.lock().unwrap();
                state.0 += 2;
                state.1 = true;
            }),
            body(move || {
                let mut state = c.lock().unwrap();
                state.0 -= 4;
                state.2 = true;
            }),
        ]);
    });
}

fn bluetooth(fixed: bool) {
    let driver =
        Arc::new((AtomicI32::new(1), AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false)));
    let other = Arc::clone(&driver);
    let stopper = thread::spawn(move || {
        let (pending, stopping, event, stopped) = &*other;
        stopping.store(true, SeqCst);
        if pending.fetch_sub(1, SeqCst) == 1 {
            event.store(true, SeqCst);
        }
        if event.load(SeqCst) {
            stopped.store(true, SeqCst);
        }
    });
    let (pending, stopping, event, stopped) = &*driver;
    let entered = if fixed {
        pending.fetch_add(1, SeqCst);
        !stopping.load(SeqCst)
    } else {
        let go_on = !stopping.load(SeqCst);
        if go_on {
            pending.fetch_add(1, SeqCst);
        }
        go_on
    };
    if entered {
        assert!(!stopped.load(SeqCst), "used after it was stopped");
    }
    if (entered || fixed) && pending.fetch_sub(1, SeqCst) == 1 {
        event.store(true, SeqCst);
    }
    stopper.join().unwrap();
}

#[test]
fn bluetooth_driver() {
    found_at(1, FailureKind::Panic, || bluetooth(false));
    correct(|| bluetooth(true));
}

#[test]
fn carter01() {
    found_at(1, FailureKind::Deadlock, || {
        let m = Arc::new(Mutex::new((0, 0)));
        // A lock that is taken in one critical section and given back in another.
        let raw = Arc::new((Mutex::new(false), Condvar::new()));
        let thread = |first: bool| {
            let (m, raw) = (Arc::clone(&m), Arc::clone(&raw));
            body(move || {
                let own = |pair: &mut (i32, i32), add: i32| {
                    let own = if first { &mut pair.0 } else { &mut pair.1 };
                    *own += add;
                    *own
                };
                {
                    let mut pair = m.lock().unwrap();
                    if own(&mut pair, 1) == 1 {
                        let mut held = raw.1.wait_while(raw.0.lock().unwrap(), |held| *held).unwrap();
                        *held = true;
                    }
                }
                let mut pair = m.lock().unwrap();
                if own(&mut pair, -1) == 0 {
                    *raw.0.lock().unwrap() = false;
                    raw.1.notify_one();
                }
            })
        };
        run_all(vec![thread(true), thread(false)]);
    });
}

fn two_locks(ordered: bool) {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (first, second) = (Arc::clone(&a), Arc::clone(&b));
    let (third, fourth) = if ordered { (a, b) } else { (b, a) };
    let take = |x: Arc<Mutex<i32>>, y: Arc<Mutex<i32>>| {
        body(move || {
            let mut x = x.lock().unwrap();
            let mut y = y.lock().unwrap();
            *x += 1;
            *y += 1;
        })
    };
    run_all(vec![take(first, second), take(third, fourth)]);
}

#[test]
fn deadlock01() {
    found_at(1, FailureKind::Deadlock, || two_locks(false));
    correct(|| two_locks(true));
}

/// In a circle of n, all but one must be stopped between their forks. Stopping the first is a preemption; each of
/// the others then waits for a fork that its neighbour holds, which is free, only if they sit in the right order.
fn philosophers(n: usize) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..n).map(|_| Mutex::new(())).collect());
    let philosopher = |i: usize| {
        let forks = Arc::clone(&forks);
        body(move || {
            let _right = forks[i].lock().unwrap();
            let _left = forks[(i + 1) % n].lock().unwrap();
        })
    };
    run_all((0..n).map(philosopher).collect());
}

#[test]
fn dining_philosophers() {
    found_at(1, FailureKind::Deadlock, || philosophers(3));
    found_at(1, FailureKind::Deadlock, || philosophers(4));
    found_by(Strategy::Marking, 1, FailureKind::Deadlock, || philosophers(5));
}

#[test]
fn lazy01() {
    found_at(0, FailureKind::Panic, || {
        let data = Arc::new(Mutex::new(0));
        let (a, b, c) = (Arc::clone(&data), Arc::clone(&data), Arc::clone(&data));
        run_all(vec![
            body(move || *a.lock().unwrap() += 1),
            body(move || *b.lock().unwrap() += 2),
            body(move || assert!(*c.lock().unwrap() < 3)),
        ]);
    });
}

#[test]
fn phase01() {
    found_at(0, FailureKind::Deadlock, || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let thread = |_| {
            let locks = Arc::clone(&locks);
            body(move || {
                let (x, y) = &*locks;
                drop(x.lock().unwrap());
                std::mem::forget(x.lock().unwrap());
                drop(y.lock().unwrap());
                drop(y.lock().unwrap());
            })
        };
        run_all((0..2).map(thread).collect());
    });
}

#[test]
fn twostage() {
    found_at(1, FailureKind::Panic, || {
        let data = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&data);
        run_all(vec![
            body(move || {
                *data.0.lock().unwrap() = 1;
                let first = 1;
                *data.1.lock().unwrap() = first + 1;
            }),
            body(move || {
                let first = *other.0.lock().unwrap();
                if first != 0 {
                    assert_eq!(*other.1.lock().unwrap(), first + 1);
                }
            }),
        ]);
    });
}

fn wronglock(others: usize, right: bool) {
    let (data_lock, this_lock) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let value = Arc::new(AtomicUsize::new(0));
    let mut bodies = Vec::new();
    {
        let (lock, value) = (Arc::clone(&data_lock), Arc::clone(&value));
        bodies.push(body(move || {
            let _lock = lock.lock().unwrap();
            let x = value.load(SeqCst);
            value.fetch_add(1, SeqCst);
            assert_eq!(value.load(SeqCst), x + 1);
        }));
    }
    for _ in 0..others {
        let lock = Arc::clone(if right { &data_lock } else { &this_lock });
        let value = Arc::clone(&value);
        bodies.push(body(move || {
            let _lock = lock.lock().unwrap();
            value.fetch_add(1, SeqCst);
        }));
    }
    run_all(bodies);
}

#[test]
fn wronglock_3() {
    found_at(1, FailureKind::Panic, || wronglock(3, false));
    correct(|| wronglock(3, true));
}

/// 8! orders without a preemption come before the first one with it.
#[test]
fn wronglock_7() {
    found_by(Strategy::Marking, 1, FailureKind::Panic, || wronglock(7, false));
}

#[test]
fn stringbuffer() {
    found_at(1, FailureKind::Panic, || {
        let buffer = Arc::new(Mutex::new(String::from("abc")));
        let other = Arc::clone(&buffer);
        let eraser = thread::spawn(move || other.lock().unwrap().clear());
        let length = buffer.lock().unwrap().len();
        assert!(buffer.lock().unwrap().get(..length).is_some(), "the length is stale");
        eraser.join().unwrap();
    });
}
