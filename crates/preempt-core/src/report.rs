//! The one result of every engine, in the same words.
//!
//! A search over states returns an [`Outcome`] about one property. A [`Report`] is what becomes of a whole
//! job, whichever engine did it: the verdict with what it rests on, the evidence, what became of each property, and the
//! numbers. Every report, text or JSON, is made from this and from nothing else.

use crate::executed::Executed;
use crate::limits::Cost;
use crate::projection::ErrorProjection;
use crate::property::Property;
use crate::property_result::{Minimality, PropertyResult};
use crate::statistics::Statistics;
use crate::trace::Trace;
use crate::verdict::{Guarantee, Outcome, Verdict};

/// What became of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Which input, which engine, which options.
    pub run: RunInfo,
    /// Over all properties that were checked.
    pub verdict: Verdict,
    /// How far the verdict reaches.
    pub guarantee: Guarantee,
    /// What holds, in the words of the input; `None` where verdict and guarantee say it.
    pub statement: Option<String>,
    /// The violated property, with its counterexample where one was asked for.
    pub violation: Option<Property>,
    /// The run that violates it, replayed.
    pub counterexample: Option<Trace>,
    /// What is known about that run.
    pub minimality: Minimality,
    /// For a proof that can be checked by itself.
    pub certificate: Option<CertificateText>,
    /// What became of each property that was checked; empty where that is not a matter of several.
    pub properties: Vec<PropertyResult>,
    /// To which of the properties verdict and counterexample belong.
    pub shown: usize,
    /// Every different violation with its own run, where all were asked for.
    pub violations: Option<Vec<(Property, Trace)>>,
    /// Which statements lie on error traces, where that was asked for.
    pub projection: Option<ErrorProjection>,
    /// What was executed and what never, where the engine can tell.
    pub executed: Option<Executed>,
    /// Options under which the same run is found soonest, as in `bound` and `2`; they take the place of those given.
    pub again: Vec<(&'static str, String)>,
    /// What it cost, with units.
    pub statistics: Statistics,
    /// What whoever asked should know beside the answer.
    pub notes: Vec<Note>,
}

/// Who did what: the part of a report that tells how it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// The input, as whoever asked has named it.
    pub file: String,
    /// As `preempt engines` calls it.
    pub engine: String,
    /// Of an engine that has several ways to an answer: the one that found it.
    pub answered_by: Option<String>,
    /// The settings that were used, in the order in which they are to be shown.
    pub options: Vec<(&'static str, OptionValue)>,
}

/// The value of one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A word, as it was typed.
    Text(String),
    /// A number, as it was typed.
    Number(u64),
    /// Given or not.
    Flag(bool),
    /// The engine has no such option, or it was not given.
    Unset,
}

/// A proof that can be checked by itself, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateText {
    /// What a checker reads.
    pub text: String,
    /// What it is made of, line by line.
    pub summary: Vec<String>,
}

/// A sentence for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// A remark, or a warning.
    pub kind: NoteKind,
    /// One sentence without a full stop, beginning in lower case.
    pub text: String,
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// Good to know.
    Note,
    /// Something that was asked for could not be done.
    Warning,
}

impl NoteKind {
    /// The word before the sentence.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::Note => "note",
            NoteKind::Warning => "warning",
        }
    }
}

impl Report {
    /// A verdict alone.
    pub fn new(verdict: Verdict, guarantee: Guarantee) -> Report {
        Report {
            run: RunInfo::default(),
            verdict,
            guarantee,
            statement: None,
            violation: None,
            counterexample: None,
            minimality: Minimality::Nothing,
            certificate: None,
            properties: Vec::new(),
            shown: 0,
            violations: None,
            projection: None,
            executed: None,
            again: Vec::new(),
            statistics: Statistics::default(),
            notes: Vec::new(),
        }
    }

    /// Adds a remark.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(Note { kind: NoteKind::Note, text: text.into() });
    }

    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.notes.push(Note { kind: NoteKind::Warning, text: text.into() });
    }

    /// What the counterexample costs in this unit.
    pub fn cost(&self, unit: Cost) -> Option<usize> {
        self.counterexample.as_ref().map(|trace| match unit {
            Cost::Preemptions => trace.preemptions(),
            Cost::Switches => trace.switches(),
            Cost::Steps => trace.steps.len(),
        })
    }
}

/// What a search over states has found.
impl From<Outcome> for Report {
    fn from(outcome: Outcome) -> Report {
        let Outcome { verdict, guarantee, violation, counterexample, stats } = outcome;
        Report { violation, counterexample, statistics: stats.into(), ..Report::new(verdict, guarantee) }
    }
}
