//! The exact store: every state once, compressed, with what the search must remember beside it.
//!
//! A state is folded into a tree ([`tree`]): each different piece of eight bytes is kept once and becomes a number
//! ([`nodes`]), each different pair of numbers is kept once and becomes a number, and so on; the pair at the top is the
//! key, which is kept in a record ([`records`]). An index ([`index`]) finds the record. Only the nodes above what a step
//! changed are looked up again, and the hash is that of the key. After Laarman, van de Pol and Weber, "Parallel
//! recursive state compression for free" (2011).
//!
//! Several threads can share it later: tables of nodes and shards of the index are independent of each other and can
//! each be behind a lock, with a table's words readable without it; records never move from their number, and what
//! changes in them (the mask and the cost) can be changed atomically.

pub mod bits;
pub mod fingerprints;
pub mod hash;
pub mod index;
pub mod known;
pub mod nodes;
pub mod packed;
pub mod records;
pub mod sketch;
pub mod tree;

use crate::saved::{damaged, read_below, read_u64, write_u64};
use crate::successors::Successors;
use index::{Index, mix};
use nodes::Nodes;
use records::Records;
use std::io::{Read, Result, Write};
use tree::{Kinds, TOP, Top, Tree};

pub type StateNumber = u32;

/// So many parts of the index grow one after the other.
const SHARDS: usize = 256;

#[derive(Debug)]
pub struct Store {
    /// By class, as far as they were met.
    trees: Vec<Option<Box<Tree>>>,
    /// The classes in the order in which they were met: it numbers the tables.
    met: Vec<u32>,
    kinds: Kinds,
    /// Of the trees.
    tree_bytes: u64,
    tables: Vec<Nodes>,
    pub records: Records,
    shards: Vec<Index>,
    /// While a state is encoded: its nodes' numbers, and which nodes must be looked up, as bits.
    numbers: Vec<u32>,
    changed: Vec<u64>,
}

/// What a state is in the end: the two nodes at the top, or all its bytes if they are few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub class: u32,
    pub left: u32,
    pub right: u32,
}

impl Key {
    #[inline]
    pub fn hash(self) -> u64 {
        mix(pair(self.left, self.right), u64::from(self.class))
    }
}

/// A state taken out of the store: its bytes and its nodes' numbers.
#[derive(Debug, Default)]
pub struct Opened {
    pub bytes: Vec<u8>,
    /// `None` at first.
    class: Option<u32>,
    /// The leaves.
    words: Vec<u64>,
    numbers: Vec<u32>,
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) | u64::from(right) << 32
}

impl Store {
    pub fn new() -> Store {
        Store {
            trees: Vec::new(),
            met: Vec::new(),
            kinds: Kinds::default(),
            tree_bytes: 0,
            tables: Vec::new(),
            records: Records::default(),
            shards: vec![Index::default(); SHARDS],
            numbers: Vec::new(),
            changed: Vec::new(),
        }
    }

    #[cold]
    fn meet<S: Successors + ?Sized>(&mut self, system: &S, class: u32) -> Option<()> {
        let (at, size) = (class as usize, system.class_size(class)?);
        if self.trees.len() <= at {
            self.trees.resize_with(at + 1, || None);
        }
        if self.trees[at].is_none() {
            let tree = Tree::new(size, system.header(), &mut self.kinds)?;
            self.tables.resize(self.kinds.len(), Nodes::default());
            self.tree_bytes += tree.bytes();
            self.trees[at] = Some(Box::new(tree));
            self.met.push(class);
        }
        Some(())
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.met.len() as u64)?;
        self.met.iter().try_for_each(|class| write_u64(out, u64::from(*class)))?;
        self.tables.iter().try_for_each(|table| table.save(out))?;
        self.records.save(out)
    }

    /// The index is made anew.
    pub fn restore<S: Successors + ?Sized>(system: &S, input: &mut dyn Read) -> Result<Store> {
        let mut store = Store::new();
        for _ in 0..read_u64(input)? {
            let class = read_below(input, 1 << 32)? as u32;
            let is_known = store.met.contains(&class);
            if is_known || store.meet(system, class).is_none() {
                return Err(damaged("it has states that the model has not"));
            }
        }
        for table in &mut store.tables {
            *table = Nodes::restore(input)?;
        }
        store.records = Records::restore(input, &store.met)?;
        if !store.nodes_are_possible() || !store.states_are_possible(system) {
            return Err(damaged("it has states that cannot be"));
        }
        let (records, shards) = (&store.records, &mut store.shards);
        for number in records.numbers() {
            let key = records.key(number);
            let hash = key.hash();
            let shard = &mut shards[hash as usize % SHARDS];
            if shard.find(hash, |number| records.key(number) == key).is_some() {
                return Err(damaged("it has a state twice"));
            }
            shard.insert(
                hash,
                number,
                |number| records.prefetch(number),
                |number| records.key(number).hash(),
            );
        }
        Ok(store)
    }

    /// Does every node stand for two nodes that are there?
    fn nodes_are_possible(&self) -> bool {
        let mut looked_at = vec![false; self.tables.len()];
        let count = |tree: &Tree, node: u32| self.tables[tree.tables[node as usize] as usize].len() as u64;
        self.trees.iter().flatten().all(|tree| {
            tree.children.iter().zip(&tree.tables[tree.leaves..]).all(|((left, right), table)| {
                let is_new = !std::mem::replace(&mut looked_at[*table as usize], true);
                let (left, right) = (count(tree, *left), count(tree, *right));
                let is_possible = |word: &u64| word & 0xFFFF_FFFF < left && word >> 32 < right;
                !is_new || self.tables[*table as usize].words().iter().all(is_possible)
            })
        })
    }

    /// Once the nodes are: is every state one of the system's, with room for what is kept about its processes?
    fn states_are_possible<S: Successors + ?Sized>(&self, system: &S) -> bool {
        let mut opened = Opened::default();
        self.records.numbers().all(|number| {
            let key = self.records.key(number);
            let Some(tree) = self.trees.get(key.class as usize).and_then(Option::as_deref) else {
                return false;
            };
            let is_there = match tree.top {
                Top::Word(bytes) => bytes >= 8 || pair(key.left, key.right) >> (8 * bytes) == 0,
                Top::Pair(left, right) => {
                    [(left, key.left), (right, key.right)].iter().all(|(node, number)| {
                        (*number as usize) < self.tables[tree.tables[*node] as usize].len()
                    })
                }
            };
            if !is_there {
                return false;
            }
            self.open(system, number, &mut opened);
            let last = tree.leaves.checked_sub(1);
            let is_as_written = last.is_none_or(|leaf| tree.read(&opened.bytes, leaf) == opened.words[leaf]);
            is_as_written
                && self.records.has_room_for(number, system.process_count(&opened.bytes))
                && system.is_possible(&opened.bytes)
        })
    }

    /// The key of a state; what is as in `like` is not looked up again. `None` if the store is full.
    #[inline]
    pub fn encode<S: Successors + ?Sized>(&mut self, system: &S, state: &[u8], like: &Opened) -> Option<Key> {
        let class = system.class_of(state);
        if self.trees.get(class as usize).is_none_or(Option::is_none) {
            self.meet(system, class)?;
        }
        let tree = self.trees[class as usize].as_deref()?;
        let (numbers, changed, tables) = (&mut self.numbers, &mut self.changed, &mut self.tables);
        if let Top::Word(_) = tree.top {
            let word = if tree.leaves == 0 { 0 } else { tree.read(state, 0) };
            return Some(Key { class, left: word as u32, right: (word >> 32) as u32 });
        }
        let is_alike = like.class == Some(class);
        numbers.clear();
        if is_alike {
            numbers.extend_from_slice(&like.numbers);
        } else {
            numbers.resize(tree.tables.len(), 0);
        }
        changed.clear();
        changed.resize(tree.children.len().div_ceil(64), if is_alike { 0 } else { u64::MAX });
        for leaf in 0..tree.leaves {
            let word = tree.read(state, leaf);
            if is_alike && word == like.words[leaf] {
                continue;
            }
            numbers[leaf] = match like.words.get(leaf) {
                Some(other) if *other == word && like.numbers.len() > 1 => like.numbers[leaf],
                _ => tables[tree.tables[leaf] as usize].number(word)?,
            };
            let parent = tree.parents[leaf];
            if parent != TOP {
                let above = parent as usize - tree.leaves;
                changed[above / 64] |= 1 << (above % 64);
            }
        }
        for word in 0..changed.len() {
            while changed[word] != 0 {
                let inner = word * 64 + changed[word].trailing_zeros() as usize;
                changed[word] &= changed[word] - 1;
                let Some((left, right)) = tree.children.get(inner) else { break };
                let node = tree.leaves + inner;
                let key = pair(numbers[*left as usize], numbers[*right as usize]);
                numbers[node] = tables[tree.tables[node] as usize].number(key)?;
                let parent = tree.parents[node];
                if parent != TOP {
                    let above = parent as usize - tree.leaves;
                    changed[above / 64] |= 1 << (above % 64);
                }
            }
        }
        match tree.top {
            Top::Pair(left, right) => Some(Key { class, left: numbers[left], right: numbers[right] }),
            Top::Word(_) => None,
        }
    }

    /// Asks for the memory that finding the key needs first.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.shards[hash as usize % SHARDS].prefetch(hash);
    }

    /// And second, once that has arrived.
    #[inline]
    pub fn prefetch_record(&self, hash: u64) {
        if let Some(number) = self.shards[hash as usize % SHARDS].guess(hash) {
            self.records.prefetch(number);
        }
    }

    /// Asks for what opening the state needs, its record being there.
    #[inline]
    pub fn prefetch_nodes(&self, number: StateNumber) {
        let key = self.records.key(number);
        if let Some(tree) = &self.trees[key.class as usize]
            && let Top::Pair(left, right) = tree.top
        {
            self.tables[tree.tables[left] as usize].prefetch(key.left);
            self.tables[tree.tables[right] as usize].prefetch(key.right);
        }
    }

    /// The state's number, and whether it is new. `None` if the store is full.
    #[inline]
    pub fn insert(&mut self, key: Key, hash: u64, processes: usize) -> Option<(StateNumber, bool)> {
        let shard = &mut self.shards[hash as usize % SHARDS];
        let records = &mut self.records;
        if let Some(number) = shard.find(hash, |number| records.key(number) == key) {
            return Some((number, false));
        }
        let tree = self.trees[key.class as usize].as_deref()?;
        let widths = match tree.top {
            Top::Word(bytes) => (bytes.min(4) as u8, bytes.saturating_sub(4) as u8),
            Top::Pair(left, right) => {
                let width = |node: usize| bytes_for(self.tables[tree.tables[node] as usize].len());
                (width(left), width(right))
            }
        };
        let number = records.push(key, widths, processes)?;
        shard.insert(hash, number, |number| records.prefetch(number), |number| records.key(number).hash());
        Some((number, true))
    }

    /// The state itself. What is as in the state that was opened before is left as it is.
    #[inline]
    pub fn open<S: Successors + ?Sized>(&self, system: &S, number: StateNumber, opened: &mut Opened) {
        let key = self.records.key(number);
        let Some(tree) = self.trees.get(key.class as usize).and_then(Option::as_deref) else { return };
        let is_alike = opened.class == Some(key.class);
        if !is_alike {
            opened.class = Some(key.class);
            opened.bytes.clear();
            opened.bytes.resize(tree.size, 0);
            system.write_class(key.class, &mut opened.bytes);
            opened.words.clear();
            opened.words.resize(tree.leaves, 0);
            opened.numbers.clear();
            opened.numbers.resize(tree.tables.len(), u32::MAX);
        }
        match tree.top {
            Top::Word(0) => {}
            Top::Word(_) => {
                opened.words[0] = pair(key.left, key.right);
                tree.write(&mut opened.bytes, 0, opened.words[0]);
            }
            Top::Pair(left, right) => {
                self.open_node(tree, left, key.left, opened);
                self.open_node(tree, right, key.right, opened);
            }
        }
    }

    fn open_node(&self, tree: &Tree, node: usize, number: u32, opened: &mut Opened) {
        if opened.numbers[node] == number {
            return;
        }
        opened.numbers[node] = number;
        let word = self.tables[tree.tables[node] as usize].word(number);
        match node.checked_sub(tree.leaves) {
            None => {
                opened.words[node] = word;
                tree.write(&mut opened.bytes, node, word);
            }
            Some(inner) => {
                let (left, right) = tree.children[inner];
                self.open_node(tree, left as usize, word as u32, opened);
                self.open_node(tree, right as usize, (word >> 32) as u32, opened);
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        self.records.bytes()
            + self.tree_bytes
            + self.kinds.bytes()
            + (self.tables.capacity() * size_of::<Nodes>()) as u64
            + self.tables.iter().map(Nodes::bytes).sum::<u64>()
            + self.shards.iter().map(Index::bytes).sum::<u64>()
    }
}

/// How many bytes a number below `count` needs.
fn bytes_for(count: usize) -> u8 {
    match count {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        0x1_0001..=0x100_0000 => 3,
        _ => 4,
    }
}
