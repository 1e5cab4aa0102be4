//! Work in a thread of its own, while an observer is asked all the time whether it is still wanted.

use crate::budget::Budget;
use crate::observer::{Observer, Progress};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The observer is asked so often.
const PATIENCE: Duration = Duration::from_millis(20);
/// Recursion over a diagram or a formula is as deep as the input says.
const STACK: usize = 64 << 20;

/// Does the work, which polls the budget. What the observer says stops the budget, with its reason; `progress` is what it
/// hears meanwhile. So no phase of the work needs the observer, and none of them is deaf to it.
pub fn watched<T: Send>(
    budget: &Budget,
    observer: &mut dyn Observer,
    progress: impl Fn() -> Progress,
    work: impl FnOnce() -> T + Send,
) -> T {
    if let Some(reason) = observer.stop() {
        budget.stop(reason);
    }
    std::thread::scope(|scope| {
        // Nothing is ever sent: the channel closes when the work is over, be it by a panic.
        let (working, over) = mpsc::channel::<()>();
        let task = move || {
            let _working = working;
            work()
        };
        let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, task);
        let worker = spawned.unwrap_or_else(|error| panic!("no thread can be started: {error}"));
        while over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            observer.progress(&progress());
            if let Some(reason) = observer.stop() {
                budget.stop(reason);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::StopReason;

    struct Impatient(u32);

    impl Observer for Impatient {
        fn progress(&mut self, _: &Progress) {
            self.0 += 1;
        }

        fn stop(&self) -> Option<StopReason> {
            (self.0 > 1).then_some(StopReason::Memory)
        }
    }

    #[test]
    fn what_the_observer_says_arrives_with_its_reason() {
        let budget = Budget::unlimited();
        let told = watched(&budget, &mut Impatient(0), Progress::default, || {
            loop {
                if let Some(reason) = budget.exhausted() {
                    return reason;
                }
                std::thread::yield_now();
            }
        });
        assert_eq!(told, StopReason::Memory);
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_is_passed_on() {
        watched(&Budget::unlimited(), &mut crate::Silent, Progress::default, || panic!("on purpose"));
    }
}
