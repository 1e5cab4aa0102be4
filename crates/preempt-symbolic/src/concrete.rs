//! From the threads' paths to one run of the program, step by step on the reference interpreter: it alone says which
//! values nondeterministic expressions took and which number a new process has.

use crate::graph::raw;
use crate::liveness::Liveness;
use crate::path::Taken;
use crate::threads::Threads;
use crate::vars::Vars;
use preempt_model::interpreter::{Action, Machine, State};
use preempt_model::{Command, Interpreter, System};

/// The run, round by round, as processes and actions; the last step of thread `failing` goes wrong. An error would be a mistake of the analysis.
pub(crate) fn run(
    vars: &Vars,
    interpreter: &Interpreter<'_>,
    threads: &Threads,
    liveness: &Liveness,
    paths: &[Vec<Taken>],
    failing: usize,
) -> Result<Vec<(usize, Action)>, String> {
    let mut run = Run {
        vars,
        interpreter,
        threads,
        liveness,
        state: interpreter.initial_states().remove(0),
        pids: threads.all.iter().map(|thread| thread.pid).collect(),
        steps: Vec::new(),
    };
    for (pid, action) in &threads.prelude {
        let next = interpreter.successors(&run.state, *pid).into_iter().find(|next| next.action == *action);
        run.state = next.and_then(|next| next.state).ok_or("the first steps cannot be repeated")?;
        run.steps.push((*pid, action.clone()));
    }
    let rounds = paths.iter().flatten().map(|taken| taken.context + 1).max().unwrap_or(0);
    let mut positions = vec![0; paths.len()];
    for context in 0..rounds {
        for (thread, path) in paths.iter().enumerate() {
            while let Some(taken) = path.get(positions[thread]).filter(|taken| taken.context == context) {
                positions[thread] += 1;
                let fails = thread == failing && positions[thread] == path.len();
                if run.step(thread, taken, fails)? {
                    return Ok(run.steps);
                }
            }
        }
    }
    Ok(run.steps)
}

struct Run<'a> {
    vars: &'a Vars,
    interpreter: &'a Interpreter<'a>,
    threads: &'a Threads,
    liveness: &'a Liveness,
    state: State,
    /// The process of each thread, once it has been started.
    pids: Vec<Option<usize>>,
    steps: Vec<(usize, Action)>,
}

impl Run<'_> {
    /// One step; true if it is the failing one.
    fn step(&mut self, thread: usize, taken: &Taken, fails: bool) -> Result<bool, String> {
        let name = &self.threads.all[thread].name;
        // the step that takes a thread from waiting to its code
        if taken.edge == u32::MAX {
            return Ok(false);
        }
        let pid = self.pids[thread].ok_or_else(|| format!("{name} has not been started"))?;
        // a process that is blocked in its atomic sequence has given up the processor
        if let Some(holder) = self.interpreter.exclusive(&self.state)
            && self.interpreter.successors(&self.state, holder).is_empty()
        {
            self.state = self.interpreter.release(&self.state);
        }
        let machine = self.interpreter.open(&self.state);
        let frame = machine.processes[pid].frame();
        let place = (frame.code, frame.location, taken.edge);
        let successors = self.interpreter.successors(&self.state, pid);
        let step =
            successors.into_iter().filter(|step| step.action.edge == taken.edge).find(|step| match fails {
                true => step.violation.is_some(),
                false => step
                    .state
                    .as_ref()
                    .is_some_and(|state| self.fits(&self.interpreter.open(state), pid, taken)),
            });
        let step =
            step.ok_or_else(|| format!("{name} cannot take edge {} of location {}", taken.edge, place.1.0))?;
        if let Some((site, content)) = self.threads.site(place)
            && matches!(self.command(place), Some(Command::Run { .. }))
        {
            let started = (1..=content.instances).find_map(|instance| {
                let waiting = |thread: &crate::threads::Thread| thread.waits == Some((site, instance));
                let thread = self.threads.all.iter().position(waiting)?;
                self.pids[thread].is_none().then_some(thread)
            });
            if let Some(started) = started {
                self.pids[started] = Some(machine.processes.len());
            }
        }
        self.steps.push((pid, step.action));
        if let Some(state) = step.state {
            self.state = state;
        }
        Ok(fails)
    }

    fn command(
        &self,
        (code, location, edge): (preempt_model::CodeId, preempt_model::LocationId, u32),
    ) -> Option<&Command> {
        let edges = &self.interpreter.model().code(code).location(location).edges;
        edges.get(edge as usize).map(|edge| &edge.command)
    }

    /// Is this the state that the path says?
    fn fits(&self, machine: &Machine, pid: usize, taken: &Taken) -> bool {
        let types = &self.vars.shape.shared;
        let shared = machine.globals.iter().zip(types).map(|(value, ty)| raw(*value, *ty));
        if !shared.zip(&taken.shared).all(|(value, wanted)| value == *wanted) {
            return false;
        }
        let Some(locals) = &taken.locals else { return true };
        let Some(process) = machine.processes.get(pid) else { return false };
        let frame = process.frame();
        let types = &self.vars.shape.locals[usize::from(frame.code.0)];
        let values = frame.locals.iter().zip(types).map(|(value, ty)| raw(*value, *ty));
        // what is of no use any more is not known
        let live = self.liveness.at(frame.code, frame.location);
        values.zip(locals).zip(live).all(|((value, wanted), live)| !live || value == *wanted)
    }
}
