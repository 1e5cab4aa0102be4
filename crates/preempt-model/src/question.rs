//! What can be asked of a model, and how each question is answered by the reference engine.

use crate::interpreter::Interpreter;
use crate::ltl::{self, TooLarge};
use crate::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
};
use crate::program::Model;
use crate::property::Formula;
use crate::search::{self, Options};
use crate::system::Violation;
use preempt_core::{Observer, Outcome, PropertyKind, Verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Assertions, run-time errors, invalid end states, exclusive channels.
    Safety,
    /// The model's `trace` or `notrace`.
    Trace,
    /// A never claim of the model, by number.
    Claim(usize),
    /// A formula: one of the model's, or one given apart from it.
    Formula(Formula),
    /// No accept label is passed infinitely often.
    Acceptance,
    /// Progress labels are passed again and again.
    Progress,
}

/// How a question is asked.
#[derive(Debug, Clone, Default)]
pub struct Asking {
    pub options: Options,
    /// Only runs count in which every process that could always move does.
    pub weakly_fair: bool,
}

impl Question {
    /// Everything that a model says about itself, in the order in which it is answered.
    pub fn all(model: &Model) -> Vec<Question> {
        let mut questions = vec![Question::Safety];
        questions.extend(model.trace_assertion.as_ref().map(|_| Question::Trace));
        questions.extend((0..model.claims.len()).map(Question::Claim));
        questions.extend(model.formulas.iter().cloned().map(Question::Formula));
        let processes = || model.start.iter().map(|start| start.code).chain(started(model));
        let accepts = |code| model.code(code).locations.iter().any(|location| location.accept);
        if processes().any(accepts) {
            questions.push(Question::Acceptance);
        }
        questions
    }

    pub fn name(&self, model: &Model) -> String {
        match self {
            Question::Safety => "safety".into(),
            Question::Trace => "trace".into(),
            Question::Claim(number) => format!("never {}", model.claims[*number].name),
            Question::Formula(formula) => format!("ltl {}", formula.name),
            Question::Acceptance => "no acceptance cycle".into(),
            Question::Progress => "progress".into(),
        }
    }

    pub fn answer(
        &self,
        interpreter: &Interpreter<'_>,
        asking: &Asking,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, TooLarge> {
        let model = interpreter.model();
        Ok(match self {
            Question::Safety => search::check(interpreter, &asking.options, observer),
            Question::Trace => match &model.trace_assertion {
                Some(assertion) => {
                    search::check(&Traced::new(interpreter, assertion), &asking.options, observer)
                }
                None => search::check(interpreter, &asking.options, observer),
            },
            Question::Claim(number) => {
                observed(interpreter, &ClaimMonitor::new(interpreter, &model.claims[*number]), asking, observer)
            }
            Question::Formula(formula) => {
                let violation = Violation {
                    kind: PropertyKind::Ltl,
                    name: formula.name.clone(),
                    location: Some(interpreter.sources().location(formula.span)),
                };
                let automaton = ltl::to_automaton(&formula.formula.negated())?;
                observed(interpreter, &BuchiMonitor::new(interpreter, automaton, violation), asking, observer)
            }
            Question::Acceptance => {
                cycles(interpreter, &AcceptanceMonitor { interpreter }, asking, observer)
            }
            Question::Progress => cycles(interpreter, &NonProgressMonitor { interpreter }, asking, observer),
        })
    }
}

/// Codes that some command starts.
fn started(model: &Model) -> impl Iterator<Item = crate::program::CodeId> {
    model.edges().filter_map(|edge| match &edge.command {
        crate::command::Command::Run { code, .. } => Some(*code),
        _ => None,
    })
}

/// First what the monitor finds in a finite run, then what it finds in a run without end.
fn observed<'m, M: Monitor<Interpreter<'m>>>(
    interpreter: &Interpreter<'m>,
    monitor: &M,
    asking: &Asking,
    observer: &mut dyn Observer,
) -> Outcome {
    let finite = search::check(&Monitored { system: interpreter, monitor }, &asking.options, observer);
    match finite.verdict {
        Verdict::Holds => cycles(interpreter, monitor, asking, observer),
        Verdict::Violated | Verdict::Inconclusive(_) => finite,
    }
}

fn cycles<'m, M: Monitor<Interpreter<'m>>>(
    interpreter: &Interpreter<'m>,
    monitor: &M,
    asking: &Asking,
    observer: &mut dyn Observer,
) -> Outcome {
    search::check_cycles(interpreter, monitor, asking.weakly_fair, &asking.options, observer)
}
