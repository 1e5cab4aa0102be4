//! States on their way to another part of the search: as packed keys.
//!
//! A state is cut into pieces of at most eight bytes, and the values of each piece are numbered as they are met, as in
//! [`crate::store::packed`]. The numbers are the sender's. It has one set of tables for everybody, which only grow, and each
//! receiver has a copy of their beginning: a batch begins with what is new since the last one, so that a state is no more
//! than the numbers of its pieces, packed into as few bits as the tables need. A number travels in full once for each
//! receiver, and not with each state. A table that is full takes no more values, so that copies for many senders have room: what it
//! does not have travels as it is.
//!
//! Batches of one sender must be read in the order in which they were written; they are numbered, so that this is noticed.

use crate::successors::Successors;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// A successor that belongs to another part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The process running now.
    pub runs: u8,
    pub steps: u32,
    pub leaving_is_free: bool,
    pub runs_alone: bool,
}

/// The states of one class: where their pieces lie, and which table has their values.
#[derive(Debug)]
struct Class {
    /// As the system here numbers it.
    number: u32,
    description: Vec<u16>,
    /// A state whose pieces are all zero.
    blank: Vec<u8>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    length: usize,
    table: usize,
}

impl Piece {
    fn read(&self, state: &[u8]) -> u64 {
        let bytes = &state[self.start..self.start + self.length];
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    }

    fn write(&self, state: &mut [u8], word: u64) {
        state[self.start..self.start + self.length].copy_from_slice(&word.to_le_bytes()[..self.length]);
    }
}

/// Classes and values in the order in which the sender met them.
#[derive(Debug, Default)]
struct Tables {
    classes: Vec<Class>,
    /// The table of pieces at this place with this meaning.
    kinds: HashMap<(usize, usize, u32), usize>,
    words: Vec<Vec<u64>>,
    /// Bytes of a word in each table.
    lengths: Vec<usize>,
}

impl Tables {
    fn add_class<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        number: u32,
        description: Vec<u16>,
    ) -> Option<()> {
        let mut blank = vec![0; system.class_size(number)?];
        system.write_class(number, &mut blank);
        let mut pieces = Vec::new();
        for part in system.parts(number) {
            for start in (part.start..part.end).step_by(8) {
                let length = (part.end - start).min(8);
                let next = self.words.len();
                let table = *self.kinds.entry((start, length, part.meaning)).or_insert(next);
                if table == next {
                    self.words.push(Vec::new());
                    self.lengths.push(length);
                }
                pieces.push(Piece { start, length, table });
            }
        }
        self.classes.push(Class { number, description, blank, pieces });
        Some(())
    }

    fn bytes(&self) -> usize {
        let classes: usize = self.classes.iter().map(|it| it.blank.len() + 24 * it.pieces.len() + 96).sum();
        classes + self.words.iter().map(|words| 8 * words.capacity() + 24).sum::<usize>()
    }
}

/// What is sent to one part.
#[derive(Debug, Default)]
struct Link {
    /// How many classes and words it knows.
    classes: usize,
    words: Vec<usize>,
    batches: u32,
    /// States that wait: class and head, then the numbers of its pieces.
    waiting: Vec<u32>,
    count: usize,
}

/// The first byte of a batch, which tells it from other mail.
pub const STATES: u8 = 0;

/// Values of a table. The number after the last says that the value follows.
const MOST_WORDS: u32 = 1 << 14;

/// So many states are one batch.
const BATCH: usize = 4096;

/// Everything that this part sends.
#[derive(Debug, Default)]
pub struct Sender {
    tables: Tables,
    numbers: Vec<HashMap<u64, u32, FixedState>>,
    /// By the system's number: which of the tables' classes it is.
    class: HashMap<u32, usize, FixedState>,
    links: Vec<Link>,
}

impl Sender {
    pub fn new(parts: usize) -> Sender {
        Sender { links: (0..parts).map(|_| Link::default()).collect(), ..Sender::default() }
    }

    /// Puts a state to those that wait; the batch if it is full. `None` if the state cannot be sent.
    pub fn put<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        to: usize,
        state: &[u8],
        sent: Sent,
    ) -> Option<Option<Vec<u8>>> {
        let number = system.class_of(state);
        let class = match self.class.get(&number) {
            Some(class) => *class,
            None => self.meet(system, number)?,
        };
        let link = &mut self.links[to];
        let flags = u32::from(sent.leaving_is_free) << 8 | u32::from(sent.runs_alone) << 9;
        link.waiting.extend([class as u32, u32::from(sent.runs) | flags, sent.steps]);
        for piece in &self.tables.classes[class].pieces {
            let (word, words) = (piece.read(state), &mut self.tables.words[piece.table]);
            let next = words.len() as u32;
            let known = self.numbers[piece.table].get(&word).copied();
            match known {
                Some(number) => link.waiting.push(number),
                None if next < MOST_WORDS => {
                    self.numbers[piece.table].insert(word, next);
                    words.push(word);
                    link.waiting.push(next);
                }
                None => link.waiting.extend([MOST_WORDS, word as u32, (word >> 32) as u32]),
            }
        }
        link.count += 1;
        Some(if link.count >= BATCH { self.batch(to) } else { None })
    }

    #[cold]
    fn meet<S: Successors + ?Sized>(&mut self, system: &S, number: u32) -> Option<usize> {
        let class = self.tables.classes.len();
        self.tables.add_class(system, number, system.describe_class(number)?)?;
        self.numbers.resize_with(self.tables.words.len(), HashMap::default);
        self.class.insert(number, class);
        Some(class)
    }

    /// Everything that waits for a part; `None` if nothing does.
    pub fn batch(&mut self, to: usize) -> Option<Vec<u8>> {
        let (tables, link) = (&self.tables, &mut self.links[to]);
        if link.count == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(16 + link.waiting.len());
        out.push(STATES);
        out.extend_from_slice(&link.batches.to_le_bytes());
        link.batches = link.batches.wrapping_add(1);
        put_number(&mut out, (tables.classes.len() - link.classes) as u64);
        for class in &tables.classes[link.classes..] {
            put_number(&mut out, class.description.len() as u64);
            class.description.iter().for_each(|code| put_number(&mut out, u64::from(*code)));
        }
        link.classes = tables.classes.len();
        link.words.resize(tables.words.len(), 0);
        let news =
            tables.words.iter().zip(&link.words).filter(|(words, known)| words.len() > **known).count();
        put_number(&mut out, news as u64);
        for (table, (words, known)) in tables.words.iter().zip(&mut link.words).enumerate() {
            if words.len() > *known {
                put_number(&mut out, table as u64);
                put_number(&mut out, (words.len() - *known) as u64);
                let length = tables.lengths[table];
                words[*known..].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()[..length]));
                *known = words.len();
            }
        }
        put_number(&mut out, link.count as u64);
        let mut bits = BitWriter { out, buffer: 0, used: 0 };
        let (class_bits, widths) = (width(tables.classes.len()), widths(tables));
        let mut at = 0;
        for _ in 0..link.count {
            let [class, head, steps] = [0, 1, 2].map(|k| link.waiting[at + k]);
            at += 3;
            let pieces = &tables.classes[class as usize].pieces;
            bits.put(class, class_bits);
            bits.put(head & 0xFF, 8);
            let is_usual = head >> 8 == 0 && steps == 1;
            bits.put(u32::from(!is_usual), 1);
            if !is_usual {
                bits.put(head >> 8, 2);
                bits.put(steps, 32);
            }
            for piece in pieces {
                let number = link.waiting[at];
                at += 1;
                bits.put(number, widths[piece.table]);
                if number == MOST_WORDS {
                    let length = 8 * piece.length as u32;
                    bits.put(link.waiting[at], length.min(32));
                    bits.put(link.waiting[at + 1], length.saturating_sub(32));
                    at += 2;
                }
            }
        }
        link.waiting.clear();
        link.count = 0;
        Some(bits.finish())
    }

    pub fn bytes(&self) -> usize {
        let words: usize = self.numbers.iter().map(|it| it.capacity() * 17).sum();
        words + self.tables.bytes() + self.links.iter().map(|link| 4 * link.waiting.capacity()).sum::<usize>()
    }
}

/// What one part has been sent by another.
#[derive(Debug, Default)]
pub struct Receiver {
    tables: Tables,
    batches: u32,
    state: Vec<u8>,
}

impl Receiver {
    /// Every state of a batch, without its first byte.
    pub fn read<S: Successors + ?Sized>(
        &mut self,
        system: &S,
        batch: &[u8],
        arrive: &mut dyn FnMut(&[u8], Sent),
    ) -> Option<()> {
        let mut input = batch;
        let number = take(&mut input, 4)?;
        (number == self.batches.to_le_bytes()).then_some(())?;
        self.batches = self.batches.wrapping_add(1);
        for _ in 0..take_number(&mut input)? {
            let length = take_number(&mut input)?;
            let codes = (0..length).map(|_| u16::try_from(take_number(&mut input)?).ok());
            let description: Vec<u16> = codes.collect::<Option<_>>()?;
            let class = system.class_described(&description)?;
            self.tables.add_class(system, class, description)?;
        }
        for _ in 0..take_number(&mut input)? {
            let table = usize::try_from(take_number(&mut input)?).ok()?;
            let (count, length) = (take_number(&mut input)?, *self.tables.lengths.get(table)?);
            for _ in 0..count {
                let bytes = take(&mut input, length)?;
                let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                self.tables.words[table].push(word);
            }
        }
        let count = take_number(&mut input)?;
        let mut bits = BitReader { input, buffer: 0, held: 0 };
        let (class_bits, widths) = (width(self.tables.classes.len()), widths(&self.tables));
        for _ in 0..count {
            let class = self.tables.classes.get(bits.take(class_bits)? as usize)?;
            let runs = bits.take(8)? as u8;
            let (flags, steps) = match bits.take(1)? {
                0 => (0, 1),
                _ => (bits.take(2)?, bits.take(32)?),
            };
            self.state.clear();
            self.state.extend_from_slice(&class.blank);
            for piece in &class.pieces {
                let number = bits.take(widths[piece.table])?;
                let word = match number {
                    MOST_WORDS => {
                        let length = 8 * piece.length as u32;
                        let low = u64::from(bits.take(length.min(32))?);
                        low | u64::from(bits.take(length.saturating_sub(32))?) << 32
                    }
                    number => *self.tables.words[piece.table].get(number as usize)?,
                };
                piece.write(&mut self.state, word);
            }
            let (leaving_is_free, runs_alone) = (flags & 1 != 0, flags & 2 != 0);
            debug_assert_eq!(system.class_of(&self.state), class.number);
            arrive(&self.state, Sent { runs, steps, leaving_is_free, runs_alone });
        }
        Some(())
    }

    pub fn bytes(&self) -> usize {
        self.tables.bytes()
    }
}

/// Bits for a number below this.
fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Of numbers in each table; one that is full has one more.
fn widths(tables: &Tables) -> Vec<u32> {
    let of_table = |words: &Vec<u64>| width(words.len() + usize::from(words.len() >= MOST_WORDS as usize));
    tables.words.iter().map(of_table).collect()
}

pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn take_number(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(input, 1)?[0];
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(count)?;
    *input = rest;
    Some(taken)
}

struct BitWriter {
    out: Vec<u8>,
    buffer: u64,
    used: u32,
}

impl BitWriter {
    #[inline]
    fn put(&mut self, number: u32, bits: u32) {
        self.buffer |= u64::from(number) << self.used;
        self.used += bits;
        while self.used >= 8 {
            self.out.push(self.buffer as u8);
            self.buffer >>= 8;
            self.used -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.used > 0 {
            self.out.push(self.buffer as u8);
        }
        self.out
    }
}

struct BitReader<'a> {
    input: &'a [u8],
    buffer: u64,
    held: u32,
}

impl BitReader<'_> {
    #[inline]
    fn take(&mut self, bits: u32) -> Option<u32> {
        while self.held < bits {
            let (byte, rest) = self.input.split_first()?;
            self.buffer |= u64::from(*byte) << self.held;
            self.held += 8;
            self.input = rest;
        }
        let number = self.buffer & ((1 << bits) - 1);
        self.buffer >>= bits;
        self.held -= bits;
        Some(number as u32)
    }
}
