//! A state as two words that look like chance: what stands for it where the state itself is not kept.

use std::num::Wrapping;

/// 128 bits. Of different states, any of these bits are as good as independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash {
    pub first: u64,
    pub second: u64,
}

const ODD: [u64; 4] =
    [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0xA24B_AED4_963E_E407, 0x9FB2_1C65_1E98_DF25];

impl StateHash {
    /// Two chains of folded products, one word of the state at a time. Another seed gives another function.
    #[inline]
    pub fn of(state: &[u8], seed: u64) -> StateHash {
        let mut first = finished(seed ^ ODD[0]) ^ state.len() as u64;
        let mut second = finished(seed.wrapping_add(ODD[1])) ^ (state.len() as u64).rotate_left(32);
        let (words, rest) = state.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for word in words.iter().chain(std::iter::once(&last)) {
            let word = u64::from_le_bytes(*word);
            first = folded(first ^ word, ODD[2]);
            second = folded(second ^ word, ODD[3]);
        }
        // One to one: what the chains tell apart stays apart.
        let mixed = Wrapping(first) + Wrapping(second) * Wrapping(ODD[0]);
        StateHash { first: finished(mixed.0), second: finished(second) }
    }

    /// Something about the state: as another state, different for each number.
    #[inline]
    pub fn with(self, what: u64) -> StateHash {
        let salt = what.wrapping_add(1).wrapping_mul(ODD[1]);
        StateHash { first: finished(self.first ^ salt), second: finished(self.second.wrapping_add(salt)) }
    }
}

#[inline]
fn folded(word: u64, odd: u64) -> u64 {
    let product = u128::from(word) * u128::from(odd);
    // Bits of a product depend on lower bits only; the upper half has what the lower lacks.
    product as u64 ^ (product >> 64) as u64
}

/// The end of MurmurHash3: one to one, and every bit depends on every bit.
#[inline]
fn finished(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word = (word ^ word >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ word >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Counters, as states are: any 32 bits of the hash collide as often as chance would have it.
    #[test]
    fn like_chance_on_states_that_differ_little() {
        let state = |i: u32, place: usize| {
            let mut state = [7u8; 40];
            state[place..place + 4].copy_from_slice(&i.to_le_bytes());
            state[place + 9] ^= (i / 3) as u8;
            state
        };
        const COUNT: u32 = 60_000;
        // n * (n - 1) / 2 / 2^32 pairs.
        let expected = f64::from(COUNT) * f64::from(COUNT - 1) / 2.0 / 2f64.powi(32);
        let mut total = 0.0;
        for place in [0, 5, 12, 30] {
            for shift in [0, 32, 64, 96] {
                let bits = |hash: StateHash| {
                    ((u128::from(hash.second) << 64 | u128::from(hash.first)) >> shift) as u32
                };
                let different: HashSet<u32> =
                    (0..COUNT).map(|i| bits(StateHash::of(&state(i, place), 3))).collect();
                total += f64::from(COUNT) - different.len() as f64;
            }
        }
        assert!(
            total < 16.0 * expected * 3.0 && total > 0.0,
            "{total} collisions, {} expected",
            16.0 * expected
        );
    }

    #[test]
    fn length_seed_and_purpose_matter() {
        let hashes = [
            StateHash::of(&[0; 8], 1),
            StateHash::of(&[0; 9], 1),
            StateHash::of(&[], 1),
            StateHash::of(&[0; 8], 2),
            StateHash::of(&[0; 8], 1).with(0),
            StateHash::of(&[0; 8], 1).with(1),
        ];
        let firsts: HashSet<u64> = hashes.iter().map(|hash| hash.first).collect();
        let seconds: HashSet<u64> = hashes.iter().map(|hash| hash.second).collect();
        assert_eq!((firsts.len(), seconds.len()), (hashes.len(), hashes.len()));
    }
}
