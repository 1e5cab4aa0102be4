//! What [`crate::lazy_static!`] makes.

pub use preempt::thread::AccessError;

use preempt::sync::OnceLock;
use preempt::thread::main_has_ended;

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
        assert!(!main_has_ended(), "a lazy static is used after the end of the main thread");
        self.value.get_or_init(self.init)
    }
}
