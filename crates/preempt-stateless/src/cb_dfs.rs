//! Depth-first search within the bound, without any reduction: the baseline `cb-dfs` of Musuvathi and Qadeer 2007 (paper
//! 001), Table 1.
//!
//! With bound c it runs every schedule of at most c preemptions, so it is right by exhaustion. Their number is polynomial in
//! the steps and exponential in the bound, and equivalent ones are all run: what the other algorithms are measured by.
//! Raising the bound starts anew; `executions` counts the runs of all bounds, as the other algorithms do.

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::recorder::{RunRecorder, observe_path};
use crate::runner::Runner;

/// A point of the current run where others could have moved.
struct Frame {
    /// With the cost of the path that takes each; in reverse, the next one last.
    left: Vec<(Move, u32)>,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    let mut recorder = RunRecorder::new(limits);
    let mut runner = Runner::new(program);
    let result = iterate(&mut runner, &mut recorder, observer);
    recorder.finish(result, &runner)
}

fn iterate<E: Executable>(
    runner: &mut Runner<'_, E>,
    recorder: &mut RunRecorder<'_>,
    observer: &mut impl RunObserver,
) -> Result<(), ExplorationStop> {
    for bound in 0.. {
        let cut = within(runner, bound, recorder, observer)?;
        recorder.completed_bound(bound);
        recorder.exploration.exhaustive = !cut;
        if !cut || recorder.is_last(bound) {
            break;
        }
        runner.reset();
    }
    Ok(())
}

/// True if a step was cut.
fn within<E: Executable>(
    runner: &mut Runner<'_, E>,
    bound: u32,
    recorder: &mut RunRecorder<'_>,
    observer: &mut impl RunObserver,
) -> Result<bool, ExplorationStop> {
    let mut cut = false;
    let mut stack: Vec<Frame> = Vec::new();
    let mut cost = 0;
    let mut flow = Flow::Continue;
    let mut moves = Vec::new();
    loop {
        runner.arrive()?;
        let mut left = Vec::new();
        if flow == Flow::Continue && !runner.is_endless(recorder.limits.steps) {
            runner.add_moves(&mut moves);
            let last = runner.last();
            let goes_on = last.is_some_and(|last| moves.contains(&Move::from(last)));
            for &step in moves.iter().rev() {
                let price = cost + u32::from(goes_on && last != Some(step.thread));
                if price <= bound { left.push((step, price)) } else { cut = true }
            }
            // The thread that runs goes on first.
            if let Some(own) = left.iter().position(|&(step, _)| runner.last().map(Move::from) == Some(step))
            {
                let own = left.remove(own);
                left.push(own);
            }
        }
        if left.is_empty() {
            let livelock = flow == Flow::Continue
                && runner.is_endless(recorder.limits.steps)
                && !runner.enabled().is_empty();
            let end = if livelock { RunEnd::Failed } else { runner.program_mut().end() };
            let schedule = runner.schedule();
            recorder.completed_run(end, || FailingRun { schedule, preemptions: cost, livelock })?;
            observe_path(runner, observer)?;
        } else {
            stack.push(Frame { left });
        }
        // The next step: of the newest frame that has one.
        let (step, price) = loop {
            let Some(frame) = stack.last_mut() else { return Ok(cut) };
            if let Some(choice) = frame.left.pop() {
                break choice;
            }
            stack.pop();
        };
        runner.rewind(stack.len() - 1);
        cost = price;
        flow = runner.step(step)?;
    }
}
