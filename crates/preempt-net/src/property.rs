//! One property of a property file: what it asks of a net, and what an answer means for its formula.

use crate::formula::{Formula, NoBasis};
use crate::marking::Marking;
use crate::net::Net;
use crate::{mcc, query, tts};
use preempt_core::{Budget, Diagnostic, Severity, SourceId};

/// A property with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetProperty {
    /// Its name in the file.
    pub id: String,
    /// What it means for the formula if what is asked for can be reached.
    pub quantifier: Quantifier,
    /// What is asked.
    pub question: Question,
}

/// How the formula speaks about runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// EF: true if what is asked for can be reached.
    Reachable,
    /// AG: true if what is asked for, the contrary of its formula, cannot.
    Invariant,
}

/// What is asked of the reachable markings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Can one of these be covered?
    Cover(Vec<Marking>),
    /// Can a marking be reached of which this is true? It is not upward closed.
    Reach(Formula),
    /// It could not be understood, and why.
    Unsupported(String),
}

impl Quantifier {
    /// As in "EF p is true".
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Reachable => "EF",
            Quantifier::Invariant => "AG",
        }
    }

    /// The other one, for the negation of a formula.
    #[must_use]
    pub fn other(self) -> Quantifier {
        match self {
            Quantifier::Reachable => Quantifier::Invariant,
            Quantifier::Invariant => Quantifier::Reachable,
        }
    }

    /// Is the formula true, if what is asked for can be reached, or cannot?
    pub fn value(self, reached: bool) -> bool {
        reached == (self == Quantifier::Reachable)
    }
}

impl NetProperty {
    /// EF or AG of a formula. An error only if the budget is exhausted.
    pub fn new(
        net: &Net,
        id: String,
        quantifier: Quantifier,
        body: Formula,
        budget: &Budget,
    ) -> Result<NetProperty, Diagnostic> {
        let wanted = match quantifier {
            Quantifier::Reachable => body,
            Quantifier::Invariant => body.negated(),
        };
        let question = match wanted.basis(net, budget) {
            Ok(targets) => Question::Cover(targets),
            Err(NoBasis::NotClosed | NoBasis::TooMany) => Question::Reach(wanted),
            Err(NoBasis::Stopped) => return Err(crate::stopped()),
        };
        Ok(NetProperty { id, quantifier, question })
    }

    /// What was not understood, if it was not.
    pub fn unsupported(&self) -> Option<&str> {
        match &self.question {
            Question::Unsupported(reason) => Some(reason),
            _ => None,
        }
    }

    /// The markings to be covered, if that is what it asks.
    pub fn targets(&self) -> &[Marking] {
        match &self.question {
            Question::Cover(targets) => targets,
            _ => &[],
        }
    }

    /// Does the marking answer the question with yes?
    pub fn is_reached(&self, net: &Net, marking: &Marking) -> bool {
        match &self.question {
            Question::Cover(targets) => targets.iter().any(|target| marking.covers(target)),
            Question::Reach(formula) => formula.holds(net, marking),
            Question::Unsupported(_) => false,
        }
    }
}

/// What a reader of properties collects: one that was not understood does not spoil the others, unless there are no others.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub properties: Vec<NetProperty>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Collected {
    pub fn add(&mut self, id: String, read: Result<NetProperty, Diagnostic>) {
        match read {
            Ok(property) => self.properties.push(property),
            Err(mistake) => {
                let question = Question::Unsupported(mistake.message.clone());
                self.properties.push(NetProperty { id, quantifier: Quantifier::Reachable, question });
                self.diagnostics.push(mistake);
            }
        }
    }

    pub fn finish(mut self) -> (Vec<NetProperty>, Vec<Diagnostic>) {
        let understood = self.properties.iter().any(|property| property.unsupported().is_none());
        // What has no place is about the whole: a limit was reached.
        for diagnostic in self.diagnostics.iter_mut().filter(|it| understood && it.span.is_some()) {
            diagnostic.severity = Severity::Warning;
        }
        (self.properties, self.diagnostics)
    }
}

/// Reads a file of properties, whatever its format: XML of the contest, targets of a thread-transition system, or text.
pub fn read_within(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
    budget: &Budget,
) -> (Vec<NetProperty>, Vec<Diagnostic>) {
    if text.trim_start().starts_with('<') {
        return mcc::read_within(net, source, text, wanted, budget);
    }
    if tts::is_prop(text) {
        return tts::read_prop_within(net, source, text, wanted, budget);
    }
    query::read_within(net, source, text, wanted, budget)
}
