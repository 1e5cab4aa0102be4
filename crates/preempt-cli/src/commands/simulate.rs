//! `preempt simulate`: one run, at random, by hand, or along a stored counterexample.

use super::load::{Read, load, read};
use super::pictures::{self, Pictures};
use super::replay::recording;
use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::files::{self, could_be_written};
use crate::job::{self, Stage};
use crate::options::CommandLine;
use preempt_core::{Change, Guarantee, Property, Report, Rng, RunInfo, StopReason, Trace, Verdict};
use preempt_report::{TextOptions, render_run};
use preempt_workbench::simulate::{Choice, Guide, RunEnd, Simulation};
use std::io::BufRead;

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    could_be_written(pictures::OUTPUTS.iter().filter_map(|name| line.path(name)), &[&line.file])?;
    let Read { plan, source } = read(line)?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    let (loaded, budget) = (input.model()?, &job::current().budget);
    let recorded = line.path("guided").map(recording).transpose()?;
    let guide = recorded.map(|recorded| Guide::of(loaded, &recorded, budget)).transpose()?;
    let model = guide.as_ref().map_or(&loaded.model, |guide| &guide.model);
    let mut run = Simulation::begin(loaded, model, budget)?;
    let interactive = line.flag("interactive");
    let end = match &guide {
        Some(guide) => {
            let mut steps = guide.steps.iter().cloned();
            match steps.find_map(|step| End::of_the_budget().or_else(|| run.take(step).map(End::Run))) {
                Some(end) => end,
                None if run.choices().is_empty() => End::of_rest(&run),
                None => End::Guide,
            }
        }
        None if interactive => by_hand(&mut run, line.number("steps"))?,
        None => at_random(&mut run, line.number("seed"), line.number("steps")),
    };
    let trace = executed(&run)?;
    let shown = trace.as_ref().filter(|_| !interactive).map_or(String::new(), |trace| shown(trace, line));
    let sentence = end.sentence(run.length());
    let drawn = trace.map_or(Vec::new(), |trace| {
        let report = end.report(trace, input.file());
        let (headline, sources) = (Some(sentence.clone()), pictures::texts(input.sources()));
        let pictures = Pictures { report: &report, headline, sources, again: None, history: Vec::new() };
        pictures.files(line.path("report"), line.path("svg"))
    });
    job::current().enter(Stage::Printing);
    console::print(&format!("{shown}{sentence}\n"))?;
    job::current().enter(Stage::Writing);
    for (path, text) in drawn {
        files::write(&path, &text)?;
    }
    Ok(match end {
        End::Run(RunEnd::Violation(_) | RunEnd::Deadlock(_)) => ExitStatus::Violated,
        End::Stopped(_) => ExitStatus::Inconclusive,
        End::Run(RunEnd::Finished) | End::Steps | End::Guide | End::Quit => ExitStatus::Holds,
    })
}

/// Why it ends.
enum End {
    Run(RunEnd),
    Steps,
    /// Time or memory is over, or the user has had enough.
    Stopped(StopReason),
    /// The stored counterexample is at its end.
    Guide,
    Quit,
}

impl End {
    fn of_the_budget() -> Option<End> {
        job::current().budget.exhausted().map(End::Stopped)
    }

    /// Nobody can move, unless there was no time to find out.
    fn of_rest(run: &Simulation<'_>) -> End {
        End::of_the_budget().unwrap_or_else(|| End::Run(run.rest()))
    }

    /// What is drawn of it: the run, and what it violates.
    fn report(&self, trace: Trace, file: &str) -> Report {
        let violation: Option<Property> = match self {
            End::Run(RunEnd::Violation(property) | RunEnd::Deadlock(property)) => Some(property.clone()),
            End::Run(RunEnd::Finished) | End::Steps | End::Stopped(_) | End::Guide | End::Quit => None,
        };
        let verdict = match violation {
            Some(_) => Verdict::Violated,
            None => Verdict::Inconclusive(StopReason::Partial),
        };
        Report {
            run: RunInfo { file: file.into(), ..RunInfo::default() },
            violation,
            counterexample: Some(trace),
            ..Report::new(verdict, Guarantee::Exhaustive)
        }
    }

    fn sentence(&self, steps: usize) -> String {
        match self {
            End::Run(RunEnd::Violation(property)) => {
                let place = property.location.as_ref().map_or(String::new(), |place| format!(" at {place}"));
                format!("ended after {steps} steps: violated: {}{place}", property.name)
            }
            End::Run(RunEnd::Deadlock(property)) => {
                format!("ended after {steps} steps: deadlock: {}", property.name)
            }
            End::Run(RunEnd::Finished) => format!("ended after {steps} steps: everybody is at an end"),
            End::Steps => format!("stopped after {steps} steps: the limit of steps (--steps)"),
            End::Stopped(reason) => {
                format!("stopped after {steps} steps: {}", preempt_report::why_stopped(*reason))
            }
            End::Guide => format!("ended after {steps} steps: the stored run is at its end"),
            End::Quit => format!("stopped after {steps} steps"),
        }
    }
}

fn shown(trace: &Trace, line: &CommandLine) -> String {
    let options = TextOptions {
        width: console::stdout_width(),
        style: console::stdout_style(line.colour()),
        full: line.flag("full"),
        ..TextOptions::default()
    };
    render_run(trace, None, &options)
}

/// The run so far; `None` if its steps cannot be made once more, since time is over.
fn executed(run: &Simulation<'_>) -> Result<Option<Trace>, Failure> {
    match run.trace() {
        Ok(trace) => Ok(Some(trace)),
        Err(_) if End::of_the_budget().is_some() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn at_random(run: &mut Simulation<'_>, seed: u64, most: u64) -> End {
    let mut random = Rng::new(seed);
    while (run.length() as u64) < most {
        if let Some(end) = End::of_the_budget() {
            return end;
        }
        let mut choices = run.choices();
        if choices.is_empty() {
            return End::of_rest(run);
        }
        let chosen = choices.swap_remove(random.below(choices.len()));
        if let Some(end) = run.take(chosen) {
            return End::Run(end);
        }
    }
    End::Steps
}

fn by_hand(run: &mut Simulation<'_>, most: u64) -> Result<End, Failure> {
    let mut lines = std::io::stdin().lock().lines();
    console::print("choose a number; u undoes a step, s shows the state, q quits\n")?;
    loop {
        let choices = run.choices();
        if choices.is_empty() {
            return Ok(End::of_rest(run));
        }
        if run.length() as u64 >= most {
            return Ok(End::Steps);
        }
        console::print(&listed(run, &choices))?;
        let Some(Ok(line)) = lines.next() else { return Ok(End::Quit) };
        match line.trim() {
            "q" => return Ok(End::Quit),
            "s" => console::print(&lines_of(&run.variables()))?,
            "u" => {
                if !run.undo() {
                    console::print("nothing to undo\n")?;
                }
            }
            number => {
                match number.parse::<usize>().ok().and_then(|number| choices.get(number.wrapping_sub(1))) {
                    Some(chosen) => {
                        if let Some(end) = take(run, chosen)? {
                            return Ok(End::Run(end));
                        }
                    }
                    None => console::print(&format!("not a choice: `{number}`\n"))?,
                }
            }
        }
    }
}

/// Makes the step and says what it changed.
fn take(run: &mut Simulation<'_>, chosen: &Choice) -> Result<Option<RunEnd>, Failure> {
    let before = run.variables();
    let end = run.take(chosen.clone());
    let after = run.variables();
    let changed = after.iter().filter(|change| !before.contains(change));
    let changed: Vec<String> = changed.map(|change| format!("{} = {}", change.name, change.value)).collect();
    if !changed.is_empty() {
        console::print(&format!("    {}\n", changed.join(", ")))?;
    }
    Ok(end)
}

fn listed(run: &Simulation<'_>, choices: &[Choice]) -> String {
    let mut text = format!("step {}:\n", run.length() + 1);
    for (number, choice) in (1..).zip(choices) {
        let (name, description) = run.describe(choice);
        let line = description.location.map_or(String::new(), |place| format!("line {}", place.line));
        let partner =
            description.partner.map_or(String::new(), |it| format!(" -> {}: {}", it.process, it.text));
        text.push_str(&format!("  {number:>3}  {name:<12} {line:<9} {}{partner}\n", description.text));
    }
    text
}

fn lines_of(values: &[Change]) -> String {
    values.iter().map(|it| format!("    {} = {}\n", it.name, it.value)).collect()
}
