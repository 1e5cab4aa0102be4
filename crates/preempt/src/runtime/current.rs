//! Where the context of the current run is. It lives in the OS thread that runs the test; every modelled thread is a
//! coroutine on that thread, so nothing of it is ever touched by two at a time.
//!
//! **Invariant:** the context is borrowed only for a moment, never while a coroutine is resumed or suspended, and
//! never while code of the user runs.

use super::context::Context;
use std::cell::{Cell, UnsafeCell};

/// A `RefCell` that can be given back by force.
struct Slot {
    busy: Cell<bool>,
    context: UnsafeCell<Option<Context>>,
}

thread_local! {
    /// Some step of the run may have several choices.
    static CHOICES: Cell<bool> = const { Cell::new(false) };
    static CURRENT: Slot = const { Slot { busy: Cell::new(false), context: UnsafeCell::new(None) } };
}

/// The right to use the context; given back when it is dropped.
struct Borrowed {
    slot: *const Slot,
}

impl Borrowed {
    /// `None` if somebody else is using it, or the OS thread is at its end.
    ///
    /// What is done with the context does not happen inside of `LocalKey::with`: results would be copied on their way out of
    /// it, once for each layer, and every step of a run goes through here several times.
    #[inline]
    fn new() -> Option<Borrowed> {
        let slot = CURRENT.try_with(std::ptr::from_ref).ok()?;
        // SAFETY: the slot belongs to this OS thread, which has not begun to destroy it.
        #[allow(unsafe_code)]
        let busy = unsafe { (*slot).busy.replace(true) };
        (!busy).then_some(Borrowed { slot })
    }

    #[inline]
    fn get(&mut self) -> &mut Option<Context> {
        // SAFETY: nobody else is using it: `busy` was not set, all uses go through here, and the slot belongs to one OS
        // thread. It is destroyed at the end of that thread, which `self`, a value of its stack, does not outlive.
        #[allow(unsafe_code)]
        unsafe {
            &mut *(*self.slot).context.get()
        }
    }
}

impl Drop for Borrowed {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `get`.
        #[allow(unsafe_code)]
        unsafe {
            (*self.slot).busy.set(false);
        }
    }
}

/// After code was abandoned that may have been using the context (an overflow of its stack), and is never resumed.
pub(crate) fn unlock() {
    CURRENT.with(|slot| slot.busy.set(false));
}

/// Replaces the context; returns the old one.
pub(crate) fn install(context: Option<Context>) -> Option<Context> {
    let mut over = Borrowed::new().and_then(|mut slot| std::mem::replace(slot.get(), context));
    over.iter_mut().for_each(super::word::keep);
    over
}

/// Uses the context for a moment, if there is one and nobody else is using it.
pub(crate) fn try_with<R>(use_it: impl FnOnce(&mut Context) -> R) -> Option<R> {
    let mut slot = Borrowed::new()?;
    Some(use_it(slot.get().as_mut()?))
}

/// Uses the context for a moment.
#[track_caller]
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Context) -> R) -> R {
    if let Some(mut slot) = Borrowed::new()
        && let Some(context) = slot.get()
    {
        return use_it(context);
    }
    outside()
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
