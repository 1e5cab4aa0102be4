//! Cells whose accesses are checked for data races.

pub use preempt::cell::{Cell, ConstPtr, MutPtr};

/// loom's `UnsafeCell`. No scheduling point; two accesses that are not ordered are reported if one of them writes.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(preempt::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    #[track_caller]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(preempt::cell::UnsafeCell::new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(f)
    }

    /// Writes.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(f)
    }

    /// Reads until the pointer is dropped.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        self.0.const_ptr()
    }

    /// Writes until the pointer is dropped.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        self.0.mut_ptr()
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
