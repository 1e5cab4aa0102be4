//! The terminal: how wide, how colourful, and what happens when nobody reads.

use crate::ExitStatus;
use crate::options::Colour;
use preempt_core::StopReason;
use preempt_report::render_diagnostics;
use preempt_report::style::{Ink, Style};
use preempt_workbench::{Error, Mistakes, Refusal};
use std::io::{self, IsTerminal, Write};

/// What a line is wide enough for when nothing says how wide it is.
const USUAL_WIDTH: usize = 80;
/// Longer lines are hard to read, and short ones leave no room for the text.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=160;

/// Why the command cannot do its work: wrong usage or wrong input; or it was stopped before it had an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub hint: Option<String>,
    pub status: ExitStatus,
    /// Then there is a result, "inconclusive", and this is its reason.
    pub stopped: Option<StopReason>,
    /// The message says everything, with the places in a text that it is about.
    is_rendered: bool,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        let (status, message) = (ExitStatus::Input, message.into());
        Failure { message, hint: None, status, stopped: None, is_rendered: false }
    }

    pub fn stopped(reason: StopReason) -> Failure {
        let message = preempt_report::why_stopped(reason);
        Failure { status: ExitStatus::Inconclusive, stopped: Some(reason), ..Failure::new(message) }
    }

    /// What was asked for is known, and could not be written.
    pub fn unwritten(self) -> Failure {
        Failure { status: ExitStatus::Unwritten, ..self }
    }

    /// The command could not come to an answer; nothing is wrong with what was asked.
    pub fn inconclusive(self) -> Failure {
        Failure { status: ExitStatus::Inconclusive, ..self }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    pub fn print(&self) {
        let style = stderr_style(Colour::Auto);
        if self.is_rendered {
            return complain(&self.message);
        }
        let mut text = format!("{}: {}\n", style.paint(Ink::Bad, "error"), self.message);
        if let Some(hint) = &self.hint {
            text.push_str(&format!("{}: {hint}\n", style.paint(Ink::Strong, "help")));
        }
        complain(&text);
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Refused(Refusal { message, hint }) => Failure { hint, ..Failure::new(message) },
            Error::Stopped(reason) => Failure::stopped(reason),
            Error::Mistakes(mistakes) => {
                let Mistakes { diagnostics, sources } = *mistakes;
                let style = stderr_style(Colour::Auto);
                let message = render_diagnostics(&diagnostics, &sources, stderr_width(), style);
                Failure { is_rendered: true, ..Failure::new(message) }
            }
        }
    }
}

/// The result. A reader that has gone away has what it wanted: that is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the result: {error}")).unwritten())
        }
        _ => Ok(()),
    }
}

/// To stderr; if that is closed, there is nobody to tell.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

pub fn stdout_style(choice: Colour) -> Style {
    style(choice, io::stdout().is_terminal())
}

pub fn stderr_style(choice: Colour) -> Style {
    style(choice, io::stderr().is_terminal())
}

fn style(choice: Colour, is_terminal: bool) -> Style {
    let variable = |name| std::env::var_os(name).and_then(|value| value.into_string().ok());
    if is_coloured(choice, is_terminal, variable) { Style::coloured() } else { Style::plain() }
}

/// An explicit choice wins; then `NO_COLOR`, then `CLICOLOR_FORCE`, then what the terminal can do.
fn is_coloured(choice: Colour, is_terminal: bool, variable: impl Fn(&'static str) -> Option<String>) -> bool {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if given("NO_COLOR").is_some() => false,
        Colour::Auto if given("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Colour::Auto => {
            is_terminal
                && given("TERM").is_none_or(|term| term != "dumb")
                && given("CLICOLOR").is_none_or(|value| value != "0")
        }
    }
}

/// Of the page that results are printed on.
pub fn stdout_width() -> usize {
    width(terminal_size::terminal_size_of(io::stdout()))
}

pub fn stderr_width() -> usize {
    width(terminal_size::terminal_size_of(io::stderr()))
}

/// Of notes on stderr: only people need their lines to be short.
pub fn note_width() -> usize {
    terminal_size::terminal_size_of(io::stderr()).map_or(usize::MAX, |_| stderr_width())
}

/// Of the line on stderr that is written over and over: exactly, since one that wraps cannot be erased.
pub fn progress_width() -> usize {
    terminal_size::terminal_size_of(io::stderr()).map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
}

fn width(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0).clamp(*WIDTHS.start(), *WIDTHS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_choice_then_the_environment_then_the_terminal() {
        let with = |set: &'static [(&str, &str)]| {
            move |name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string())
        };
        assert!(is_coloured(Colour::Always, false, with(&[("NO_COLOR", "1")])));
        assert!(!is_coloured(Colour::Never, true, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(is_coloured(Colour::Auto, true, with(&[])));
        assert!(!is_coloured(Colour::Auto, false, with(&[])));
        assert!(!is_coloured(Colour::Auto, true, with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")])));
        assert!(is_coloured(Colour::Auto, true, with(&[("NO_COLOR", "")])));
        assert!(is_coloured(Colour::Auto, false, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!is_coloured(Colour::Auto, false, with(&[("CLICOLOR_FORCE", "0")])));
        assert!(!is_coloured(Colour::Auto, true, with(&[("TERM", "dumb")])));
        assert!(!is_coloured(Colour::Auto, true, with(&[("CLICOLOR", "0")])));
    }
}
