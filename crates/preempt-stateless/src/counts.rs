//! How many steps of each thread: a prefix of a run, or what happened before a step.
//!
//! A search makes and forgets very many of these, and most programs under test have few threads, so the numbers of few
//! threads need no memory of their own.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// So many threads need no memory of their own.
const FEW: usize = 7;

/// A number for each thread, in the order of the threads.
#[derive(Clone)]
pub struct Counts {
    len: u32,
    few: [u32; FEW],
    /// In place of `few`, if there are more.
    many: Option<Box<[u32]>>,
}

impl Counts {
    /// No steps of so many threads.
    pub fn zero(threads: usize) -> Counts {
        let many = (threads > FEW).then(|| vec![0; threads].into_boxed_slice());
        Counts { len: threads as u32, few: [0; FEW], many }
    }
}

impl Deref for Counts {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match &self.many {
            Some(many) => many,
            None => &self.few[..self.len as usize],
        }
    }
}

impl DerefMut for Counts {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        match &mut self.many {
            Some(many) => many,
            None => &mut self.few[..self.len as usize],
        }
    }
}

impl FromIterator<u32> for Counts {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Counts {
        let mut counts = Counts::zero(0);
        let mut numbers = numbers.into_iter();
        while let Some(number) = numbers.next() {
            if counts.len as usize == FEW {
                counts.many = Some(counts.few.into_iter().chain([number]).chain(numbers).collect());
                counts.len = counts.many.as_ref().map_or(0, |many| many.len() as u32);
                break;
            }
            counts.few[counts.len as usize] = number;
            counts.len += 1;
        }
        counts
    }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Counts) -> bool {
        **self == **other
    }
}

impl Eq for Counts {}

impl Hash for Counts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_alike() {
        for threads in 0..20 {
            let numbers: Vec<u32> = (1..=threads).collect();
            let collected: Counts = numbers.iter().copied().collect();
            assert_eq!(*collected, numbers[..]);
            let mut filled = Counts::zero(threads as usize);
            assert_eq!(*filled, vec![0; threads as usize][..]);
            filled.copy_from_slice(&numbers);
            assert_eq!(filled, collected);
            assert_eq!(filled.clone(), collected);
        }
    }
}
