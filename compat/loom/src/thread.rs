//! Modelled threads. What is spawned need not be `Send`, as with loom.

pub use preempt::thread::{
    AccessError, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId, current, panicking, park,
    park_timeout, scope, sleep, spawn_local as spawn, yield_now,
};

/// As `std::thread::Builder`.
#[derive(Debug)]
pub struct Builder(preempt::thread::Builder);

#[allow(clippy::new_without_default)]
impl Builder {
    /// No name, and a stack of the usual size.
    pub fn new() -> Builder {
        Builder(preempt::thread::Builder::new())
    }

    /// A name for reports.
    #[must_use]
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// In words, as loom counts.
    #[must_use]
    pub fn stack_size(self, words: usize) -> Builder {
        Builder(self.0.stack_size(words.saturating_mul(size_of::<usize>())))
    }

    /// Never fails.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        self.0.spawn_local(f)
    }
}
