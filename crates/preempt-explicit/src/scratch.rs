//! Room outside memory, which the command supplies: the engine itself opens no files.

use std::fmt::Debug;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Where files come from that nobody else sees and that are gone with the search.
pub trait Scratch: Debug + Send + Sync {
    /// A new file, empty.
    fn file(&self) -> Result<Box<dyn ScratchFile>>;
}

/// A file that is written at any place and read at any place that was written.
pub trait ScratchFile: Send {
    /// Writes all of it there.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Fills the buffer from there.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()>;
}

/// Files that are kept in memory: for tests, and to see what goes where.
#[derive(Debug, Clone, Copy, Default)]
pub struct InMemory;

impl Scratch for InMemory {
    fn file(&self) -> Result<Box<dyn ScratchFile>> {
        Ok(Box::new(Kept(Vec::new())))
    }
}

struct Kept(Vec<u8>);

impl ScratchFile for Kept {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let (start, end) = (at as usize, at as usize + bytes.len());
        self.0.resize(self.0.len().max(end), 0);
        self.0[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let there = self.0.get(at as usize..at as usize + buffer.len());
        buffer.copy_from_slice(there.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?);
        Ok(())
    }
}

/// Written from the beginning to the end, through a buffer.
pub(crate) struct Appended {
    pub file: Box<dyn ScratchFile>,
    written: u64,
    buffer: Vec<u8>,
}

/// Written at once.
const BUFFER: usize = 1 << 18;

impl Appended {
    pub fn new(scratch: &Arc<dyn Scratch>) -> Result<Appended> {
        Ok(Appended { file: scratch.file()?, written: 0, buffer: Vec::new() })
    }

    /// Where the next byte goes.
    pub fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    pub fn flush(&mut self) -> Result<()> {
        self.file.write_at(self.written, &self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Of what was written, flushed or not.
    pub fn read_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        match at.checked_sub(self.written) {
            Some(start) => {
                let start = start as usize;
                let there = self.buffer.get(start..start + into.len());
                into.copy_from_slice(there.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?);
                Ok(())
            }
            None => self.file.read_at(at, into),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.buffer.capacity() as u64
    }
}
