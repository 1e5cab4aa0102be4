//! From the command line to a plan and an input, for every verb.

use crate::console::{self, Failure};
use crate::input::{self, Source};
use crate::job;
use crate::options::CommandLine;
use preempt_report::render_diagnostics;
use preempt_workbench::{Input, LoadRequest, Plan};

/// What was read, and what is to be done with it.
#[derive(Debug)]
pub struct Read {
    pub plan: Plan,
    pub source: Source,
}

pub fn read(line: &CommandLine) -> Result<Read, Failure> {
    let source = input::read(&line.file, line.request.text("input"))?;
    let plan = Plan::new(line.request.clone(), source.front_end)?;
    Ok(Read { plan, source })
}

/// `None` if the input has errors; they have been printed.
pub fn load(plan: &Plan, source: &Source, line: &CommandLine) -> Result<Option<Input>, Failure> {
    let path = line.path("properties");
    let properties = path.map(input::text_of).transpose()?;
    let name = path.map(|path| path.display().to_string()).unwrap_or_default();
    let mut request = LoadRequest {
        name: &source.name,
        text: &source.text,
        properties: properties.as_deref().map(|text| (name.as_str(), text)),
        settings: &plan.settings,
        budget: &job::current().budget,
        read: &mut input::read_include,
    };
    let loaded = plan.load(&mut request);
    // What was cut short is no model.
    job::check()?;
    let style = console::stderr_style(line.colour());
    let width = console::stderr_width();
    console::complain(&render_diagnostics(&loaded.diagnostics, loaded.sources(), width, style));
    if let Some(hint) = loaded.hint {
        console::complain(&format!("help: {hint}\n"));
    }
    let input = loaded.input.ok();
    if input.is_some() && !loaded.diagnostics.is_empty() {
        // On a terminal the result follows: keep it apart from the warnings.
        console::complain("\n");
    }
    Ok(input)
}
