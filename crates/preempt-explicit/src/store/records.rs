//! What is kept for each state: the two halves of its key, at which cost everybody was queued, and which processes
//! have been expanded. Records lie in chunks of records that have the same class and the same widths; a chunk takes
//! the widths that are needed when it is begun, so that a record is as narrow as it can be.

use super::index::prefetch;
use super::{Key, StateNumber};
use crate::saved::{damaged, read_below, read_bytes, read_u64, write_bytes, write_u64};
use std::collections::{HashMap, HashSet};
use std::io::{Read, Result, Write};

/// Records of a chunk.
const CHUNK_BITS: u32 = 13;
const CHUNK: usize = 1 << CHUNK_BITS;
/// A word can be read at the beginning of the last record, too.
const SLACK: usize = 8;

#[derive(Debug, Default)]
pub struct Records {
    chunks: Vec<Chunk>,
    /// The chunks that still have room.
    open: HashMap<Format, u32, foldhash::fast::FixedState>,
    /// Costs may no longer fit into two bytes.
    deep: bool,
    dead: HashSet<StateNumber, foldhash::fast::FixedState>,
    bytes: u64,
}

/// What the records of a chunk have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Format {
    class: u32,
    /// Bytes of each part, in this order.
    left: u8,
    right: u8,
    cost: u8,
    mask: u8,
}

#[derive(Debug)]
struct Chunk {
    format: Format,
    size: u16,
    /// With as much as [`SLACK`] after the last record.
    data: Vec<u8>,
    count: u16,
}

/// The highest two bits are the level, the others the steps; all steps' bits set: unknown.
const LEVEL_BITS: u32 = 2;

impl Format {
    fn size(self) -> usize {
        usize::from(self.left + self.right + self.cost) + usize::from(self.mask)
    }

    fn steps_bits(self) -> u32 {
        u32::from(self.cost) * 8 - LEVEL_BITS
    }
}

impl Chunk {
    #[inline]
    fn start(&self, number: StateNumber) -> usize {
        (number as usize & (CHUNK - 1)) * usize::from(self.size)
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.data.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    #[inline]
    fn cost_at(&self, number: StateNumber) -> usize {
        self.start(number) + usize::from(self.format.left + self.format.right)
    }

    #[inline]
    fn mask_at(&self, number: StateNumber) -> usize {
        self.cost_at(number) + usize::from(self.format.cost)
    }
}

impl Records {
    #[inline]
    fn chunk(&self, number: StateNumber) -> &Chunk {
        &self.chunks[(number >> CHUNK_BITS) as usize]
    }

    #[inline]
    fn chunk_mut(&mut self, number: StateNumber) -> &mut Chunk {
        &mut self.chunks[(number >> CHUNK_BITS) as usize]
    }

    /// `widths` are the bytes that the key's halves may need. `None` if there are more than can be numbered.
    pub fn push(&mut self, key: Key, widths: (u8, u8), processes: usize) -> Option<StateNumber> {
        let format = Format {
            class: key.class,
            left: widths.0,
            right: widths.1,
            cost: if self.deep { 3 } else { 2 },
            mask: processes.div_ceil(8) as u8,
        };
        let number = match self.open.get(&format) {
            Some(number) => *number,
            None => self.begin(format)?,
        };
        let chunk = &mut self.chunks[number as usize];
        let within = chunk.count;
        let (start, size) = (usize::from(within) * format.size(), format.size());
        if start + size + SLACK > chunk.data.len() {
            let records = (usize::from(within) * 2).clamp(64, CHUNK);
            let length = records * size + SLACK;
            self.bytes += (length - chunk.data.len()) as u64;
            chunk.data.reserve_exact(length - chunk.data.len());
            chunk.data.resize(length, 0);
        }
        let record = &mut chunk.data[start..start + size];
        let (left, right) = (usize::from(format.left), usize::from(format.right));
        record[..left].copy_from_slice(&key.left.to_le_bytes()[..left]);
        record[left..left + right].copy_from_slice(&key.right.to_le_bytes()[..right]);
        record[left + right..left + right + usize::from(format.cost)].fill(0xFF);
        chunk.count += 1;
        if usize::from(chunk.count) == CHUNK {
            self.open.remove(&format);
        }
        Some(number << CHUNK_BITS | u32::from(within))
    }

    fn begin(&mut self, format: Format) -> Option<u32> {
        let number = self.chunks.len() as u32;
        if number >> (32 - CHUNK_BITS) != 0 {
            return None;
        }
        self.chunks.push(Chunk { format, size: format.size() as u16, data: Vec::new(), count: 0 });
        self.open.insert(format, number);
        Some(number)
    }

    #[inline]
    pub fn prefetch(&self, number: StateNumber) {
        let chunk = self.chunk(number);
        if let Some(byte) = chunk.data.get(chunk.start(number)) {
            prefetch(byte);
        }
    }

    #[inline]
    pub fn key(&self, number: StateNumber) -> Key {
        let chunk = self.chunk(number);
        let word = chunk.word(chunk.start(number));
        let Format { class, left, right, .. } = chunk.format;
        let low = |word: u64, bytes: u8| (word & ((1 << (8 * u32::from(bytes))) - 1)) as u32;
        Key { class, left: low(word, left), right: low(word >> (8 * u32::from(left)), right) }
    }

    #[inline]
    pub fn is_expanded(&self, number: StateNumber, process: usize) -> bool {
        let chunk = self.chunk(number);
        // A process that has ended by now is not in the mask, and has no moves.
        process / 8 < usize::from(chunk.format.mask)
            && chunk.data[chunk.mask_at(number) + process / 8] & (1 << (process % 8)) != 0
    }

    #[inline]
    pub fn set_expanded(&mut self, number: StateNumber, process: usize) {
        let chunk = self.chunk_mut(number);
        let at = chunk.mask_at(number) + process / 8;
        chunk.data[at] |= 1 << (process % 8);
    }

    /// True the first time.
    pub fn set_dead(&mut self, number: StateNumber) -> bool {
        self.dead.insert(number)
    }

    /// Everybody is to be queued at this cost, while the search is at level `now`: is that lower than all costs at
    /// which it was queued before? If so, the record says so from now on.
    ///
    /// Levels are kept modulo 4. That is enough: nothing is queued more than one level ahead, and what was queued at
    /// a level that lies behind us can be mistaken only for a higher one. A mistake means that everybody is queued
    /// once more for nothing. So does a number of steps that does not fit, which is kept as unknown.
    #[inline]
    pub fn lower_everybody(&mut self, number: StateNumber, now: u32, level: u32, steps: u64) -> bool {
        let chunk = &mut self.chunks[(number >> CHUNK_BITS) as usize];
        let bits = chunk.format.steps_bits();
        let unknown = (1u32 << bits) - 1;
        let at = chunk.cost_at(number);
        let width = usize::from(chunk.format.cost);
        let kept = (chunk.word(at) & ((1 << (8 * width)) - 1)) as u32;
        let (kept_level, kept_steps) = (kept >> bits, kept & unknown);
        let ahead = kept_level.wrapping_sub(now) % (1 << LEVEL_BITS);
        let is_lower =
            kept_steps == unknown || ahead <= 1 && (level - now, steps) < (ahead, u64::from(kept_steps));
        if is_lower {
            let steps = steps.min(u64::from(unknown)) as u32;
            let cost = (level % (1 << LEVEL_BITS)) << bits | steps;
            chunk.data[at..at + width].copy_from_slice(&cost.to_le_bytes()[..width]);
            self.deep |= steps > unknown / 4 * 3;
        }
        is_lower
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.deep.into())?;
        write_u64(out, self.dead.len() as u64)?;
        self.dead.iter().try_for_each(|number| write_u64(out, u64::from(*number)))?;
        write_u64(out, self.chunks.len() as u64)?;
        for Chunk { format, data, count, .. } in &self.chunks {
            let Format { class, left, right, cost, mask } = *format;
            write_u64(out, class.into())?;
            out.write_all(&[left, right, cost, mask])?;
            write_u64(out, u64::from(*count))?;
            write_bytes(out, data)?;
        }
        Ok(())
    }

    /// Their classes must be among these; whether the keys mean anything is for the caller to see.
    pub fn restore(input: &mut dyn Read, classes: &[u32]) -> Result<Records> {
        let mut records = Records { deep: read_below(input, 2)? != 0, ..Records::default() };
        for _ in 0..read_u64(input)? {
            records.dead.insert(read_below(input, 1 << 32)? as StateNumber);
        }
        for number in 0..read_below(input, 1 << (32 - CHUNK_BITS))? {
            let class = read_below(input, 1 << 32)? as u32;
            let mut widths = [0; 4];
            input.read_exact(&mut widths)?;
            let [left, right, cost, mask] = widths;
            let format = Format { class, left, right, cost, mask };
            let (count, data) = (read_below(input, CHUNK as u64 + 1)? as u16, read_bytes(input)?);
            let fits = left <= 4 && right <= 4 && (2..=3).contains(&cost) && classes.contains(&class);
            let room = |records: usize| records * format.size() + SLACK;
            if !fits || !(room(count.into())..=room(CHUNK)).contains(&data.len()) {
                return Err(damaged("its states are cut"));
            }
            if usize::from(count) < CHUNK {
                records.open.insert(format, number as u32);
            }
            records.bytes += data.len() as u64;
            records.chunks.push(Chunk { format, size: format.size() as u16, data, count });
        }
        let is_there = |number: &StateNumber| records.contains(*number);
        match records.dead.iter().all(is_there) {
            true => Ok(records),
            false => Err(damaged("it names a state that is not there")),
        }
    }

    pub fn contains(&self, number: StateNumber) -> bool {
        let chunk = self.chunks.get((number >> CHUNK_BITS) as usize);
        chunk.is_some_and(|chunk| number as usize & (CHUNK - 1) < usize::from(chunk.count))
    }

    /// Can so many processes be marked as expanded?
    pub fn has_room_for(&self, number: StateNumber, processes: usize) -> bool {
        processes <= 8 * usize::from(self.chunk(number).format.mask)
    }

    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.count)).sum()
    }

    /// All of them.
    pub fn numbers(&self) -> impl Iterator<Item = StateNumber> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.flat_map(|(chunk, it)| (0..u32::from(it.count)).map(move |i| (chunk as u32) << CHUNK_BITS | i))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes + (self.chunks.capacity() * size_of::<Chunk>() + self.dead.capacity() * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_what_it_is_given() {
        let mut records = Records::default();
        let key = |left, right| Key { class: 3, left, right };
        let first = records.push(key(0x12_3456, 7), (3, 1), 9).expect("there is room");
        let second = records.push(key(u32::MAX, u32::MAX - 1), (4, 4), 2).expect("there is room");
        let third = records.push(key(0, 0), (0, 0), 0).expect("there is room");
        records.set_expanded(first, 8);
        assert!(records.set_dead(first) && !records.set_dead(first));
        assert_eq!(records.key(first), key(0x12_3456, 7));
        assert_eq!(records.key(second), key(u32::MAX, u32::MAX - 1));
        assert_eq!(records.key(third), key(0, 0));
        assert!(records.is_expanded(first, 8) && !records.is_expanded(first, 7));
        assert!(!records.is_expanded(second, 1) && !records.is_expanded(third, 0));
    }

    #[test]
    fn chunks_follow_each_other() {
        let mut records = Records::default();
        let key = |i: u32| Key { class: i % 2, left: i, right: i / 3 };
        let numbers: Vec<_> =
            (0..50_000).map(|i| records.push(key(i), (4, 4), 1).expect("there is room")).collect();
        assert!(numbers.iter().enumerate().all(|(i, number)| records.key(*number) == key(i as u32)));
    }

    /// Against a map that forgets nothing, with levels that go up as in a search.
    #[test]
    fn a_lower_cost_is_never_missed() {
        let mut records = Records::default();
        let states: Vec<_> = (0..40)
            .map(|i| records.push(Key { class: 0, left: i, right: 0 }, (1, 0), 1).expect("there is room"))
            .collect();
        let mut known: HashMap<StateNumber, (u32, u64)> = HashMap::new();
        let mut seed = 1u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut extra = 0;
        for round in 0..100_000u64 {
            let now = (round / 3000) as u32;
            let cost = (now + random(2) as u32, random(if round % 5 == 0 { 100_000 } else { 300 }));
            let state = states[random(40) as usize];
            let is_lower = known.get(&state).is_none_or(|known| cost < *known);
            let said = records.lower_everybody(state, now, cost.0, cost.1);
            assert!(said || !is_lower, "round {round}");
            extra += u32::from(said && !is_lower);
            if is_lower {
                known.insert(state, cost);
            }
        }
        assert!(extra < 5_000, "{extra}");
    }
}
