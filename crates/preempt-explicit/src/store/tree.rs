//! How the states of one class fold into a tree: eight bytes are a leaf, two nodes are a node, and the pair at the top
//! is the state. The left side of a node is always a full tree, so that states that differ only in length have most of
//! their nodes in common.

use std::collections::HashMap;

#[derive(Debug)]
pub struct Tree {
    pub size: usize,
    /// Bytes at the beginning that the class says.
    pub header: usize,
    /// The nodes by number: first all leaves, then what is above them, children before parents. The top is none of
    /// them.
    pub leaves: usize,
    pub tables: Vec<u32>,
    pub children: Vec<(u32, u32)>,
    /// `TOP` for those under the top.
    pub parents: Vec<u32>,
    pub top: Top,
}

pub const TOP: u32 = u32::MAX;

/// What a state is in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// The only leaf itself, so many bytes of it.
    Word(usize),
    Pair(usize, usize),
}

/// Nodes of the same kind share a table, in whatever tree they are.
#[derive(Debug, Default)]
pub struct Kinds {
    tables: HashMap<Kind, u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Which leaf, from the beginning of the state.
    Leaf(usize),
    Pair(u32, u32),
}

impl Kinds {
    fn table(&mut self, kind: Kind) -> u32 {
        let next = self.tables.len() as u32;
        *self.tables.entry(kind).or_insert(next)
    }

    pub fn len(&self) -> usize {
        self.tables.len()
    }

    pub fn bytes(&self) -> u64 {
        (self.tables.capacity() * 8 / 7 * (size_of::<(Kind, u32)>() + 1)) as u64
    }
}

pub const LEAF: usize = 8;
/// Nodes are numbered with 32 bits; states are below 16 megabytes, which is far less.
const MOST_LEAVES: usize = (u32::MAX / 2) as usize;

impl Tree {
    /// `None` for states whose nodes cannot be numbered.
    pub fn new(size: usize, header: usize, kinds: &mut Kinds) -> Option<Tree> {
        let leaves = (size - header).div_ceil(LEAF);
        if leaves > MOST_LEAVES {
            return None;
        }
        let mut tree = Tree {
            size,
            header,
            leaves,
            tables: (0..leaves).map(|leaf| kinds.table(Kind::Leaf(leaf))).collect(),
            children: Vec::new(),
            parents: vec![TOP; leaves],
            top: Top::Word(size - header),
        };
        if leaves > 1 {
            let middle = left_part(leaves);
            let left = tree.fold(0, middle, kinds);
            let right = tree.fold(middle, leaves, kinds);
            tree.top = Top::Pair(left, right);
        }
        Some(tree)
    }

    fn fold(&mut self, start: usize, end: usize, kinds: &mut Kinds) -> usize {
        if end - start == 1 {
            return start;
        }
        let middle = start + left_part(end - start);
        let (left, right) = (self.fold(start, middle, kinds), self.fold(middle, end, kinds));
        let node = self.tables.len();
        self.tables.push(kinds.table(Kind::Pair(self.tables[left], self.tables[right])));
        self.children.push((left as u32, right as u32));
        self.parents.push(TOP);
        (self.parents[left], self.parents[right]) = (node as u32, node as u32);
        node
    }

    /// Memory used, in bytes.
    pub fn bytes(&self) -> u64 {
        (4 * (self.tables.capacity() + self.parents.capacity()) + 8 * self.children.capacity()) as u64
    }

    /// A leaf's bytes.
    #[inline]
    pub fn read(&self, state: &[u8], leaf: usize) -> u64 {
        let start = self.header + leaf * LEAF;
        match state.get(start..start + LEAF).and_then(|bytes| <[u8; LEAF]>::try_from(bytes).ok()) {
            Some(bytes) => u64::from_le_bytes(bytes),
            None => state[start..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        }
    }

    #[inline]
    pub fn write(&self, state: &mut [u8], leaf: usize, word: u64) {
        let start = self.header + leaf * LEAF;
        let bytes = word.to_le_bytes();
        match state.get_mut(start..start + LEAF) {
            Some(target) => target.copy_from_slice(&bytes),
            None => {
                let rest = &mut state[start..];
                let length = rest.len();
                rest.copy_from_slice(&bytes[..length]);
            }
        }
    }
}

/// The largest power of two below the number of leaves.
fn left_part(leaves: usize) -> usize {
    1 << (usize::BITS - 1 - (leaves - 1).leading_zeros())
}
