//! What threads of a small program can do.

/// One operation. Numbers name objects of each kind, and lists of operations that threads run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Takes the mutex, once it is free.
    Lock(u8),
    /// Gives the mutex back.
    Unlock(u8),
    /// Takes the mutex, or fails spuriously. If it fails, the next so many operations are left out.
    TryWeak(u8, u8),
    /// If the mutex is held, the next so many operations are left out.
    TryLock(u8, u8),
    /// Takes the lock for reading, once no writer has it.
    ReadLock(u8),
    /// Gives the lock back that was taken for reading.
    ReadUnlock(u8),
    /// Takes the lock for writing, once nobody has it.
    WriteLock(u8),
    /// Gives the lock back that was taken for writing.
    WriteUnlock(u8),
    /// Reads the atomic.
    Load(u8),
    /// Writes the value to the atomic.
    Store(u8, u8),
    /// Adds 1 to the atomic.
    Add(u8),
    /// Loads; unless it finds the value, the next so many operations are left out.
    When(u8, u8, u8),
    /// Loads, and repeats itself with a yield before until it finds the value.
    SpinUntil(u8, u8),
    /// Gives the mutex back, waits to be notified, takes the mutex again.
    Wait {
        /// Where it waits.
        condvar: u8,
        /// What it gives back meanwhile.
        mutex: u8,
    },
    /// The same, but it may also wake up spuriously.
    WaitWeak {
        /// Where it waits.
        condvar: u8,
        /// What it gives back meanwhile.
        mutex: u8,
    },
    /// Lets one of those go on who wait.
    NotifyOne(u8),
    /// Lets all go on who wait.
    NotifyAll(u8),
    /// Puts a message into the channel.
    Send(u8),
    /// Takes a message out of the channel, once there is one.
    Receive(u8),
    /// Waits for the thread's own token, and takes it.
    Park,
    /// Gives the thread that runs this list its token.
    Unpark(u8),
    /// Waits for the end of the thread that runs this list.
    Join(u8),
    /// Starts a thread that runs this list.
    Spawn(u8),
    /// Does nothing, and counts as a yield under the fair bound.
    Yield,
    /// Does nothing.
    Local,
    /// Fails if the atomic has the value.
    FailIf(u8, u8),
}

/// The kinds of operations, as [`Operation::code`] has them. What only looks at an atomic is one kind, and so is what writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Code {
    Lock,
    Unlock,
    TryLock,
    ReadLock,
    ReadUnlock,
    WriteLock,
    WriteUnlock,
    Load,
    SpinYield,
    Store,
    Wake,
    Wait,
    NotifyOne,
    NotifyAll,
    Send,
    Receive,
    Park,
    Unpark,
    Join,
    Spawn,
    Yield,
    Local,
}

impl From<Code> for u32 {
    fn from(code: Code) -> u32 {
        code as u32
    }
}
