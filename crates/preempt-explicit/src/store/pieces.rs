//! Each different piece of a state once, numbered as it is met: a small table for each place in a state.

use crate::saved::{read_bytes, read_u64, write_bytes, write_u64};
use crate::successors::Piece;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Result, Write};

#[derive(Debug, Default)]
pub struct PieceTables {
    tables: Vec<PieceTable>,
    hasher: foldhash::fast::FixedState,
}

#[derive(Debug, Default, Clone)]
struct PieceTable {
    length: usize,
    /// All pieces, one after the other.
    bytes: Vec<u8>,
    /// Open addressing: number + 1, or 0.
    slots: Vec<u32>,
    count: u32,
}

impl PieceTables {
    pub fn number(&mut self, piece: &Piece, bytes: &[u8]) -> u32 {
        let table = piece.table as usize;
        if self.tables.len() <= table {
            self.tables.resize(table + 1, PieceTable::default());
        }
        let hasher = &self.hasher;
        let hash = |bytes: &[u8]| {
            let mut state = hasher.build_hasher();
            state.write(bytes);
            state.finish() as usize
        };
        self.tables[table].number(bytes, hash)
    }

    #[inline]
    pub fn copy(&self, piece: &Piece, number: u32, target: &mut [u8]) {
        let table = &self.tables[piece.table as usize];
        let start = number as usize * table.length;
        let source = &table.bytes[start..start + table.length];
        match (<&mut [u8; 8]>::try_from(&mut *target), <[u8; 8]>::try_from(source)) {
            (Ok(target), Ok(source)) => *target = source,
            _ => target.iter_mut().zip(source).for_each(|(target, source)| *target = *source),
        }
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.tables.len() as u64)?;
        for table in &self.tables {
            write_u64(out, table.length as u64)?;
            write_bytes(out, &table.bytes)?;
        }
        Ok(())
    }

    pub fn restore(input: &mut dyn Read) -> Result<PieceTables> {
        let mut tables = PieceTables::default();
        for table in 0..read_u64(input)? as u32 {
            tables.tables.push(PieceTable::default());
            let length = read_u64(input)? as usize;
            let bytes = read_bytes(input)?;
            let piece = Piece { start: 0, end: length as u32, table };
            for bytes in bytes.chunks_exact(length.max(1)) {
                tables.number(&piece, bytes);
            }
        }
        Ok(tables)
    }

    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| (table.bytes.capacity() + 4 * table.slots.capacity()) as u64).sum()
    }
}

impl PieceTable {
    fn number(&mut self, piece: &[u8], hash: impl Fn(&[u8]) -> usize) -> u32 {
        if self.slots.is_empty() {
            self.length = piece.len();
            self.slots = vec![0; 16];
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(piece) & mask;
        loop {
            match self.slots[at].checked_sub(1) {
                Some(number) if self.piece(number) == piece => return number,
                Some(_) => at = (at + 1) & mask,
                None => break,
            }
        }
        let number = self.count;
        self.bytes.extend_from_slice(piece);
        self.slots[at] = number + 1;
        self.count += 1;
        if self.count as usize * 4 > self.slots.len() * 3 {
            self.grow(hash);
        }
        number
    }

    fn piece(&self, number: u32) -> &[u8] {
        let start = number as usize * self.length;
        &self.bytes[start..start + self.length]
    }

    fn grow(&mut self, hash: impl Fn(&[u8]) -> usize) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for number in 0..self.count {
            let mut at = hash(self.piece(number)) & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = number + 1;
        }
        self.slots = slots;
    }
}
