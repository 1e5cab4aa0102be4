//! The exact store of the searches that need no numbers for their states: each state once, as a packed key.
//!
//! * [`pieces`]: what states are made of; [`words`]: the numbers of what the pieces hold;
//! * [`encoding`]: states as keys; [`table`]: the keys; [`pages`]: where they lie.
//!
//! Several threads may look up states at the same time; whatever does not fit waits until the store is alone with one of
//! them, which makes room ([`PackedStore::make_room`]) or a wider encoding ([`PackedStore::widen`]).

pub mod encoding;
pub mod pages;
pub mod pieces;
pub mod table;
pub mod words;

use crate::successors::Successors;
use encoding::{Encoding, Folding, Key};
use pieces::Pieces;
use std::sync::Arc;
use table::{Format, Table};

pub struct PackedStore {
    pub pieces: Pieces,
    pub encoding: Arc<Encoding>,
    pub table: Table,
    folding: Folding,
    /// How many numbers there were of each kind when the encoding was made.
    before: Vec<u32>,
    /// In one state, if what is known of processes is kept.
    most_processes: Option<usize>,
}

/// There is no more memory, or there are more states than can be numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl PackedStore {
    /// If `knows_processes`, there is a bit for each of them beside every state.
    pub fn new(knows_processes: bool) -> Result<PackedStore, Full> {
        let (mut pieces, mut folding, mut before) = (Pieces::default(), Folding::default(), Vec::new());
        let most_processes = knows_processes.then_some(0);
        let encoding = Encoding::new(&mut pieces, &mut folding, &mut before, most_processes, &mut |_, _| ());
        let table = Table::new(format_of(&encoding), false).ok_or(Full)?;
        Ok(PackedStore { pieces, encoding: Arc::new(encoding), table, folding, before, most_processes })
    }

    /// The state's key; `None` if it does not fit.
    pub fn encode<S: Successors + ?Sized>(&self, system: &S, state: &[u8]) -> Option<Key> {
        let class = self.pieces.known(system.class_of(state)).filter(|class| self.encoding.knows(*class))?;
        let is_narrow = self.most_processes.is_none_or(|most| system.process_count(state) <= most);
        self.encoding.encode(&self.pieces, class, state).filter(|_| is_narrow)
    }

    /// The state of a key.
    pub fn open(&self, key: &Key, numbers: &mut Vec<u32>, state: &mut Vec<u8>) {
        let class = self.encoding.take_apart(&self.pieces, key, numbers);
        self.pieces.open(class, numbers, state);
    }

    /// An encoding that has room for these states, too; everything is packed anew.
    pub fn widen<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        states: &mut dyn Iterator<Item = &[u8]>,
        threads: usize,
    ) -> Result<(), Full> {
        let mut added = Vec::new();
        for state in states {
            let class = system.class_of(state);
            self.pieces.meet(system, class).ok_or(Full)?;
            if let Some(most) = &mut self.most_processes {
                *most = (*most).max(system.process_count(state));
            }
            let class = self.pieces.known(class).ok_or(Full)?;
            for leaf in &self.pieces.classes()[class as usize].leaves {
                self.pieces.words(leaf.kind).number(leaf.read(state)).ok_or(Full)?;
            }
            added.push((class, state));
        }
        self.pieces.tidy();
        let (table, old) = (&self.table, &self.encoding);
        let mut number_pairs = |new: &Encoding, pieces: &Pieces| {
            let mut numbers = Vec::new();
            table.each_key(|key| {
                let class = old.take_apart(pieces, &key, &mut numbers);
                new.put_together(pieces, class, &mut numbers);
            });
            for (class, state) in &added {
                new.encode(pieces, *class, state);
            }
        };
        let (folding, before) = (&mut self.folding, &mut self.before);
        let new = Encoding::new(&mut self.pieces, folding, before, self.most_processes, &mut number_pairs);
        let new = Arc::new(new);
        let empty = Table::new(format_of(&new), self.table.is_shared()).ok_or(Full)?;
        let (table, old) = (std::mem::replace(&mut self.table, empty), &self.encoding);
        let pieces = &self.pieces;
        let change = |key: &Key, numbers: &mut Vec<u32>| repacked(pieces, old, &new, key, numbers);
        self.table = table.repacked(format_of(&new), threads, &change).ok_or(Full)?;
        self.encoding = new;
        Ok(())
    }

    /// Makes room for so many states more.
    pub fn make_room(&mut self, more: u64, threads: usize) -> Result<(), Full> {
        if self.table.make_room(more, threads) { Ok(()) } else { Err(Full) }
    }

    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.pieces.bytes() + self.encoding.bytes()
    }
}

fn format_of(encoding: &Encoding) -> Format {
    Format { key: encoding.key_bytes, known: encoding.known_bytes }
}

/// A key in another encoding.
pub fn repacked(pieces: &Pieces, old: &Encoding, new: &Encoding, key: &Key, numbers: &mut Vec<u32>) -> Key {
    let class = old.take_apart(pieces, key, numbers);
    // The new encoding was made for all numbers that there are.
    new.put_together(pieces, class, numbers).unwrap_or_default()
}
