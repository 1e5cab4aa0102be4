//! `preempt convert`: a net from one format to another.

use super::load::{Read, load, read};
use crate::ExitStatus;
use crate::console::Failure;
use crate::files::{self, could_be_written};
use crate::job;
use crate::options::CommandLine;
use preempt_workbench::{FRONT_ENDS, FrontEnd};
use std::path::{Path, PathBuf};

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    let out = line.second.as_deref().unwrap_or(Path::new(""));
    let to = match line.request.text("to") {
        Some(name) => FrontEnd::find(name),
        None => FrontEnd::of_path(out).filter(|_| out.extension().is_some()),
    };
    let Some(write) = to.and_then(|format| format.write_net) else {
        let writing = FRONT_ENDS.iter().filter(|format| format.write_net.is_some());
        let names: Vec<String> = writing.map(|format| format!("--to {}", format.name)).collect();
        return Err(Failure::new(format!("`{}`: which format is this?", out.display()))
            .hint(format!("say so, as in {}", names.join(" or "))));
    };
    let inputs: Vec<&Path> =
        [Some(line.file.as_path()), line.path("properties")].into_iter().flatten().collect();
    could_be_written([out], &inputs)?;
    let Read { plan, source } = read(line)?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    let written = write(&plan, &input, &job::current().budget)?;
    job::check()?;
    let path = |extension: Option<&str>| extension.map_or(out.to_path_buf(), |it| out.with_extension(it));
    let files: Vec<(PathBuf, String)> =
        written.into_iter().map(|file| (path(file.extension), file.text)).collect();
    // All or none, as far as that can be known.
    could_be_written(files.iter().map(|(path, _)| path.as_path()), &inputs)?;
    for (path, text) in files {
        files::write(&path, &text).map_err(Failure::unwritten)?;
    }
    Ok(ExitStatus::Holds)
}
