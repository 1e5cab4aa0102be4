//! Whose turn it is: two threads of which one works at a time, so that together they use one processor.
//!
//! Each asks between two pieces of its work whether its turn is over. Turns become longer, so that little is lost by
//! changing; whoever ends gives the rest of the time to the other. A piece of the diagrams' work is an operation that may take
//! minutes: rounds do not wait for its end longer than the turn, so that for a while both work, and it counts as theirs.
//!
//! A turn is a time of the processor, where the system says how much of it the process has had: on a machine with many other
//! programs, half a second of the clock may be too short to do anything.

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
    /// What the process had had of the processor then, if the system says so.
    used: Option<Duration>,
    /// Before this it need not be asked again.
    look: Instant,
    turn: Duration,
    /// How long rounds have worked, and diagrams.
    worked: (Duration, Duration),
    /// Rounds did not wait any longer, and diagrams do not know it yet: they have been at work since then.
    taken_from_diagrams: Option<Instant>,
    /// One of them has ended: the other need not ask any more.
    alone: bool,
}

/// Long enough for diagrams to decide what is easy for them.
const FIRST_TURN: Duration = Duration::from_millis(500);
const LONGEST_TURN: Duration = Duration::from_secs(2);
/// So long rounds wait for the end of an operation when the diagrams' turn is over.
const GRACE: Duration = Duration::from_millis(250);
/// So many times as long as diagrams rounds may work after that: who needs long usually has many states, and few of them are
/// new to rounds, while a diagram that has become large only becomes larger.
const SHARE_OF_ROUNDS: u32 = 2;

/// A turn lasts so many times as long by the clock at most.
const MOST_LOADED: u32 = 5;

/// What this process has had of the processor, in hundredths of a second: fields 14 and 15 of its line, behind the name, which
/// stands in parentheses.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut hundredths = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * hundredths()?.checked_add(hundredths()?)?))
}

impl Baton {
    /// Diagrams go first: rounds had their chance before.
    pub fn new() -> Baton {
        let (holder, since) = (Runner::Diagrams, Instant::now());
        let (worked, taken_from_diagrams) = Default::default();
        let (used, turn, alone) = (processor(), FIRST_TURN, false);
        let state = State { holder, since, used, look: since, turn, worked, taken_from_diagrams, alone };
        Baton { state: Mutex::new(state), passed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on at once while the turn lasts, and otherwise when it comes again.
    pub fn wait(&self, me: Runner) {
        let mut state = self.state();
        if me == Runner::Diagrams
            && let Some(since) = state.taken_from_diagrams.take()
        {
            state.worked.1 += since.elapsed();
        }
        if state.holder == me && !state.alone && state.is_over() {
            state.pass();
            self.passed.notify_all();
        }
        while state.holder != me && !state.alone {
            let turn = state.turn + GRACE;
            let left = turn.saturating_sub(state.lasted(turn));
            if me == Runner::Rounds && left.is_zero() {
                // An operation on diagrams cannot be interrupted, and may take minutes.
                state.pass();
                state.taken_from_diagrams = Some(Instant::now());
            } else if me == Runner::Rounds {
                let waited = self.passed.wait_timeout(state, left + Duration::from_millis(1));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                state = self.passed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
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

impl State {
    /// How long the turn has lasted, if it may be as long as `turn`: a time of the processor, and not much less than by the
    /// clock.
    fn lasted(&mut self, turn: Duration) -> Duration {
        let now = Instant::now();
        let clock = now.duration_since(self.since);
        let Some(before) = self.used.filter(|_| clock >= turn) else { return clock };
        if now < self.look {
            return turn.saturating_sub(self.look - now);
        }
        let worked = processor().map_or(clock, |used| used.saturating_sub(before));
        let lasted = worked.max(clock / MOST_LOADED).min(clock);
        // Nobody works faster than the clock.
        self.look = now + turn.saturating_sub(lasted);
        lasted
    }

    fn is_over(&mut self) -> bool {
        let now = self.lasted(self.turn);
        let due = self.holder == Runner::Diagrams || self.worked.0 + now >= self.worked.1 * SHARE_OF_ROUNDS;
        now >= self.turn && due && self.taken_from_diagrams.is_none()
    }

    fn pass(&mut self) {
        match self.holder {
            Runner::Rounds => self.worked.0 += self.since.elapsed(),
            Runner::Diagrams => self.worked.1 += self.since.elapsed(),
        }
        self.holder = self.holder.other();
        self.since = Instant::now();
        self.look = self.since;
        self.used = processor();
        self.turn = (self.turn * 5 / 4).min(LONGEST_TURN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn rounds_do_not_wait_for_a_long_operation() {
        let baton = Arc::new(Baton::new());
        let diagrams = {
            let baton = baton.clone();
            std::thread::spawn(move || {
                baton.wait(Runner::Diagrams);
                // A thread that sleeps uses no processor: its turn is as long as it can be.
                std::thread::sleep(Duration::from_secs(5));
                baton.wait(Runner::Diagrams);
                baton.end(Runner::Diagrams);
            })
        };
        let begin = Instant::now();
        baton.wait(Runner::Rounds);
        assert!(begin.elapsed() >= FIRST_TURN, "they had their turn");
        assert!(!diagrams.is_finished(), "and were still at work");
        baton.end(Runner::Rounds);
        diagrams.join().unwrap();
    }

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
