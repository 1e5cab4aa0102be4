//! Schedules by chance: every way on is as likely as any other at every step. A baseline that proves nothing.

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, Failing, Limits, Stop, Terminal, Watch, show};
use crate::runner::Runner;

/// So many runs if there is no limit.
const RUNS: u64 = 1000;

/// A small generator (SplitMix64): reproducible, and good enough to choose threads.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }
}

/// Runs until the limit on executions or time, or 1000 times.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &Limits,
    seed: u64,
    terminal: &mut impl Terminal,
) -> Exploration {
    let mut chance = Chance::new(seed);
    runs(program, limits, terminal, |_, moves, _| moves[chance.below(moves.len())])
}

/// Run after run, with `choose(run, moves, step)` deciding who moves, and how.
pub(crate) fn runs<E: Executable>(
    program: &mut E,
    limits: &Limits,
    terminal: &mut impl Terminal,
    mut choose: impl FnMut(u64, &[Move], usize) -> Move,
) -> Exploration {
    let mut watch = Watch::new(limits);
    let mut runner = Runner::new(program);
    let most = limits.executions.unwrap_or(if limits.time.is_some() { u64::MAX } else { RUNS });
    let mut result = Ok(());
    for run in 0..most {
        result = one(&mut runner, &mut watch, terminal, |moves, step| choose(run, moves, step));
        if result.is_err() {
            break;
        }
        runner.reset();
    }
    watch.finish(result, runner.runs, runner.steps)
}

fn one<E: Executable>(
    runner: &mut Runner<'_, E>,
    watch: &mut Watch<'_>,
    terminal: &mut impl Terminal,
    mut choose: impl FnMut(&[Move], usize) -> Move,
) -> Result<(), Stop> {
    runner.arrive()?;
    let mut preemptions = 0;
    let mut flow = Flow::Continue;
    loop {
        let moves = runner.moves();
        let livelock = flow == Flow::Continue && !moves.is_empty() && runner.len() >= watch.limits.steps;
        if moves.is_empty() || flow == Flow::Stop || livelock {
            let end = if livelock { RunEnd::Failed } else { runner.program_mut().end() };
            let schedule = runner.schedule();
            watch.ended(end, || Failing { schedule, preemptions, livelock })?;
            return show(runner, terminal);
        }
        let step = choose(&moves, runner.len());
        preemptions += u32::from(runner.preempts(step.thread));
        flow = runner.step(step)?;
    }
}
