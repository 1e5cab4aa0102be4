//! From a failure to a run of the program that the reference interpreter has executed.
//!
//! `schedule` picks the shared states between contexts, `path` the steps of each thread, and here they are taken one by
//! one: the interpreter alone says which values nondeterministic expressions took and which number a new process has. If
//! that fails, the analysis has made a mistake, and it is an internal error.

use crate::driver::Program;
use crate::error::Result as Analysed;
use crate::graph::{Programs, raw};
use crate::handoff::Handoff;
use crate::liveness::Liveness;
use crate::path::{Goal, Taken, path};
use crate::round_robin::FailingContext;
use crate::schedule::{Contexts, schedule};
use crate::threads::{EdgeAt, Threads};
use crate::vars::Vars;
use preempt_core::{Property, Trace};
use preempt_model::interpreter::{Action, Machine, State};
use preempt_model::search::replay;
use preempt_model::{Command, Interpreter, System};

/// What is needed to execute what the analysis found.
pub(crate) struct Executor<'a> {
    pub vars: &'a Vars,
    pub program: Program<'a>,
    /// Of the program with its leaves in the place of their calls.
    pub interpreter: &'a Interpreter<'a>,
    pub threads: &'a Threads,
    pub liveness: &'a Liveness,
}

impl Executor<'_> {
    /// What is violated, and the run that does it.
    pub fn counterexample(
        &self,
        programs: &Programs,
        handoff: &Handoff<'_>,
        failing: &FailingContext,
    ) -> Analysed<(Property, Trace)> {
        let contexts: Vec<Contexts> = schedule(self.vars, handoff, failing)?;
        let mut paths = Vec::new();
        for (thread, contexts) in contexts.iter().enumerate() {
            if contexts.starts.is_empty() {
                paths.push(Vec::new());
                continue;
            }
            let goal =
                if thread == failing.thread { Goal::Failure(failing.node, failing.edge) } else { Goal::End };
            let steps = path(self.vars, programs.of(thread), contexts, &goal)?;
            paths
                .push(steps.unwrap_or_else(|| panic!("internal error: the path of thread {thread} is lost")));
        }
        let run = self
            .run(&paths, failing.thread)
            .unwrap_or_else(|reason| panic!("internal error: the run found cannot be executed: {reason}"));
        let Program { written, sources, .. } = self.program;
        let written = Interpreter::new(written, sources)
            .unwrap_or_else(|fault| panic!("internal error: the program cannot begin: {}", fault.0));
        let initial = written.initial_states().swap_remove(0);
        let replayed = replay(&written, &initial, &run, false)
            .unwrap_or_else(|misfit| panic!("internal error: the run found does not replay: {misfit:?}"));
        let violation =
            replayed.violation.unwrap_or_else(|| panic!("internal error: the run found violates nothing"));
        Ok((Property::from(violation), replayed.trace))
    }

    /// The run, round by round, as processes and actions; the last step of thread `failing` goes wrong.
    fn run(&self, paths: &[Vec<Taken>], failing: usize) -> Result<Vec<(usize, Action)>, String> {
        let mut run = Run {
            setting: self,
            state: self.interpreter.initial_states().remove(0),
            pids: self.threads.all.iter().map(|thread| thread.pid).collect(),
            steps: Vec::new(),
        };
        for (pid, action) in &self.threads.prelude {
            let successors = self.interpreter.successors(&run.state, *pid);
            let next = successors.into_iter().find(|next| next.action == *action);
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
}

struct Run<'a> {
    setting: &'a Executor<'a>,
    state: State,
    /// The process of each thread, once it has been started.
    pids: Vec<Option<usize>>,
    steps: Vec<(usize, Action)>,
}

impl Run<'_> {
    /// One step; true if it is the failing one.
    fn step(&mut self, thread: usize, taken: &Taken, fails: bool) -> Result<bool, String> {
        let name = &self.setting.threads.all[thread].name;
        // the step that takes a thread from waiting to its code
        if taken.edge == u32::MAX {
            return Ok(false);
        }
        let pid = self.pids[thread].ok_or_else(|| format!("{name} has not been started"))?;
        // a process that is blocked in its atomic sequence has given up the processor
        if let Some(holder) = self.setting.interpreter.exclusive(&self.state)
            && self.setting.interpreter.successors(&self.state, holder).is_empty()
        {
            self.state = self.setting.interpreter.release(&self.state);
        }
        let machine = self.setting.interpreter.open(&self.state);
        let frame = machine.processes[pid].frame();
        let place = (frame.code, frame.location, taken.edge);
        let successors = self.setting.interpreter.successors(&self.state, pid);
        let step =
            successors.into_iter().filter(|step| step.action.edge == taken.edge).find(|step| match fails {
                true => step.violation.is_some(),
                false => step
                    .state
                    .as_ref()
                    .is_some_and(|state| self.fits(&self.setting.interpreter.open(state), pid, taken)),
            });
        let step =
            step.ok_or_else(|| format!("{name} cannot take edge {} of location {}", taken.edge, place.1.0))?;
        if let Some((site, content)) = self.setting.threads.site(place)
            && matches!(self.command(place), Some(Command::Run { .. }))
        {
            let started = (1..=content.instances).find_map(|instance| {
                let waiting = |thread: &crate::threads::Thread| thread.waits == Some((site, instance));
                let thread = self.setting.threads.all.iter().position(waiting)?;
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

    fn command(&self, (code, location, edge): EdgeAt) -> Option<&Command> {
        let edges = &self.setting.interpreter.model().code(code).location(location).edges;
        edges.get(edge as usize).map(|edge| &edge.command)
    }

    /// Is this the state that the path says?
    fn fits(&self, machine: &Machine, pid: usize, taken: &Taken) -> bool {
        let types = &self.setting.vars.shape.shared;
        let shared = machine.globals.iter().zip(types).map(|(value, ty)| raw(*value, *ty));
        if !shared.zip(self.setting.vars.decode(&taken.shared)).all(|(value, wanted)| value == *wanted) {
            return false;
        }
        let Some(locals) = &taken.locals else { return true };
        let Some(process) = machine.processes.get(pid) else { return false };
        let frame = process.frame();
        let types = &self.setting.vars.shape.locals[usize::from(frame.code.0)];
        let values = frame.locals.iter().zip(types).map(|(value, ty)| raw(*value, *ty));
        // what is of no use any more is not known
        let live = self.setting.liveness.at(frame.code, frame.location);
        values.zip(locals).zip(live).all(|((value, wanted), live)| !live || value == *wanted)
    }
}
