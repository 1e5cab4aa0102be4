//! A search in several parts, each in a process of its own: what a part is to whoever carries its mail, and who that is. The
//! engine itself opens no connection; the crate `preempt-cluster` does.
//!
//! States belong to parts by their hash. A part expands its own states in the order of cost, and what it meets of another's it
//! sends there. The cost is the time: [`Moment`]s are compared as pairs, mail that is sent at one moment arrives one step
//! later, and nobody is at a moment before everything from earlier ones has arrived, at all parts. So order, barriers and
//! the end of the search are matters of the exchange, and of nothing else.

use std::io::{Read, Result};

/// What is charged (preemptions, usually), then steps.
pub type Moment = (u32, u64);

/// What one part has for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The number of the part that sent it.
    pub from: usize,
    /// Only parts understand it.
    pub bytes: Vec<u8>,
}

/// Takes what a part has to say at a moment.
pub trait Post {
    /// Arrives one step later. What one part sends to another arrives in the order in which it was sent.
    fn send(&mut self, to: usize, bytes: Vec<u8>);

    /// The part wants to be called at that later moment, whether there is mail or not.
    fn wake(&mut self, at: Moment);
}

/// One part of a search.
pub trait Part {
    /// Everything that was sent at earlier moments has arrived, at every part. An error ends the run, for everybody.
    fn at(&mut self, moment: Moment, mail: Vec<Mail>, post: &mut dyn Post)
    -> std::result::Result<(), String>;
}

/// Who carries the mail.
pub trait Exchange {
    /// Which part this is, and how many there are.
    fn place(&self) -> (usize, usize);

    /// Calls the part at the moment (0, 0), and then in order at every moment for which it has mail or at which it wants to be
    /// called; until there is nothing left at any part.
    fn run(&mut self, part: &mut dyn Part) -> std::result::Result<(), String>;
}

/// Where the parts of a checkpoint are kept: each part sees only its own.
pub trait PartFiles {
    /// Is it time for one? Only the first part is asked.
    fn is_due(&mut self) -> bool;

    /// Writes this part of the checkpoint with this number, whole or not at all, and forgets all but that one and the last
    /// that every part has.
    fn save(&mut self, number: u64, complete: u64, write: &mut crate::Save<'_>) -> Result<()>;

    /// Everybody has written this one.
    fn complete(&mut self, number: u64, about: &str);

    /// The numbers of the checkpoints of which this part is there, if the search is to be continued.
    fn kept(&self) -> Option<Vec<u64>>;

    /// One of them.
    fn open(&self, number: u64) -> Result<Box<dyn Read>>;
}

/// No checkpoints.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPartFiles;

impl PartFiles for NoPartFiles {
    fn is_due(&mut self) -> bool {
        false
    }

    fn save(&mut self, _: u64, _: u64, _: &mut crate::Save<'_>) -> Result<()> {
        Ok(())
    }

    fn complete(&mut self, _: u64, _: &str) {}

    fn kept(&self) -> Option<Vec<u64>> {
        None
    }

    fn open(&self, _: u64) -> Result<Box<dyn Read>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// What the parts have sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// States that went to another part, as often as they were met.
    pub states: u64,
    /// Messages with them.
    pub messages: u64,
    /// Of these messages.
    pub bytes: u64,
    /// Moments at which the part was called.
    pub moments: u64,
    /// States that belong to the part.
    pub own: u64,
}
