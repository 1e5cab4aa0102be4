//! A short search that only collects shared states: which values do the shared variables of this program take together?
//!
//! Calls within calls are followed to a small depth and then left out, so that a program whose recursion never ends is looked
//! at as well. What is found need not be all that there is: whoever uses it must notice what is missing.

use crate::search::{Caps, Search, Setting};
use preempt_core::{Budget, Verdict};

/// Frames of a stack: few calls within calls show most shared states, and the stacks are many already.
const DEPTH: u32 = 8;

/// Pieces of work: some hundredths of a second.
const PIECES: usize = 24;

/// Shared states that few steps lead to; none if there are more than `most`, if the search neither ended nor was long enough for
/// its second half to show that no more come, if something goes wrong within it, or if rounds cannot execute the program.
pub fn scout(
    setting: &Setting<'_>,
    contexts: Option<u32>,
    most: usize,
    budget: &Budget,
) -> Option<Vec<Vec<i32>>> {
    let caps = Caps { depth: DEPTH, ..Caps::default() };
    let mut search = Search::new(setting, contexts, true, caps, budget).ok()?;
    search.leave_out_deep_stacks();
    let mut halfway = 0;
    for piece in 0..PIECES {
        if piece == PIECES / 2 {
            halfway = search.shared_states();
        }
        let answer = search.advance(&mut || true).ok()?;
        if search.shared_states() > most as u64 {
            return None;
        }
        match answer.map(|answer| answer.verdict) {
            None => {}
            Some(Verdict::Violated) => return None,
            Some(_) => return Some(met(&search)),
        }
    }
    (search.has_mixed() && search.shared_states() == halfway).then(|| met(&search))
}

fn met(search: &Search<'_>) -> Vec<Vec<i32>> {
    search.shared().map(<[i32]>::to_vec).collect()
}
