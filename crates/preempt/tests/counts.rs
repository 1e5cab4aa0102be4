//! Real Rust programs run exactly as often as they have happens-before graphs within the bound.

use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Mutex, RwLock};
use preempt::{CheckReport, Checker, Strategy, Verdict, thread};

/// Cumulative executions within 0, 1, 2, ... preemptions.
fn counts(bounds: u32, test: fn()) -> Vec<u64> {
    (0..=bounds).map(|bound| run(Some(bound), test).executions).collect()
}

fn run(bound: Option<u32>, test: impl Fn() + Send + Sync + 'static) -> CheckReport {
    let report = Checker::new().max_preemptions(bound).run(test);
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(report.failure.is_none());
    assert_eq!(report.pruned, 0, "{report}");
    report
}

fn spawn_all(bodies: Vec<Box<dyn FnOnce() + Send>>) {
    let handles: Vec<_> = bodies.into_iter().map(thread::spawn).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

fn sections(threads: usize, each: usize) {
    let data = Arc::new(Mutex::new(0));
    let body = |_| {
        let data = Arc::clone(&data);
        Box::new(move || (0..each).for_each(|_| *data.lock().unwrap() += 1)) as Box<dyn FnOnce() + Send>
    };
    spawn_all((0..threads).map(body).collect());
    assert_eq!(*data.lock().unwrap(), threads * each);
}

#[test]
fn three_threads_with_two_critical_sections() {
    assert_eq!(counts(3, || sections(3, 2)), [6, 24, 60, 90]);
    let all = run(None, || sections(3, 2));
    assert!(all.exhaustive);
    assert_eq!(all.executions, 90);
}

#[test]
fn one_section_each_has_n_factorial_orders() {
    let tests: [(fn(), u64); 5] = [
        (|| sections(1, 1), 1),
        (|| sections(2, 1), 2),
        (|| sections(3, 1), 6),
        (|| sections(4, 1), 24),
        (|| sections(5, 1), 120),
    ];
    for (test, orders) in tests {
        assert_eq!(run(None, test).executions, orders);
    }
}

#[test]
fn atomic_counter() {
    fn test() {
        let counter = Arc::new(AtomicUsize::new(0));
        let body = |_| {
            let counter = Arc::clone(&counter);
            Box::new(move || counter.store(counter.load(SeqCst) + 1, SeqCst)) as Box<dyn FnOnce() + Send>
        };
        spawn_all((0..3).map(body).collect());
    }
    assert_eq!(counts(3, test), [6, 24, 36, 36]);
}

fn readers(writers: usize) {
    let lock = Arc::new(RwLock::new(0));
    let mut bodies: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for i in 0..3 {
        let lock = Arc::clone(&lock);
        match i < writers {
            true => bodies.push(Box::new(move || *lock.write().unwrap() += 1)),
            false => bodies.push(Box::new(move || drop(lock.read().unwrap()))),
        }
    }
    spawn_all(bodies);
}

#[test]
fn readers_are_independent() {
    assert_eq!(counts(3, || readers(0)), [1, 1, 1, 1]);
    assert_eq!(counts(3, || readers(1)), [4, 4, 4, 4]);
}

#[test]
fn indexer_without_conflicts() {
    fn test() {
        let table: Arc<Vec<AtomicUsize>> = Arc::new((0..16).map(|_| AtomicUsize::new(0)).collect());
        let body = |t: usize| {
            let table = Arc::clone(&table);
            Box::new(move || {
                for m in 0..2 {
                    let mut slot = t * 4 + m;
                    while table[slot % 16].compare_exchange(0, m + 1, SeqCst, SeqCst).is_err() {
                        slot += 1;
                    }
                }
            }) as Box<dyn FnOnce() + Send>
        };
        spawn_all((0..4).map(body).collect());
    }
    assert_eq!(counts(2, test), [1, 1, 1]);
}

#[test]
fn ordered_philosophers() {
    fn test() {
        let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..3).map(|_| Mutex::new(())).collect());
        let body = |i: usize| {
            let forks = Arc::clone(&forks);
            let (a, b) = (i.min((i + 1) % 3), i.max((i + 1) % 3));
            Box::new(move || {
                let _first = forks[a].lock().unwrap();
                let _second = forks[b].lock().unwrap();
            }) as Box<dyn FnOnce() + Send>
        };
        spawn_all((0..3).map(body).collect());
    }
    assert_eq!(counts(3, test), [6, 6, 6, 6]);
}

#[test]
fn file_system() {
    fn test() {
        const INODES: usize = 2;
        const BLOCKS: usize = 4;
        let inodes: Arc<Vec<Mutex<usize>>> = Arc::new((0..INODES).map(|_| Mutex::new(0)).collect());
        let busy: Arc<Vec<Mutex<bool>>> = Arc::new((0..BLOCKS).map(|_| Mutex::new(false)).collect());
        let body = |t: usize| {
            let (inodes, busy) = (Arc::clone(&inodes), Arc::clone(&busy));
            Box::new(move || {
                let i = t % INODES;
                let mut inode = inodes[i].lock().unwrap();
                if *inode == 0 {
                    let mut block = i * 2 % BLOCKS;
                    loop {
                        let mut busy = busy[block].lock().unwrap();
                        if !*busy {
                            *busy = true;
                            *inode = block + 1;
                            break;
                        }
                        drop(busy);
                        block = (block + 1) % BLOCKS;
                    }
                }
            }) as Box<dyn FnOnce() + Send>
        };
        spawn_all((0..4).map(body).collect());
    }
    assert_eq!(counts(2, test), [4, 4, 4]);
}

/// Work that depends on nobody costs as much as it is long, wherever it stands.
#[test]
fn private_work() {
    const N: usize = 80;
    fn private(threads: usize, shared: bool) {
        let total = Arc::new(Mutex::new(0));
        let counters: Vec<_> = (0..threads).map(|_| Arc::new(AtomicUsize::new(0))).collect();
        let body = |counter: &Arc<AtomicUsize>| {
            let (counter, total) = (Arc::clone(counter), Arc::clone(&total));
            Box::new(move || {
                (0..N).for_each(|_| _ = counter.fetch_add(1, SeqCst));
                if shared {
                    *total.lock().unwrap() += 1;
                }
                (0..N).for_each(|_| _ = counter.fetch_add(1, SeqCst));
            }) as Box<dyn FnOnce() + Send>
        };
        spawn_all(counters.iter().map(body).collect());
        // Joining orders these.
        assert!(counters.iter().all(|counter| counter.load(SeqCst) == 2 * N));
    }
    for threads in [3, 6, 14, 40] {
        let report = run(None, move || private(threads, false));
        assert_eq!((report.executions, report.exhaustive), (1, true), "{threads} threads");
        // A prefix for each step of the main thread and for each block of the others, at most twice.
        assert!(report.prefixes < 8 * threads as u64, "{} prefixes of {threads} threads", report.prefixes);
    }
    let report = run(None, || private(3, true));
    assert_eq!((report.executions, report.exhaustive), (6, true));
    assert!(report.prefixes < 1000 * N as u64, "{} prefixes", report.prefixes);
    // Searches side by side share what they know to race.
    for workers in [2, 3] {
        let report = Checker::new().threads(workers).run(|| private(4, false));
        assert_eq!((report.executions, report.exhaustive), (1, true), "{report}");
        assert!(report.prefixes < 100 * workers as u64, "{} prefixes", report.prefixes);
        let report = Checker::new().threads(workers).run(|| private(3, true));
        assert_eq!((report.executions, report.exhaustive), (6, true), "{report}");
    }
}

/// The other algorithms agree on the verdict, and run at least as many.
#[test]
fn other_strategies() {
    for strategy in [Strategy::Basic, Strategy::Bpor, Strategy::CbDfs] {
        let report = Checker::new().strategy(strategy).max_preemptions(Some(2)).run(|| sections(2, 2));
        assert_eq!(report.verdict, Verdict::Holds, "{strategy:?}");
        assert!(report.executions >= run(Some(2), || sections(2, 2)).executions, "{strategy:?}");
    }
    let report = Checker::new().strategy(Strategy::Random(1)).max_executions(100).run(|| sections(3, 2));
    assert_eq!(report.executions, 100);
}

#[test]
fn sixty_four_threads() {
    let report = Checker::new().max_executions(3).run(|| sections(64, 1));
    assert_eq!(report.executions, 3, "{report}");
    assert!(report.failure.is_none());
}

/// Several searches share the table: the same counts, and the same simplest failure.
#[test]
fn several_threads() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    for threads in [2, 4] {
        let report = Checker::new().threads(threads).run(|| sections(3, 2));
        assert_eq!((report.verdict, report.executions), (Verdict::Holds, 90), "{report}");
        assert!(report.exhaustive && report.pruned <= report.executions, "{report}");
        // Each has its own copies of statics.
        let report = Checker::new().threads(threads).run(|| {
            let add = || SHARED.store(SHARED.load(SeqCst) + 1, SeqCst);
            spawn_all(vec![Box::new(add), Box::new(add)]);
            assert_eq!(SHARED.load(SeqCst), 2, "an update is lost");
        });
        let failure = report.failure.expect("found");
        assert_eq!((failure.preemptions, report.complete_to), (1, Some(0)), "{failure}");
    }
}
