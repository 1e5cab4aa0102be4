//! Searches in which a scheduler of the user's chooses the steps.

use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use preempt::{Checker, EnabledThread, Scheduler, StopReason, Verdict, sync::Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Chooses by a function of the step's number, for so many runs.
struct By<F> {
    runs: usize,
    step: usize,
    choose: F,
}

impl<F: FnMut(usize, &[EnabledThread], usize, bool) -> Option<usize>> Scheduler for By<F> {
    fn begin_run(&mut self) -> bool {
        self.step = 0;
        self.runs = self.runs.wrapping_sub(1);
        self.runs != usize::MAX
    }

    fn choose(&mut self, enabled: &[EnabledThread], last: usize, yields: bool) -> Option<usize> {
        self.step += 1;
        (self.choose)(self.step - 1, enabled, last, yields)
    }
}

fn by<F: FnMut(usize, &[EnabledThread], usize, bool) -> Option<usize>>(runs: usize, choose: F) -> By<F> {
    By { runs, step: 0, choose }
}

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let add = |counter: &AtomicUsize| counter.store(counter.load(SeqCst) + 1, SeqCst);
    let child = thread::Builder::new().name("adder".into()).spawn(move || add(&other)).unwrap();
    add(&counter);
    child.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

#[test]
fn whom_the_scheduler_chooses_moves_and_what_fails_is_replayed() {
    let mut seen = Vec::new();
    // Main spawns and loads; the child begins, loads and stores; main stores, joins and loads.
    let order = [0, 0, 1, 1, 1, 0, 0, 0];
    let mut scheduler = by(10, |step, enabled, last, yields| {
        seen.push((enabled.iter().map(|thread| thread.number).collect::<Vec<_>>(), last, yields));
        assert!(
            enabled.iter().all(|thread| (thread.name.as_deref() == Some("adder")) == (thread.number == 1))
        );
        Some(order[step])
    });
    let report = Checker::new().run_scheduled_by(&mut scheduler, lost_update);
    let failure = report.failure.expect("it is found");
    assert!(failure.message.contains("an update is lost") && !failure.fewest_preemptions, "{failure}");
    assert_eq!((failure.schedule.as_str(), report.executions), ("p1:0x2.1x3.0x3", 1));
    let both = || vec![0, 1];
    let expected = [
        (vec![0], 0),
        (both(), 0),
        (both(), 0),
        (both(), 1),
        (both(), 1),
        (vec![0], 1),
        (vec![0], 0),
        (vec![0], 0),
    ];
    assert_eq!(seen, expected.map(|(enabled, last)| (enabled, last, false)));
    let again = Checker::new().replay(&failure.schedule).run(lost_update);
    assert_eq!(again.failure.unwrap().message, failure.message);
}

#[test]
fn runs_may_be_few_or_given_up_and_limits_hold() {
    let first = |_: usize, enabled: &[EnabledThread], _: usize, _: bool| Some(enabled[0].number);
    for (runs, most, expected) in [(3, None, 3), (0, None, 0), (usize::MAX - 1, Some(4), 4)] {
        let checker = most.map_or(Checker::new(), |most| Checker::new().max_executions(most));
        let report = checker.run_scheduled_by(&mut by(runs, first), lost_update);
        assert_eq!((report.executions, report.exhaustive), (expected, false));
        assert_eq!(report.verdict, Verdict::Inconclusive(StopReason::Partial));
    }
    let limited = Checker::new().max_duration(Duration::from_millis(20));
    let report = limited.run_scheduled_by(&mut by(usize::MAX - 1, first), lost_update);
    assert_eq!(report.verdict, Verdict::Inconclusive(StopReason::Time));
    // Given up before the child has stored: its update is not missed.
    let mut short = by(2, |step, enabled, _, _| (step < 3).then_some(enabled[0].number));
    let report = Checker::new().run_scheduled_by(&mut short, lost_update);
    assert_eq!((report.executions, report.failure.is_none()), (2, true));
}

#[test]
fn yields_are_announced_and_panics_come_through() {
    let mut announced = 0;
    let mut scheduler = by(1, |_, enabled, _, yields| {
        announced += usize::from(yields);
        Some(enabled[0].number)
    });
    Checker::new().run_scheduled_by(&mut scheduler, || (0..3).for_each(|_| thread::yield_now()));
    assert_eq!(announced, 3);
    let mut panics = by(1, |_, _, _, _| panic!("no idea"));
    let failed = catch_unwind(AssertUnwindSafe(|| Checker::new().run_scheduled_by(&mut panics, lost_update)));
    assert_eq!(failed.unwrap_err().downcast_ref(), Some(&"no idea"));
    let mut wrong = by(1, |_, _, _, _| Some(7));
    let failed = catch_unwind(AssertUnwindSafe(|| Checker::new().run_scheduled_by(&mut wrong, lost_update)));
    let said = failed.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("chosen thread 7, which cannot move"), "{said}");
}
