//! `std::alloc` with memory that is followed: freeing it twice is a failure, and so is forgetting it
//! if [`crate::Checker::check_leaks`] says so.
//!
//! ```
//! use preempt::alloc::Track;
//! use preempt::{Checker, FailureKind};
//!
//! let forgets = || std::mem::forget(Track::new(7));
//! let report = Checker::new().check_leaks(true).run(forgets);
//! assert_eq!(report.failure.unwrap().kind, FailureKind::Leak);
//! ```

use crate::runtime::current::try_with;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use std::alloc::{GlobalAlloc, Layout, LayoutError, System, handle_alloc_error};

#[track_caller]
fn allocated(pointer: *mut u8) -> *mut u8 {
    let location = Location::caller();
    if !pointer.is_null() {
        try_with(|context| context.allocated(pointer.addr(), location));
    }
    pointer
}

/// # Panics
/// If the memory does not live.
#[track_caller]
fn freed(pointer: *mut u8) {
    let lived = try_with(|context| context.freed(pointer.addr()) || context.cutting);
    assert!(lived.unwrap_or(true), "memory is freed that is not allocated, or was freed before");
}

/// As `std::alloc::alloc`.
///
/// # Safety
/// As std's.
#[track_caller]
#[allow(unsafe_code)]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the caller keeps to what std asks of it, and so do we.
    allocated(unsafe { std::alloc::alloc(layout) })
}

/// As `std::alloc::alloc_zeroed`.
///
/// # Safety
/// As std's.
#[track_caller]
#[allow(unsafe_code)]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the caller keeps to what std asks of it, and so do we.
    allocated(unsafe { std::alloc::alloc_zeroed(layout) })
}

/// As `std::alloc::dealloc`.
///
/// # Safety
/// As std's.
#[track_caller]
#[allow(unsafe_code)]
pub unsafe fn dealloc(pointer: *mut u8, layout: Layout) {
    freed(pointer);
    // SAFETY: the caller promises that the memory was allocated with this layout; that it lives was just checked.
    unsafe { std::alloc::dealloc(pointer, layout) }
}

/// As `std::alloc::realloc`.
///
/// # Safety
/// As std's.
#[track_caller]
#[allow(unsafe_code)]
pub unsafe fn realloc(pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller promises that the memory was allocated with this layout and that the size is none that overflows.
    let moved = unsafe { std::alloc::realloc(pointer, layout, size) };
    if !moved.is_null() {
        freed(pointer);
        allocated(moved);
    }
    moved
}

/// A value that must be dropped: a leak check for whatever is put into it.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    life: Life,
}

#[derive(Debug)]
struct Life(Option<u64>);

impl Drop for Life {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            try_with(|context| context.untracked(number));
        }
    }
}

impl<T> Track<T> {
    /// From here on the value is followed.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let location = Location::caller();
        Track { value, life: Life(try_with(|context| context.tracked(location))) }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which is not followed any more.
    pub fn into_inner(self) -> T {
        drop(self.life);
        self.value
    }
}

impl<T> Deref for Track<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Track<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
