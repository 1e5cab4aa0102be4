//! `preempt check`: the simplest run that breaks the model.

use super::search::{present, search};
use crate::ExitStatus;
use crate::args::CheckArgs;
use crate::backend::reference;
use crate::console::{self, Failure};
use preempt_core::Trace;
use preempt_report::{TextOptions, to_json};
use std::path::Path;

pub fn run(args: &CheckArgs) -> Result<ExitStatus, Failure> {
    if let Some(path) = &args.trace {
        could_be_written(path)?;
    }
    let searched = search(&args.model, &args.search, args.output.color, reference::check)?;
    let Some(outcome) = searched.outcome else { return Ok(ExitStatus::Input) };
    let text = TextOptions {
        full: args.full,
        simplest: true,
        again: outcome.counterexample.as_ref().and_then(|trace| again(args, trace)),
        ..TextOptions::default()
    };
    console::print(&present(&searched.info, &outcome, &args.output, text))?;
    if let (Some(path), Some(_)) = (&args.trace, &outcome.counterexample) {
        std::fs::write(path, to_json(&searched.info, &outcome))
            .map_err(|error| cannot_write(path, &error.to_string()))?;
    }
    Ok(outcome.verdict.into())
}

/// Asked before the search, which may take hours: a mistake in the name should not cost them.
fn could_be_written(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(cannot_write(path, "it is a directory"));
    }
    if !folder.is_dir() {
        return Err(cannot_write(path, &format!("there is no directory `{}`", folder.display())));
    }
    Ok(())
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::new(format!("cannot write the counterexample to `{}`: {why}", path.display()))
}

/// The shortest command that finds the same run: within the bound of that run, the search ends soonest.
fn again(args: &CheckArgs, trace: &Trace) -> Option<String> {
    let file = args.model.file.to_str().filter(|file| *file != "-")?;
    let mut words = vec!["preempt".to_string(), "check".into(), quoted(file)];
    for define in &args.model.defines {
        words.push(quoted(&format!("-D{}={}", define.name, define.value)));
    }
    if args.model.input.is_some() {
        words.push("--input promela".into());
    }
    if args.search.fair_switch {
        words.push("--fair-switch".into());
    }
    words.push(format!("--bound {}", trace.preemptions()));
    Some(words.join(" "))
}

/// For a shell.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn again_for(arguments: &[&str]) -> Option<String> {
        let arguments = ["preempt", "check"].iter().chain(arguments);
        let Ok(Cli { command: Command::Check(args) }) = Cli::try_parse_from(arguments) else {
            panic!("not a check");
        };
        again(&args, &Trace::default())
    }

    #[test]
    fn the_command_that_shows_the_run_again() {
        assert_eq!(again_for(&["a.pml"]).as_deref(), Some("preempt check a.pml --bound 0"));
        assert_eq!(
            again_for(&["it's here.pml", "-DN=3", "-D", "X", "--fair-switch", "--max-time", "3s"]).as_deref(),
            Some(r"preempt check 'it'\''s here.pml' -DN=3 -DX=1 --fair-switch --bound 0")
        );
        assert_eq!(again_for(&["-"]), None);
    }
}
