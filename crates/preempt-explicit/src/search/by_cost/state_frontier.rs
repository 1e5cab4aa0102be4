//! What waits to be expanded, as whole states, in buckets by cost. Neighbours in a bucket are often brothers, so each
//! state is written as the difference to the one before.

use super::buckets::Buckets;
use super::cost_store::{Site, Who};

/// Somebody is to run in a state that was reached along a path, after which `last` was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub path: Site,
    pub last: u8,
    pub who: Who,
}

#[derive(Debug, Default)]
pub struct StateFrontier {
    buckets: Buckets<Bucket>,
    waiting: u64,
    /// Of what is in the buckets.
    bytes: u64,
    most: u64,
}

/// Some items, one after the other.
#[derive(Debug, Default)]
pub struct Bucket {
    data: Vec<u8>,
    count: u64,
    /// The state that was written last.
    previous: Vec<u8>,
}

/// Said of the difference: it is a whole state, since its length is another.
const WHOLE: u8 = 4;

impl Bucket {
    fn push(&mut self, item: Item, state: &[u8]) {
        let whole = if state.len() == self.previous.len() { 0 } else { WHOLE };
        self.data.push(item.who as u8 | whole);
        self.data.push(item.last);
        self.data.extend_from_slice(&item.path.to_le_bytes());
        if whole != 0 {
            write_number(&mut self.data, state.len());
            self.data.extend_from_slice(state);
            self.previous = state.to_vec();
        } else {
            let differ = |(i, byte): &(usize, &u8)| self.previous[*i] != **byte;
            let count = state.iter().enumerate().filter(differ).count();
            write_number(&mut self.data, count);
            let mut next = 0;
            for (i, byte) in state.iter().enumerate() {
                if self.previous[i] != *byte {
                    write_number(&mut self.data, i - next);
                    self.data.push(*byte);
                    next = i + 1;
                }
            }
            self.previous.copy_from_slice(state);
        }
        self.count += 1;
    }

    fn bytes(&self) -> u64 {
        (self.data.capacity() + self.previous.capacity()) as u64
    }
}

fn write_number(data: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        data.push(number as u8 | 128);
        number >>= 7;
    }
    data.push(number as u8);
}

/// Reads a bucket from its beginning.
#[derive(Debug, Default)]
pub struct Reader {
    bucket: Bucket,
    at: usize,
    state: Vec<u8>,
}

impl Reader {
    pub fn new(bucket: Bucket) -> Reader {
        Reader { bucket, at: 0, state: Vec::new() }
    }

    /// The next item with its state.
    pub fn next(&mut self) -> Option<(Item, &[u8])> {
        if self.at == self.bucket.data.len() {
            return None;
        }
        let tag = self.byte();
        let who = Who::from_bits(tag);
        let last = self.byte();
        let path = Site::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]);
        let count = self.number();
        if tag & WHOLE != 0 {
            self.state.clear();
            self.state.extend_from_slice(&self.bucket.data[self.at..self.at + count]);
            self.at += count;
        } else {
            let mut next = 0;
            for _ in 0..count {
                next += self.number();
                self.state[next] = self.byte();
                next += 1;
            }
        }
        Some((Item { path, last, who }, &self.state))
    }

    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bucket.data[self.at - 1]
    }

    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return number;
            }
        }
    }
}

impl StateFrontier {
    pub fn push(&mut self, preemptions: u32, steps: u64, item: Item, state: &[u8]) {
        let bucket = self.buckets.at(preemptions, steps);
        self.bytes -= bucket.bytes();
        bucket.push(item, state);
        self.bytes += bucket.bytes();
        self.waiting += 1;
        self.most = self.most.max(self.bytes);
    }

    /// The items waiting at this cost. Give the reader back with [`StateFrontier::done`].
    pub fn take(&mut self, preemptions: u32, steps: u64) -> Reader {
        let bucket = self.buckets.take(preemptions, steps);
        self.waiting -= bucket.count;
        Reader::new(bucket)
    }

    pub fn done(&mut self, reader: Reader) {
        self.bytes -= reader.bucket.bytes();
    }

    /// The first bucket of a level, at this number of steps or more.
    pub fn next(&self, preemptions: u32, steps: u64) -> Option<u64> {
        self.buckets.next(preemptions, steps)
    }

    pub fn has_level(&self, preemptions: u32) -> bool {
        self.buckets.has_level(preemptions)
    }

    /// Everything at this level has been taken.
    pub fn forget_level(&mut self, preemptions: u32) {
        self.buckets.forget_level(preemptions);
    }

    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    pub fn bytes(&self) -> u64 {
        self.bytes + self.buckets.bytes()
    }

    /// At its largest.
    pub fn most_bytes(&self) -> u64 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_back_as_it_was() {
        let mut frontier = StateFrontier::default();
        let state = |i: u32| -> Vec<u8> {
            let mut state = vec![9; if i % 100 < 50 { 300 } else { 7 }];
            state[(i % 7) as usize] = i as u8;
            if let Some(far) = state.get_mut(299) {
                *far = (i / 3) as u8;
            }
            state
        };
        let who = [Who::Last, Who::Others, Who::Nobody];
        let item = |i: u32| Item { path: i * 77_777, last: i as u8, who: who[i as usize % 3] };
        for i in 0..1000 {
            frontier.push(2, u64::from(i % 3), item(i), &state(i));
        }
        assert!(frontier.bytes() < 60_000, "{}", frontier.bytes());
        for steps in 0..3 {
            let mut reader = frontier.take(2, steps);
            for i in (0..1000).filter(|i| u64::from(i % 3) == steps) {
                let (found, bytes) = reader.next().expect("it was pushed");
                assert_eq!((found, bytes), (item(i), &state(i)[..]));
            }
            assert!(reader.next().is_none());
            frontier.done(reader);
        }
        frontier.forget_level(2);
        assert_eq!(frontier.waiting(), 0);
        assert!(frontier.bytes() < 1000, "{}", frontier.bytes());
        assert!(frontier.most_bytes() > 0);
    }
}
