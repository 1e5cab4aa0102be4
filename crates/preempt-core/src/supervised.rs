//! Work on a thread of its own, supervised: the caller's thread keeps a listener informed and passes on its word to stop.

use crate::budget::Budget;
use crate::progress::{Progress, Snapshot};
use crate::verdict::StopReason;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the listener is called.
const PATIENCE: Duration = Duration::from_millis(20);
/// So long the work may take to notice that its budget is exhausted.
const GRACE: Duration = Duration::from_millis(500);
/// Recursion over a diagram or a formula is as deep as the input says.
const STACK: usize = 64 << 20;

/// Does the work, which polls the budget. What the listener says stops the budget, with its reason; `snapshot` is what it
/// hears meanwhile. So no phase of the work needs the listener, and none of them is deaf to it.
///
/// Some work cannot poll (a single operation on large diagrams): if it has not ended a moment after the budget is
/// exhausted, the reason is returned, and the thread is left to itself. That is why the work owns what it uses.
///
/// ```
/// use preempt_core::{Budget, Silent, Snapshot, run_supervised};
///
/// let budget = Budget::unlimited();
/// let sum = run_supervised(&budget, &mut Silent, Snapshot::default, || (1..=10).sum::<u32>());
/// assert_eq!(sum, Ok(55));
/// ```
pub fn run_supervised<T: Send + 'static>(
    budget: &Budget,
    progress: &mut dyn Progress,
    snapshot: impl Fn() -> Snapshot,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StopReason> {
    if let Some(reason) = progress.stop() {
        budget.stop(reason);
    }
    // Nothing is ever sent: the channel closes when the work is over, be it by a panic.
    let (working, over) = mpsc::channel::<()>();
    let task = move || {
        let _working = working;
        work()
    };
    let spawned = std::thread::Builder::new().stack_size(STACK).spawn(task);
    let worker = spawned.unwrap_or_else(|error| panic!("no thread can be started: {error}"));
    let mut exhausted: Option<(StopReason, Instant)> = None;
    while over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        match exhausted {
            Some((reason, since)) if since.elapsed() > GRACE => return Err(reason),
            Some(_) => {}
            None => {
                progress.update(&snapshot());
                if let Some(reason) = progress.stop() {
                    budget.stop(reason);
                }
                exhausted = budget.exhausted().map(|reason| (reason, Instant::now()));
            }
        }
    }
    worker.join().map_err(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Impatient(u32);

    impl Progress for Impatient {
        fn update(&mut self, _: &Snapshot) {
            self.0 += 1;
        }

        fn stop(&self) -> Option<StopReason> {
            (self.0 > 1).then_some(StopReason::Memory)
        }
    }

    #[test]
    fn what_the_listener_says_arrives_with_its_reason() {
        let budget = Budget::unlimited();
        let polled = budget.clone();
        let result = run_supervised(&budget, &mut Impatient(0), Snapshot::default, move || {
            loop {
                if let Some(reason) = polled.exhausted() {
                    return reason;
                }
                std::thread::yield_now();
            }
        });
        assert_eq!(result, Ok(StopReason::Memory));
    }

    #[test]
    fn who_does_not_listen_is_left_alone() {
        let budget = Budget::unlimited();
        let (keep, held) = mpsc::channel::<()>();
        let result =
            run_supervised(&budget, &mut Impatient(0), Snapshot::default, move || held.recv().is_ok());
        assert_eq!(result, Err(StopReason::Memory));
        drop(keep);
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_is_passed_on() {
        let _ = run_supervised(&Budget::unlimited(), &mut crate::Silent, Snapshot::default, || {
            panic!("on purpose")
        });
    }
}
