//! What the packages named loom and shuttle need of a run beyond std's interface: rules in which those crates differ from std, and
//! what a test may ask about its run. Hidden from the documentation, and re-exported by [`crate::thread`].

use crate::runtime::current::{active, expect_choices, try_with, with};
use crate::thread::ThreadId;

/// loom's main thread has no name, where std's has.
pub fn unnamed_main() {
    with(|context| context.unnamed_main = true);
}

/// What shuttle has otherwise than std: a thread must not take a lock for reading twice, tasks whose handles were dropped
/// end with the test, and anything may happen at a yield. If `parks` says so, each thread's park may return spuriously once.
pub fn shuttle_rules(parks: bool) {
    if parks {
        expect_choices();
    }
    with(|context| (context.stricter, context.spurious_parks) = (true, parks));
}

/// How many operations of each thread happen before what the thread does now; of itself, how many it has done.
pub fn clock_of(thread: ThreadId) -> Vec<u32> {
    with(|context| {
        let clock = &context.threads[thread.number].clock;
        // A thread's own time begins with 1, so that its first operation is later than its creation.
        let known = |other: usize| clock.get(other) - u32::from(other == thread.number);
        (0..context.threads.len()).map(known).collect()
    })
}

/// Whenever a thread of this run spawns another, both numbers are told.
pub fn on_spawn(tell: fn(usize, usize)) {
    with(|context| context.on_spawn = Some(tell));
}

/// Does a run of a test call this?
pub fn is_modelled() -> bool {
    active()
}

/// The name that the thread was given.
pub fn name_of(thread: ThreadId) -> Option<String> {
    try_with(|context| context.threads.get(thread.number).and_then(|thread| thread.label.clone())).flatten()
}

/// How many steps the run has done so far.
pub fn steps_done() -> usize {
    with(|context| context.done())
}

/// The steps so far do not count any more when it is asked whether the run will end.
pub fn reset_step_count() {
    with(|context| context.counts_from = context.done());
}

/// The next random number, where a scheduler of the user's gives them, or a schedule has them.
pub fn random_number() -> Option<u64> {
    let (numbers, used) = with(|context| {
        let (numbers, used) = context.numbers.as_mut()?;
        context.used_random = true;
        *used += 1;
        Some((numbers.clone(), *used - 1))
    })?;
    // The scheduler is code of the user's: the context is not lent meanwhile.
    Some(numbers.get(used))
}

/// What the random numbers of this run begin with: the same when the run is repeated, and another one in each run of a search
/// by chance.
pub fn random_seed() -> u64 {
    with(|context| {
        context.used_random = true;
        context.random_seed
    })
}
