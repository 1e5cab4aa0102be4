//! What is known of a state, as bytes: its hash, its number, the cost at which everybody was queued, which processes were
//! expanded, and the state itself.

use preempt_model::search::RunCost;

/// Hash and number, level and steps, and the lengths of mask and state.
pub const HEADER: usize = 8 + 8 + 4 + 8 + 1 + 4;

const NUMBER: usize = 8;
const LEVEL: usize = 16;
const STEPS: usize = 20;
const MASK: usize = 28;
const STATE: usize = 29;

/// An entry to look at.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'b>(&'b [u8]);

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes)
}

impl<'b> Entry<'b> {
    /// Of bytes that are one.
    pub fn new(bytes: &'b [u8]) -> Entry<'b> {
        Entry(bytes)
    }

    /// The first of several, and what is behind it; `None` if it is not all there.
    pub fn first_of(bytes: &'b [u8]) -> Option<(Entry<'b>, &'b [u8])> {
        let length = HEADER + usize::from(*bytes.get(MASK)?) + half(bytes.get(..HEADER)?, STATE) as usize;
        (bytes.len() >= length).then(|| (Entry(&bytes[..length]), &bytes[length..]))
    }

    pub fn bytes(self) -> &'b [u8] {
        self.0
    }

    pub fn hash(self) -> u64 {
        word(self.0, 0)
    }

    pub fn number(self) -> u64 {
        word(self.0, NUMBER)
    }

    pub fn state(self) -> &'b [u8] {
        &self.0[HEADER + usize::from(self.0[MASK])..]
    }

    /// By what runs are sorted.
    pub fn order(self) -> (u64, &'b [u8]) {
        (self.hash(), self.state())
    }

    pub fn has_run(self, process: usize) -> bool {
        process / 8 < usize::from(self.0[MASK]) && self.0[HEADER + process / 8] & (1 << (process % 8)) != 0
    }

    pub fn everybody(self) -> RunCost {
        RunCost { preemptions: half(self.0, LEVEL), steps: word(self.0, STEPS) }
    }
}

/// Writes the entry of a new state behind the others.
pub fn append(entries: &mut Vec<u8>, hash: u64, number: u64, processes: usize, state: &[u8]) {
    entries.extend_from_slice(&hash.to_le_bytes());
    entries.extend_from_slice(&number.to_le_bytes());
    entries.extend_from_slice(&u32::MAX.to_le_bytes());
    entries.extend_from_slice(&u64::MAX.to_le_bytes());
    entries.push(processes.div_ceil(8).min(32) as u8);
    entries.extend_from_slice(&(state.len() as u32).to_le_bytes());
    entries.resize(entries.len() + processes.div_ceil(8).min(32), 0);
    entries.extend_from_slice(state);
}

pub fn set_run(entry: &mut [u8], process: usize) {
    if process / 8 < usize::from(entry[MASK]) {
        entry[HEADER + process / 8] |= 1 << (process % 8);
    }
}

pub fn set_everybody(entry: &mut [u8], cost: RunCost) {
    entry[LEVEL..LEVEL + 4].copy_from_slice(&cost.preemptions.to_le_bytes());
    entry[STEPS..STEPS + 8].copy_from_slice(&cost.steps.to_le_bytes());
}
