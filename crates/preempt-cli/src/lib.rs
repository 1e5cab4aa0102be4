//! The `preempt` command as a library, so that its parts can be tested: it reads the input, joins a front end
//! and an engine, watches the search, and prints what came of it.
//!
//! The result goes to stdout; diagnostics and progress go to stderr. Everything that can be said in one number is
//! the exit status ([`ExitStatus`]).
#![forbid(unsafe_code)]

pub mod args;
mod backend;
mod checkpoint;
mod commands;
mod console;
pub mod exit;
mod files;
mod input;
mod job;
mod memory;
pub mod plan;
mod progress;
mod signals;
mod units;
mod watcher;

pub use exit::ExitStatus;

use args::{Cli, Command};
use clap::Parser;
use console::Failure;
use job::Stage;
use std::ffi::OsString;

/// Runs the command with these arguments (the first is the program's name).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; who closed the pipe does not want to read either.
            return match error.print() {
                _ if error.use_stderr() => ExitStatus::Input,
                Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => ExitStatus::Unwritten,
                _ => ExitStatus::Holds,
            };
        }
    };
    if let Some(terms) = cli.command.terms() {
        let job = job::begin(terms);
        signals::listen(job);
        watcher::start(job);
    }
    let result = match &cli.command {
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Count(arguments) => commands::count::run(arguments),
        Command::Simulate(arguments) => commands::simulate::run(arguments),
        Command::Replay(arguments) => commands::replay::run(arguments),
        Command::Sequentialize(arguments) => commands::sequentialize::run(arguments),
        Command::Certify(arguments) => commands::certify::run(arguments),
        Command::Convert(arguments) => commands::convert::run(arguments),
        Command::Engines => commands::engines::run(),
        Command::Completions { shell } => commands::generate::completions(*shell),
        Command::Man { command } => commands::generate::man_page(command.as_deref()),
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
