//! Checkpoints in files. A new one takes the place of the old one only when it is complete ([`crate::files`]): whatever
//! kills the command, one of the two is there.

use crate::console::Failure;
use crate::files;
use crate::input;
use crate::options::CommandLine;
use preempt_workbench::{Checkpoints, Save};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct Files {
    path: Option<PathBuf>,
    every: Duration,
    last: Instant,
    /// How often it is asked before the clock is looked at.
    asked: u32,
    resume: Option<File>,
    /// Why the last one could not be written.
    error: Option<String>,
}

const LOOK_UP_EVERY: u32 = 64;

impl Files {
    /// What the arguments ask for. A file that cannot be read is told before the search begins.
    pub fn open(line: &CommandLine) -> Result<Files, Failure> {
        let open = |path: &Path| {
            File::open(path).map_err(|error| {
                Failure::new(format!("cannot read `{}`: {}", path.display(), input::reason(&error)))
            })
        };
        Ok(Files {
            path: line.path("checkpoint").map(Path::to_path_buf),
            every: line.duration("checkpoint-every"),
            last: Instant::now(),
            asked: 0,
            resume: line.path("resume").map(open).transpose()?,
            error: None,
        })
    }

    pub fn are_wanted(line: &CommandLine) -> bool {
        line.path("checkpoint").is_some() || line.path("resume").is_some()
    }

    /// To be told after the search, which was worth more than its checkpoint.
    pub fn error(&self) -> Option<String> {
        self.error.clone()
    }
}

impl Checkpoints for Files {
    fn is_due(&mut self) -> bool {
        if self.path.is_none() {
            return false;
        }
        self.asked += 1;
        self.asked.is_multiple_of(LOOK_UP_EVERY) && self.last.elapsed() >= self.every
    }

    fn save(&mut self, write: &mut Save<'_>) {
        let Some(path) = &self.path else { return };
        let written = files::replace(path, write);
        self.error = written.err().map(|error| files::cannot_write(path, &error).message);
        self.last = Instant::now();
    }

    fn resume(&mut self) -> Option<Box<dyn Read>> {
        self.resume.take().map(|file| Box::new(BufReader::new(file)) as Box<dyn Read>)
    }
}
