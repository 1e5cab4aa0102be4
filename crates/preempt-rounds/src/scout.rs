//! A short search that only collects shared states: which values do the shared variables of this program take together?
//!
//! All runs at once, since rounds would let the first threads run long before the others. Calls within calls are followed to a
//! small depth and then left out, so that a program whose recursion never ends is looked at as well. What is found need not be
//! all that there is: whoever uses it must notice what is missing.

use crate::round_robin::End;
use crate::search::{Caps, Setting, start};
use crate::supported::supported;
use crate::symmetry::{Order, Sorted};
use crate::turns::Turns;
use preempt_core::Budget;

/// Frames of a stack: few calls within calls show most shared states, and the stacks are many already.
const DEPTH: u32 = 8;

/// Configurations that are expanded in each of three parts: all together a tenth of a second.
const WORK: usize = 1 << 14;

/// Shared states that few steps lead to; none if there are more than `most`, if the search did not end and its last third still
/// brought many new ones, if something goes wrong within it, or if rounds cannot execute the program.
pub fn scout(setting: &Setting<'_>, most: usize, budget: &Budget) -> Option<Vec<Vec<i32>>> {
    supported(setting.model, &setting.threads).ok()?;
    let mut turns = Turns::new(setting, Caps { depth: DEPTH, ..Caps::default() }, budget);
    turns.deep_left_out = true;
    let mut all = Sorted::new(start(setting, &mut turns), Order::Turns);
    let mut met = Vec::new();
    for _ in 0..3 {
        for _ in 0..16 {
            let end = all.advance(&mut turns, WORK / 16).ok()?;
            let count = turns.rules.shared.len();
            match end {
                _ if count > most || budget.exhausted().is_some() => return None,
                None => {}
                Some(End::Failure { .. }) => return None,
                Some(End::Nothing | End::Bound) => return Some(states(&turns)),
            }
        }
        met.push(turns.rules.shared.len());
    }
    let few_more = matches!(met[..], [_, before, after] if after <= before + before / 8);
    few_more.then(|| states(&turns))
}

fn states(turns: &Turns<'_>) -> Vec<Vec<i32>> {
    let shared = &turns.rules.shared;
    (0..shared.len()).map(|number| shared.word(number as u32).to_vec()).collect()
}
