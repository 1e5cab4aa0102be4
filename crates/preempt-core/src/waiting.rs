//! Who waits, where, and for what: what a deadlock is made of; and who may end where it stands.

use crate::source::Location;

/// A process that cannot go on where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Waiting {
    /// `Name(pid)`.
    pub process: String,
    /// The number of the process in its state.
    pub pid: usize,
    /// It may end where it stands, so it is not stuck.
    pub may_end: bool,
    /// Any of these would let it go on; empty if it is not known what it waits for.
    pub statements: Vec<Awaited>,
}

/// A statement that cannot be executed yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Awaited {
    /// Where it stands, if it stands in a text.
    pub location: Option<Location>,
    /// As the user wrote it.
    pub text: String,
}

impl Waiting {
    /// Where the process stands.
    pub fn location(&self) -> Option<&Location> {
        self.statements.first()?.location.as_ref()
    }
}

/// `Stuck(1) waits at d.pml:3: m == 1`; a line is named once for all of its statements. `Idle(2) may end at d.pml:5: c?x`.
impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.process, if self.may_end { "may end" } else { "waits" })?;
        let mut written: Vec<(Option<(&str, u32)>, &str)> = Vec::new();
        for statement in &self.statements {
            let line = statement.location.as_ref().map(|place| (place.file.as_str(), place.line));
            let text = statement.text.as_str();
            if written.contains(&(line, text)) {
                continue;
            }
            if !written.is_empty() {
                f.write_str(" or")?;
            }
            match (line, written.last()) {
                (_, Some((known, _))) if *known == line => {}
                (Some((file, line)), _) => write!(f, " at {file}:{line}:")?,
                (None, _) => f.write_str(" for")?,
            }
            write!(f, " {text}")?;
            written.push((line, text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(statements: &[(u32, &str)]) -> String {
        let place = |line: u32| (line > 0).then(|| Location { file: "d.pml".into(), line, column: 7 });
        let awaited = |(line, text): &(u32, &str)| Awaited { location: place(*line), text: text.to_string() };
        let statements = statements.iter().map(awaited).collect();
        Waiting { process: "P(1)".into(), pid: 1, may_end: false, statements }.to_string()
    }

    #[test]
    fn who_waits_where_and_for_what() {
        assert_eq!(waiting(&[(3, "m == 1")]), "P(1) waits at d.pml:3: m == 1");
        assert_eq!(waiting(&[(3, "a"), (3, "c?x"), (3, "a")]), "P(1) waits at d.pml:3: a or c?x");
        assert_eq!(waiting(&[(3, "a"), (4, "c?x")]), "P(1) waits at d.pml:3: a or at d.pml:4: c?x");
        assert_eq!(waiting(&[(0, "a"), (0, "b")]), "P(1) waits for a or b");
        assert_eq!(waiting(&[]), "P(1) waits");
    }
}
