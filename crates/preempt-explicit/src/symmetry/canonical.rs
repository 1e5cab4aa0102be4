//! One state for all that are permutations of each other.
//!
//! **What it computes.** For a state and a group of interchangeable processes, a permutation that brings the state into its
//! *canonical* form. Rotations are all tried, and the least state is taken. For all permutations, processes are sorted by what
//! they are: first by their own bytes and by who refers to them, and then, as long as that tells more of them apart, by what
//! the processes are to which they refer (colour refinement). Processes that are still alike are tried in every order if
//! they refer to each other and the orders are few.
//!
//! **Why it is right.** Any permutation of the group leads to a state with the same future; which one is taken decides only
//! how many states are the same. Where the orders are too many to be tried, several states may stand for one: that costs states,
//! not answers.
//!
//! **What it costs.** A copy of the processes' bytes and a sort for each successor; refinement only where it is needed.

use crate::native::Cells;

/// Orders of alike processes that are tried.
const MOST_ORDERS: usize = 720;

/// Scratch memory, and the permutation that was found: process `k` becomes `to[k]`.
#[derive(Debug, Default, Clone)]
pub struct Canonical {
    to: Vec<u8>,
    order: Vec<u8>,
    keys: Vec<u8>,
    colours: Vec<u8>,
    permuted: Vec<u8>,
    least: Vec<u8>,
}

impl Canonical {
    /// Brings the state into its form; `false` if it was in it. [`Canonical::to`] has the permutation.
    pub fn bring(&mut self, cells: &Cells, state: &mut [u8]) -> bool {
        self.to.clear();
        if !cells.is_settled(state) {
            self.to.extend(0..cells.count as u8);
            return false;
        }
        match cells.rotates {
            true => self.least_rotation(cells, state),
            false => self.sort(cells, state),
        }
        if self.to.iter().enumerate().all(|(from, to)| from == usize::from(*to)) {
            return false;
        }
        self.permuted.clear();
        self.permuted.extend_from_slice(state);
        permute(cells, &self.to, state, &mut self.permuted);
        state.copy_from_slice(&self.permuted);
        true
    }

    /// Where each process of the group went.
    pub fn to(&self) -> &[u8] {
        &self.to
    }

    fn least_rotation(&mut self, cells: &Cells, state: &[u8]) {
        let count = cells.count;
        self.to.extend(0..count as u8);
        self.least.clear();
        self.least.extend_from_slice(state);
        let mut turned: Vec<u8> = self.to.clone();
        for by in 1..count {
            turned.iter_mut().enumerate().for_each(|(k, to)| *to = ((k + by) % count) as u8);
            self.permuted.clear();
            self.permuted.extend_from_slice(state);
            permute(cells, &turned, state, &mut self.permuted);
            if self.permuted < self.least {
                std::mem::swap(&mut self.permuted, &mut self.least);
                self.to.copy_from_slice(&turned);
            }
        }
    }

    fn sort(&mut self, cells: &Cells, state: &[u8]) {
        let count = cells.count;
        self.keys.clear();
        for process in 0..count {
            self.key(cells, state, process);
        }
        let width = self.keys.len() / count;
        let keys = &self.keys;
        let key = |process: u8| &keys[usize::from(process) * width..(usize::from(process) + 1) * width];
        self.order.clear();
        self.order.extend(0..count as u8);
        self.order.sort_by(|left, right| key(*left).cmp(key(*right)));
        self.colours.clear();
        self.colours.resize(count, 0);
        let mut colour = 0;
        for place in 1..count {
            colour += u8::from(key(self.order[place]) != key(self.order[place - 1]));
            self.colours[usize::from(self.order[place])] = colour;
        }
        let refers = !cells.vectors.is_empty() || !cells.matrices.is_empty();
        if usize::from(colour) + 1 < count && refers {
            self.refine(cells, state, usize::from(colour) + 1);
        }
        self.to.resize(count, 0);
        for (place, process) in self.order.iter().enumerate() {
            self.to[usize::from(*process)] = place as u8;
        }
    }

    /// What a process is, without what it refers to.
    fn key(&mut self, cells: &Cells, state: &[u8], process: usize) {
        for block in &cells.blocks {
            let at = block.at + process * block.stride;
            self.keys.extend_from_slice(&state[at..at + block.length]);
        }
        for cell in &cells.scalars {
            self.keys.push(u8::from(cell.meant(state, 0, cells.count) == Some(process)));
        }
        for cell in &cells.vectors {
            let offset = cell.offset(process, 0);
            let value = cell.format.read(state, cell.at + offset);
            let (kind, value) = match cell.meant(state, offset, cells.count) {
                None => (0, value),
                Some(meant) if meant == process => (1, 0),
                Some(_) => (2, 0),
            };
            self.keys.push(kind);
            self.keys.extend_from_slice(&value.to_be_bytes());
        }
        for cell in &cells.matrices {
            let offset = cell.offset(process, process);
            let value = match cell.meant(state, offset, cells.count) {
                None => cell.format.read(state, cell.at + offset),
                Some(meant) => -1 - i32::from(meant == process),
            };
            self.keys.extend_from_slice(&value.to_be_bytes());
        }
    }

    /// Tells processes apart by what those are to which they refer, and who refers to them.
    fn refine(&mut self, cells: &Cells, state: &[u8], mut known: usize) {
        let count = cells.count;
        loop {
            let keys: Vec<Vec<i64>> =
                (0..count).map(|process| self.seen_from(cells, state, process)).collect();
            self.order.sort_by(|left, right| keys[usize::from(*left)].cmp(&keys[usize::from(*right)]));
            let mut colour = 0;
            let mut colours = vec![0u8; count];
            for place in 1..count {
                let (one, other) = (self.order[place - 1], self.order[place]);
                colour += u8::from(keys[usize::from(one)] != keys[usize::from(other)]);
                colours[usize::from(other)] = colour;
            }
            self.colours = colours;
            let found = usize::from(colour) + 1;
            if found == count {
                return;
            }
            if found == known {
                break;
            }
            known = found;
        }
        self.try_orders(cells, state);
    }

    /// The colour of a process first, then those of the processes around it.
    fn seen_from(&self, cells: &Cells, state: &[u8], process: usize) -> Vec<i64> {
        let count = cells.count;
        let colour = |process: usize| i64::from(self.colours[process]);
        let value = |cell: &crate::native::Cell, row, column, own: usize| {
            let offset = cell.offset(row, column);
            match cell.meant(state, offset, count) {
                None => i64::from(cell.format.read(state, cell.at + offset)),
                Some(meant) if meant == own => (1 << 40) - 1,
                Some(meant) => (1 << 40) + colour(meant),
            }
        };
        let mut key = vec![colour(process)];
        for cell in &cells.vectors {
            key.push(value(cell, process, 0, process));
            let refers = |other: &usize| cell.meant(state, cell.offset(*other, 0), count) == Some(process);
            let mut referring: Vec<i64> = (0..count).filter(refers).map(colour).collect();
            referring.sort_unstable();
            key.push(referring.len() as i64);
            key.append(&mut referring);
        }
        for cell in &cells.matrices {
            let mut around: Vec<[i64; 3]> = (0..count)
                .map(|other| {
                    let there = value(cell, process, other, process);
                    [colour(other), there, value(cell, other, process, process)]
                })
                .collect();
            around.sort_unstable();
            key.extend(around.into_iter().flatten());
        }
        key
    }

    /// The order of alike processes that leads to the least state, if there are not too many.
    fn try_orders(&mut self, cells: &Cells, state: &[u8]) {
        let colours = &self.colours;
        let classes: Vec<Vec<u8>> = self
            .order
            .chunk_by(|left, right| colours[usize::from(*left)] == colours[usize::from(*right)])
            .map(<[u8]>::to_vec)
            .collect();
        let orders = classes.iter().flat_map(|class| 1..=class.len()).try_fold(1usize, |product, factor| {
            product.checked_mul(factor).filter(|product| *product <= MOST_ORDERS)
        });
        if orders.is_none() {
            return;
        }
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        for class in &classes {
            let arranged = arrangements(class);
            let longer = |before: &Vec<u8>| {
                arranged.iter().map(|more| [before.as_slice(), more].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        self.least.clear();
        let mut to = vec![0; cells.count];
        for order in all {
            order.iter().enumerate().for_each(|(place, process)| to[usize::from(*process)] = place as u8);
            self.permuted.clear();
            self.permuted.extend_from_slice(state);
            permute(cells, &to, state, &mut self.permuted);
            if self.least.is_empty() || self.permuted < self.least {
                std::mem::swap(&mut self.permuted, &mut self.least);
                self.order = order;
            }
        }
    }
}

fn arrangements(of: &[u8]) -> Vec<Vec<u8>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let insert = |arranged: &Vec<u8>| {
        let with = |at: usize| {
            let mut longer = arranged.clone();
            longer.insert(at, *first);
            longer
        };
        (0..=arranged.len()).map(with).collect::<Vec<_>>()
    };
    arrangements(rest).iter().flat_map(insert).collect()
}

/// Process `k` becomes `to[k]`: what it has is moved there, and whoever means it means that one now. `permuted` begins as a
/// copy of the state.
pub fn permute(cells: &Cells, to: &[u8], state: &[u8], permuted: &mut [u8]) {
    let target = |process: usize| usize::from(to[process]);
    for block in &cells.blocks {
        for process in 0..cells.count {
            let (from, into) = (block.at + process * block.stride, block.at + target(process) * block.stride);
            permuted[into..into + block.length].copy_from_slice(&state[from..from + block.length]);
        }
    }
    let mut rename = |cell: &crate::native::Cell, from: usize, into: usize| {
        let value = match (cell.meant(state, from, cells.count), cell.id) {
            (Some(meant), Some(id)) => id.value(target(meant)),
            _ => cell.format.read(state, cell.at + from),
        };
        cell.format.write(permuted, cell.at + into, value);
    };
    for cell in &cells.scalars {
        rename(cell, 0, 0);
    }
    for cell in &cells.vectors {
        for process in 0..cells.count {
            rename(cell, cell.offset(process, 0), cell.offset(target(process), 0));
        }
    }
    for cell in &cells.matrices {
        for row in 0..cells.count {
            for column in 0..cells.count {
                rename(cell, cell.offset(row, column), cell.offset(target(row), target(column)));
            }
        }
    }
}
