//! A log of who ran and why, in the order in which it happened: a few bytes for each entry, written once and read
//! backwards when a run is to be replayed.
//!
//! An entry is a head (who, and the process that was running), then the state and the state before it as differences
//! to the entry before, then what is not usual. Neighbours in time are neighbours in number, so most differences are
//! small.

use super::cost_store::Who;
use super::frontier::Item;
use crate::saved::{damaged, read_below, read_bytes, read_u64, write_bytes, write_u64};
use crate::store::StateNumber;
use std::io::{Read, Result, Write};

/// A chunk begins anew, so that it can be read without those before it.
const CHUNK: usize = 1 << 16;
/// The most bytes that an entry needs: head, last, by, two differences and a set of 256 processes.
const LONGEST: usize = 3 + 2 * 5 + 37;

/// The head's two lowest bits are [`Who`]; this one: the process whose step led here is running.
const SAME: u8 = 4;
/// A process that does not fit into the head.
const LARGE: u8 = 31;

/// Processes by their number.
pub type ProcessSet = [u64; 4];

/// Because of `item` the processes `ran` ran, or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEntry {
    pub item: Item,
    /// Only with [`Who::Others`].
    pub ran: ProcessSet,
}

impl LogEntry {
    /// Is this why the process ran in the state?
    pub fn let_run(&self, state: StateNumber, process: u8) -> bool {
        self.item.state == state
            && match self.item.who {
                Who::Last => self.item.last == process,
                Who::Others => self.ran[usize::from(process / 64)] & (1 << (process % 64)) != 0,
                Who::Nobody => false,
            }
    }

    /// Does a run end here, with `last` running?
    pub fn ends(&self, state: StateNumber, last: u8) -> bool {
        self.item.state == state && self.item.last == last && self.item.who == Who::Nobody
    }
}

#[derive(Debug, Default)]
pub struct ExpansionLog {
    chunks: Vec<Vec<u8>>,
    state: StateNumber,
    from: StateNumber,
}

impl ExpansionLog {
    pub fn push(&mut self, entry: &LogEntry) {
        let has_room = self.chunks.last().is_some_and(|chunk| chunk.len() + LONGEST <= CHUNK);
        if !has_room {
            self.chunks.push(Vec::with_capacity(CHUNK));
            (self.state, self.from) = (0, 0);
        }
        let Some(bytes) = self.chunks.last_mut() else { return };
        let Item { state, from, by, last, who } = entry.item;
        let same = if by == last { SAME } else { 0 };
        let head = last.min(LARGE) << 3 | same | who as u8;
        bytes.push(head);
        if last >= LARGE {
            bytes.push(last);
        }
        write(bytes, zigzag(state.wrapping_sub(self.state)));
        write(bytes, zigzag(from.wrapping_sub(self.from)));
        if by != last {
            bytes.push(by);
        }
        if who == Who::Others {
            write_set(bytes, entry.ran);
        }
        (self.state, self.from) = (state, from);
    }

    /// From the last entry to the first.
    pub fn backwards(&self) -> Backwards<'_> {
        Backwards { chunks: &self.chunks, entries: Vec::new() }
    }

    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        write_u64(out, self.state.into())?;
        write_u64(out, self.from.into())?;
        write_u64(out, self.chunks.len() as u64)?;
        self.chunks.iter().try_for_each(|chunk| write_bytes(out, chunk))
    }

    /// `is_possible` says of each item whether it can be.
    pub fn restore(input: &mut dyn Read, is_possible: &dyn Fn(&Item) -> bool) -> Result<ExpansionLog> {
        let mut number = || Ok::<_, std::io::Error>(read_below(input, 1 << 32)? as StateNumber);
        let (state, from) = (number()?, number()?);
        let mut log = ExpansionLog { chunks: Vec::new(), state, from };
        let mut last = (0, 0);
        for _ in 0..read_u64(input)? {
            let mut chunk = read_bytes(input)?;
            let found = read_chunk(&chunk);
            last = found.last().map_or((0, 0), |entry| (entry.item.state, entry.item.from));
            if chunk.len() > CHUNK || !found.iter().all(|entry| is_possible(&entry.item)) {
                return Err(damaged("it says of a state how it was reached that cannot be"));
            }
            chunk.reserve_exact(CHUNK - chunk.len());
            log.chunks.push(chunk);
        }
        match last == (state, from) {
            true => Ok(log),
            false => Err(damaged("it says of a state how it was reached that cannot be")),
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }
}

#[derive(Debug, Clone)]
pub struct Backwards<'a> {
    chunks: &'a [Vec<u8>],
    /// What is left of the chunk after these.
    entries: Vec<LogEntry>,
}

impl Iterator for Backwards<'_> {
    type Item = LogEntry;

    fn next(&mut self) -> Option<LogEntry> {
        loop {
            if let Some(entry) = self.entries.pop() {
                return Some(entry);
            }
            let (last, others) = self.chunks.split_last()?;
            (self.chunks, self.entries) = (others, read_chunk(last));
        }
    }
}

fn read_chunk(mut bytes: &[u8]) -> Vec<LogEntry> {
    let mut entries = Vec::new();
    let (mut state, mut from) = (0u32, 0u32);
    while !bytes.is_empty() {
        let head = byte(&mut bytes);
        let last = if head >> 3 == LARGE { byte(&mut bytes) } else { head >> 3 };
        state = state.wrapping_add(unzigzag(read(&mut bytes)));
        from = from.wrapping_add(unzigzag(read(&mut bytes)));
        let by = if head & SAME != 0 { last } else { byte(&mut bytes) };
        let who = Who::from_bits(head);
        let ran = if who == Who::Others { read_set(&mut bytes) } else { ProcessSet::default() };
        entries.push(LogEntry { item: Item { state, from, by, last, who }, ran });
    }
    entries
}

fn byte(bytes: &mut &[u8]) -> u8 {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    *bytes = rest;
    *first
}

/// Small differences to both sides become small numbers.
fn zigzag(difference: u32) -> u32 {
    let signed = difference as i32;
    ((signed << 1) ^ (signed >> 31)) as u32
}

fn unzigzag(number: u32) -> u32 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// Seven bits a byte, the lowest first; the highest bit says that there are more.
#[inline]
fn write(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0u32, 0);
    loop {
        let next = byte(bytes);
        number |= u32::from(next & 0x7F) << shift;
        shift += 7;
        if next < 0x80 || shift > 28 {
            return number;
        }
    }
}

/// Likewise, seven processes a byte.
fn write_set(bytes: &mut Vec<u8>, mut set: ProcessSet) {
    loop {
        let low = (set[0] & 0x7F) as u8;
        for word in 0..4 {
            let above = set.get(word + 1).copied().unwrap_or(0);
            set[word] = set[word] >> 7 | above << 57;
        }
        if set == ProcessSet::default() {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn read_set(bytes: &mut &[u8]) -> ProcessSet {
    let mut set = ProcessSet::default();
    for first in (0..256).step_by(7) {
        let next = byte(bytes);
        for process in (0..7).filter(|bit| next & (1 << bit) != 0).map(|bit| first + bit) {
            if let Some(word) = set.get_mut(process / 64) {
                *word |= 1 << (process % 64);
            }
        }
        if next < 0x80 {
            break;
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_reverse() {
        let mut log = ExpansionLog::default();
        let mut written = Vec::new();
        let mut rng = preempt_core::Rng::new(1);
        let mut random = move || rng.word() as u32;
        for i in 0..50_000 {
            let wide = if i % 3 == 0 { u32::MAX } else { 0xFF };
            let by = random() as u8;
            let last = if random() % 4 == 0 { random() as u8 } else { by };
            let who = [Who::Last, Who::Others, Who::Nobody][(random() % 3) as usize];
            let mut ran = ProcessSet::default();
            if who == Who::Others {
                (0..random() % 4).for_each(|_| ran[(random() % 4) as usize] |= 1 << (random() % 64));
            }
            let item = Item { state: random() & wide, from: random() & wide, by, last, who };
            log.push(&LogEntry { item, ran });
            written.push(LogEntry { item, ran });
        }
        assert!(log.chunks.len() > 2);
        assert!(log.backwards().eq(written.into_iter().rev()));
    }
}
