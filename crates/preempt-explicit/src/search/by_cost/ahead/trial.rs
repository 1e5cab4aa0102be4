//! Is it worth telling others what to compute? Where steps are machine code, to write down what waits can take longer than to expand
//! it. It depends on the model and on how full the caches are, so it is measured: from time to time the search goes on with help
//! and without it in turns, and then for long in the way in which it was faster. What it finds is the same either way.

use std::time::Duration;

/// Items of a turn, before which others get ahead or what they have computed is used up; turns of a trial; items until the next one.
const BEFORE: u64 = 2 * super::WINDOW as u64;
const TURN: u64 = 1 << 12;
const TURNS: u32 = 8;
const BETWEEN: u64 = 1 << 19;

pub struct Trial {
    is_helped: bool,
    at: At,
    /// Items until this may change.
    left: u64,
    /// Turns of this trial that are over, and the time that those without help and those with it have taken.
    turns: u32,
    took: [Duration; 2],
}

#[derive(Clone, Copy)]
enum At {
    BeforeTurn,
    Turn {
        began: Duration,
    },
    /// It has been decided.
    Between,
}

impl Trial {
    pub fn new() -> Trial {
        Trial { is_helped: true, at: At::BeforeTurn, left: BEFORE, turns: 0, took: [Duration::ZERO; 2] }
    }

    /// So many items come next; `now`: the time since the search began. Says whether others are to help.
    pub fn goes_on(&mut self, items: u64, now: impl Fn() -> Duration) -> bool {
        self.left = self.left.saturating_sub(items);
        if self.left > 0 {
            return self.is_helped;
        }
        match self.at {
            At::BeforeTurn => (self.at, self.left) = (At::Turn { began: now() }, TURN),
            At::Turn { began } => {
                self.took[usize::from(self.is_helped)] += now().saturating_sub(began);
                self.turns += 1;
                self.is_helped = !self.is_helped;
                (self.at, self.left) = (At::BeforeTurn, BEFORE);
                if self.turns == TURNS {
                    self.is_helped = self.took[1] < self.took[0];
                    (self.at, self.left) = (At::Between, BETWEEN);
                }
            }
            At::Between => *self = Trial::new(),
        }
        self.is_helped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Of so many items, how many are expanded with help, if each takes so long with it and without it?
    fn helped(items: u64, with: u64, without: u64) -> u64 {
        let (mut trial, now, mut helped) = (Trial::new(), Cell::new(0), 0);
        for _ in 0..items {
            let is_helped = trial.goes_on(1, || Duration::from_nanos(now.get()));
            helped += u64::from(is_helped);
            now.set(now.get() + if is_helped { with } else { without });
        }
        helped
    }

    #[test]
    fn the_faster_way_is_taken() {
        let trial = (BEFORE + TURN) * u64::from(TURNS);
        let (period, half) = (trial + BETWEEN, trial / 2);
        let helps = helped(10 * period, 90, 100);
        assert!(helps > 10 * (period - half) - 20 * TURN, "{helps}");
        let hinders = helped(10 * period, 110, 100);
        assert!(hinders < 10 * half + 20 * TURN && hinders > 0, "{hinders}");
    }

    /// What was right at first need not be so later.
    #[test]
    fn it_is_tried_again() {
        let (mut trial, now) = (Trial::new(), Cell::new(0));
        let mut last = true;
        for item in 0..4 * BETWEEN {
            let with = if item < BETWEEN { 10 } else { 30 };
            last = trial.goes_on(1, || Duration::from_nanos(now.get()));
            now.set(now.get() + if last { with } else { 20 });
            if item == BETWEEN - 1 {
                assert!(last, "it helps");
            }
        }
        assert!(!last, "it does not help any more");
    }
}
