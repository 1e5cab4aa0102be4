//! The store `compact`: of each state 64, 96 or 128 bits of its hash, with the mask of expanded processes and the cost
//! at which everybody was queued. Two states with the same bits are taken for one.

use super::hash::StateHash;
use super::index::prefetch;
use super::known::{Known, Reach};

/// So many tables grow one after the other, which keeps the memory for growing small.
const SHARDS: usize = 64;

/// Full is four fifths: beyond that, looking for what is not there takes long.
const FULL: (usize, usize) = (4, 5);

/// Levels are kept modulo 4; see the exact store's `records.rs` for why that is enough.
const LEVEL_BITS: u32 = 2;

#[derive(Debug)]
pub struct Fingerprints {
    format: Format,
    shards: Vec<Shard>,
}

/// Bytes of each part of an entry, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Format {
    fingerprint: usize,
    /// 0 where costs and masks are not asked for.
    cost: usize,
    mask: usize,
}

/// Linear probing; an entry whose fingerprint is 0 is free.
#[derive(Debug, Default)]
struct Shard {
    data: Vec<u8>,
    slots: usize,
    used: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Place {
    shard: usize,
    /// Of the entry's first byte.
    at: usize,
}

impl Format {
    fn size(self) -> usize {
        self.fingerprint + self.cost + self.mask
    }

    fn steps_bits(self) -> u32 {
        self.cost as u32 * 8 - LEVEL_BITS
    }

    #[inline]
    fn fingerprint_of(self, state: StateHash) -> Print {
        let kept = 8 * (self.fingerprint as u32 - 8);
        let second = if kept == 0 { 0 } else { state.second >> (64 - kept) };
        // 0 stands for a free entry.
        Print { first: state.first.max(1), second }
    }

    #[inline]
    fn read(self, data: &[u8], at: usize) -> Print {
        let mut second = [0; 8];
        let wide = self.fingerprint - 8;
        second[..wide].copy_from_slice(&data[at + 8..at + 8 + wide]);
        Print { first: word(data, at), second: u64::from_le_bytes(second) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Print {
    first: u64,
    second: u64,
}

#[inline]
fn word(data: &[u8], at: usize) -> u64 {
    data.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

impl Shard {
    #[inline]
    fn slot_of(&self, print: Print) -> usize {
        ((u128::from(print.first) * self.slots as u128) >> 64) as usize
    }

    /// Where the fingerprint is, or could be.
    #[inline]
    fn find(&self, format: Format, print: Print) -> (usize, bool) {
        let size = format.size();
        let mut slot = self.slot_of(print);
        loop {
            let at = slot * size;
            let first = word(&self.data, at);
            if first == 0 {
                return (at, false);
            }
            if first == print.first && (format.fingerprint == 8 || format.read(&self.data, at) == print) {
                return (at, true);
            }
            slot = if slot + 1 == self.slots { 0 } else { slot + 1 };
        }
    }

    /// All entries again, in a table of so many, of another format perhaps.
    #[cold]
    fn rebuild(&mut self, slots: usize, old: Format, new: Format) {
        let mut table = Shard { data: vec![0; slots * new.size()], slots, used: self.used };
        let rest = old.cost.min(new.cost) + old.mask;
        for at in (0..self.slots).map(|slot| slot * old.size()) {
            let print = old.read(&self.data, at);
            if print.first == 0 {
                continue;
            }
            let (to, _) = table.find(new, print);
            table.data[to..to + new.fingerprint].copy_from_slice(&self.data[at..at + old.fingerprint]);
            let (from, to) = (at + old.fingerprint, to + new.fingerprint);
            if old.cost == new.cost {
                table.data[to..to + rest].copy_from_slice(&self.data[from..from + rest]);
            } else {
                // A cost of another width is unknown: everybody may be queued once more for nothing.
                table.data[to..to + new.cost].fill(0xFF);
                let (from, to) = (from + old.cost, to + new.cost);
                table.data[to..to + old.mask].copy_from_slice(&self.data[from..from + old.mask]);
            }
        }
        *self = table;
    }
}

impl Fingerprints {
    /// `bits` are 64, 96 or 128. Without masks and costs it is a set of states.
    pub fn new(bits: u32, with_costs: bool) -> Fingerprints {
        let (cost, mask) = if with_costs { (2, 1) } else { (0, 0) };
        let format = Format { fingerprint: bits as usize / 8, cost, mask };
        Fingerprints { format, shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    pub fn count(&self) -> u64 {
        self.shards.iter().map(|shard| shard.used as u64).sum()
    }

    fn widen(&mut self, format: Format) {
        for shard in &mut self.shards {
            shard.rebuild(shard.slots, self.format, format);
        }
        self.format = format;
    }

    fn mask_at(&self, place: Place) -> usize {
        place.at + self.format.fingerprint + self.format.cost
    }
}

impl Known for Fingerprints {
    type Place = Place;

    #[inline]
    fn meet(&mut self, state: StateHash, processes: usize) -> (Place, bool) {
        if self.format.cost > 0 && processes > 8 * self.format.mask {
            self.widen(Format { mask: processes.div_ceil(8), ..self.format });
        }
        let format = self.format;
        let print = format.fingerprint_of(state);
        let number = print.first as usize % SHARDS;
        let shard = &mut self.shards[number];
        if (shard.used + 1) * FULL.1 > shard.slots * FULL.0 {
            shard.rebuild(shard.slots + shard.slots / 3 + 16, format, format);
        }
        let (at, found) = shard.find(format, print);
        if !found {
            shard.used += 1;
            let wide = format.fingerprint - 8;
            shard.data[at..at + 8].copy_from_slice(&print.first.to_le_bytes());
            shard.data[at + 8..at + 8 + wide].copy_from_slice(&print.second.to_le_bytes()[..wide]);
            let cost = at + format.fingerprint;
            shard.data[cost..cost + format.cost].fill(0xFF);
        }
        (Place { shard: number, at }, !found)
    }

    fn remember(&mut self, thing: StateHash) -> bool {
        self.meet(thing, 0).1
    }

    #[inline]
    fn prefetch(&self, state: StateHash) {
        let print = self.format.fingerprint_of(state);
        let shard = &self.shards[print.first as usize % SHARDS];
        if let Some(byte) = shard.data.get(shard.slot_of(print) * self.format.size()) {
            prefetch(byte);
        }
    }

    #[inline]
    fn has_run(&self, place: Place, process: usize) -> bool {
        // A process that has ended by now is not in the mask, and has no moves.
        process / 8 < self.format.mask
            && self.shards[place.shard].data[self.mask_at(place) + process / 8] & (1 << (process % 8)) != 0
    }

    fn has_run_alone(&self, place: Place, process: usize) -> bool {
        self.has_run(place, process)
    }

    #[inline]
    fn ran_alone(&mut self, place: Place, process: usize) {
        let at = self.mask_at(place) + process / 8;
        self.shards[place.shard].data[at] |= 1 << (process % 8);
    }

    fn begin_others(&mut self, _: Place) -> bool {
        true
    }

    fn ran_among_others(&mut self, place: Place, process: usize) {
        self.ran_alone(place, process);
    }

    #[inline]
    fn lower_everybody(&mut self, place: Place, now: u32, level: u32, steps: u64) -> bool {
        let format = self.format;
        let bits = format.steps_bits();
        let unknown = (1u32 << bits) - 1;
        let data = &mut self.shards[place.shard].data;
        let at = place.at + format.fingerprint;
        let mut kept = [0; 4];
        kept[..format.cost].copy_from_slice(&data[at..at + format.cost]);
        let kept = u32::from_le_bytes(kept);
        let (kept_level, kept_steps) = (kept >> bits, kept & unknown);
        let ahead = kept_level.wrapping_sub(now) % (1 << LEVEL_BITS);
        let is_lower =
            kept_steps == unknown || ahead <= 1 && (level - now, steps) < (ahead, u64::from(kept_steps));
        if is_lower {
            let steps = steps.min(u64::from(unknown)) as u32;
            let cost = (level % (1 << LEVEL_BITS)) << bits | steps;
            data[at..at + format.cost].copy_from_slice(&cost.to_le_bytes()[..format.cost]);
            if steps == unknown && format.cost < 4 {
                self.widen(Format { cost: 4, ..format });
            }
        }
        is_lower
    }

    fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.data.capacity() as u64).sum()
    }

    fn reach(&self) -> Reach {
        Reach::Approximate(probability_of_a_miss(self.count(), self.format.fingerprint as u32 * 8))
    }
}

/// The probability that among so many states two have the same bits, which are as if by chance (the birthday problem).
pub fn probability_of_a_miss(states: u64, bits: u32) -> f64 {
    let pairs = states as f64 * states.saturating_sub(1) as f64 / 2.0;
    // 1 - e^-x, without losing a small x.
    -(-pairs / 2f64.powi(bits as i32)).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(i: u64) -> StateHash {
        StateHash::of(&i.to_le_bytes(), 0)
    }

    #[test]
    fn the_birthday_problem() {
        // 23 people, 365 days are about 2^8.512: here 20 states and 8 bits. 190 pairs / 256: 1 - e^-0.7421875.
        assert!((probability_of_a_miss(20, 8) - 0.523_932).abs() < 1e-5);
        // 2^32 states of 64 bits: 1 - e^-1/2, but for one part in 2^32.
        assert!((probability_of_a_miss(1 << 32, 64) - 0.393_469).abs() < 1e-5);
        // A million: 499,999,500,000 pairs / 18,446,744,073,709,551,616.
        let million = probability_of_a_miss(1_000_000, 64);
        assert!((million / 2.710_503e-8 - 1.0).abs() < 1e-5, "{million}");
        // 96 bits make it 2^32 times smaller.
        assert!((probability_of_a_miss(1_000_000, 96) * 2f64.powi(32) / million - 1.0).abs() < 1e-5);
        assert_eq!(probability_of_a_miss(0, 64), 0.0);
        assert_eq!(probability_of_a_miss(1, 64), 0.0);
    }

    #[test]
    fn what_was_met_is_known() {
        for (bits, with_costs) in [(64, true), (64, false), (96, true), (128, true), (128, false)] {
            let mut known = Fingerprints::new(bits, with_costs);
            assert!((0..50_000).all(|i| known.meet(state(i), 3).1));
            assert!((0..50_000).all(|i| !known.meet(state(i), 3).1));
            assert_eq!(known.count(), 50_000);
            let size = u64::from(bits / 8 + if with_costs { 3 } else { 0 });
            assert!(known.bytes() < 50_000 * size * 8 / 5, "{bits}: {}", known.bytes());
        }
    }

    /// More processes, and longer runs, than entries had room for.
    #[test]
    fn masks_and_costs_survive_wider_entries() {
        let mut known = Fingerprints::new(96, true);
        for i in 0..1000 {
            let (place, _) = known.meet(state(i), 5);
            known.ran_alone(place, (i % 5) as usize);
            assert!(known.lower_everybody(place, 0, 1, i));
            assert!(!known.lower_everybody(place, 0, 1, i));
        }
        let (place, is_new) = known.meet(state(1000), 40);
        known.ran_alone(place, 39);
        assert!(is_new && known.lower_everybody(place, 0, 0, 1 << 20));
        for i in 0..1000 {
            let (place, is_new) = known.meet(state(i), 5);
            assert!(!is_new);
            assert!((0..40).all(|process| known.has_run(place, process) == (process == (i % 5) as usize)));
        }
        let (place, _) = known.meet(state(1000), 40);
        assert!(known.has_run(place, 39) && !known.has_run(place, 38) && !known.has_run(place, 200));
        // Unknown by now, so said once more; then kept.
        assert!(known.lower_everybody(place, 0, 0, 1 << 20));
        assert!(!known.lower_everybody(place, 0, 0, 1 << 20));
        assert!(known.lower_everybody(place, 0, 0, (1 << 20) - 1));
    }
}
