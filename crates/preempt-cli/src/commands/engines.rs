//! `preempt engines`: the table of inputs and engines.

use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::plan::{Engine, Input, plan};

pub fn run() -> Result<ExitStatus, Failure> {
    console::print(&table())?;
    Ok(ExitStatus::Holds)
}

/// Wide enough for the longest list of verbs.
const COLUMN: usize = 32;

fn table() -> String {
    let mut text = format!("{:<12}", "");
    for engine in Engine::ALL {
        text.push_str(&format!("{:<COLUMN$}", engine.name()));
    }
    let mut notes = String::new();
    for input in Input::ALL {
        text = format!("{}\n{:<12}", text.trim_end(), input.name());
        for engine in Engine::ALL {
            match plan(input, engine) {
                Ok(plan) => text.push_str(&format!("{:<COLUMN$}", plan.verbs())),
                Err(why) => {
                    text.push_str(&format!("{:<COLUMN$}", "-"));
                    notes.push_str(&format!("{} with {}: {why}\n", input.name(), engine.name()));
                }
            }
        }
    }
    text = format!("{}\n\n{notes}", text.trim_end());
    for input in Input::ALL {
        let extensions: Vec<String> = input.extensions().iter().map(|name| format!(".{name}")).collect();
        text.push_str(&format!("{:<12}{}\n", input.name(), extensions.join(" ")));
    }
    for engine in Engine::ALL {
        text.push_str(&format!("{:<12}{}\n", engine.name(), engine.description()));
    }
    text
}
