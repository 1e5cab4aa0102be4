//! Parts of a checkpoint in a folder: a file for each process and number, as in `3.part-0`, and a text that says which of
//! them are complete.

use crate::console::Failure;
use crate::files;
use crate::input;
use crate::options::CommandLine;
use preempt_workbench::{PartFiles, Save};
use std::fs::{self, File};
use std::io::{BufReader, Read, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct PartFolder {
    /// Of the process.
    number: usize,
    count: usize,
    folder: Option<PathBuf>,
    every: Duration,
    last: Instant,
    resume: Option<PathBuf>,
    /// Why the last part could not be written.
    error: Option<String>,
}

impl PartFolder {
    /// What the arguments ask for. A folder that cannot be used is told before the search begins.
    pub fn open(line: &CommandLine, number: usize, count: usize) -> std::result::Result<PartFolder, Failure> {
        let (folder, resume) = (line.path("checkpoint"), line.path("resume"));
        if let Some(folder) = folder {
            let cannot = |error| files::cannot_write(folder, &error);
            fs::create_dir_all(folder).map_err(cannot)?;
        }
        if let Some(folder) = resume {
            let cannot = |error| {
                Failure::new(format!("cannot read `{}`: {}", folder.display(), input::reason(&error)))
            };
            fs::read_dir(folder).map_err(cannot)?;
        }
        Ok(PartFolder {
            number,
            count,
            folder: folder.map(Path::to_path_buf),
            every: line.duration("checkpoint-every"),
            last: Instant::now(),
            resume: resume.map(Path::to_path_buf),
            error: None,
        })
    }

    /// To be told after the search.
    pub fn error(&self) -> Option<String> {
        self.error.clone()
    }

    fn name(&self, number: u64) -> String {
        format!("{number}.part-{}", self.number)
    }

    /// The numbers of this process's parts in a folder.
    fn there(&self, folder: &Path) -> Vec<u64> {
        let suffix = format!(".part-{}", self.number);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_suffix(&suffix)?.parse().ok();
        entries.filter_map(number).collect()
    }
}

/// Is there a checkpoint in the folder that everybody has completed, as far as this machine knows?
pub fn has_checkpoint(folder: &Path) -> bool {
    folder.join(MANIFEST).exists()
}

const MANIFEST: &str = "manifest";

impl PartFiles for PartFolder {
    fn is_due(&mut self) -> bool {
        let is_due = self.folder.is_some() && self.last.elapsed() >= self.every;
        if is_due {
            self.last = Instant::now();
        }
        is_due
    }

    fn save(&mut self, number: u64, complete: u64, write: &mut Save<'_>) -> Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let path = folder.join(self.name(number));
        let written = files::replace(&path, write);
        self.error = written.as_ref().err().map(|error| files::cannot_write(&path, error).message);
        written?;
        for old in self.there(&folder).into_iter().filter(|it| ![number, complete].contains(it)) {
            // What cannot be removed takes room, and does no other harm.
            let _ = fs::remove_file(folder.join(self.name(old)));
        }
        Ok(())
    }

    fn complete(&mut self, number: u64, about: &str) {
        let Some(folder) = &self.folder else { return };
        let text = format!(
            "preempt cluster checkpoint\nversion {}\nnumber {number}\nparts {}\n{about}\n",
            env!("CARGO_PKG_VERSION"),
            self.count
        );
        let path = folder.join(MANIFEST);
        let written = files::replace(&path, &mut |out| out.write_all(text.as_bytes()));
        self.error = written.err().map(|error| files::cannot_write(&path, &error).message);
    }

    fn kept(&self) -> Option<Vec<u64>> {
        self.resume.as_ref().map(|folder| self.there(folder))
    }

    fn open(&self, number: u64) -> Result<Box<dyn Read>> {
        let folder = self.resume.as_deref().unwrap_or(Path::new(""));
        Ok(Box::new(BufReader::new(File::open(folder.join(self.name(number)))?)))
    }
}
