//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte 2010): random priorities, and
//! `depth - 1` steps before which the running thread falls below all that never fell. A bug of depth d is hit in each run
//! with probability at least 1/(n k^(d-1)), for n threads and k steps. A baseline that proves nothing.
//!
//! The i-th *drawn* step gives the priority i, whether it comes early or late in the run: so who falls later may land
//! above or below who fell before, and every order of the threads that fell is as likely as any other.

use crate::executable::{Executable, Move};
use crate::explore::{Exploration, Limits, Terminal};
use crate::random::runs;
use preempt_core::Rng;

/// Runs until the limit on executions or time, or 1000 times.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &Limits,
    seed: u64,
    depth: u32,
    terminal: &mut impl Terminal,
) -> Exploration {
    let mut chance = Rng::new(seed);
    let mut current = None;
    let mut priorities: Vec<u64> = Vec::new();
    let mut changes: Vec<usize> = Vec::new();
    // The length of a run is not known beforehand: the longest so far is the guess.
    let mut longest = 1;
    runs(program, limits, terminal, move |run, moves, step| {
        if current != Some(run) {
            current = Some(run);
            priorities.clear();
            changes = (1..depth).map(|_| chance.below(longest)).collect();
        }
        longest = longest.max(step + 1);
        while priorities.len() <= moves.iter().map(|step| step.thread).max().unwrap_or(0) {
            // Above all values that a change point can give.
            priorities.push(chance.word() | 1 << 63);
        }
        let highest = |priorities: &[u64]| {
            let thread = moves.iter().map(|step| step.thread).max_by_key(|&thread| priorities[thread]);
            thread.unwrap_or(0)
        };
        let mut thread = highest(&priorities);
        if let Some(drawn) = changes.iter().position(|&change| change == step) {
            priorities[thread] = drawn as u64 + 1;
            thread = highest(&priorities);
        }
        // Each of its ways is as likely as the other.
        let ways: Vec<Move> = moves.iter().copied().filter(|step| step.thread == thread).collect();
        ways[if ways.len() > 1 { chance.below(ways.len()) } else { 0 }]
    })
}
