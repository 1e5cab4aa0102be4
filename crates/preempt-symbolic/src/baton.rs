//! Whose turn it is: two threads of which one works at a time, so that together they use one processor.
//!
//! Each asks between two pieces of its work whether its turn is over. Turns become longer, so that little is lost by
//! changing; whoever ends gives the rest of the time to the other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Rounds,
    Diagrams,
}

impl Runner {
    fn other(self) -> Runner {
        match self {
            Runner::Rounds => Runner::Diagrams,
            Runner::Diagrams => Runner::Rounds,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Baton {
    state: Mutex<State>,
    passed: Condvar,
}

#[derive(Debug)]
struct State {
    holder: Runner,
    since: Instant,
    turn: Duration,
    /// One of them has ended: the other need not ask any more.
    alone: bool,
}

/// Long enough for diagrams to decide what is easy for them.
const FIRST_TURN: Duration = Duration::from_millis(500);
const LONGEST_TURN: Duration = Duration::from_secs(2);

impl Baton {
    /// Diagrams go first: rounds had their chance before.
    pub fn new() -> Baton {
        let (holder, since) = (Runner::Diagrams, Instant::now());
        Baton {
            state: Mutex::new(State { holder, since, turn: FIRST_TURN, alone: false }),
            passed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on at once while the turn lasts, and otherwise when it comes again.
    pub fn wait(&self, me: Runner) {
        let mut state = self.state();
        if state.holder == me && state.since.elapsed() >= state.turn && !state.alone {
            state.holder = me.other();
            state.since = Instant::now();
            state.turn = (state.turn * 5 / 4).min(LONGEST_TURN);
            self.passed.notify_all();
        }
        while state.holder != me && !state.alone {
            state = self.passed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The rest is the other's.
    pub fn end(&self, me: Runner) {
        let mut state = self.state();
        state.holder = me.other();
        state.alone = true;
        self.passed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_works_at_a_time_until_one_ends() {
        let (baton, working) = (Arc::new(Baton::new()), Arc::new(AtomicU32::new(0)));
        let begin = Instant::now();
        let work = move |me: Runner, baton: &Baton, working: &AtomicU32, time: Duration| {
            let mut pieces = 0;
            while begin.elapsed() < time {
                baton.wait(me);
                assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                std::thread::sleep(Duration::from_millis(2));
                working.fetch_sub(1, Ordering::SeqCst);
                pieces += 1;
            }
            pieces
        };
        let other = {
            let (baton, working) = (baton.clone(), working.clone());
            std::thread::spawn(move || {
                let pieces = work(Runner::Diagrams, &baton, &working, Duration::from_millis(1500));
                baton.end(Runner::Diagrams);
                pieces
            })
        };
        assert!(work(Runner::Rounds, &baton, &working, Duration::from_millis(1600)) > 1);
        assert!(other.join().unwrap() > 1);
    }
}
