//! What can be done with an input.

/// What can be done with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Find the simplest run that violates a property, or prove that there is none.
    Check,
    /// Count states, transitions and violations.
    Count,
    /// Check or count, with several processes.
    Cluster,
    /// Execute one run.
    Simulate,
    /// Execute a stored counterexample again.
    Replay,
    /// Write a concurrent program as a sequential one.
    Sequentialize,
    /// Check a certificate.
    Certify,
    /// Write a net in another format.
    Convert,
}

impl Verb {
    /// In the order of the help.
    pub const ALL: [Verb; 8] = [
        Verb::Check,
        Verb::Count,
        Verb::Cluster,
        Verb::Simulate,
        Verb::Replay,
        Verb::Sequentialize,
        Verb::Certify,
        Verb::Convert,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Check => "check",
            Verb::Count => "count",
            Verb::Cluster => "cluster",
            Verb::Simulate => "simulate",
            Verb::Replay => "replay",
            Verb::Sequentialize => "sequentialize",
            Verb::Certify => "certify",
            Verb::Convert => "convert",
        }
    }

    /// Is it an engine that does it? The others need nothing but the input.
    pub fn needs_an_engine(self) -> bool {
        match self {
            Verb::Check | Verb::Count | Verb::Cluster | Verb::Simulate | Verb::Replay => true,
            Verb::Sequentialize | Verb::Certify | Verb::Convert => false,
        }
    }
}
