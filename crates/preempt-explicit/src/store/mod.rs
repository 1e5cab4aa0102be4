//! The exact store: every state once, compressed, with what the search must remember beside it.
//!
//! A state is cut into pieces (a few globals, a process's locals, a channel); each different piece is kept once in a
//! table ([`pieces`]), and the state becomes the list of its pieces' numbers, a byte or two each ([`records`]). An
//! index ([`index`]) finds the list. Most steps change one or two pieces, so the others need not be looked up again.
//!
//! Several threads can share it later: a piece's table changes rarely and can be behind a lock for each table, the
//! index has independent shards, and records never move once they are written.

pub mod index;
pub mod pieces;
pub mod records;

use crate::successors::{Piece, Successors};
use index::Index;
use pieces::PieceTables;
use records::{Records, read_number, write_number};
use std::hash::{BuildHasher, Hasher};

pub type StateNumber = u32;

#[derive(Debug)]
pub struct Store {
    pieces: PieceTables,
    pub records: Records,
    index: Index,
    hasher: foldhash::fast::FixedState,
}

/// A state taken out of the store: its bytes and its pieces' numbers.
#[derive(Debug, Default)]
pub struct Opened {
    pub bytes: Vec<u8>,
    class: u32,
    pieces: Vec<Piece>,
    numbers: Vec<u32>,
}

impl Store {
    pub fn new() -> Store {
        Store {
            pieces: PieceTables::default(),
            records: Records::new(),
            index: Index::new(),
            hasher: foldhash::fast::FixedState::default(),
        }
    }

    /// Appends the key of a state to `keys`. Pieces that are as in `like` are not looked up again.
    #[inline]
    pub fn encode<S: Successors>(&mut self, system: &mut S, state: &[u8], like: &Opened, keys: &mut Vec<u8>) {
        let class = system.class_of(state);
        write_number(keys, class);
        if class == like.class && !like.pieces.is_empty() {
            for (piece, number) in like.pieces.iter().zip(&like.numbers) {
                let range = piece.start as usize..piece.end as usize;
                let own = &state[range.clone()];
                let number =
                    if is_same(own, &like.bytes[range]) { *number } else { self.pieces.number(piece, own) };
                write_number(keys, number);
            }
            return;
        }
        for (i, piece) in system.pieces(class).iter().enumerate() {
            let range = piece.start as usize..piece.end as usize;
            let own = &state[range.clone()];
            let number = match like.pieces.get(i) {
                Some(other) if other == piece && own == &like.bytes[range] => like.numbers[i],
                _ => self.pieces.number(piece, own),
            };
            write_number(keys, number);
        }
    }

    pub fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.finish()
    }

    pub fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    /// The state's number, and whether it is new. `None` if the store is full.
    pub fn insert(&mut self, key: &[u8], hash: u64, processes: usize) -> Option<(StateNumber, bool)> {
        let records = &mut self.records;
        if let Some(number) = self.index.find(hash, |number| records.has_key(number, key)) {
            return Some((number, false));
        }
        let number = records.push(key, processes)?;
        self.index.insert(hash, number);
        Some((number, true))
    }

    /// The state itself.
    pub fn open<S: Successors>(&self, system: &mut S, number: StateNumber, opened: &mut Opened) {
        let mut key = self.records.key(number);
        let class = read_number(&mut key);
        if class != opened.class || opened.pieces.is_empty() {
            opened.class = class;
            opened.pieces.clear();
            opened.pieces.extend_from_slice(system.pieces(class));
            let size = opened.pieces.last().map_or(0, |piece| piece.end as usize);
            opened.bytes.clear();
            opened.bytes.resize(size.max(2), 0);
        }
        system.write_class(class, &mut opened.bytes);
        opened.numbers.clear();
        for piece in &opened.pieces {
            let number = read_number(&mut key);
            opened.numbers.push(number);
            let target = &mut opened.bytes[piece.start as usize..piece.end as usize];
            self.pieces.copy(piece, number, target);
        }
    }

    pub fn bytes(&self) -> u64 {
        self.pieces.bytes() + self.records.bytes() + self.index.bytes()
    }
}

/// Short slices of equal length.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    match (<[u8; 8]>::try_from(left), <[u8; 8]>::try_from(right)) {
        (Ok(left), Ok(right)) => u64::from_ne_bytes(left) == u64::from_ne_bytes(right),
        _ => left.iter().zip(right).all(|(left, right)| left == right),
    }
}
