//! Colour, or none.

/// How a piece of text is meant; what it looks like depends on the [`Style`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As everything else.
    Plain,
    /// Headings.
    Strong,
    /// Lines and numbers that only help the eye.
    Faint,
    /// A property holds.
    Good,
    /// A property is violated, or something failed.
    Bad,
    /// Neither good nor bad: an inconclusive verdict.
    Doubtful,
    /// A process was preempted.
    Preempted,
    /// A process could not go on.
    Forced,
    /// A variable has a new value.
    Changed,
    /// What the program printed.
    Printed,
}

/// Whether to use ANSI colours. Meaning never rests on colour alone: the plain text has all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// No colours.
    pub const fn plain() -> Style {
        Style { colour: false }
    }

    /// ANSI colours.
    pub const fn coloured() -> Style {
        Style { colour: true }
    }

    /// Are there colours?
    pub const fn is_coloured(self) -> bool {
        self.colour
    }

    /// The text in this ink; blanks stay as they are, so that columns can be padded before or after.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Plain => return text.to_string(),
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good => "1;32",
            Ink::Bad => "1;31",
            Ink::Doubtful => "1;33",
            Ink::Preempted => "1;35",
            Ink::Forced => "36",
            Ink::Changed => "33",
            Ink::Printed => "32",
        };
        if !self.colour || text.trim().is_empty() {
            return text.to_string();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
