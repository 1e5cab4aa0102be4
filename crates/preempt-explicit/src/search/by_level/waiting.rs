//! States that wait to be expanded, as packed keys: a few bytes each, in blocks that remember how they were packed.

use crate::store::packed::encoding::{Encoding, Key};
use crate::store::packed::{PackedStore, repacked};
use std::sync::{Arc, Mutex, PoisonError};

/// States of a block.
const BLOCK: usize = 128;

/// Who is to run in a state that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Everybody, for the first time.
    Everybody,
    /// The process that was running goes on.
    Last(u8),
    /// Everybody who has not been expanded. `blocked`: it is not known that somebody can move.
    Others { blocked: bool },
}

#[derive(Debug)]
pub struct Block {
    encoding: Arc<Encoding>,
    keys: Vec<u8>,
    /// The same for all if there is one.
    who: Vec<Who>,
}

impl Block {
    fn len(&self) -> usize {
        self.keys.len() / self.encoding.key_bytes
    }

    /// Each state of the block, as the store packs it now.
    pub fn each(&self, store: &PackedStore, mut visit: impl FnMut(Key, Who)) {
        let mut numbers = Vec::new();
        let is_current = Arc::ptr_eq(&self.encoding, &store.encoding);
        for (at, packed) in self.keys.chunks(self.encoding.key_bytes).enumerate() {
            let mut whole = [0; 16];
            whole[..packed.len()].copy_from_slice(packed);
            let both = u128::from_le_bytes(whole);
            let key = [both as u64, (both >> 64) as u64];
            // What was packed once can be packed again: numbers only become more.
            let key = match is_current {
                true => key,
                false => repacked(&store.pieces, &self.encoding, &store.encoding, &key, &mut numbers),
            };
            let who = self.who.get(at).or(self.who.first()).copied().unwrap_or(Who::Everybody);
            visit(key, who);
        }
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
        let has_room = |block: &&mut Block| block.len() < BLOCK && Arc::ptr_eq(&block.encoding, encoding);
        if self.last.as_mut().filter(has_room).is_none() {
            let keys = Vec::with_capacity(BLOCK * encoding.key_bytes);
            let next = Block { encoding: encoding.clone(), keys, who: Vec::new() };
            self.full.extend(self.last.replace(next));
        }
        let Some(block) = &mut self.last else { return };
        let both = u128::from(key[0]) | u128::from(key[1]) << 64;
        block.keys.extend_from_slice(&both.to_le_bytes()[..encoding.key_bytes]);
        match block.who.first() {
            None => block.who.push(who),
            Some(first) if block.who.len() == 1 && *first == who => {}
            Some(first) => {
                let (first, states) = (*first, block.keys.len() / encoding.key_bytes);
                block.who.resize(states - 1, first);
                block.who.push(who);
            }
        }
        self.states += 1;
    }

    /// Everything of both.
    pub fn append(&mut self, other: Waiting) {
        self.states += other.states;
        self.full.extend(other.full);
        self.full.extend(other.last);
    }

    pub fn states(&self) -> u64 {
        self.states
    }

    pub fn bytes(&self) -> u64 {
        let of_block = |block: &Block| {
            block.keys.capacity() + block.who.capacity() * size_of::<Who>() + size_of::<Block>()
        };
        self.full.iter().chain(&self.last).map(of_block).sum::<usize>() as u64
    }
}

/// What several workers take from.
#[derive(Debug, Default)]
pub struct Feed(Mutex<Waiting>);

impl Feed {
    pub fn take(&self) -> Option<Block> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let block = waiting.full.pop().or_else(|| waiting.last.take())?;
        waiting.states -= block.len() as u64;
        Some(block)
    }

    pub fn get_mut(&mut self) -> &mut Waiting {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
