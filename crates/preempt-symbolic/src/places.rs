//! How many places a thread can stand at: its variable in `configurations` has that many values and no more, since every bit of
//! it is a level of the diagrams.
//!
//! A place is a node of `graph` under a stack of calls, that is a location inside or outside of an atomic sequence. It is
//! counted as `configurations` numbers them, without looking at values.

use crate::codes::own_codes;
use crate::threads::{Thread, Threads};
use crate::vars::Own;
use preempt_model::{CodeId, Command, LocationId, Model};
use std::collections::{BTreeMap, BTreeSet};

/// A thread that may stand at more places than this is not looked at as a whole.
pub(crate) const MOST_PLACES: usize = 1 << 12;

/// For each thread what it has for itself, if none of its codes can be in progress twice; otherwise nothing.
pub(crate) fn own(model: &Model, threads: &Threads) -> Vec<Own> {
    let own = own_codes(model, threads).into_iter().zip(&threads.all);
    own.map(|(codes, thread)| Own { codes, places: places(model, thread) }).collect()
}

/// How many places the thread can stand at, [`MOST_PLACES`] and one more at most. No code of it can be in progress twice.
fn places(model: &Model, thread: &Thread) -> u64 {
    let most = MOST_PLACES as u64 + 1;
    let mut known = BTreeMap::new();
    // The place in front of a thread that is started later is one more.
    (1 + under(model, thread.code, (thread.location, thread.exclusive), &mut known)).min(most)
}

type Counted = BTreeMap<(CodeId, LocationId, bool), u64>;

fn under(model: &Model, code: CodeId, entry: (LocationId, bool), known: &mut Counted) -> u64 {
    if let Some(count) = known.get(&(code, entry.0, entry.1)) {
        return *count;
    }
    let mut reached = BTreeSet::from([entry]);
    let mut waiting = vec![entry];
    let mut count = 0u64;
    while let Some((location, _)) = waiting.pop() {
        count = count.saturating_add(1);
        let mut next = vec![(location, false)];
        for edge in &model.code(code).location(location).edges {
            if let Command::Call { code: callee, .. } = &edge.command {
                let inside = under(model, *callee, (model.code(*callee).entry, edge.atomic), known);
                count = count.saturating_add(inside);
                next.extend([(edge.target, false), (edge.target, true)]);
            } else {
                next.push((edge.target, edge.atomic));
            }
        }
        waiting.extend(next.into_iter().filter(|place| reached.insert(*place)));
    }
    known.insert((code, entry.0, entry.1), count);
    count
}
