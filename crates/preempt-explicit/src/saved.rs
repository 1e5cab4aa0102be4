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

/// Passes bytes on and adds them up (FNV-1a), so that damage is noticed.
pub struct Summed<T> {
    inner: T,
    pub sum: u64,
}

impl<T> Summed<T> {
    pub fn new(inner: T) -> Summed<T> {
        Summed { inner, sum: 0xCBF2_9CE4_8422_2325 }
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.sum = (self.sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
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
