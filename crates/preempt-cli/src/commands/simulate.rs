//! `preempt simulate`: one run, at random, by hand, or along a stored counterexample.

use super::model::{Ready, ready};
use super::replay::{recording, watched_or_not};
use crate::ExitStatus;
use crate::args::SimulateArgs;
use crate::backend::interpreter::{Action, State};
use crate::backend::{Interpreter, System, search};
use crate::console::{self, Failure};
use crate::job::{self, Stage};
use crate::plan::Engine;
use preempt_core::{Property, Rng, StopReason, Value};
use preempt_report::{Recorded, TextOptions, render_run};
use std::io::BufRead;

pub fn run(args: &SimulateArgs) -> Result<ExitStatus, Failure> {
    let Some(ready) = ready(&args.model, Engine::Reference, None, args.color)? else {
        return Ok(ExitStatus::Input);
    };
    let guide = args.guided.as_deref().map(|path| Guide::of(&ready, &recording(path)?)).transpose()?;
    let model = ready.model.counting_claim(guide.as_ref().is_some_and(|guide| guide.is_watched));
    let interpreter = ready.interpreter_of(&model)?;
    let mut run = Run::begin(&interpreter)?;
    let end = match guide {
        Some(guide) => {
            let mut steps = guide.steps.into_iter();
            match steps.find_map(|step| End::of_the_budget().or_else(|| run.take(step))) {
                Some(end) => end,
                None if run.choices().is_empty() => run.rest(),
                None => End::Guide,
            }
        }
        None if args.interactive => by_hand(&mut run, args.steps)?,
        None => at_random(&mut run, args.seed, args.steps),
    };
    let told = if args.interactive { String::new() } else { run.told(args)? };
    job::current().enter(Stage::Printing);
    console::print(&format!("{told}{}\n", end.sentence(&run)))?;
    Ok(match end {
        End::Violation(_) | End::Deadlock(_) => ExitStatus::Violated,
        End::Stopped(_) => ExitStatus::Inconclusive,
        End::Finished | End::Steps | End::Guide | End::Quit => ExitStatus::Holds,
    })
}

/// The steps of a stored run.
struct Guide {
    steps: Vec<(usize, Action)>,
    /// A claim was watching.
    is_watched: bool,
}

impl Guide {
    fn of(ready: &Ready, recorded: &Recorded) -> Result<Guide, Failure> {
        let mut first = None;
        for is_watched in watched_or_not(recorded).iter().copied() {
            let model = ready.model.counting_claim(is_watched);
            let found = search::recognise(&ready.interpreter_of(&model)?, &recorded.trace);
            job::check()?;
            match found {
                Ok(found) => return Ok(Guide { steps: found.steps, is_watched }),
                Err(misfit) => first = first.or(Some(misfit)),
            }
        }
        Err(Failure::new(first.map_or("the counterexample is empty".into(), |misfit| {
            let (step, reason) = (misfit.step + 1, misfit.reason);
            format!("the counterexample does not fit the model at step {step}: {reason}")
        })))
    }
}

/// A run as far as it has come.
struct Run<'a> {
    interpreter: &'a Interpreter<'a>,
    /// Before each step, and after the last.
    states: Vec<State>,
    steps: Vec<(usize, Action)>,
}

/// Why it ends.
enum End {
    Violation(Property),
    Deadlock(Property),
    /// Nobody can move, and everybody is where it may end.
    Finished,
    Steps,
    /// Time or memory is over, or the user has had enough.
    Stopped(StopReason),
    /// The stored counterexample is at its end.
    Guide,
    Quit,
}

impl<'a> Run<'a> {
    fn begin(interpreter: &'a Interpreter<'a>) -> Result<Run<'a>, Failure> {
        let initial = interpreter.initial_states();
        let state = initial.into_iter().next().ok_or_else(|| Failure::new("there is no initial state"))?;
        Ok(Run { interpreter, states: vec![state], steps: Vec::new() })
    }

    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// Everything that anybody can do; a process that blocks in an atomic sequence lets the others go on.
    fn choices(&mut self) -> Vec<(usize, Action)> {
        let interpreter = self.interpreter;
        let moves = |state: &State, process: usize| {
            interpreter.successors(state, process).into_iter().map(move |it| (process, it.action))
        };
        if let Some(holder) = interpreter.exclusive(self.state()) {
            let own: Vec<_> = moves(self.state(), holder).collect();
            if !own.is_empty() {
                return own;
            }
            let released = interpreter.release(self.state());
            self.states.pop();
            self.states.push(released);
        }
        let state = self.state();
        (0..interpreter.process_count(state)).flat_map(|process| moves(state, process)).collect()
    }

    /// Makes a step; says so if the run ends with it.
    fn take(&mut self, (process, action): (usize, Action)) -> Option<End> {
        let before = self.state().clone();
        let released;
        let before = match self.interpreter.exclusive(&before) {
            Some(holder) if holder != process => {
                released = self.interpreter.release(&before);
                &released
            }
            _ => &before,
        };
        let successor =
            self.interpreter.successors(before, process).into_iter().find(|it| it.action == action)?;
        self.steps.push((process, action));
        self.states.push(successor.state.clone().unwrap_or_else(|| before.clone()));
        successor.violation.map(|it| End::Violation(it.into()))
    }

    /// Nobody can move, unless there was no time to find out.
    fn rest(&self) -> End {
        let finished = || match self.interpreter.may_end(self.state()) {
            true => End::Finished,
            false => End::Deadlock(search::deadlock(self.interpreter, self.state())),
        };
        End::of_the_budget().unwrap_or_else(finished)
    }

    fn told(&self, args: &SimulateArgs) -> Result<String, Failure> {
        let replayed = match search::replay(self.interpreter, &self.states[0], &self.steps, false) {
            Ok(replayed) => replayed,
            // Its steps cannot be made once more.
            Err(_) if End::of_the_budget().is_some() => return Ok(String::new()),
            Err(misfit) => return Err(Failure::new(format!("internal error: {misfit:?}"))),
        };
        let options = TextOptions {
            width: console::stdout_width(),
            style: console::stdout_style(args.color),
            full: args.full,
            ..TextOptions::default()
        };
        Ok(render_run(&replayed.trace, None, &options))
    }
}

impl End {
    fn of_the_budget() -> Option<End> {
        job::current().budget.exhausted().map(End::Stopped)
    }

    fn sentence(&self, run: &Run<'_>) -> String {
        let steps = run.steps.len();
        match self {
            End::Violation(property) => {
                let place = property.location.as_ref().map_or(String::new(), |place| format!(" at {place}"));
                format!("ended after {steps} steps: violated: {}{place}", property.name)
            }
            End::Deadlock(property) => format!("ended after {steps} steps: deadlock: {}", property.name),
            End::Finished => format!("ended after {steps} steps: everybody is at an end"),
            End::Steps => format!("stopped after {steps} steps: the limit of steps (--steps)"),
            End::Stopped(reason) => {
                format!("stopped after {steps} steps: {}", preempt_report::why_stopped(*reason))
            }
            End::Guide => format!("ended after {steps} steps: the stored run is at its end"),
            End::Quit => format!("stopped after {steps} steps"),
        }
    }
}

fn at_random(run: &mut Run<'_>, seed: u64, most: u64) -> End {
    let mut random = Rng::new(seed);
    while (run.steps.len() as u64) < most {
        if let Some(end) = End::of_the_budget() {
            return end;
        }
        let mut choices = run.choices();
        if choices.is_empty() {
            return run.rest();
        }
        let chosen = choices.swap_remove(random.below(choices.len()));
        if let Some(end) = run.take(chosen) {
            return end;
        }
    }
    End::Steps
}

fn by_hand(run: &mut Run<'_>, most: u64) -> Result<End, Failure> {
    let mut lines = std::io::stdin().lock().lines();
    console::print("choose a number; u undoes a step, s shows the state, q quits\n")?;
    loop {
        let choices = run.choices();
        if choices.is_empty() {
            return Ok(run.rest());
        }
        if run.steps.len() as u64 >= most {
            return Ok(End::Steps);
        }
        console::print(&listed(run, &choices))?;
        let Some(Ok(line)) = lines.next() else { return Ok(End::Quit) };
        match line.trim() {
            "q" => return Ok(End::Quit),
            "s" => console::print(&values(run))?,
            "u" => {
                if run.steps.pop().is_some() {
                    run.states.pop();
                } else {
                    console::print("nothing to undo\n")?;
                }
            }
            number => {
                match number.parse::<usize>().ok().and_then(|number| choices.get(number.wrapping_sub(1))) {
                    Some(chosen) => {
                        let before = run.interpreter.variables(run.state());
                        let end = run.take(chosen.clone());
                        let after = run.interpreter.variables(run.state());
                        let changed: Vec<String> = after
                            .iter()
                            .filter(|change| !before.contains(change))
                            .map(|change| format!("{} = {}", change.name, change.value))
                            .collect();
                        if !changed.is_empty() {
                            console::print(&format!("    {}\n", changed.join(", ")))?;
                        }
                        if let Some(end) = end {
                            return Ok(end);
                        }
                    }
                    None => console::print(&format!("not a choice: `{number}`\n"))?,
                }
            }
        }
    }
}

fn listed(run: &Run<'_>, choices: &[(usize, Action)]) -> String {
    let mut text = format!("step {}:\n", run.steps.len() + 1);
    for (number, (process, action)) in (1..).zip(choices) {
        let name = run.interpreter.process_name(run.state(), *process);
        let description = run.interpreter.describe(run.state(), *process, action);
        let line = description.location.map_or(String::new(), |place| format!("line {}", place.line));
        let partner =
            description.partner.map_or(String::new(), |it| format!(" -> {}: {}", it.process, it.text));
        text.push_str(&format!("  {number:>3}  {name:<12} {line:<9} {}{partner}\n", description.text));
    }
    text
}

fn values(run: &Run<'_>) -> String {
    let shown = run.interpreter.variables(run.state()).into_iter().filter(|it| it.value != Value::Gone);
    shown.map(|it| format!("    {} = {}\n", it.name, it.value)).collect()
}
