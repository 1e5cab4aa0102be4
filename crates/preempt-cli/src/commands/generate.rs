//! `preempt completions` and `preempt man`: files made from the table of options.

use crate::ExitStatus;
use crate::console::{self, Failure};
use crate::options::command::command;
use clap_complete::Shell;

pub fn completions(shell: Shell) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "preempt", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Holds)
}

pub fn man_page(name: Option<&str>) -> Result<ExitStatus, Failure> {
    let mut command = command();
    command.build();
    if let Some(name) = name {
        let Some(subcommand) = command.find_subcommand(name) else {
            return Err(Failure::new(format!("there is no subcommand `{name}`")));
        };
        command = subcommand.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::new(format!("cannot write the manual page: {error}")))?;
    console::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitStatus::Holds)
}
