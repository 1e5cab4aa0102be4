//! Locks that spin: finite under the fair bound.

use super::*;

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

fn spin(fair: u32, bound: u32) -> CheckReport {
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

/// A thread that begins with work of its own counts as private until it shares something; whoever spins must not wait for it
/// in vain meanwhile. (Random programs are judged in `preempt-stateless`.)
#[test]
fn who_spins_is_not_left_alone_with_a_thread_that_begins_with_private_work() {
    fn one_flag() {
        let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let child = thread::spawn(move || {
            other.1.load(Relaxed);
            other.0.store(true, Release);
        });
        while !shared.0.load(Acquire) {
            thread::yield_now();
        }
        child.join().unwrap();
    }
    fn two_children() {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let children = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.load(Relaxed);
                shared.0.fetch_add(1, Relaxed);
            })
        });
        while shared.0.load(Relaxed) < 2 {
            thread::yield_now();
        }
        children.into_iter().for_each(|child| child.join().unwrap());
    }
    for (test, graphs) in [(one_flag as fn(), 3), (two_children, 12)] {
        let report = Checker::new().run(test);
        assert_eq!((report.verdict, report.executions), (Verdict::Holds, graphs), "{report}");
    }
}

/// Runs that are too long can be given up instead of being failures; then nothing is proved.
#[preempt::test(max_steps = 50, give_up_long_runs, watchdog = 60)]
fn runs_without_end_are_given_up() {
    loop {
        thread::yield_now();
    }
}

#[test]
fn what_was_given_up_proves_nothing() {
    let endless = || {
        loop {
            thread::yield_now();
        }
    };
    let checker = Checker::new().max_steps(50);
    let kind = checker.run(endless).failure.map(|failure| failure.kind);
    assert_eq!(kind, Some(preempt::FailureKind::Livelock));
    for strategy in [Strategy::Marking, Strategy::CbDfs, Strategy::Bpor] {
        let report = checker.clone().strategy(strategy).give_up_long_runs(true).run(endless);
        assert_eq!(
            report.verdict,
            Verdict::Inconclusive(preempt::StopReason::Depth),
            "{strategy:?}: {report}"
        );
        let coverage = report.coverage();
        assert!(
            coverage.contains("not complete") && coverage.contains("given up"),
            "{strategy:?}: {coverage}"
        );
    }
}
