//! The store `bitstate` (Holzmann, 1987; a Bloom filter): k bits for each thing known, in one array. What was met is
//! always known; what was not may be taken for known, and then part of the state space is missed.

use super::hash::StateHash;
use super::index::{prefetch, prefetch_to_write};
use super::known::{Known, Reach};
use super::packed::pages::{Zeroed, ZeroedList};
use preempt_core::{Cost, Coverage};
use std::sync::atomic::{AtomicU64, Ordering};

// SAFETY: it is a number.
#[allow(unsafe_code, reason = "said of plain data")]
unsafe impl Zeroed for AtomicU64 {}

#[derive(Debug)]
pub struct Bits {
    words: ZeroedList<AtomicU64>,
    hashes: u32,
    ones: u64,
    /// States met for the first time, and all things that were.
    states: u64,
    things: u64,
    /// How many were probably taken for known, for those `things`.
    missed: f64,
    /// Queued at other steps is something else.
    by_steps: bool,
}

/// What is known of a state beside itself; up to 255 the process that was expanded.
mod about {
    pub const EVERYBODY: u64 = 256;
    /// Queued at a level; the level and perhaps the steps are added.
    pub const QUEUED: u64 = 257;
}

/// Things whose memory is asked for at a time.
const AHEAD: usize = 16;

impl Bits {
    /// Of at least 64 bits; `None` if there is not so much memory. `cost` is what the search in order of cost has to
    /// keep least.
    pub fn new(bits: u64, hashes: u32, cost: Cost) -> Option<Bits> {
        let count = usize::try_from(bits.div_ceil(64).max(1)).ok()?;
        Some(Bits {
            words: ZeroedList::new(count)?,
            hashes: hashes.max(1),
            ones: 0,
            states: 0,
            things: 0,
            missed: 0.0,
            by_steps: cost == Cost::Steps,
        })
    }

    pub fn len(&self) -> u64 {
        64 * self.words.len() as u64
    }

    /// The places of a thing: an arithmetic progression, which is as good as k functions (Kirsch and Mitzenmacher).
    #[inline]
    fn places(&self, thing: StateHash) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (mut at, step, len) = (thing.first, thing.second | 1, self.len());
        (0..self.hashes).map(move |_| {
            let bit = ((u128::from(at) * u128::from(len)) >> 64) as u64;
            at = at.wrapping_add(step);
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    #[inline]
    pub fn contains(&self, thing: StateHash) -> bool {
        self.places(thing).all(|(word, bit)| self.words[word].load(Ordering::Relaxed) & bit != 0)
    }

    /// True if it was not known.
    #[inline]
    pub fn insert(&mut self, thing: StateHash) -> bool {
        let before = self.ones;
        for (word, bit) in self.places(thing) {
            let word = self.words[word].get_mut();
            self.ones += u64::from(*word & bit == 0);
            *word |= bit;
        }
        let is_new = self.ones > before;
        if is_new {
            self.things += 1;
            self.missed += missed_for_each_new(before, self.len(), self.hashes);
        }
        is_new
    }

    /// Makes these known, as one of several threads that do: how many bits were not set before. What they are is told by
    /// [`Bits::have_grown`].
    pub fn set_all(&self, things: &[StateHash]) -> u64 {
        let mut ones = 0;
        for (number, thing) in things.iter().enumerate() {
            if let Some(ahead) = things.get(number + AHEAD) {
                self.places(*ahead).for_each(|(word, _)| prefetch_to_write(&self.words[word]));
            }
            for (word, bit) in self.places(*thing) {
                ones += u64::from(self.words[word].fetch_or(bit, Ordering::Relaxed) & bit == 0);
            }
        }
        ones
    }

    /// So many bits more are set, for so many things that were not known before, of which so many were states.
    pub fn have_grown(&mut self, ones: u64, things: u64, states: u64) {
        self.missed += things as f64 * missed_for_each_new(self.ones, self.len(), self.hashes);
        self.ones += ones;
        self.things += things;
        self.states += states;
    }

    /// That everybody was queued at a level.
    #[inline]
    fn queued(&self, state: StateHash, level: u32, steps: u64) -> StateHash {
        let steps = if self.by_steps { steps } else { 0 };
        state.with(about::QUEUED + u64::from(level)).with(steps)
    }

    pub fn prefetch_thing(&self, thing: StateHash) {
        for (word, _) in self.places(thing) {
            prefetch(&self.words[word]);
        }
    }

    pub fn coverage(&self) -> Coverage {
        let share =
            if self.things == 0 { 1.0 } else { self.things as f64 / (self.things as f64 + self.missed) };
        Coverage {
            hash_factor: Some(self.len() as f64 / self.states.max(1) as f64),
            share: Some(share),
            ..Coverage::default()
        }
    }
}

/// With so many ones among all bits, something new is taken for known with probability f = (ones / bits)^k. So for each
/// that is seen to be new, f / (1 - f) are expected not to be.
pub fn missed_for_each_new(ones: u64, bits: u64, hashes: u32) -> f64 {
    let taken = (ones as f64 / bits as f64).powi(hashes as i32);
    taken / (1.0 - taken)
}

impl Known for Bits {
    type Place = StateHash;

    #[inline]
    fn meet(&mut self, state: StateHash, _: usize) -> (StateHash, bool) {
        let is_new = self.insert(state);
        self.states += u64::from(is_new);
        (state, is_new)
    }

    fn remember(&mut self, thing: StateHash) -> bool {
        self.insert(thing)
    }

    #[inline]
    fn prefetch(&self, state: StateHash) {
        self.prefetch_thing(state);
        self.prefetch_thing(state.with(about::EVERYBODY));
    }

    fn prefetch_process(&self, state: StateHash, process: usize) {
        self.prefetch_thing(state.with(process as u64));
    }

    fn prefetch_queued(&self, state: StateHash, now: u32, steps: u64) {
        self.prefetch_thing(self.queued(state, now, steps));
        self.prefetch_thing(self.queued(state, now + 1, steps));
    }

    fn has_run(&self, state: StateHash, process: usize) -> bool {
        self.contains(state.with(about::EVERYBODY)) || self.has_run_alone(state, process)
    }

    fn has_run_alone(&self, state: StateHash, process: usize) -> bool {
        self.contains(state.with(process as u64))
    }

    fn ran_alone(&mut self, state: StateHash, process: usize) {
        self.insert(state.with(process as u64));
    }

    fn begin_others(&mut self, state: StateHash) -> bool {
        self.insert(state.with(about::EVERYBODY))
    }

    /// Known already, of everybody.
    fn ran_among_others(&mut self, _: StateHash, _: usize) {}

    /// The first to be queued at a level need not have the fewest steps of that level, if steps are atomic sequences.
    /// That would matter only where nothing but steps is counted.
    fn lower_everybody(&mut self, state: StateHash, now: u32, level: u32, steps: u64) -> bool {
        let queued_now = self.queued(state, now, steps);
        if self.contains(state.with(about::EVERYBODY)) || level > now && self.contains(queued_now) {
            return false;
        }
        self.insert(self.queued(state, level, steps))
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    fn reach(&self) -> Reach {
        Reach::Partial(self.coverage())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing(i: u64) -> StateHash {
        StateHash::of(&i.to_le_bytes(), 0)
    }

    #[test]
    fn what_is_expected_to_be_missed() {
        // A quarter of the bits, two functions: 1/16 is taken for known, so 1 of 15 more than are seen.
        assert!((missed_for_each_new(250, 1000, 2) - 1.0 / 15.0).abs() < 1e-12);
        // Half of them, three functions: 1/8, and 1 of 7.
        assert!((missed_for_each_new(32, 64, 3) - 1.0 / 7.0).abs() < 1e-12);
        assert_eq!(missed_for_each_new(0, 64, 3), 0.0);
    }

    #[test]
    fn more_than_there_is_cannot_be_had() {
        assert!(Bits::new(u64::MAX, 3, Cost::Preemptions).is_none());
    }

    #[test]
    fn what_was_inserted_is_known() {
        let mut bits = Bits::new(1 << 20, 3, Cost::Preemptions).expect("a small array");
        let new = (0..10_000).filter(|i| bits.insert(thing(*i))).count();
        assert!((0..10_000).all(|i| bits.contains(thing(i)) && !bits.insert(thing(i))));
        assert!(new > 9_990, "{new}");
    }

    /// The estimate against what really happens, in an array that is much too small.
    #[test]
    fn the_estimated_share_is_the_true_one() {
        for hashes in [1, 2, 3, 5] {
            let mut bits = Bits::new(20_000, hashes, Cost::Preemptions).expect("a small array");
            const COUNT: u64 = 10_000;
            let new = (0..COUNT).filter(|i| bits.meet(thing(*i), 1).1).count() as f64;
            let coverage = bits.coverage();
            let (share, truth) = (coverage.share.unwrap_or_default(), new / COUNT as f64);
            assert!((share - truth).abs() < 0.02, "{hashes}: {share} estimated, {truth} true");
            let factor = coverage.hash_factor.unwrap_or_default();
            // 20,032 bits: a multiple of 64.
            assert!((factor - 20_032.0 / new).abs() < 1e-9, "{factor}");
        }
    }

    #[test]
    fn everybody_is_queued_once_a_level_and_never_after_it_was_done() {
        let mut bits = Bits::new(1 << 16, 3, Cost::Preemptions).expect("a small array");
        let state = thing(7);
        assert!(bits.lower_everybody(state, 0, 1, 5));
        assert!(!bits.lower_everybody(state, 0, 1, 4));
        assert!(bits.lower_everybody(state, 0, 0, 9));
        assert!(!bits.lower_everybody(state, 0, 1, 1));
        assert!(bits.begin_others(state) && !bits.begin_others(state));
        assert!(!bits.lower_everybody(state, 2, 3, 1));
        assert!(bits.has_run(state, 3) && !bits.has_run_alone(state, 3));
        let mut by_steps = Bits::new(1 << 16, 3, Cost::Steps).expect("a small array");
        assert!(by_steps.lower_everybody(state, 0, 0, 5) && by_steps.lower_everybody(state, 0, 0, 4));
    }
}
