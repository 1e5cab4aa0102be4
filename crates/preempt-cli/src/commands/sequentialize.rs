//! `preempt sequentialize`: a concurrent program with a bound on contexts, as a sequential program.

use super::model::ready;
use crate::ExitStatus;
use crate::args::{Language, SequentializeArgs};
use crate::backend::{print, sequentialize};
use crate::console::{self, Failure};
use crate::files::{self, could_be_written};
use crate::job::{self, Stage};
use crate::plan::Engine;
use preempt_report::render_diagnostics;

pub fn run(args: &SequentializeArgs) -> Result<ExitStatus, Failure> {
    could_be_written(args.output.as_deref(), &[&args.model.file])?;
    if args.contexts == 0 || args.contexts > sequentialize::MAX_CONTEXTS {
        let most = sequentialize::MAX_CONTEXTS;
        return Err(Failure::new(format!("--contexts {}: it must lie between 1 and {most}", args.contexts)));
    }
    let Some(ready) = ready(&args.model, Engine::Reference, None, args.color)? else {
        return Ok(ExitStatus::Input);
    };
    let written = match args.to {
        Language::Boolean => {
            sequentialize::to_boolean(&ready.model, &ready.sources, args.contexts, &job::current().budget)
                .map(|program| print::program(&program))
        }
        Language::C => {
            sequentialize::to_c(&ready.model, &ready.sources, args.contexts, &job::current().budget)
        }
    };
    job::check()?;
    let text = match written {
        Ok(text) => text,
        Err(refusal) => {
            let style = console::stderr_style(args.color);
            let width = console::stderr_width();
            console::complain(&render_diagnostics(&[refusal], &ready.sources, width, style));
            return Ok(ExitStatus::Input);
        }
    };
    let contexts =
        if args.contexts == 1 { "1 context".into() } else { format!("{} contexts", args.contexts) };
    let name = format!("made from {}, at most {contexts} per thread", ready.file);
    let text = match args.to {
        Language::Boolean => format!("// {name}\n{text}"),
        Language::C => format!("/* {} */\n{text}", name.replace("*/", "* /")),
    };
    match &args.output {
        Some(path) => files::write(path, &text).map_err(Failure::unwritten)?,
        None => {
            job::current().enter(Stage::Printing);
            console::print(&text)?;
        }
    }
    Ok(ExitStatus::Holds)
}
