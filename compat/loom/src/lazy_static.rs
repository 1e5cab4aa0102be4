//! What [`crate::lazy_static!`] makes.

pub use preempt::thread::AccessError;

use preempt::sync::OnceLock;
use preempt::sync::atomic::{AtomicBool, Ordering};

/// The main thread has ended, and with it whatever is static. Every run has its own.
static OVER: AtomicBool = AtomicBool::new(false);

/// At the end of the main thread.
pub(crate) fn shut_down() {
    OVER.store(true, Ordering::Release);
}

/// A value that is made when a run first uses it.
#[derive(Debug)]
pub struct Lazy<T: 'static> {
    init: fn() -> T,
    value: OnceLock<T>,
}

impl<T: 'static> Lazy<T> {
    /// Not made yet.
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy { init, value: OnceLock::new() }
    }

    /// The value.
    ///
    /// # Panics
    /// After the end of the main thread.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        assert!(!OVER.load(Ordering::Acquire), "a lazy static is used after the end of the main thread");
        self.value.get_or_init(self.init)
    }
}
