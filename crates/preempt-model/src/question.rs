//! What can be asked of a model, and how each question is answered by the reference engine.

use crate::interpreter::Interpreter;
use crate::ltl::{self, TooLarge};
use crate::monitor::{
    AcceptanceMonitor, BuchiMonitor, ClaimMonitor, Monitor, Monitored, NonProgressMonitor, Traced,
    finds_violation,
};
use crate::program::Model;
use crate::property::Formula;
use crate::search::{self, Options, Replayed};
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

    /// Is the question answered with "violated" by this run? `loop_start` counts steps.
    pub fn is_violated_by<'m>(
        &self,
        interpreter: &Interpreter<'m>,
        run: &Replayed<Interpreter<'m>>,
        loop_start: Option<usize>,
    ) -> Result<bool, TooLarge> {
        let model = interpreter.model();
        Ok(match self {
            Question::Safety => {
                run.violation.is_some()
                    || run.last_state.as_ref().is_some_and(|state| search::is_deadlock(interpreter, state))
            }
            Question::Trace => false,
            Question::Claim(number) => {
                found_in(&ClaimMonitor::new(interpreter, &model.claims[*number]), run, loop_start)
            }
            Question::Formula(formula) => {
                let automaton = ltl::to_automaton(&formula.formula.negated())?;
                let violation = Violation { kind: PropertyKind::Ltl, name: String::new(), location: None };
                found_in(&BuchiMonitor::new(interpreter, automaton, violation), run, loop_start)
            }
            Question::Acceptance => found_in(&AcceptanceMonitor { interpreter }, run, loop_start),
            Question::Progress => found_in(&NonProgressMonitor { interpreter }, run, loop_start),
        })
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

fn found_in<'m, M: Monitor<Interpreter<'m>>>(
    monitor: &M,
    run: &Replayed<Interpreter<'m>>,
    loop_start: Option<usize>,
) -> bool {
    let total = run.trace.steps.len();
    let first = loop_start.and_then(|start| run.stable.iter().position(|(steps, _)| *steps == start));
    if loop_start.is_some() && first.is_none() {
        return false;
    }
    let mut states: Vec<_> = run.stable.iter().map(|(_, state)| state.clone()).collect();
    // Coming back, the last state is the first of the loop again; a loop without steps repeats it.
    if loop_start.is_some_and(|start| start < total) {
        let back = states.pop();
        if back.as_ref() != first.map(|first| &run.stable[first].1) {
            return false;
        }
    }
    finds_violation(monitor, &states, first)
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
