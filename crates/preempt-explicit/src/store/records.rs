//! What is kept for each state: its key, which processes have been expanded in it, at which cost everybody was
//! queued. Records are written into chunks and never move.

use super::StateNumber;
use super::index::prefetch;

/// Numbers count pairs of bytes.
const GRAIN: usize = 2;
const CHUNK_BITS: u32 = 20;
const CHUNK: usize = 1 << CHUNK_BITS;

const EVERYBODY: usize = 0;
/// The width of the mask, and a flag.
const WIDTH: usize = 4;
const MASK: usize = 5;
const IS_DEAD: u8 = 0x80;

#[derive(Debug)]
pub struct Records {
    chunks: Vec<Box<[u8]>>,
    /// Where the next record goes, in the last chunk.
    end: usize,
}

impl Records {
    pub fn new() -> Records {
        Records { chunks: Vec::new(), end: CHUNK }
    }

    /// `None` if there are more than can be numbered.
    pub fn push(&mut self, key: &[u8], processes: usize) -> Option<StateNumber> {
        let width = processes.div_ceil(8);
        let size = MASK + width + key.len();
        if self.end + size > CHUNK {
            if size > CHUNK || self.chunks.len() >= (u32::MAX as usize * GRAIN) >> CHUNK_BITS {
                return None;
            }
            self.chunks.push(vec![0; CHUNK].into_boxed_slice());
            self.end = 0;
        }
        let start = self.end;
        let chunk = self.chunks.last_mut()?;
        let record = &mut chunk[start..start + size];
        record[EVERYBODY..EVERYBODY + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        record[WIDTH] = width as u8;
        record[size - key.len()..].copy_from_slice(key);
        self.end = (start + size).next_multiple_of(GRAIN);
        Some((((self.chunks.len() - 1) * CHUNK + start) / GRAIN) as StateNumber)
    }

    #[inline]
    fn record(&self, number: StateNumber) -> &[u8] {
        let at = number as usize * GRAIN;
        &self.chunks[at >> CHUNK_BITS][at & (CHUNK - 1)..]
    }

    #[inline]
    fn record_mut(&mut self, number: StateNumber) -> &mut [u8] {
        let at = number as usize * GRAIN;
        &mut self.chunks[at >> CHUNK_BITS][at & (CHUNK - 1)..]
    }

    #[inline]
    pub fn prefetch(&self, number: StateNumber) {
        prefetch(&self.record(number)[0]);
    }

    fn width(record: &[u8]) -> usize {
        usize::from(record[WIDTH] & !IS_DEAD)
    }

    /// The key, and whatever lies behind it: a key says itself where it ends.
    #[inline]
    pub fn key(&self, number: StateNumber) -> &[u8] {
        let record = self.record(number);
        &record[MASK + Records::width(record)..]
    }

    #[inline]
    pub fn has_key(&self, number: StateNumber, key: &[u8]) -> bool {
        self.key(number).get(..key.len()) == Some(key)
    }

    #[inline]
    pub fn is_expanded(&self, number: StateNumber, process: usize) -> bool {
        let record = self.record(number);
        // A process that has ended by now is not in the mask, and has no moves.
        process / 8 < Records::width(record) && record[MASK + process / 8] & (1 << (process % 8)) != 0
    }

    pub fn set_expanded(&mut self, number: StateNumber, process: usize) {
        self.record_mut(number)[MASK + process / 8] |= 1 << (process % 8);
    }

    /// True the first time.
    pub fn set_dead(&mut self, number: StateNumber) -> bool {
        let width = &mut self.record_mut(number)[WIDTH];
        let first = *width & IS_DEAD == 0;
        *width |= IS_DEAD;
        first
    }

    /// The lowest cost at which everybody was queued, as the search writes it; `u32::MAX` at first.
    #[inline]
    pub fn everybody(&self, number: StateNumber) -> u32 {
        let record = self.record(number);
        u32::from_le_bytes([record[0], record[1], record[2], record[3]])
    }

    pub fn set_everybody(&mut self, number: StateNumber, cost: u32) {
        self.record_mut(number)[EVERYBODY..EVERYBODY + 4].copy_from_slice(&cost.to_le_bytes());
    }

    pub fn bytes(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }
}

/// Small numbers in one byte, others in two, four or five: the same number always in the same bytes.
#[inline]
pub fn write_number(bytes: &mut Vec<u8>, number: u32) {
    match number {
        0..=191 => bytes.push(number as u8),
        192..=12_479 => {
            let rest = number - 192;
            bytes.extend([192 + (rest >> 8) as u8, rest as u8]);
        }
        12_480..=0xE_FFFF => {
            bytes.extend([0xF0 | (number >> 16) as u8, (number >> 8) as u8, number as u8]);
        }
        _ => {
            bytes.push(0xFF);
            bytes.extend(number.to_le_bytes());
        }
    }
}

#[inline]
pub fn read_number(bytes: &mut &[u8]) -> u32 {
    let first = u32::from(bytes[0]);
    let (number, length) = match first {
        0..=191 => (first, 1),
        192..=239 => (((first - 192) << 8 | u32::from(bytes[1])) + 192, 2),
        240..=254 => ((first & 15) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]), 3),
        _ => (u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]), 5),
    };
    *bytes = &bytes[length..];
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in (0..20_000).chain([0xE_FFFF, 0xF_0000, 0xF_FFFF, 0x10_0000, u32::MAX - 1]) {
            let mut bytes = Vec::new();
            write_number(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!(read_number(&mut rest), number);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_record_keeps_what_it_is_given() {
        let mut records = Records::new();
        let first = records.push(&[1, 2, 3], 9).expect("there is room");
        let second = records.push(&[4], 2).expect("there is room");
        records.set_expanded(first, 8);
        records.set_everybody(first, 77);
        assert!(records.set_dead(first) && !records.set_dead(first));
        assert!(records.has_key(first, &[1, 2, 3]) && records.has_key(second, &[4]));
        assert!(records.is_expanded(first, 8) && !records.is_expanded(first, 7));
        assert!(!records.is_expanded(second, 1));
        assert_eq!(records.everybody(first), 77);
    }
}
