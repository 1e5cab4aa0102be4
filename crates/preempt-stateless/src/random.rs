//! Random schedules: at every step each possible move is as likely as any other.
//!
//! It proves nothing, and the probability of a given schedule of k steps among n threads is down to n^-k, so what needs few
//! switches in a long run is found worse than by [`crate::pct`]. It costs nothing beyond the runs themselves: a baseline,
//! and a smoke test for programs that are too large for anything else.

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::recorder::{RunRecorder, observe_path};
use crate::runner::Runner;
use preempt_core::Rng;

/// So many runs if there is no limit.
const RUNS: u64 = 1000;

/// Runs until the limit on executions or time, or 1000 times. The same seed makes the same runs.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    seed: u64,
    observer: &mut impl RunObserver,
) -> Exploration {
    let mut rng = Rng::new(seed);
    runs(program, limits, observer, |_, moves, _, _| moves[rng.below(moves.len())])
}

/// One run in which the threads take turns: whoever can move and comes next by number, and then from the first again.
pub fn take_turns<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    let limits = ExplorationLimits { executions: Some(1), ..*limits };
    let mut last = None;
    runs(program, &limits, observer, |_, moves, _, _| {
        let next = moves.iter().filter(|step| step.choice == 0).find(|step| Some(step.thread) > last);
        let step = *next.unwrap_or(&moves[0]);
        last = Some(step.thread);
        step
    })
}

/// Run after run, with `choose(run, moves, step, yielded)` deciding who moves, and how; `yielded` has just yielded.
pub(crate) fn runs<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
    mut choose: impl FnMut(u64, &[Move], usize, Option<usize>) -> Move,
) -> Exploration {
    let mut recorder = RunRecorder::new(limits);
    let mut runner = Runner::new(program);
    let most = limits.executions.unwrap_or(if limits.time.is_some() { u64::MAX } else { RUNS });
    let mut result = Ok(());
    for run in 0..most {
        result = one(&mut runner, &mut recorder, observer, |moves, step, yielded| {
            Some(choose(run, moves, step, yielded))
        });
        if result.is_err() {
            break;
        }
        runner.reset();
    }
    recorder.finish(result, &runner)
}

/// One run, with `choose(moves, step, yielded)` as in [`runs`]; it gives the run up by choosing none.
pub(crate) fn one<E: Executable>(
    runner: &mut Runner<'_, E>,
    recorder: &mut RunRecorder<'_>,
    observer: &mut impl RunObserver,
    mut choose: impl FnMut(&[Move], usize, Option<usize>) -> Option<Move>,
) -> Result<(), ExplorationStop> {
    runner.arrive()?;
    let mut preemptions = 0;
    let mut flow = Flow::Continue;
    loop {
        let moves = runner.moves();
        let endless = runner.is_endless(recorder.limits.steps);
        let livelock = flow == Flow::Continue && !moves.is_empty() && endless;
        if moves.is_empty() || flow == Flow::Stop || livelock {
            let end = if livelock { RunEnd::Failed } else { runner.program_mut().end() };
            let schedule = runner.schedule();
            recorder.completed_run(end, || FailingRun { schedule, preemptions, livelock })?;
            return observe_path(runner, observer);
        }
        let Some(step) = choose(&moves, runner.len(), runner.last_yielded()) else {
            return recorder.gave_up_run();
        };
        preemptions += u32::from(runner.preempts(step.thread));
        flow = runner.step(step)?;
    }
}
