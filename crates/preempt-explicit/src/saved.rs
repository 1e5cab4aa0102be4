//! Plain data to bytes and back, for checkpoints. The format is of no use to anybody but the search that continues.

use std::io::{Error, ErrorKind, Read, Result, Write};

pub fn write_u64(out: &mut dyn Write, number: u64) -> Result<()> {
    out.write_all(&number.to_le_bytes())
}

pub fn read_u64(input: &mut dyn Read) -> Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A number that must be below `end`.
pub fn read_below(input: &mut dyn Read, end: u64) -> Result<u64> {
    let number = read_u64(input)?;
    if number < end { Ok(number) } else { Err(damaged("it has a number that cannot be")) }
}

pub fn write_bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    write_u64(out, bytes.len() as u64)?;
    out.write_all(bytes)
}

pub fn read_bytes(input: &mut dyn Read) -> Result<Vec<u8>> {
    let length = read_u64(input)?;
    let mut bytes = Vec::new();
    // Grows with what is really there: a damaged length must not ask for all the memory.
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(damaged("it ends too early")) }
}

pub fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

/// Passes bytes on, counts them and adds them up (FNV-1a), so that damage is noticed.
pub struct Summed<T> {
    inner: T,
    length: u64,
    sum: u64,
}

impl<T> Summed<T> {
    pub fn new(inner: T) -> Summed<T> {
        Summed { inner, length: 0, sum: 0xCBF2_9CE4_8422_2325 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.sum = (self.sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
}

impl Summed<&mut dyn Write> {
    /// Writes what must be at the end.
    pub fn finish(self) -> Result<()> {
        write_u64(self.inner, self.length)?;
        write_u64(self.inner, self.sum)
    }
}

impl Summed<&mut dyn Read> {
    /// Is this the end, of all that was written and nothing else?
    pub fn finish(self) -> Result<()> {
        let is_whole = read_u64(self.inner)? == self.length && read_u64(self.inner)? == self.sum;
        let mut more = [0];
        match is_whole && self.inner.read(&mut more)? == 0 {
            true => Ok(()),
            false => Err(damaged("it is damaged")),
        }
    }
}

impl Write for Summed<&mut dyn Write> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.inner.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

impl Read for Summed<&mut dyn Read> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(bytes)?;
        self.add(&bytes[..read]);
        Ok(read)
    }
}
