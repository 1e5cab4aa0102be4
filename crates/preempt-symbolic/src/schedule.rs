//! From a failure to one schedule: which shared state each context of each thread begins and ends with.
//!
//! The relations of `handoff` say which vectors of starts and ends fit together. One member is picked for the failing thread,
//! then one vector of starts for the first thread, and from these both ways round: backwards through the threads before
//! the failing one, forwards through those after it. Each pick is within a set that is not empty because the picks before
//! it were within the composition, so that nothing is ever taken back.

use crate::error::Result;
use crate::handoff::Handoff;
use crate::round_robin::FailingContext;
use crate::vars::{Copy, Vars};
use preempt_bdd::Bdd;

/// A shared state, slot by slot.
pub(crate) type Shared = Vec<u64>;

/// The shared states at the starts and at the ends of a thread's contexts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contexts {
    pub starts: Vec<Shared>,
    pub ends: Vec<Shared>,
}

/// One schedule in which the failure happens. Threads after the failing one have one context less.
pub(crate) fn schedule(
    vars: &Vars,
    handoff: &Handoff<'_>,
    failing: &FailingContext,
) -> Result<Vec<Contexts>> {
    let (j, k) = (failing.thread, failing.context);
    let mine = Contexts { starts: pick(vars, &failing.vectors, (0..=k).map(Copy::Start)), ends: Vec::new() };
    let fixed = failing.vectors.and(&point(vars, Copy::Start, &mine.starts)?)?;
    let mine = Contexts { ends: pick(vars, &fixed, (0..=k).map(Copy::Now)), ..mine };
    let mut threads = vec![Contexts::default(); handoff.threads];

    // Where the first thread starts: through the threads before this one it must lead to this one's starts, and
    // through those after it this one's ends must lead to it.
    let first = match handoff.before(j, k) {
        None => mine.starts.clone(),
        Some(before) => {
            let fits = before.and(&point(vars, Copy::Start, &mine.starts)?)?;
            let after = handoff.after(j, k)?.and(&point(vars, Copy::Now, &mine.ends[..k])?)?;
            pick(vars, &fits.and(&after)?, (0..=k).map(Copy::Other))
        }
    };
    let from_first = point(vars, Copy::Other, &first)?;
    let mut ends = mine.starts.clone();
    for thread in (0..j).rev() {
        // E of this thread ends in `ends`; it starts where the threads before it can lead to
        let effect = handoff.e[k][thread].and(&point(vars, Copy::Now, &ends)?)?;
        let starts = match handoff.before(thread, k) {
            None => first.clone(),
            Some(before) => pick(vars, &before.and(&from_first)?.and(&effect)?, (0..=k).map(Copy::Start)),
        };
        threads[thread] = Contexts { starts: starts.clone(), ends };
        ends = starts;
    }
    let mut starts = mine.ends[..k].to_vec();
    threads[j] = mine;
    for thread in j + 1..handoff.threads {
        if k == 0 {
            break;
        }
        // E of this thread starts in `starts`; the threads after it must lead to the next starts of the first
        let effect = handoff.e[k - 1][thread].and(&point(vars, Copy::Start, &starts)?)?;
        let wanted = handoff.after(thread, k)?.and(&point(vars, next, &first[1..])?)?;
        let ends = pick(vars, &wanted.and(&effect)?, (0..k).map(Copy::Now));
        threads[thread] = Contexts { starts, ends: ends.clone() };
        starts = ends;
    }
    Ok(threads)
}

/// The starts of the first thread's contexts but the first.
fn next(context: usize) -> Copy {
    Copy::Other(context + 1)
}

/// Values of these copies in one member of the set.
fn pick(vars: &Vars, set: &Bdd, copies: impl Iterator<Item = Copy>) -> Vec<Shared> {
    let copies: Vec<Vec<_>> = copies.map(|copy| vars.all_shared(copy).collect()).collect();
    let variables = copies.concat();
    let values = vars.space.pick(set, &variables).unwrap_or_else(|| vec![0; variables.len()]);
    // a program may have no shared variables at all
    let size = vars.shared_count();
    (0..copies.len()).map(|i| values[i * size..(i + 1) * size].to_vec()).collect()
}

/// The copies 0, 1, ... have these values.
pub(crate) fn point(vars: &Vars, copy: fn(usize) -> Copy, states: &[Shared]) -> Result<Bdd> {
    let mut result = vars.space.yes();
    for (i, state) in states.iter().enumerate() {
        let values: Vec<_> = vars.all_shared(copy(i)).zip(state.iter().copied()).collect();
        result = result.and(&vars.space.point(&values)?)?;
    }
    Ok(result)
}
