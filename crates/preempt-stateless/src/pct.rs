//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte 2010): random priorities that change at
//! few random points of the run.
//!
//! **What it does.** Every thread has a random priority, and the enabled thread with the highest one moves. `depth - 1` steps
//! are drawn before which the running thread falls below all that never fell. A thread that yields falls below all others:
//! who spins until somebody else has moved would spin for ever.
//!
//! **Why it is worth having.** A bug of depth d (one that needs d ordering constraints) is hit in each run with probability of
//! at least 1/(n k^(d-1)), for n threads and k steps; random walks have no such bound. It proves nothing.
//!
//! **Where it is easy to go wrong.** The i-th *drawn* step gives the priority i, whether it comes early or late in the run: so
//! who falls later may land above or below who fell before, and every order of the threads that fell is as likely as any
//! other. (With priorities in the order of falling, A, B, A by two changes had probability 0, and the bound failed from
//! depth 3 on; `tests/pct.rs` measures it.)

use crate::executable::{Executable, Move};
use crate::explore::{Exploration, ExplorationLimits, RunObserver};
use crate::random::runs;
use preempt_core::Rng;

/// Runs until the limit on executions or time, or 1000 times. The same seed makes the same runs.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    seed: u64,
    depth: u32,
    observer: &mut impl RunObserver,
) -> Exploration {
    let mut rng = Rng::new(seed);
    let mut current = None;
    let mut priorities: Vec<i64> = Vec::new();
    let mut yields = 0;
    let mut changes: Vec<usize> = Vec::new();
    // The length of a run is not known beforehand: the longest so far is the guess.
    let mut longest = 1;
    runs(program, limits, observer, move |run, moves, step, yielded| {
        if current != Some(run) {
            current = Some(run);
            priorities.clear();
            changes = (1..depth).map(|_| rng.below(longest)).collect();
        }
        longest = longest.max(step + 1);
        while priorities.len() <= moves.iter().map(|step| step.thread).max().unwrap_or(0) {
            // Above all values that a change point can give.
            priorities.push((rng.word() >> 2) as i64 | 1 << 62);
        }
        if let Some(thread) = yielded {
            yields += 1;
            priorities[thread] = -yields;
        }
        let highest = |priorities: &[i64]| {
            let thread = moves.iter().map(|step| step.thread).max_by_key(|&thread| priorities[thread]);
            thread.unwrap_or(0)
        };
        let mut thread = highest(&priorities);
        if let Some(drawn) = changes.iter().position(|&change| change == step) {
            priorities[thread] = drawn as i64 + 1;
            thread = highest(&priorities);
        }
        // Each of its choices is as likely as the other.
        let choices: Vec<Move> = moves.iter().copied().filter(|step| step.thread == thread).collect();
        choices[if choices.len() > 1 { rng.below(choices.len()) } else { 0 }]
    })
}
