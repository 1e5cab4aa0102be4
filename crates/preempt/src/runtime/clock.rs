//! Vector clocks, for what the program's own orderings guarantee: the happens-before of data races.

/// So many threads need no memory of their own: most tests have no more.
const FEW: usize = 6;

/// How many operations of each thread are known to have happened. Missing entries are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    first: [u32; FEW],
    others: Vec<u32>,
    /// Of the virtual clock (`crate::time`), in nanoseconds: the latest that is known.
    pub time: u64,
}

impl Clock {
    pub fn get(&self, thread: usize) -> u32 {
        match thread.checked_sub(FEW) {
            None => self.first[thread],
            Some(other) => self.others.get(other).copied().unwrap_or(0),
        }
    }

    pub fn tick(&mut self, thread: usize) {
        match thread.checked_sub(FEW) {
            None => self.first[thread] += 1,
            Some(other) => {
                let len = self.others.len().max(other + 1);
                self.others.resize(len, 0);
                self.others[other] += 1;
            }
        }
    }

    /// Sets a thread's entry, which never goes back.
    pub fn set(&mut self, thread: usize, time: u32) {
        match thread.checked_sub(FEW) {
            None => self.first[thread] = time,
            Some(other) => {
                let len = self.others.len().max(other + 1);
                self.others.resize(len, 0);
                self.others[other] = time;
            }
        }
    }

    /// A thread of which more is known here than there.
    pub fn ahead_of(&self, other: &Clock) -> Option<usize> {
        (0..FEW + self.others.len()).find(|&thread| self.get(thread) > other.get(thread))
    }

    pub fn join(&mut self, other: &Clock) {
        self.time = self.time.max(other.time);
        for (mine, theirs) in self.first.iter_mut().zip(&other.first) {
            *mine = (*mine).max(*theirs);
        }
        if self.others.len() < other.others.len() {
            self.others.resize(other.others.len(), 0);
        }
        for (mine, theirs) in self.others.iter_mut().zip(&other.others) {
            *mine = (*mine).max(*theirs);
        }
    }

    pub fn clear(&mut self) {
        self.first = [0; FEW];
        self.others.clear();
        self.time = 0;
    }
}
