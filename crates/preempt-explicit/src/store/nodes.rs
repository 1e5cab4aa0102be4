//! Numbers for words of 64 bits, given as they are met: a word is a part of a state, or the numbers of two nodes.

use super::index::{Index, Number, mix, prefetch};
use crate::saved::{damaged, read_u64, write_u64};
use std::io::{Read, Result, Write};

#[derive(Debug, Clone, Default)]
pub struct Nodes {
    words: Vec<u64>,
    index: Index,
}

fn hash_of(word: u64) -> u64 {
    mix(word, 0)
}

impl Nodes {
    /// `None` if there are more than can be numbered.
    #[inline]
    pub fn number(&mut self, word: u64) -> Option<Number> {
        let hash = hash_of(word);
        let words = &mut self.words;
        if let Some(number) = self.index.find(hash, |number| words[number as usize] == word) {
            return Some(number);
        }
        let number = Number::try_from(words.len()).ok().filter(|number| *number < Number::MAX)?;
        if words.len() == words.capacity() {
            words.reserve_exact(words.len() / 8 + 8);
        }
        words.push(word);
        self.index.insert(
            hash,
            number,
            |number| prefetch(&words[number as usize]),
            |number| hash_of(words[number as usize]),
        );
        Some(number)
    }

    #[inline]
    pub fn word(&self, number: Number) -> u64 {
        self.words[number as usize]
    }

    #[inline]
    pub fn prefetch(&self, number: Number) {
        if let Some(word) = self.words.get(number as usize) {
            prefetch(word);
        }
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.words.len() as u64)?;
        self.words.iter().try_for_each(|word| write_u64(out, *word))
    }

    /// Gives every word the number that it had.
    pub fn restore(input: &mut dyn Read) -> Result<Nodes> {
        let mut nodes = Nodes::default();
        for number in 0..read_u64(input)? {
            if nodes.number(read_u64(input)?).map(u64::from) != Some(number) {
                return Err(damaged("it has a part of a state twice"));
            }
        }
        Ok(nodes)
    }

    /// All of them, by their numbers.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn bytes(&self) -> u64 {
        8 * self.words.capacity() as u64 + self.index.bytes()
    }
}
