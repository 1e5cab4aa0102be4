//! The `preempt` command as a library, so that its parts can be tested: it reads the input, has the workbench plan and do
//! what was asked for, watches it, and prints what came of it. Which search answers what is for the workbench to say.
//!
//! The result goes to stdout; diagnostics and progress go to stderr. Everything that can be said in one number is
//! the exit status ([`ExitStatus`]).
#![forbid(unsafe_code)]

mod checkpoint;
mod commands;
mod console;
pub mod exit;
mod files;
mod input;
mod job;
mod memory;
pub mod options;
mod part_files;
mod progress;
mod scratch;
mod signals;
mod watcher;

pub use exit::ExitStatus;

use console::Failure;
use job::Stage;
use options::{Command, CommandLine};
use preempt_workbench::Verb;
use std::ffi::OsString;

/// Runs the command with these arguments (the first is the program's name).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let result = match options::parse(arguments) {
        Err(status) => return status,
        Ok(Command::Do(line)) => {
            let job = job::begin(line.terms());
            signals::listen(job);
            watcher::start(job);
            run(&line)
        }
        Ok(Command::Show(line)) => commands::show::run(&line),
        Ok(Command::Explain(topic)) => commands::explain::run(topic.as_deref()),
        Ok(Command::Engines) => commands::engines::run(),
        Ok(Command::Completions(shell)) => commands::generate::completions(shell),
        Ok(Command::Man(name)) => commands::generate::man_page(name.as_deref()),
    };
    let status = result.unwrap_or_else(|failure: Failure| match failure.stopped {
        Some(reason) => {
            job::current().enter(Stage::Printing);
            job::current().tell_stopped(reason)
        }
        None => {
            failure.print();
            failure.status
        }
    });
    // From here on nobody else may say anything.
    job::current().enter(Stage::Printing);
    status
}

fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    match line.request.verb {
        Verb::Check | Verb::Count => commands::check::run(line),
        Verb::Cluster => commands::cluster::run(line),
        Verb::Simulate => commands::simulate::run(line),
        Verb::Replay => commands::replay::run(line),
        Verb::Sequentialize => commands::sequentialize::run(line),
        Verb::Certify => commands::certify::run(line),
        Verb::Convert => commands::convert::run(line),
    }
}
