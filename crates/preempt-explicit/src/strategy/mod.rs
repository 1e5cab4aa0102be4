//! Which searches answer what is asked of a model, in which order, and what they promise together.
//!
//! * [`one_question`]: searches and proofs for one question;
//! * [`all_questions`]: several questions, until it is certain which of their violations is the cheapest;
//! * [`all_violations`]: every different violation at its cheapest.

mod all_questions;
mod all_violations;
mod one_question;

use crate::Refusal;
use crate::search::{Charges, Checkpoints, Options, Order, Report, Source, Storage};
use preempt_core::{Answered, Cost, Limits, Observer, Promise, SourceMap, Trace};
use preempt_model::question::Question;
use preempt_model::search::{RunCost, cost_of_run};
use preempt_model::{Interpreter, Model};
use std::time::Instant;

/// What is to be checked, and how.
#[derive(Debug, Clone, Copy)]
pub struct Strategy<'a> {
    pub model: &'a Model,
    pub sources: &'a SourceMap,
    pub options: &'a Options,
    pub weakly_fair: bool,
    /// Nobody said which reduction it should be: every question may have the one that suits it.
    pub chooses_reduction: bool,
    /// May the proof that nothing is violated forget what is dead ([`Options::statics`])?
    pub proofs_use_statics: bool,
    /// The simplest run at any price.
    pub shortest: bool,
    /// May a model that cannot be compiled be interpreted?
    pub may_interpret: bool,
}

/// The answers to several questions.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The cheapest violation; else what is not decided; else the proof of the first question.
    pub report: Report,
    pub promise: Promise,
    /// In the order of the questions.
    pub properties: Vec<Answered>,
    /// To which of them the report belongs.
    pub shown: usize,
}

impl Strategy<'_> {
    /// The simplest run that violates anything, or the proof that there is none. `None` if nothing is asked.
    ///
    /// A search of the model itself can be saved and continued, if it alone is asked for.
    pub fn simplest(
        &self,
        questions: &[Question],
        checkpoints: Option<&mut dyn Checkpoints>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Answers>, Refusal> {
        all_questions::simplest(self, questions, checkpoints, observer)
    }

    /// Every different violation of any of the questions, each at its cheapest: the errors of the report, the cheapest
    /// first. `None` if nothing is asked.
    pub fn all_violations(
        &self,
        questions: &[Question],
        checkpoints: Option<&mut dyn Checkpoints>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Answers>, Refusal> {
        all_violations::find(self, questions, checkpoints, observer)
    }

    /// What a run costs, in the unit that is asked for.
    fn cost(&self, interpreter: &Interpreter<'_>, trace: &Trace) -> RunCost {
        match self.options.cost {
            Cost::Preemptions => cost_of_run(interpreter, trace, self.options.fair_switch),
            Cost::Switches | Cost::Steps => Charges::new(self.options.cost).of_run(trace),
        }
    }

    /// Can it be searched for something cheaper than what is known? Fair runs without end have no cost.
    fn ranks(&self, question: &Question) -> bool {
        self.options.order == Order::ByCost
            && self.options.store == Storage::Exact
            && !(self.weakly_fair && question.is_about_cycles())
    }

    /// A model that cannot be compiled is interpreted.
    fn with_fallback(
        &self,
        options: &Options,
        mut run: impl FnMut(&Options) -> Result<Report, Refusal>,
    ) -> Result<Report, Refusal> {
        match run(options) {
            Err(Refusal::Unsupported(_)) if self.may_interpret && options.successors == Source::Native => {
                run(&Options { successors: Source::Interpreted, ..options.clone() })
            }
            result => result,
        }
    }
}

/// One clock for everything that is asked.
#[derive(Clone, Copy)]
struct Clock {
    started: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { started: Instant::now() }
    }

    /// The options with what is left of the time, and with at most so many states.
    fn left(self, options: &Options, states: Option<u64>) -> Options {
        let limits = Limits {
            states: [states, options.limits.states].into_iter().flatten().min(),
            time: options.limits.time.map(|most| most.saturating_sub(self.started.elapsed())),
            ..options.limits
        };
        Options { limits, ..options.clone() }
    }
}
