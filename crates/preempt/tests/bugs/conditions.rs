//! Producers, consumers and others who wait for a condition.

use super::*;

#[test]
fn arithmetic_prog() {
    found_at(0, FailureKind::Panic, || {
        let state = Arc::new((Mutex::new(None), Condvar::new(), Condvar::new()));
        let total = Arc::new(AtomicI32::new(0));
        let (producer, consumer, sum) = (Arc::clone(&state), state, Arc::clone(&total));
        run_all(vec![
            body(move || {
                let (slot, full, empty) = &*producer;
                for i in 0..=3 {
                    let mut slot = empty.wait_while(slot.lock().unwrap(), |slot| slot.is_some()).unwrap();
                    *slot = Some(i);
                    full.notify_one();
                }
            }),
            body(move || {
                let (slot, full, empty) = &*consumer;
                for _ in 0..=3 {
                    let mut slot = full.wait_while(slot.lock().unwrap(), |slot| slot.is_none()).unwrap();
                    sum.fetch_add(slot.take().unwrap(), SeqCst);
                    empty.notify_one();
                }
            }),
        ]);
        assert_ne!(total.load(SeqCst), 6);
    });
}

#[test]
fn circular_buffer() {
    found_at(1, FailureKind::Panic, || {
        let state = Arc::new(Mutex::new((std::collections::VecDeque::new(), true, false)));
        let (sender, receiver) = (Arc::clone(&state), state);
        const TRIES: usize = 3;
        run_all(vec![
            body(move || {
                for i in 0..TRIES {
                    let mut state = sender.lock().unwrap();
                    if state.1 {
                        state.0.push_back(i);
                        (state.1, state.2) = (false, true);
                    }
                }
            }),
            body(move || {
                for i in 0..TRIES {
                    let mut state = receiver.lock().unwrap();
                    if state.2 {
                        assert_eq!(state.0.pop_front(), Some(i));
                        (state.1, state.2) = (true, false);
                    }
                }
            }),
        ]);
    });
}

#[test]
fn queue() {
    found_at(1, FailureKind::Panic, || {
        const SIZE: usize = 4;
        let state = Arc::new(Mutex::new((Vec::new(), 0, true, false)));
        let (one, two) = (Arc::clone(&state), state);
        run_all(vec![
            body(move || {
                {
                    let mut state = one.lock().unwrap();
                    state.0.push(0);
                    (state.2, state.3) = (false, true);
                }
                for i in 1..SIZE {
                    let mut state = one.lock().unwrap();
                    if state.2 {
                        state.0.push(i * i);
                        (state.2, state.3) = (false, true);
                    }
                }
            }),
            body(move || {
                for i in 0..SIZE {
                    let mut state = two.lock().unwrap();
                    if state.3 {
                        let at = state.1;
                        assert_eq!(state.0[at], i * i);
                        state.1 += 1;
                        (state.2, state.3) = (true, false);
                    }
                }
            }),
        ]);
    });
}

#[test]
fn stack() {
    found_at(1, FailureKind::Panic, || {
        const SIZE: usize = 4;
        let state = Arc::new(Mutex::new((0, false)));
        let (pusher, popper) = (Arc::clone(&state), state);
        run_all(vec![
            body(move || {
                for _ in 0..SIZE {
                    let mut state = pusher.lock().unwrap();
                    state.0 += 1;
                    state.1 = true;
                }
            }),
            body(move || {
                for _ in 0..SIZE {
                    let mut state = popper.lock().unwrap();
                    if state.1 {
                        assert!(state.0 > 0, "underflow");
                        state.0 -= 1;
                    }
                }
            }),
        ]);
    });
}

#[test]
fn sync01_and_sync02() {
    found_at(0, FailureKind::Deadlock, || {
        let state = Arc::new((Mutex::new(1), Condvar::new(), Condvar::new()));
        let (producer, consumer) = (Arc::clone(&state), state);
        run_all(vec![
            body(move || {
                let (number, empty, full) = &*producer;
                let mut number = empty.wait_while(number.lock().unwrap(), |number| *number > 0).unwrap();
                *number += 1;
                full.notify_one();
            }),
            body(move || {
                let (number, empty, full) = &*consumer;
                let _number = full.wait_while(number.lock().unwrap(), |number| *number == 0).unwrap();
                empty.notify_one();
            }),
        ]);
    });
    found_at(0, FailureKind::Deadlock, || {
        let state = Arc::new((Mutex::new(2), Condvar::new(), Condvar::new()));
        let (producer, consumer) = (Arc::clone(&state), state);
        const N: usize = 2;
        run_all(vec![
            body(move || {
                let (number, empty, full) = &*producer;
                for _ in 0..N {
                    let mut number = empty.wait_while(number.lock().unwrap(), |number| *number > 0).unwrap();
                    *number += 1;
                    full.notify_one();
                }
            }),
            body(move || {
                let (number, empty, full) = &*consumer;
                for _ in 0..N {
                    let mut number = full.wait_while(number.lock().unwrap(), |number| *number == 0).unwrap();
                    *number -= 1;
                    if *number == 0 {
                        empty.notify_one();
                        return;
                    }
                }
            }),
        ]);
    });
}

#[test]
fn token_ring() {
    found_at(0, FailureKind::Panic, || {
        // Three tokens, who is done.
        let state = Arc::new(Mutex::new(([1, 2, 1], 0)));
        let (a, b, c, d) = (Arc::clone(&state), Arc::clone(&state), Arc::clone(&state), Arc::clone(&state));
        run_all(vec![
            body(move || {
                let (x, done) = &mut *a.lock().unwrap();
                x[0] = (x[2] + 1) % 4;
                *done += 1;
            }),
            body(move || {
                let (x, done) = &mut *b.lock().unwrap();
                x[1] = x[0];
                *done += 1;
            }),
            body(move || {
                let (x, done) = &mut *c.lock().unwrap();
                x[2] = x[1];
                *done += 1;
            }),
            body(move || {
                let (x, done) = *d.lock().unwrap();
                assert!(done < 3 || (x[0] == x[1] && x[1] == x[2]), "{x:?}");
            }),
        ]);
    });
}
