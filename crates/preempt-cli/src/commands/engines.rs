//! `preempt engines`: the table of inputs and engines.

use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::plan::{Engine, Input, plan};

pub fn run() -> Result<ExitStatus, Failure> {
    console::print(&table())?;
    Ok(ExitStatus::Holds)
}

/// Wide enough for the longest list of verbs, and for the longest name.
const COLUMN: usize = 32;
const NAME: usize = 14;

/// A line for each engine, with what it does for each input; then what the inputs and the engines are.
fn table() -> String {
    let mut text = format!("{:<NAME$}", "");
    for input in Input::ALL {
        text.push_str(&format!("{:<COLUMN$}", input.name()));
    }
    for engine in Engine::ALL {
        text = format!("{}\n{:<NAME$}", text.trim_end(), engine.name());
        for input in Input::ALL {
            let verbs = plan(input, engine).map_or("-", |plan| plan.verbs());
            text.push_str(&format!("{verbs:<COLUMN$}"));
        }
    }
    text = format!("{}\n\n", text.trim_end());
    for engine in Engine::ALL {
        text.push_str(&format!("{:<NAME$}{}\n", engine.name(), engine.description()));
    }
    text.push('\n');
    for input in Input::ALL {
        let extensions: Vec<String> = input.extensions().iter().map(|name| format!(".{name}")).collect();
        text.push_str(&format!("{:<NAME$}{}\n", input.name(), extensions.join(" ")));
    }
    text
}
