//! Plain depth-first search within the bound, without any reduction: the baseline `cb-dfs` of paper 001's Table 1.
//!
//! With bound c it runs every schedule of at most c preemptions. Raising the bound starts anew; `executions` counts
//! the runs of all bounds, as the other algorithms do.

use crate::executable::{Executable, Flow, Move, RunEnd};
use crate::explore::{Exploration, Failing, Limits, Stop, Terminal, Watch, show};
use crate::runner::Runner;

/// A point of the current run where others could have moved.
struct Frame {
    /// With the cost of the path that takes each; in reverse, the next one last.
    left: Vec<(Move, u32)>,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(program: &mut E, limits: &Limits, terminal: &mut impl Terminal) -> Exploration {
    let mut watch = Watch::new(limits);
    let mut runner = Runner::new(program);
    let result = iterate(&mut runner, &mut watch, terminal);
    watch.finish(result, runner.runs, runner.steps)
}

fn iterate<E: Executable>(
    runner: &mut Runner<'_, E>,
    watch: &mut Watch<'_>,
    terminal: &mut impl Terminal,
) -> Result<(), Stop> {
    for bound in 0.. {
        let cut = within(runner, bound, watch, terminal)?;
        watch.completed(bound);
        if !cut {
            watch.found.exhaustive = true;
        }
        if !cut || watch.limits.preemptions.is_some_and(|most| bound >= most) {
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
    watch: &mut Watch<'_>,
    terminal: &mut impl Terminal,
) -> Result<bool, Stop> {
    let mut cut = false;
    let mut stack: Vec<Frame> = Vec::new();
    let mut cost = 0;
    let mut flow = Flow::Continue;
    loop {
        runner.arrive()?;
        let mut left = Vec::new();
        if flow == Flow::Continue && !runner.is_endless(watch.limits.steps) {
            let (moves, last) = (runner.moves(), runner.last());
            let goes_on = last.is_some_and(|last| moves.contains(&Move::from(last)));
            for step in moves.into_iter().rev() {
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
                && runner.is_endless(watch.limits.steps)
                && !runner.enabled().is_empty();
            let end = if livelock { RunEnd::Failed } else { runner.program_mut().end() };
            let schedule = runner.schedule();
            watch.ended(end, || Failing { schedule, preemptions: cost, livelock })?;
            show(runner, terminal)?;
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
