//! Finds a number by a hash: lines of twelve entries, one cache line each. An entry is a number and eight bits of its
//! hash; the rest of the hash is computed again when a table grows, from what the number stands for.

/// A number that is found, and what it stands for is somewhere else.
pub type Number = u32;

const ENTRIES: usize = 12;
/// Entries in twenty lines, at most.
const MOST_IN_20: usize = 20 * ENTRIES * 85 / 100;

/// How far ahead memory is asked for when a table grows.
const AHEAD: usize = 16;

/// Bits 0 to 7 of a hash are left to the user, bits 8 to 15 are kept, and the upper half says which line.
#[derive(Debug, Clone, Default)]
pub struct Index {
    lines: Vec<Line>,
    count: usize,
}

/// The used entries come first; a tag of 0 is a free entry. The last four tags are always free.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line {
    tags: [u8; 16],
    numbers: [Number; ENTRIES],
}

fn tag_of(hash: u64) -> u8 {
    ((hash >> 8) as u8).max(1)
}

impl Line {
    /// The entries with this tag, as bits.
    #[inline]
    fn hits(&self, tag: u8) -> u32 {
        let mut hits = 0;
        for (i, other) in self.tags.iter().enumerate() {
            hits |= u32::from(*other == tag) << i;
        }
        hits
    }
}

impl Index {
    #[inline]
    fn line_of(&self, hash: u64) -> usize {
        (((hash >> 32) * self.lines.len() as u64) >> 32) as usize
    }

    fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() { 0 } else { line + 1 }
    }

    /// The number under this hash that is meant.
    #[inline]
    pub fn find(&self, hash: u64, mut is_meant: impl FnMut(Number) -> bool) -> Option<Number> {
        if self.lines.is_empty() {
            return None;
        }
        let tag = tag_of(hash);
        let mut at = self.line_of(hash);
        loop {
            let line = &self.lines[at];
            let mut hits = line.hits(tag);
            while hits != 0 {
                let number = line.numbers[hits.trailing_zeros() as usize];
                if is_meant(number) {
                    return Some(number);
                }
                hits &= hits - 1;
            }
            if line.tags[ENTRIES - 1] == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    /// The number that is probably meant.
    #[inline]
    pub fn guess(&self, hash: u64) -> Option<Number> {
        let line = self.lines.get(self.line_of(hash))?;
        let hits = line.hits(tag_of(hash));
        (hits != 0).then(|| line.numbers[hits.trailing_zeros() as usize])
    }

    /// Of what is not there yet. `hash_of` is asked again about what is there if the table must grow.
    #[inline]
    pub fn insert(
        &mut self,
        hash: u64,
        number: Number,
        prefetch: impl Fn(Number),
        hash_of: impl Fn(Number) -> u64,
    ) {
        if (self.count + 1) * 20 > self.lines.len() * MOST_IN_20 {
            self.grow(prefetch, hash_of);
        }
        self.put(hash, number);
    }

    fn put(&mut self, hash: u64, number: Number) {
        let mut at = self.line_of(hash);
        loop {
            let line = &mut self.lines[at];
            if let Some(free) = line.tags[..ENTRIES].iter().position(|tag| *tag == 0) {
                line.tags[free] = tag_of(hash);
                line.numbers[free] = number;
                self.count += 1;
                return;
            }
            at = self.after(at);
        }
    }

    #[cold]
    fn grow(&mut self, prefetch: impl Fn(Number), hash_of: impl Fn(Number) -> u64) {
        let more = self.lines.len() + self.lines.len() / 3 + 1;
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); more]);
        let used = |line: &Line| line.tags.iter().take_while(|tag| **tag != 0).count();
        let numbers: Vec<Number> = old.iter().flat_map(|line| &line.numbers[..used(line)]).copied().collect();
        drop(old);
        self.count = 0;
        numbers.iter().take(AHEAD).for_each(|number| prefetch(*number));
        for (i, number) in numbers.iter().enumerate() {
            if let Some(later) = numbers.get(i + AHEAD) {
                prefetch(*later);
            }
            self.put(hash_of(*number), *number);
        }
    }

    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if let Some(line) = self.lines.get(self.line_of(hash)) {
            prefetch(line);
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.lines.capacity() * size_of::<Line>()) as u64
    }
}

/// Two halves of a product that depends on all bits.
#[inline]
pub fn mix(key: u64, salt: u64) -> u64 {
    let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * u128::from(salt ^ 0xD1B5_4A32_D192_ED03);
    let folded = product as u64 ^ (product >> 64) as u64;
    folded ^ folded >> 29
}

/// Asks for memory that will be needed soon.
#[inline]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it never faults.
    #[allow(unsafe_code)]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// As [`prefetch`], of memory that other threads may have written to last, and that is to be written to.
#[inline]
pub fn prefetch_to_write<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it never faults, and does nothing where it is not known. (The intrinsic is one for reading without a target
    // feature that cannot be asked for.)
    #[allow(unsafe_code)]
    unsafe {
        std::arch::asm!(
            "prefetchw [{target}]",
            target = in(reg) std::ptr::from_ref(target),
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_again() {
        let hash_of = |number: Number| mix(u64::from(number) * 3, 7);
        let mut index = Index::default();
        for number in 0..100_000 {
            let hash = hash_of(number);
            assert_eq!(index.find(hash, |other| other == number), None);
            index.insert(hash, number, |_| (), hash_of);
        }
        for number in 0..100_000 {
            assert_eq!(index.find(hash_of(number), |other| other == number), Some(number));
        }
        assert!(index.bytes() < 10 * 100_000);
    }
}
