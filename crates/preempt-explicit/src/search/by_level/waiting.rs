//! States that wait to be expanded, as packed keys: a few bytes each, in blocks that remember how they were packed.

use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Encoding, Key, Source, raw_of};
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

    /// Each state of the block: its bytes and what is needed to find its successors' keys.
    pub fn each(&self, store: &PackedStore, mut visit: impl FnMut(&[u8], Source, Who)) {
        let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
        for (at, packed) in self.keys.chunks(self.encoding.key_bytes).enumerate() {
            let mut whole = [0; 16];
            whole[..packed.len()].copy_from_slice(packed);
            let [low, high] = [0, 8]
                .map(|at| whole[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
            let class = self.encoding.take_apart(&store.pieces, &[low, high], &mut numbers);
            store.pieces.open(class, &numbers, &mut bytes);
            let raw = raw_of(&store.pieces, class, &numbers);
            let key = match Arc::ptr_eq(&self.encoding, &store.encoding) {
                true => Some([low, high]),
                false => store.encoding.put_together(&store.pieces, class, &mut numbers),
            };
            // What was packed once can be packed again: numbers only become more.
            let Some(key) = key else { continue };
            let who = self.who.get(at).or(self.who.first()).copied().unwrap_or(Who::Everybody);
            visit(&bytes, Source::new(class, key, raw), who);
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
