//! States that wait to be expanded, as packed keys: a few bytes each, in blocks that remember how they were packed.

use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key};
use std::sync::Arc;

/// States of a block.
const BLOCK: usize = 128;
/// For so many there is room at first.
const FEW: usize = 8;

/// Who is to run in a state that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Everybody, for the first time.
    Everybody,
    /// The process that was running goes on. `first`: if it moves, the others wait for the next level, which nobody has said yet.
    Last { process: u8, first: bool },
    /// Everybody who has not been expanded. `blocked`: it is not known that somebody can move.
    Others { blocked: bool },
}

/// Keys one after the other, each with as many bytes as its encoding gives it.
#[derive(Debug)]
pub struct Block {
    encoding: Arc<Encoding>,
    /// Of as many states as have room, and so much more that any of them can be read and written as a whole.
    keys: Vec<u8>,
    states: usize,
    /// The same for all if there is one.
    who: Vec<Who>,
}

/// A key as a whole.
const WHOLE: usize = 16;

impl Block {
    fn new(encoding: &Arc<Encoding>) -> Block {
        Block { encoding: encoding.clone(), keys: Vec::new(), states: 0, who: Vec::new() }
    }

    /// False if there is no room, or the key is packed in another way.
    #[inline]
    fn push(&mut self, encoding: &Arc<Encoding>, key: &Key, who: Who) -> bool {
        if self.states == BLOCK || !Arc::ptr_eq(&self.encoding, encoding) {
            return false;
        }
        let both = u128::from(key[0]) | u128::from(key[1]) << 64;
        let at = self.states * encoding.key_bytes;
        if at + WHOLE > self.keys.len() {
            self.make_room();
        }
        self.keys[at..at + WHOLE].copy_from_slice(&both.to_le_bytes());
        if self.who.first() != Some(&who) || self.who.len() > 1 {
            self.note(who);
        }
        self.states += 1;
        true
    }

    /// Few wait in most blocks of a deep search, and many in most others.
    #[cold]
    fn make_room(&mut self) {
        let states = (2 * self.states).clamp(FEW, BLOCK);
        self.keys.resize(states * self.encoding.key_bytes + WHOLE, 0);
    }

    fn note(&mut self, who: Who) {
        if let Some(first) = self.who.first() {
            self.who.resize(self.states, *first);
        }
        self.who.push(who);
    }

    /// As it was packed.
    #[inline]
    fn key(&self, number: usize) -> Key {
        let (at, bytes) = (number * self.encoding.key_bytes, self.encoding.key_bytes);
        let mut whole = [0; WHOLE];
        whole.copy_from_slice(&self.keys[at..at + WHOLE]);
        let both = u128::from_le_bytes(whole) & u128::MAX >> (8 * (WHOLE - bytes));
        [both as u64, (both >> 64) as u64]
    }

    /// Each state of the block, as the store packs it now.
    #[inline]
    pub fn each(&self, store: &PackedStore, mut visit: impl FnMut(Key, Who)) {
        let mut numbers = Vec::new();
        let is_current = Arc::ptr_eq(&self.encoding, &store.encoding);
        // What was packed once can be packed again: numbers only become more.
        let repacking = (!is_current).then(|| store.repacking(&self.encoding));
        for number in 0..self.states {
            let key = self.key(number);
            let key = repacking.as_ref().map_or(key, |repacking| repacking.key(&key, &mut numbers));
            let who = self.who.get(number).or(self.who.first()).copied().unwrap_or(Who::Everybody);
            visit(key, who);
        }
    }

    fn bytes(&self) -> usize {
        self.keys.capacity() + self.who.capacity() * size_of::<Who>() + size_of::<Block>()
    }
}

/// Blocks, filled one after the other.
#[derive(Debug, Default)]
pub struct Waiting {
    full: Vec<Block>,
    last: Option<Block>,
    states: u64,
}

impl Waiting {
    #[inline]
    pub fn push(&mut self, encoding: &Arc<Encoding>, key: &Key, who: Who) {
        self.states += 1;
        if !self.last.as_mut().is_some_and(|block| block.push(encoding, key, who)) {
            let mut next = Block::new(encoding);
            next.push(encoding, key, who);
            self.full.extend(self.last.replace(next));
        }
    }

    /// Everything of both.
    pub fn append(&mut self, other: Waiting) {
        self.states += other.states;
        self.full.extend(other.full);
        self.full.extend(other.last);
    }

    /// Block by block, to so many in turn.
    pub fn shared_out(mut self, among: usize) -> Vec<Waiting> {
        let mut shares: Vec<_> = (0..among.max(1)).map(|_| Waiting::default()).collect();
        for number in 0.. {
            let Some(block) = self.pop() else { break };
            let share = &mut shares[number % among.max(1)];
            share.states += block.states as u64;
            share.full.push(block);
        }
        shares
    }

    /// Each key, as it was packed.
    pub fn each_key(&self, visit: &mut dyn FnMut(&Encoding, &Key)) {
        for block in self.full.iter().chain(&self.last) {
            (0..block.states).for_each(|number| visit(&block.encoding, &block.key(number)));
        }
    }

    /// Each state, as the store packs it now.
    pub fn each(&self, store: &PackedStore, mut visit: impl FnMut(Key, Who)) {
        self.full.iter().chain(&self.last).for_each(|block| block.each(store, &mut visit));
    }

    pub fn states(&self) -> u64 {
        self.states
    }

    pub fn blocks(&self) -> usize {
        self.full.len() + usize::from(self.last.is_some())
    }

    /// One of the blocks.
    pub fn pop(&mut self) -> Option<Block> {
        let block = self.full.pop().or_else(|| self.last.take())?;
        self.states -= block.states as u64;
        Some(block)
    }

    pub fn bytes(&self) -> u64 {
        self.full.iter().chain(&self.last).map(Block::bytes).sum::<usize>() as u64
    }
}
