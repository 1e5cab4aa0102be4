//! A store of configurations: the shared state with the stack of every thread, all by their numbers.
//!
//! The hash is a sum over the threads, so that the hash of a successor follows from that of its predecessor in as many steps
//! as threads have changed; equal threads contribute equally, so that it does not depend on their order.

/// Configurations in the order in which they were met, each with where it came from.
#[derive(Debug)]
pub(crate) struct Configurations {
    width: usize,
    cells: Vec<u32>,
    /// The configuration before, and the place of the thread that moved.
    parents: Vec<(u32, u32)>,
    /// Open addressing: hash and number plus one.
    table: Vec<(u32, u32)>,
    /// For each place what it counts for.
    salts: Vec<u64>,
}

impl Configurations {
    /// `classes`: for each thread the class of those that may change places with it.
    pub fn new(classes: &[usize]) -> Configurations {
        // odd, and different for each class; the shared state comes first
        let salt = |class: usize| (class as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let salts = std::iter::once(0).chain(classes.iter().map(|class| class + 1)).map(salt).collect();
        let width = classes.len() + 1;
        Configurations { width, cells: Vec::new(), parents: Vec::new(), table: vec![(0, 0); 1 << 10], salts }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> u64 {
        (4 * self.cells.capacity() + 8 * self.parents.capacity() + 8 * self.table.len()) as u64
    }

    pub fn get(&self, number: usize) -> &[u32] {
        &self.cells[number * self.width..(number + 1) * self.width]
    }

    pub fn parent(&self, number: usize) -> (usize, usize) {
        let (parent, thread) = self.parents[number];
        (parent as usize, thread as usize)
    }

    /// What a cell adds to the hash.
    pub fn share(&self, place: usize, cell: u32) -> u64 {
        let mixed = (u64::from(cell) + 1).wrapping_mul(self.salts[place]);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    pub fn hash(&self, cells: &[u32]) -> u64 {
        cells.iter().enumerate().fold(0, |hash, (place, cell)| hash.wrapping_add(self.share(place, *cell)))
    }

    /// True if it was not there before. `hash` is that of [`Configurations::hash`].
    pub fn insert(&mut self, cells: &[u32], hash: u64, parent: (usize, usize)) -> bool {
        let hash = (hash ^ (hash >> 32)) as u32;
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.table[place] {
                (_, 0) => break,
                (known, number) if known == hash && self.get(number as usize - 1) == cells => return false,
                _ => place = (place + 1) & mask,
            }
        }
        self.cells.extend_from_slice(cells);
        self.parents.push((parent.0 as u32, parent.1 as u32));
        self.table[place] = (hash, self.parents.len() as u32);
        if self.parents.len() * 2 > self.table.len() {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![(0, 0); mask + 1];
        for entry in self.table.iter().filter(|entry| entry.1 != 0) {
            let mut place = entry.0 as usize & mask;
            while table[place].1 != 0 {
                place = (place + 1) & mask;
            }
            table[place] = *entry;
        }
        self.table = table;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_is_kept_once() {
        let mut store = Configurations::new(&[0, 1]);
        let mut all = std::collections::HashSet::new();
        for i in 0..5000u32 {
            let cells = [i % 7, i % 11, i % 13];
            let hash = store.hash(&cells);
            assert_eq!(store.insert(&cells, hash, (0, 0)), all.insert(cells), "{i}");
        }
        assert_eq!(store.len(), all.len());
        assert!((0..store.len()).all(|number| all.contains(store.get(number))));
    }

    #[test]
    fn equal_threads_count_the_same_in_any_order() {
        let equal = Configurations::new(&[0, 0]);
        assert_eq!(equal.hash(&[1, 2, 3]), equal.hash(&[1, 3, 2]));
        let different = Configurations::new(&[0, 1]);
        assert_ne!(different.hash(&[1, 2, 3]), different.hash(&[1, 3, 2]));
    }
}
