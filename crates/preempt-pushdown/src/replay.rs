//! From the rounds of the threads to a run of the program that the reference interpreter has executed.
//!
//! [`stages`](crate::stages) says which rules each thread applies in each round; here their steps are taken one by one, round by
//! round. If the interpreter cannot take one, the analysis has made a mistake, and it is an internal error.

use crate::check::Prepared;
use crate::program::{Action, Lowered, Told};
use crate::semiring::Unfinished;
use crate::stages::{Rounds, run_through};
use crate::system::Word;
use preempt_core::{Budget, Property, StopReason, Trace};
use preempt_model::interpreter::Action as Step;
use preempt_model::search::replay;
use preempt_model::{Command, System};

/// What is violated, and the run that does it.
pub(crate) fn counterexample(
    prepared: &Prepared<'_>,
    lowered: &Lowered,
    rounds: &[Rounds],
    budget: &Budget,
) -> Result<(Property, Trace), Unfinished> {
    let mut applied = Vec::new();
    for (thread, own) in rounds.iter().enumerate() {
        let rules = run_through(&lowered.system, thread, own, budget)?;
        applied
            .push(rules.unwrap_or_else(|| panic!("internal error: the rounds of thread {thread} are lost")));
    }
    let run = steps(prepared, lowered, &applied)
        .unwrap_or_else(|reason| panic!("internal error: the run found cannot be executed: {reason}"));
    let initial = prepared.interpreter.initial_states().swap_remove(0);
    let replayed = match replay(&prepared.interpreter, &initial, &run, false) {
        Ok(replayed) => replayed,
        Err(_) if budget.stopped().is_some() => {
            return Err(Unfinished::Stopped(budget.stopped().unwrap_or(StopReason::Time)));
        }
        Err(misfit) => panic!("internal error: the run found does not replay: {misfit:?}"),
    };
    let violation =
        replayed.violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
    Ok((Property::from(violation), replayed.trace))
}

/// The run as processes and actions, up to the step that goes wrong.
fn steps(
    prepared: &Prepared<'_>,
    lowered: &Lowered,
    applied: &[Vec<Vec<usize>>],
) -> Result<Vec<(usize, Step)>, String> {
    let (interpreter, threads) = (&prepared.interpreter, &prepared.threads);
    let mut state = interpreter.initial_states().swap_remove(0);
    let mut pids: Vec<Option<usize>> = threads.all.iter().map(|thread| thread.pid).collect();
    let mut run = Vec::new();
    for (pid, action) in &threads.prelude {
        let next = interpreter.successors(&state, *pid).into_iter().find(|next| next.action == *action);
        state = next.and_then(|next| next.state).ok_or("the first steps cannot be repeated")?;
        run.push((*pid, action.clone()));
    }
    let rounds = applied.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..rounds {
        for (thread, rules) in applied.iter().enumerate() {
            for &rule in rules.get(round).map_or(&[][..], Vec::as_slice) {
                let Action::Step(at, Told(action)) = &lowered.actions[thread][rule] else { continue };
                let name = &threads.all[thread].name;
                let pid = pids[thread].ok_or_else(|| format!("{name} has not been started"))?;
                // Who is blocked in an atomic sequence has given up the processor.
                if let Some(holder) = interpreter.exclusive(&state)
                    && interpreter.successors(&state, holder).is_empty()
                {
                    state = interpreter.release(&state);
                }
                let step = interpreter.successors(&state, pid).into_iter().find(|it| it.action == *action);
                let step = step.ok_or_else(|| format!("{name} cannot take edge {} of {}", at.2, at.1.0))?;
                let command = &interpreter.model().code(at.0).location(at.1).edges[at.2 as usize].command;
                if let (Command::Run { .. }, Some((site, content))) = (command, threads.site(*at)) {
                    let waiting = (1..=content.instances).filter_map(|instance| {
                        threads.all.iter().position(|it| it.waits == Some((site, instance)))
                    });
                    if let Some(started) = waiting.into_iter().find(|it| pids[*it].is_none()) {
                        pids[started] = Some(interpreter.process_count(&state));
                    }
                }
                run.push((pid, action.clone()));
                let wrong = lowered.system.threads[thread].pds.rules[rule].word;
                if lowered.system.threads[thread].bad.is_some_and(|bad| wrong == Word::Step(bad)) {
                    return Ok(run);
                }
                state = step.state.ok_or("a step in the middle has no end")?;
            }
        }
    }
    Err("nothing goes wrong".into())
}
