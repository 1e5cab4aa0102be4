//! The exact store of the searches that need no numbers for their states: each state once, as a packed key.
//!
//! * [`pieces`]: what states are made of; [`words`]: the numbers of what the pieces hold;
//! * [`encoding`]: states as keys; [`repacking`]: in another encoding; [`table`]: the keys; [`pages`]: where they lie.
//!
//! Several threads may look up states at the same time; whatever does not fit waits until the store is alone with one of
//! them, which makes room ([`PackedStore::make_room`]) or a wider encoding ([`PackedStore::widen`]).

pub mod encoding;
pub mod pages;
pub mod pieces;
pub mod repacking;
pub mod table;
pub mod words;

use crate::crew::Crew;
use crate::successors::Successors;
use encoding::{Encoding, Folding, Key};
use pieces::Pieces;
use repacking::Repacking;
use std::sync::Arc;
use table::{Format, Table};

pub struct PackedStore {
    pub pieces: Pieces,
    pub encoding: Arc<Encoding>,
    pub table: Table,
    folding: Folding,
    /// How many numbers there were of each kind when the encoding was made.
    before: Vec<u32>,
    keeps: Keeps,
    /// In one state, if what is known of processes is kept.
    most_processes: usize,
}

/// With so many states it takes long to pack everything anew.
const LARGE: u64 = 1 << 12;

/// What is kept beside every state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    Nothing,
    /// Some flags.
    Flags,
    /// And a bit for each of its processes.
    Processes,
}

/// Shows every key that waits somewhere and may not be in the table.
pub type KeysBeside<'k> = dyn Fn(&mut dyn FnMut(&Encoding, &Key)) + 'k;

/// There is no more memory, or there are more states than can be numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl PackedStore {
    pub fn new(keeps: Keeps) -> Result<PackedStore, Full> {
        let (mut pieces, mut folding, mut before) = (Pieces::default(), Folding::default(), Vec::new());
        let known = (keeps != Keeps::Nothing).then_some(0);
        let encoding = Encoding::new(&mut pieces, &mut folding, &mut before, (known, false), &mut |_, _| ());
        let table = Table::new(format_of(&encoding), false).ok_or(Full)?;
        let encoding = Arc::new(encoding);
        Ok(PackedStore { pieces, encoding, table, folding, before, keeps, most_processes: 0 })
    }

    /// For how many processes there are bits, if anything is kept.
    fn processes_kept(&self) -> Option<usize> {
        (self.keeps != Keeps::Nothing).then_some(self.most_processes)
    }

    /// The state's key; `None` if it does not fit.
    pub fn encode<S: Successors + ?Sized>(&self, system: &S, state: &[u8]) -> Option<Key> {
        let class = self.pieces.known(system.class_of(state)).filter(|class| self.encoding.knows(*class))?;
        let is_narrow = self.keeps != Keeps::Processes || system.process_count(state) <= self.most_processes;
        self.encoding.encode(&self.pieces, class, state).filter(|_| is_narrow)
    }

    /// The state of a key.
    pub fn open(&self, key: &Key, numbers: &mut Vec<u32>, state: &mut Vec<u8>) {
        self.encoding.open(&self.pieces, key, numbers, state);
    }

    /// Keys of an earlier encoding in that of today.
    pub fn repacking<'s>(&'s self, old: &'s Encoding) -> Repacking<'s> {
        Repacking::new(&self.pieces, old, &self.encoding)
    }

    /// An encoding that has room for these states, too; everything is packed anew. There is room for whatever is packed already, if all
    /// keys that are not in the table are shown, each with its encoding.
    pub fn widen<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        states: &mut dyn Iterator<Item = &[u8]>,
        beside: &KeysBeside<'_>,
        crew: &mut Crew,
    ) -> Result<(), Full> {
        let mut added = Vec::new();
        for state in states {
            let class = system.class_of(state);
            self.pieces.meet(system, class).ok_or(Full)?;
            if self.keeps == Keeps::Processes {
                self.most_processes = self.most_processes.max(system.process_count(state));
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
            beside(&mut |encoding, key| {
                let class = encoding.take_apart(pieces, key, &mut numbers);
                new.put_together(pieces, class, &mut numbers);
            });
            for (class, state) in &added {
                new.encode(pieces, *class, state);
            }
        };
        let known = (self.processes_kept(), self.table.states() >= LARGE);
        let (folding, before) = (&mut self.folding, &mut self.before);
        let new = Encoding::new(&mut self.pieces, folding, before, known, &mut number_pairs);
        let new = Arc::new(new);
        let empty = Table::new(format_of(&new), self.table.is_shared()).ok_or(Full)?;
        let (table, old) = (std::mem::replace(&mut self.table, empty), &self.encoding);
        let pieces = &self.pieces;
        let repacking = Repacking::new(pieces, old, &new);
        let change = |key: &Key, numbers: &mut Vec<u32>| repacking.key(key, numbers);
        self.table = table.repacked(format_of(&new), crew, &change).ok_or(Full)?;
        self.encoding = new;
        Ok(())
    }

    /// Makes room for so many states more.
    pub fn make_room(&mut self, more: u64, crew: &mut Crew) -> Result<(), Full> {
        if self.table.make_room(more, crew) { Ok(()) } else { Err(Full) }
    }

    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.pieces.bytes() + self.encoding.bytes()
    }
}

fn format_of(encoding: &Encoding) -> Format {
    Format { key: encoding.key_bytes, known: encoding.known_bytes }
}
