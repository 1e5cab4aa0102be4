//! Where the context of the current run is. It lives in the OS thread that runs the test; every modelled thread is a
//! coroutine on that thread, so nothing of it is ever touched by two at a time.
//!
//! **Invariant:** the context is borrowed only for a moment, never while a coroutine is resumed or suspended, and
//! never while code of the user runs.

use super::context::Context;
use std::cell::Cell;
use std::ptr::null_mut;

// Without destructors, so that an access is a load: every step of a run comes here several times.
thread_local! {
    /// Some step of the run may have several choices.
    static CHOICES: Cell<bool> = const { Cell::new(false) };
    /// The context, which is owned; null if there is none.
    static INSTALLED: Cell<*mut Context> = const { Cell::new(null_mut()) };
    /// The same while nobody is using it; null otherwise.
    static FREE: Cell<*mut Context> = const { Cell::new(null_mut()) };
}

/// The right to use the context; given back when it is dropped.
struct Borrowed {
    context: *mut Context,
}

impl Borrowed {
    /// `None` if there is none, or somebody else is using it.
    #[inline]
    fn new() -> Option<Borrowed> {
        let context = FREE.replace(null_mut());
        if context.is_null() { None } else { Some(Borrowed { context }) }
    }

    #[inline]
    fn get(&mut self) -> &mut Context {
        // SAFETY: it was made from a box by `install`, which takes it away only while it is free. Nobody else is using it: it was free,
        // and is not any more until `self` is dropped; all uses go through here, in one OS thread.
        #[allow(unsafe_code)]
        unsafe {
            &mut *self.context
        }
    }
}

impl Drop for Borrowed {
    #[inline]
    fn drop(&mut self) {
        FREE.set(self.context);
    }
}

/// After code was abandoned that may have been using the context (an overflow of its stack), and is never resumed.
pub(crate) fn unlock() {
    FREE.set(INSTALLED.get());
}

/// Replaces the context; returns the old one. Nothing is done while somebody is using it.
pub(crate) fn install(context: Option<Box<Context>>) -> Option<Box<Context>> {
    if FREE.get() != INSTALLED.get() {
        return None;
    }
    let new = context.map_or(null_mut(), Box::into_raw);
    let old = INSTALLED.replace(new);
    FREE.set(new);
    if old.is_null() {
        return None;
    }
    // SAFETY: it was made from a box, here, and nobody is using it: it was free.
    #[allow(unsafe_code)]
    let mut over = unsafe { Box::from_raw(old) };
    super::word::keep(&mut over);
    Some(over)
}

/// Uses the context for a moment, if there is one and nobody else is using it.
#[inline]
pub(crate) fn try_with<R>(use_it: impl FnOnce(&mut Context) -> R) -> Option<R> {
    let mut borrowed = Borrowed::new()?;
    Some(use_it(borrowed.get()))
}

/// Uses the context for a moment.
#[track_caller]
#[inline]
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Context) -> R) -> R {
    match Borrowed::new() {
        Some(mut borrowed) => use_it(borrowed.get()),
        None => outside(),
    }
}

/// There is no run.
#[cold]
#[track_caller]
pub(crate) fn outside() -> ! {
    panic!("a preempt type was used outside of preempt::check: there is no schedule to control here")
}

/// Is there a run, and may it be used?
pub(crate) fn active() -> bool {
    try_with(|_| ()).is_some()
}

/// Is a step with several choices to be expected in the run that begins?
pub(super) fn reset_choices(expected: bool) {
    CHOICES.set(expected);
}

/// A step with several choices is about to be announced, whatever the options say.
pub(crate) fn expect_choices() {
    CHOICES.set(true);
}

/// Can there be steps with several choices?
pub(crate) fn choices_expected() -> bool {
    CHOICES.get()
}
