//! How a modelled thread does an operation: it says what it wants, waits to be chosen, and then does it.

use super::context::Context;
use super::current::{try_with, with};
use super::thread::{CodeLocation, Deferred, Label, Pending};
use preempt_stateless::{ObjectId, Operation};

/// Announces the operation, waits until the search chooses this thread, and does it.
///
/// While the thread panics the operation cannot wait: `None` (nothing was done, and nothing may be expected). While a
/// run is cut likewise.
#[track_caller]
pub(crate) fn operate<R>(
    operation: Operation,
    verb: &'static str,
    object: Option<ObjectId>,
    effect: impl FnOnce(&mut Context) -> R,
) -> Option<R> {
    let location: CodeLocation = std::panic::Location::caller();
    operate_at(&Pending { operation, label: Label { verb, object }, location }, effect)
}

pub(crate) fn operate_at<R>(pending: &Pending, effect: impl FnOnce(&mut Context) -> R) -> Option<R> {
    if std::thread::panicking() || !announce(pending) {
        return None;
    }
    Some(with(|context| context.perform(pending, effect)))
}

/// The first step of a thread: nothing of its own happens before, and its clock stands still.
pub(super) fn begin_at(pending: &Pending) {
    if announce(pending) {
        with(|context| context.record(pending));
    }
}

/// For destructors: as [`operate`], but what cannot be done now is done as soon as the thread has stopped panicking.
/// Its place is that of the thread's operation before, unless the destructor was called by name.
#[track_caller]
pub(crate) fn operate_or_defer(
    operation: Operation,
    verb: &'static str,
    object: Option<ObjectId>,
    effect: impl FnOnce(&mut Context) + 'static,
) {
    let mut location: CodeLocation = std::panic::Location::caller();
    let Some(at) = try_with(|context| (!context.cutting).then(|| context.me().at)).flatten() else { return };
    if location.file().ends_with("core/src/ptr/mod.rs") {
        // What goes out of scope is dropped by code of the compiler's, which has no location.
        location = at.unwrap_or(location);
    }
    let pending = Pending { operation, label: Label { verb, object }, location };
    if std::thread::panicking() {
        with(|context| context.me().deferred.push(Deferred { pending, effect: Box::new(effect) }));
    } else {
        operate_at(&pending, effect);
    }
}

/// Does what was deferred while the thread was panicking.
pub(crate) fn run_deferred() {
    let deferred = with(|context| std::mem::take(&mut context.me().deferred));
    for Deferred { pending, effect } in deferred {
        if announce(&pending) {
            with(|context| context.perform(&pending, effect));
        }
    }
}

/// Suspends the running coroutine until the search chooses it. What was deferred comes first. False if the run is cut.
fn announce(pending: &Pending) -> bool {
    let yielder = loop {
        let ready = with(|context| {
            if context.cutting {
                return Some(None);
            }
            if !context.me().deferred.is_empty() {
                return None;
            }
            let steps = context.steps_of_yields(&pending.operation);
            let stricter = context.stricter;
            let me = context.me();
            // Copied once, and changed in its place: every step comes through here.
            let announced = me.pending.insert(*pending);
            // Beside its kind, for the search to notice that a repeated run is elsewhere, and to tell objects apart by where they
            // are first used. Under shuttle's rules threads may meet in objects of std's, and a run may be elsewhere.
            if !stricter {
                let place = pending.location.line().wrapping_mul(31).wrapping_add(pending.location.column());
                announced.operation.code |= place << 8;
            }
            if let Some(steps) = steps {
                announced.operation = announced.operation.reads(steps);
            }
            Some(Some(me.yielder))
        });
        match ready {
            Some(Some(yielder)) => break yielder,
            Some(None) => return false,
            None => run_deferred(),
        }
    };
    assert!(!yielder.is_null(), "a modelled thread has a coroutine");
    // SAFETY: the pointer was taken from the reference that the coroutine's body was given, and is used only from
    // inside this body, which is running now: `current` is the coroutine that the runtime has resumed.
    #[allow(unsafe_code)]
    unsafe {
        (*yielder).suspend(());
    }
    true
}
