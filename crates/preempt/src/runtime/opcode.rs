//! The kinds of operations that modelled threads do.
//!
//! The algorithms do not look at them but to notice that a program is not deterministic: in the same place after the same
//! steps a thread must stand before an operation of the same kind. What a step does to scheduling (what it touches, needs and
//! releases) is in its [`preempt_stateless::Operation`], and what people read is in its
//! [`Label`](super::thread::Label).

/// What kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opcode {
    Spawn,
    Join,
    /// The beginning and the end of a thread, where they are steps, and the question whether it has ended.
    Begin,
    End,
    IsFinished,
    Park,
    Unpark,
    Yield,
    Lock,
    Unlock,
    TryLock,
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    ReadUnlock,
    WriteUnlock,
    Downgrade,
    /// A condition variable's wait has two steps: to give the mutex back and wait, and to wake and take it again.
    Wait,
    Wake,
    NotifyOne,
    NotifyAll,
    BarrierArrive,
    BarrierOpen,
    BarrierLeave,
    Send,
    Rendezvous,
    Receive,
    CloseChannel,
    Load,
    Store,
    Modify,
    /// Of a counted reference: what depends on the count, and what changes it.
    Count,
    CloneCounted,
    DropCounted,
    Notify,
    AwaitNotification,
}

impl From<Opcode> for u32 {
    fn from(opcode: Opcode) -> u32 {
        opcode as u32
    }
}
