//! `thread_local!`: a value for each modelled thread, made when the thread first uses it and dropped at its end.

use crate::runtime::current::{active, with};
use crate::runtime::operate::run_deferred;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// As `std::thread::LocalKey`.
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

/// A value of one thread.
struct Local {
    /// The address of its key.
    key: usize,
    /// `None` once its destructor has begun.
    value: Option<Box<dyn Any>>,
    /// Without a destructor it can be used until the end, as std's.
    needs_drop: bool,
}

/// The values of one thread.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<Local>,
    /// The thread is at its end: destructors are running.
    pub ending: bool,
}

/// Drops the values of the running thread, last made first, as std does. Their destructors are the user's: they may do
/// operations, and use values that are still there or were never made. A panic in one of them aborts a real program, so
/// it is a failure that nobody can handle, and ends this.
pub(crate) fn end_of_thread() {
    let next = || {
        with(|context| {
            let locals = &mut context.me().locals;
            locals.ending = true;
            locals
                .values
                .iter_mut()
                .rev()
                .filter(|local| local.needs_drop)
                .find_map(|local| local.value.take())
        })
    };
    while let Some(value) = next() {
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            drop(value);
            run_deferred();
        }));
        if dropped.is_err() {
            with(|context| {
                let me = context.me();
                (me.panicked, me.fatal) = (true, true);
                std::mem::forget(std::mem::take(&mut me.locals.values));
            });
            run_deferred();
            break;
        }
    }
}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> LocalKey<T> {
        LocalKey { init }
    }

    /// `Some(None)` if it is gone.
    fn find(&'static self) -> Option<Option<*const T>> {
        let key = std::ptr::from_ref(self).addr();
        with(|context| {
            let local = context.me().locals.values.iter().find(|local| local.key == key)?;
            let value = local.value.as_ref().and_then(|value| value.downcast_ref::<T>());
            Some(value.map(std::ptr::from_ref))
        })
    }

    /// Uses the value of this thread, made if need be.
    ///
    /// # Panics
    /// At the end of the thread, when the value is gone.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("cannot access a Thread Local Storage value during or after destruction")
    }

    /// As [`LocalKey::with`].
    ///
    /// # Errors
    /// At the end of the thread, when the value is gone, and outside of a test.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if !active() {
            return Err(gone());
        }
        let value = match self.find() {
            Some(value) => value.ok_or_else(gone)?,
            None => {
                // The user's code: nothing may be borrowed.
                let value: Option<Box<dyn Any>> = Some(Box::new((self.init)()));
                let (key, needs_drop) = (std::ptr::from_ref(self).addr(), std::mem::needs_drop::<T>());
                with(|context| context.me().locals.values.push(Local { key, value, needs_drop }));
                self.find().flatten().ok_or_else(gone)?
            }
        };
        // SAFETY: values are boxed, so they do not move, and they are dropped at the end of their thread only, and are
        // then not given out any more. `f` runs in the thread, and so comes before its end.
        #[allow(unsafe_code)]
        Ok(f(unsafe { &*value }))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value of this thread.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// The value of this thread.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// The value of this thread, and the default in its place.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Sets the value of this thread; returns the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Borrows the value of this thread.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Borrows the value of this thread mutably.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value of this thread.
    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    /// The value of this thread, and the default in its place.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the value of this thread; returns the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// As `std::thread::AccessError`: the value is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

fn gone() -> AccessError {
    AccessError(())
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

/// As `std::thread_local!`, for modelled threads.
///
/// ```
/// use preempt::thread;
/// use std::cell::Cell;
///
/// preempt::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
///
/// preempt::check(|| {
///     COUNT.set(1);
///     let child = thread::spawn(|| COUNT.get());
///     assert_eq!((COUNT.get(), child.join().unwrap()), (1, 0));
/// });
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident : $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one $(#[$attr])* $vis $name $type, $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident : $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one $(#[$attr])* $vis $name $type, $init);
        $($crate::thread_local!($($rest)*);)?
    };
    (@one $(#[$attr:meta])* $vis:vis $name:ident $type:ty, $init:expr) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::new(|| $init);
    };
}
