//! How each question about a model is answered by several processes together: whatever is a matter of finite runs.

use super::interpreter;
use crate::native::Native;
use crate::observer::{FromObserverState, ObserverAutomaton as Automaton};
use crate::product::Product;
use crate::search::{InParts, Order, PartsReport, SearchOptions, Storage};
use crate::symmetry::{Symmetric, why_no_symmetry};
use crate::{CheckError, Unsupported};
use preempt_core::SourceMap;
use preempt_model::check::Check;
use preempt_model::monitor::{BuchiMonitor, ClaimMonitor, Monitor, Monitored};
use preempt_model::symmetry::Symmetry;
use preempt_model::{Interpreter, Model, System};

/// The answer to a question about a model, by all parts together.
pub fn answer_in_parts(
    question: &Check,
    model: &Model,
    sources: &SourceMap,
    job: InParts<'_>,
) -> Result<PartsReport, CheckError> {
    let SearchOptions { order, store, simplify, successors, limits, .. } = job.options;
    let is_for_parts = (*order, *store) == (Order::ByCost, Storage::Exact)
        && !simplify
        && successors.is_native()
        && limits.depth.is_none();
    if !is_for_parts {
        return Err(Unsupported("these options for a search in parts".into()).into());
    }
    let model = &*question.model_of(model);
    let budget = job.progress.budget().part(limits);
    let interpreter = &interpreter(model, sources)?;
    interpreter.work_within(&budget);
    let asked = Asked { model, sources, interpreter };
    match question {
        Check::Safety => {
            let mut native = Native::within(model, sources, &budget)?.reduced(job.options.reduction);
            if job.options.symmetry && why_no_symmetry(job.options, job.goal).is_none() {
                let groups = Symmetry::of(interpreter).groups;
                if !groups.is_empty() {
                    return job.search(&mut Symmetric::new(native, groups));
                }
            }
            job.search(&mut native)
        }
        Check::Claim(number) => {
            let claim = &model.claims[*number];
            let automaton = Automaton::of_claim(model.code(claim.code))?;
            asked.with(&ClaimMonitor::new(interpreter, claim), automaton, job)
        }
        Check::Formula(formula) => {
            let monitor = BuchiMonitor::of_formula(interpreter, formula)
                .map_err(|error| Unsupported(error.to_string()))?;
            let automaton = Automaton::of_automaton(monitor.automaton())?;
            asked.with(&monitor, automaton, job)
        }
        Check::Trace => Err(Unsupported("a trace assertion, in several processes".into()).into()),
        Check::Acceptance | Check::Progress => Err(without_end()),
    }
}

struct Asked<'a, 'm> {
    model: &'m Model,
    sources: &'m SourceMap,
    interpreter: &'a Interpreter<'m>,
}

impl<'m> Asked<'_, 'm> {
    fn with<M: Monitor<Interpreter<'m>, Place: FromObserverState>>(
        &self,
        monitor: &M,
        automaton: Automaton,
        job: InParts<'_>,
    ) -> Result<PartsReport, CheckError> {
        if automaton.may_accept(self.model) {
            return Err(without_end());
        }
        let definition = Monitored { system: self.interpreter, monitor };
        let mut product = Product::new(self.model, self.sources, automaton, definition)?;
        job.search(&mut product)
    }
}

fn without_end() -> CheckError {
    Unsupported("runs without end, in several processes".into()).into()
}
