//! `thread_local!`: a value for each modelled thread, made when the thread first asks for it and dropped at its end.

use crate::runtime::context::{active, try_with, with};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;

/// As `std::thread::LocalKey`.
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

/// The values of one thread, by the addresses of their keys.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<(usize, Box<dyn Any>)>,
    /// The thread is at its end: nothing can be asked for any more.
    over: bool,
}

/// Drops the values of the running thread. Their destructors are the user's, and may do operations.
pub(crate) fn end_of_thread() {
    let values = try_with(|context| {
        let locals = &mut context.me().locals;
        locals.over = true;
        std::mem::take(&mut locals.values)
    });
    drop(values);
}

/// Takes the values of all threads away, to be dropped while a run is cut.
pub(crate) fn take_all() -> Vec<Box<dyn Any>> {
    let taken = try_with(|context| {
        let values = context.threads.iter_mut().flat_map(|thread| std::mem::take(&mut thread.locals.values));
        values.map(|(_, value)| value).collect()
    });
    taken.unwrap_or_default()
}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> LocalKey<T> {
        LocalKey { init }
    }

    fn find(&'static self) -> Option<*const T> {
        let key = std::ptr::from_ref(self).addr();
        with(|context| {
            let mut values = context.me().locals.values.iter();
            let (_, value) = values.find(|(other, _)| *other == key)?;
            value.downcast_ref::<T>().map(std::ptr::from_ref)
        })
    }

    /// # Panics
    /// At the end of the thread, when the value may be gone.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("cannot access a Thread Local Storage value during or after destruction")
    }

    /// # Errors
    /// At the end of the thread, when the value may be gone, and outside of a test.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if !active() || with(|context| context.me().locals.over) {
            return Err(gone());
        }
        let value = match self.find() {
            Some(value) => value,
            None => {
                // The user's code: nothing may be borrowed.
                let value = Box::new((self.init)());
                let key = std::ptr::from_ref(self).addr();
                with(|context| context.me().locals.values.push((key, value)));
                self.find().ok_or_else(gone)?
            }
        };
        // SAFETY: values are boxed, so they do not move, and they are dropped at the end of their thread only (or when
        // the run is cut, which unwinds the thread first). `f` runs in the thread, and so comes before its end.
        #[allow(unsafe_code)]
        Ok(f(unsafe { &*value }))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

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
        $vis static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::new({
            fn init() -> $type {
                $init
            }
            init
        });
    };
}
