//! Schedules by chance: every way on is as likely as any other at every step. A baseline that proves nothing.

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, Failing, Limits, Stop, Terminal, Watch, show};
use crate::runner::Runner;
use preempt_core::Rng;

/// So many runs if there is no limit.
const RUNS: u64 = 1000;

/// Runs until the limit on executions or time, or 1000 times.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &Limits,
    seed: u64,
    terminal: &mut impl Terminal,
) -> Exploration {
    let mut chance = Rng::new(seed);
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
        let livelock = flow == Flow::Continue && !moves.is_empty() && runner.is_endless(watch.limits.steps);
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
