//! Known bugs of small concurrent programs, each found with the fewest preemptions that show it, and replayed.
//! The programs follow SCTBench's in structure; `correct` variants are explored completely and hold.

use preempt::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Condvar, Mutex};
use preempt::{Checker, FailureKind, Strategy, Verdict, thread};

type Body = Box<dyn FnOnce() + Send>;

fn run_all(bodies: Vec<Body>) {
    let handles: Vec<_> = bodies.into_iter().map(thread::spawn).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

fn body(f: impl FnOnce() + Send + 'static) -> Body {
    Box::new(f)
}

/// Not found with fewer preemptions, found with so many, and found again from its schedule; by the default and by
/// paper 003's algorithm.
fn found_at(preemptions: u32, kind: FailureKind, test: fn()) {
    found_by(Strategy::Marking, preemptions, kind, test);
    found_by(Strategy::Bpor, preemptions, kind, test);
}

fn found_by(strategy: Strategy, preemptions: u32, kind: FailureKind, test: fn()) {
    let report = Checker::new().strategy(strategy).run(test);
    let failure = report.failure.clone().unwrap_or_else(|| panic!("{strategy:?} does not find it: {report}"));
    println!("{strategy:?}: {} executions", report.executions);
    assert_eq!((failure.kind, failure.preemptions), (kind, preemptions), "{strategy:?}: {failure}");
    assert_eq!(report.complete_to, preemptions.checked_sub(1), "{strategy:?}");
    let again = Checker::new().replay(&failure.schedule).run(test).failure.expect("it fails again");
    assert_eq!((again.kind, again.message, again.steps), (failure.kind, failure.message, failure.steps));
}

fn correct(test: fn()) {
    let report = Checker::new().run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(report.exhaustive, "{report}");
}

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

fn reorder(setters: usize, together: bool) {
    let pair = Arc::new((AtomicI32::new(0), AtomicI32::new(0), Mutex::new(())));
    let mut bodies: Vec<Body> = Vec::new();
    for _ in 0..setters {
        let pair = Arc::clone(&pair);
        bodies.push(body(move || {
            let _together = together.then(|| pair.2.lock().unwrap());
            pair.0.store(1, SeqCst);
            pair.1.store(-1, SeqCst);
        }));
    }
    bodies.push(body(move || {
        let _together = together.then(|| pair.2.lock().unwrap());
        let seen = (pair.0.load(SeqCst), pair.1.load(SeqCst));
        assert!(matches!(seen, (0, 0) | (1, -1)), "{seen:?}");
    }));
    run_all(bodies);
}

#[test]
fn reorder_3_4_and_5() {
    found_at(1, FailureKind::Panic, || reorder(2, false));
    found_at(1, FailureKind::Panic, || reorder(3, false));
    found_by(Strategy::Marking, 1, FailureKind::Panic, || reorder(4, false));
    correct(|| reorder(2, true));
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

/// The work-stealing queue of Cilk: the owner pushes and pops at the tail, a stealer takes from the head under a lock.
/// A stealer moves the head before it reads the slot, so a push must leave one slot free.
struct Stealing {
    head: AtomicUsize,
    tail: AtomicUsize,
    lock: Mutex<()>,
    /// The ring in use: a small one, and one that is large enough for ever.
    large: AtomicBool,
    rings: [Vec<AtomicUsize>; 2],
    mistaken: bool,
}

impl Stealing {
    fn new(mistaken: bool) -> Stealing {
        let ring = |size: usize| (0..size).map(|_| AtomicUsize::new(0)).collect();
        let (head, tail) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (lock, large) = (Mutex::new(()), AtomicBool::new(false));
        Stealing { head, tail, lock, large, rings: [ring(2), ring(8)], mistaken }
    }

    fn slot(&self, at: usize) -> &AtomicUsize {
        let ring = &self.rings[usize::from(self.large.load(SeqCst))];
        &ring[at % ring.len()]
    }

    fn push(&self, item: usize) {
        let tail = self.tail.load(SeqCst);
        let mask = if self.large.load(SeqCst) { 7 } else { 1 };
        if tail >= self.head.load(SeqCst) + mask + usize::from(self.mistaken) {
            let _lock = self.lock.lock().unwrap();
            for at in self.head.load(SeqCst)..tail {
                self.rings[1][at % 8].store(self.rings[0][at % 2].load(SeqCst), SeqCst);
            }
            self.large.store(true, SeqCst);
        }
        self.slot(tail).store(item, SeqCst);
        self.tail.store(tail + 1, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(SeqCst).checked_sub(1)?;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(self.slot(tail).load(SeqCst));
        }
        self.tail.store(tail + 1, SeqCst);
        let _lock = self.lock.lock().unwrap();
        if self.head.load(SeqCst) > tail {
            return None;
        }
        self.tail.store(tail, SeqCst);
        Some(self.slot(tail).load(SeqCst))
    }

    fn steal(&self) -> Option<usize> {
        let _lock = self.lock.lock().unwrap();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head < self.tail.load(SeqCst) {
            return Some(self.slot(head).load(SeqCst));
        }
        self.head.store(head, SeqCst);
        None
    }
}

fn stealing(mistaken: bool) {
    let queue = Arc::new(Stealing::new(mistaken));
    let other = Arc::clone(&queue);
    let stealer = thread::spawn(move || [other.steal(), other.steal()]);
    // Not the main thread: which of the two begins is to be free.
    let owner = thread::spawn(move || {
        let mut taken = Vec::new();
        for round in 0..2 {
            queue.push(2 * round + 1);
            queue.push(2 * round + 2);
            taken.extend(queue.pop());
        }
        taken.extend(queue.pop());
        taken.extend(queue.pop());
        taken
    });
    let mut taken = owner.join().unwrap();
    taken.extend(stealer.join().unwrap().into_iter().flatten());
    taken.sort_unstable();
    assert_eq!(taken, [1, 2, 3, 4], "every item is taken exactly once");
}

#[test]
fn work_stealing_queue() {
    found_by(Strategy::Marking, 1, FailureKind::Panic, || stealing(true));
    let report = Checker::new().max_preemptions(Some(2)).run(|| stealing(false));
    assert_eq!((report.verdict, report.complete_to), (Verdict::Holds, Some(2)), "{report}");
}
