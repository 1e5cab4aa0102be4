//! Programs without locks, and the work-stealing queue.

use super::*;

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
