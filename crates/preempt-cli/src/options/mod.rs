//! What can be typed: the options of the workbench ([`preempt_workbench::settings`]) and those of the command itself, each a
//! row of a table. [`command`] makes the parser, the help, the manual page and the completions from the rows, and [`again`]
//! the line "see it again".

pub mod again;
pub mod command;
mod help;
mod own;

use crate::exit::ExitStatus;
use crate::job::Terms;
use preempt_workbench::settings::{self, Setting, units};
use preempt_workbench::{Request, Verb};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every option of a verb, in the order of the help.
pub fn rows(verb: Verb) -> impl Iterator<Item = &'static Setting> {
    settings::settings().chain(own::ROWS).filter(move |row| row.verbs.contains(&verb))
}

/// What was typed.
#[derive(Debug)]
pub enum Command {
    Do(Box<CommandLine>),
    Show(ShowLine),
    Engines,
    /// The topic, or the list of them.
    Explain(Option<String>),
    Completions(clap_complete::Shell),
    Man(Option<String>),
}

/// A verb with its files and options.
#[derive(Debug)]
pub struct CommandLine {
    pub request: Request,
    /// The input.
    pub file: PathBuf,
    /// Of verbs that have one: a stored counterexample, a certificate, or the file to write.
    pub second: Option<PathBuf>,
}

/// What `preempt show` was given: it needs no input, so none of the table's rows is about it.
#[derive(Debug)]
pub struct ShowLine {
    /// The stored counterexample.
    pub file: PathBuf,
    pub report: Option<PathBuf>,
    pub svg: Option<PathBuf>,
    pub full: bool,
    pub colour: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

impl Colour {
    pub fn of(word: Option<&str>) -> Colour {
        match word {
            Some("always") => Colour::Always,
            Some("never") => Colour::Never,
            _ => Colour::Auto,
        }
    }
}

impl CommandLine {
    pub fn format(&self) -> Format {
        match self.request.text("format") {
            Some("json") => Format::Json,
            _ => Format::Text,
        }
    }

    pub fn colour(&self) -> Colour {
        Colour::of(self.request.text("color"))
    }

    pub fn path(&self, name: &str) -> Option<&Path> {
        self.request.get(name).map(Path::new)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.request.is_given(name)
    }

    /// A number, or what the table says if it was not given. What was typed has been checked.
    pub fn number(&self, name: &str) -> u64 {
        self.value(name).and_then(|text| units::count(text).ok()).unwrap_or(0)
    }

    pub fn duration(&self, name: &str) -> Duration {
        self.value(name).and_then(|text| units::duration(text).ok()).unwrap_or_default()
    }

    fn value(&self, name: &str) -> Option<&str> {
        let default = || rows(self.request.verb).find(|row| row.name == name)?.default;
        self.request.text(name).or_else(default)
    }

    /// What may be spent, and how the answer is to be printed if there is to be one.
    pub fn terms(&self) -> Terms {
        // Whoever looks after the processes of a search has no limits of its own, and nothing to say but what they do not.
        if self.request.verb == Verb::Cluster && !crate::commands::cluster::is_process() {
            return Terms { file: self.file.display().to_string(), ..Terms::default() };
        }
        Terms {
            time: self.request.text("max-time").and_then(|text| units::duration(text).ok()),
            memory: self.request.text("max-memory").and_then(|text| units::bytes(text).ok()),
            answer: match self.request.verb {
                Verb::Check | Verb::Count | Verb::Cluster | Verb::Replay | Verb::Simulate | Verb::Certify => {
                    Some((self.format(), self.colour()))
                }
                Verb::Sequentialize | Verb::Convert => None,
            },
            file: self.file.display().to_string(),
        }
    }
}

/// Reads the command line; or prints what there is to say, and that is all.
pub fn parse(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Command, ExitStatus> {
    command::parse(arguments).map_err(|error| match error.print() {
        // Help and version are no errors; who closed the pipe does not want to read either.
        _ if error.use_stderr() => ExitStatus::Input,
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => ExitStatus::Unwritten,
        _ => ExitStatus::Holds,
    })
}
