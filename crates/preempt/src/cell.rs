//! `std::cell`, with accesses that are checked for data races. `RefCell`, `OnceCell` and `LazyCell` are std's own: they are
//! not `Sync`, so no two threads meet there.
//!
//! ```
//! use preempt::cell::UnsafeCell;
//! use preempt::{Checker, FailureKind, sync::Arc, thread};
//!
//! struct Shared(UnsafeCell<u32>);
//! // SAFETY: whether the accesses are ordered is what the test is about.
//! unsafe impl Sync for Shared {}
//!
//! let report = Checker::new().run(|| {
//!     let shared = Arc::new(Shared(UnsafeCell::new(0)));
//!     let other = Arc::clone(&shared);
//!     let child = thread::spawn(move || other.0.with_mut(|value| unsafe { *value += 1 }));
//!     shared.0.with_mut(|value| unsafe { *value += 1 });
//!     child.join().unwrap();
//! });
//! assert_eq!(report.failure.unwrap().kind, FailureKind::DataRace);
//! ```

use crate::runtime::current::try_with;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::thread::CodeLocation;
use preempt_stateless::ObjectId;
use std::fmt;
use std::panic::Location;

pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};

/// As `std::cell::UnsafeCell`, with loom's `with` and `with_mut`: what the closure does is one access.
///
/// Accesses are no scheduling points; two that the program's synchronisation does not order are a data race, and
/// reported, if one of them is a write.
pub struct UnsafeCell<T: ?Sized> {
    tag: ObjectTag,
    value: std::cell::UnsafeCell<T>,
}

impl<T: ?Sized> Tagged for UnsafeCell<T> {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    #[track_caller]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { tag: ObjectTag::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A read.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let (this, access) = self.record_access(false);
        let result = f(this.value.get());
        access.touch();
        result
    }

    /// A write.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let (this, access) = self.record_access(true);
        let result = f(this.value.get());
        access.touch();
        result
    }

    /// A read that lasts as long as the pointer lives, as loom's `get`.
    #[track_caller]
    pub fn const_ptr(&self) -> ConstPtr<T> {
        let (this, access) = self.record_access(false);
        ConstPtr { pointer: this.value.get(), access }
    }

    /// A write that lasts as long as the pointer lives, as loom's `get_mut`.
    #[track_caller]
    pub fn mut_ptr(&self) -> MutPtr<T> {
        let (this, access) = self.record_access(true);
        MutPtr { pointer: this.value.get(), access }
    }

    /// A write, since nothing says what the pointer is used for. Prefer [`UnsafeCell::with`].
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.record_access(true).0.value.get()
    }

    /// The value: nobody else has a reference, so nothing is checked.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[track_caller]
    fn record_access(&self, write: bool) -> (&UnsafeCell<T>, Access) {
        let (this, location) = (resolve(self), Location::caller());
        let cell = this.tag.id();
        let begun = try_with(|context| {
            context.access_cell(cell, write, location);
            (context.run, context.time())
        });
        (this, Access { cell, write, location, seen: std::cell::Cell::new(begun) })
    }
}

/// An access that lasts. Steps may be done meanwhile, so its end counts as an access of its own: somebody who comes in
/// between, ordered after the beginning, is not ordered before the end.
#[derive(Debug)]
struct Access {
    cell: ObjectId,
    write: bool,
    location: CodeLocation,
    /// When it began or was last seen: the run, and the thread's time.
    seen: std::cell::Cell<Option<(u64, u32)>>,
}

impl Access {
    /// It goes on.
    #[inline]
    fn touch(&self) {
        try_with(|context| {
            let now = (context.run, context.time());
            if self.seen.get().is_some_and(|seen| seen.0 == now.0 && seen.1 != now.1) {
                self.seen.set(Some(now));
                context.access_cell(self.cell, self.write, self.location);
            }
        });
    }

    /// A pointer is gone. What was done with it is known, but for references that were made of it before the thread's last
    /// step: those count up to that step and not beyond, as with loom. A guard whose destructor stores a flag, and whose
    /// pointer is dropped after that, is no race.
    #[inline]
    fn let_go(&self) {
        try_with(|context| {
            let (run, time) = (context.run, context.time());
            if self.seen.get().is_some_and(|seen| seen.0 == run && seen.1 + 1 < time) {
                context.access_cell_at(self.cell, self.write, self.location, time - 1);
            }
        });
    }
}

/// loom's pointer for reading a cell: the access lasts until it is dropped.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    pointer: *const T,
    access: Access,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// The cell must be alive, and nobody may write to it. (That nobody does is checked.)
    #[allow(unsafe_code)]
    pub unsafe fn deref(&self) -> &T {
        self.access.touch();
        // SAFETY: the caller promises that the cell lives and that nobody writes to it.
        unsafe { &*self.pointer }
    }

    /// The pointer itself.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.access.touch();
        let result = f(self.pointer);
        self.access.touch();
        result
    }
}

impl<T: ?Sized> Drop for ConstPtr<T> {
    fn drop(&mut self) {
        self.access.let_go();
    }
}

/// loom's pointer for writing to a cell: the access lasts until it is dropped.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    access: Access,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// The cell must be alive, and nobody else may access it. (That nobody does is checked.)
    #[allow(unsafe_code, clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        self.access.touch();
        // SAFETY: the caller promises that the cell lives and that nobody else accesses it.
        unsafe { &mut *self.pointer }
    }

    /// The pointer itself.
    pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.access.touch();
        let result = f(self.pointer);
        self.access.touch();
        result
    }
}

impl<T: ?Sized> Drop for MutPtr<T> {
    fn drop(&mut self) {
        self.access.let_go();
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
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
    /// A cell with a value.
    #[track_caller]
    pub const fn new(value: T) -> Cell<T> {
        Cell { value: UnsafeCell::new(value) }
    }

    /// A write.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// A write; returns the old value.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: a `Cell` is not `Sync`, and no reference to its value is given out.
        #[allow(unsafe_code)]
        self.value.with_mut(|inner| unsafe { std::mem::replace(&mut *inner, value) })
    }

    /// A read.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as for `replace`.
        #[allow(unsafe_code)]
        self.value.with(|inner| unsafe { *inner })
    }

    /// The value, and the default in its place: a write.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Exchanges the values of two cells: a write to each.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            // SAFETY: as for `replace`, and they are two.
            #[allow(unsafe_code)]
            self.value
                .with_mut(|mine| other.value.with_mut(|theirs| unsafe { std::ptr::swap(mine, theirs) }));
        }
    }

    /// A read and a write.
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.set(f(self.get()));
    }

    /// The value: nobody else has a reference, so nothing is checked.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}
