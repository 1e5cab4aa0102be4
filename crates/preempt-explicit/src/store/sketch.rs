//! How many different states were seen, by several searches together, without keeping them: HyperLogLog (Flajolet,
//! Fusy, Gandouet and Meunier, 2007). The estimate is off by 0.8 % on average.

use super::hash::StateHash;

/// Bits of a hash that choose a register.
const CHOOSING: u32 = 14;
const REGISTERS: usize = 1 << CHOOSING;

/// In each register the longest row of zeros, and one more, that the rest of a hash began with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch(Vec<u8>);

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch(vec![0; REGISTERS])
    }
}

impl Sketch {
    /// A state, by its fingerprint: the same in every search whose sketches are joined (see
    /// [`crate::successors::Successors::fingerprint`]).
    pub fn add(&mut self, fingerprint: u64) {
        let hash = StateHash::of(&fingerprint.to_le_bytes(), 0).second;
        let register = &mut self.0[(hash >> (64 - CHOOSING)) as usize];
        *register = (*register).max((hash << CHOOSING | 1 << (CHOOSING - 1)).leading_zeros() as u8 + 1);
    }

    /// Everything that either has seen. Was there anything new?
    pub fn absorb(&mut self, other: &Sketch) -> bool {
        let mut is_new = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            is_new |= *other > *own;
            *own = (*own).max(*other);
        }
        is_new
    }

    pub fn estimate(&self) -> u64 {
        let count = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|longest| 2f64.powi(-i32::from(*longest))).sum();
        let free = self.0.iter().filter(|longest| **longest == 0).count();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        // Few states: how many registers they left free says more.
        let estimate = if raw < 2.5 * count && free > 0 { count * (count / free as f64).ln() } else { raw };
        estimate.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_estimated() {
        for count in [0u64, 1, 10, 1000, 30_000, 50_000, 1_000_000] {
            let mut sketch = Sketch::default();
            for i in (0..count).chain(0..count / 2) {
                sketch.add(i);
            }
            let error = (sketch.estimate() as f64 - count as f64).abs();
            assert!(error <= 0.03 * count as f64, "{count}: {}", sketch.estimate());
        }
    }

    #[test]
    fn two_searches_together() {
        let of = |range: std::ops::Range<u64>| {
            let mut sketch = Sketch::default();
            range.for_each(|i| sketch.add(i));
            sketch
        };
        let mut both = of(0..6000);
        assert!(both.absorb(&of(4000..10_000)));
        assert!(!both.absorb(&of(1000..9000)));
        assert_eq!(both, of(0..10_000));
    }
}
