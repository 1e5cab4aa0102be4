//! `std::cell`, with accesses that are checked for data races.

use crate::runtime::context::try_with;
use crate::runtime::place::{Tag, Tagged, here};
use std::fmt;
use std::panic::Location;

/// As `std::cell::UnsafeCell`, with loom's `with` and `with_mut`: what the closure does is one access.
///
/// Accesses are no scheduling points; two that the program's synchronisation does not order are a data race, and
/// reported, if one of them is a write.
pub struct UnsafeCell<T: ?Sized> {
    tag: Tag,
    value: std::cell::UnsafeCell<T>,
}

impl<T: ?Sized> Tagged for UnsafeCell<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T> UnsafeCell<T> {
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { tag: Tag::new(), value: std::cell::UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A read.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.noted(false).value.get())
    }

    /// A write.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.noted(true).value.get())
    }

    /// A write, since nothing says what the pointer is used for. Prefer [`UnsafeCell::with`].
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.noted(true).value.get()
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[track_caller]
    fn noted(&self, write: bool) -> &UnsafeCell<T> {
        let (this, location) = (here(self), Location::caller());
        try_with(|context| {
            if !context.threads.is_empty() {
                context.access_cell(this.tag.id(), write, location);
            }
        });
        this
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// As `std::cell::Cell`.
#[derive(Debug, Default)]
pub struct Cell<T> {
    value: UnsafeCell<T>,
}

impl<T> Cell<T> {
    pub const fn new(value: T) -> Cell<T> {
        Cell { value: UnsafeCell::new(value) }
    }

    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: a `Cell` is not `Sync`, and no reference to its value is given out.
        #[allow(unsafe_code)]
        self.value.with_mut(|inner| unsafe { std::mem::replace(&mut *inner, value) })
    }

    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as for `replace`.
        #[allow(unsafe_code)]
        self.value.with(|inner| unsafe { *inner })
    }

    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            // SAFETY: as for `replace`, and they are two.
            #[allow(unsafe_code)]
            self.value
                .with_mut(|mine| other.value.with_mut(|theirs| unsafe { std::ptr::swap(mine, theirs) }));
        }
    }

    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.set(f(self.get()));
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}
