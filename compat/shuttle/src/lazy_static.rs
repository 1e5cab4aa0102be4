//! What [`crate::lazy_static!`] makes.

pub use preempt::lazy::LazyStatic;

/// A value that is made when a run first uses it.
#[derive(Debug)]
pub struct Lazy<T: 'static>(preempt::sync::LazyLock<T>);

impl<T: Sync + Send> Lazy<T> {
    /// Not made yet.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(preempt::sync::LazyLock::new(init))
    }

    /// The value.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        preempt::sync::LazyLock::force(&self.0)
    }
}

/// Makes the value, if it is not there.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}
