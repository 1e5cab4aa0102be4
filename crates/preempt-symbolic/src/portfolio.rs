//! Rounds and diagrams in turns: the first answer wins.
//!
//! Neither is always faster. Rounds (`preempt-rounds`) list states one by one, with real stacks: most programs reach few of
//! them, and a search that comes to its end proves its answer for any number of contexts. Diagrams (Lal and Reps 2009, paper
//! 002) do not mind how many states there are, nor how deep the calls are. So rounds have a short time alone, in which most
//! programs are decided without a single diagram; then the two take turns on one processor. Rounds that meet too many states
//! or too deep a stack leave the rest to the diagrams. Both count contexts in the same order of the same threads
//! ([`preempt_rounds::threads`]), so that it does not matter for K who answers.

use crate::baton::{Baton, Runner};
use crate::check::{SymbolicOptions, SymbolicReport, analyse, nothing_done};
use crate::error::Unsupported;
use preempt_core::{
    Budget, Guarantee, Outcome, Progress, SourceMap, Stats, StopReason, Verdict, run_supervised,
};
use preempt_model::Model;
use preempt_rounds::{Answer, Basis, Cap, Caps, Ended, Search, Setting};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Instant;

/// So many pieces of work rounds do alone: about a tenth of a second, on any machine and under any load the same.
const HEAD_START: usize = 72;

/// Who has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// Explicit rounds, and what their answer rests on.
    Rounds(Basis),
    /// Decision diagrams.
    Diagrams,
    /// Nobody, within the limits.
    Nobody,
}

/// The outcome, who answered, and how far both have gone.
#[derive(Debug, Clone, PartialEq)]
pub struct PortfolioReport {
    /// As diagrams report; `nodes` is 0 if there were none.
    pub report: SymbolicReport,
    /// Who answered.
    pub answered: Answered,
    /// Configurations that rounds have stored.
    pub configurations: u64,
    /// Does the violation take the fewest contexts?
    pub fewest: bool,
    /// Why rounds have given up, if they have.
    pub too_much: Option<Cap>,
}

/// Looks for failing assertions and run-time errors by rounds and by diagrams.
///
/// ```
/// use preempt_core::{Silent, Verdict};
/// use preempt_promela::{Additions, load};
/// use preempt_symbolic::portfolio::{self, Answered};
///
/// let text = "bit x; active [2] proctype P() { assert(x == 0); x = 1 }";
/// let loaded = load("p.pml", text, &Additions::default(), &mut |name| Err(name.to_string()));
/// let model = loaded.model.expect("there are no mistakes in it");
/// let found = portfolio::check(&model, &loaded.sources, &Default::default(), &Default::default(), &mut Silent)?;
/// assert_eq!(found.report.outcome.verdict, Verdict::Violated);
/// assert!(matches!(found.answered, Answered::Rounds(_)), "there are few states");
/// # Ok::<(), preempt_symbolic::Unsupported>(())
/// ```
pub fn check(
    model: &Model,
    sources: &SourceMap,
    options: &SymbolicOptions,
    caps: &Caps,
    progress: &mut dyn Progress,
) -> Result<PortfolioReport, Unsupported> {
    if let Some(why) = options.table.refused() {
        return Err(Unsupported(why.to_string()));
    }
    let (begin, budget) = (Instant::now(), Budget::within(&options.limits));
    let owned = (Arc::new((model.clone(), sources.clone(), options.clone())), *caps, budget.clone());
    let snapshot = || budget.counters().snapshot();
    let answered = run_supervised(&budget, progress, snapshot, move || {
        let (program, caps, budget) = &owned;
        in_turns(program, *caps, budget)
    });
    let mut found = answered.unwrap_or_else(|reason| Ok(nobody(nothing_done(reason), None)))?;
    found.report.outcome.stats.time = begin.elapsed();
    Ok(found)
}

type Program = (Model, SourceMap, SymbolicOptions);
type Analysed = Result<SymbolicReport, Unsupported>;

fn in_turns(program: &Arc<Program>, caps: Caps, budget: &Budget) -> Result<PortfolioReport, Unsupported> {
    let (model, sources, options) = &**program;
    let setting = match Setting::new(model, sources, options.instances, budget) {
        Ok(setting) => setting,
        Err(Ended::Unsupported(what)) => return Err(Unsupported(what)),
        Err(Ended::Stopped(reason)) => return Ok(nobody(nothing_done(reason), None)),
        Err(Ended::TooMuch(_)) => return diagrams_alone(program, budget),
    };
    // What rounds cannot do, diagrams may; if not, they say it in their words.
    let Ok(mut search) = Search::new(&setting, options.contexts, true, caps, budget) else {
        return diagrams_alone(program, budget);
    };
    let (mut pieces, mut too_much) = (0, None);
    let mut enough = || {
        pieces += 1;
        pieces >= HEAD_START
    };
    match search.advance(&mut enough) {
        // A start was left out. Diagrams leave out the same, but they see it if nothing could go wrong in any thread.
        Ok(Some(answer)) if matches!(answer.verdict, Verdict::Inconclusive(_)) => {
            let found = diagrams_alone(program, budget)?;
            return Ok(match found.answered {
                Answered::Nobody => by_rounds(&search, &setting, answer, budget),
                _ => found,
            });
        }
        Ok(Some(answer)) => return Ok(by_rounds(&search, &setting, answer, budget)),
        Ok(None) => {}
        Err(Ended::TooMuch(cap)) => too_much = Some(cap),
        Err(Ended::Stopped(reason)) => return Ok(stopped(&search, &setting, reason, budget)),
        Err(Ended::Unsupported(_)) => return diagrams_alone(program, budget),
    }
    let baton = Arc::new(Baton::new());
    let (part, mut working) = diagrams(program, &baton, budget);
    while let Some(receiver) = &working {
        if let Some(cap) = too_much {
            baton.end(Runner::Rounds);
            let Ok(analysed) = receiver.recv() else { panic!("internal error: the diagrams are lost") };
            return Ok(PortfolioReport { too_much: Some(cap), ..by_diagrams(analysed?, &search) });
        }
        let mut analysed = None;
        let mut pause = || {
            baton.wait(Runner::Rounds);
            analysed = match receiver.try_recv() {
                Ok(analysed) => Some(analysed),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => panic!("internal error: the diagrams are lost"),
            };
            analysed.is_some()
        };
        match if pause() { Ok(None) } else { search.advance(&mut pause) } {
            Ok(Some(answer)) => {
                part.stop(StopReason::Interrupted);
                baton.end(Runner::Rounds);
                return Ok(by_rounds(&search, &setting, answer, budget));
            }
            Ok(None) => match analysed {
                Some(Ok(report)) if !matches!(report.outcome.verdict, Verdict::Inconclusive(_)) => {
                    return Ok(by_diagrams(report, &search));
                }
                // The diagrams have no answer, but rounds may still have one.
                _ => working = None,
            },
            Err(Ended::TooMuch(cap)) => too_much = Some(cap),
            Err(Ended::Stopped(reason)) => {
                part.stop(reason);
                baton.end(Runner::Rounds);
                return Ok(stopped(&search, &setting, reason, budget));
            }
            Err(Ended::Unsupported(what)) => return Err(Unsupported(what)),
        }
    }
    match search.advance(&mut || false) {
        Ok(Some(answer)) => Ok(by_rounds(&search, &setting, answer, budget)),
        Ok(None) => Ok(stopped(&search, &setting, StopReason::Interrupted, budget)),
        Err(Ended::TooMuch(cap)) => {
            let found = stopped(&search, &setting, StopReason::Memory, budget);
            Ok(PortfolioReport { too_much: Some(cap), ..found })
        }
        Err(Ended::Stopped(reason)) => Ok(stopped(&search, &setting, reason, budget)),
        Err(Ended::Unsupported(what)) => Err(Unsupported(what)),
    }
}

fn diagrams_alone(program: &Program, budget: &Budget) -> Result<PortfolioReport, Unsupported> {
    let report = analyse(&program.0, &program.1, &program.2, budget, None)?;
    let answered = match report.outcome.verdict {
        Verdict::Inconclusive(_) => Answered::Nobody,
        _ => Answered::Diagrams,
    };
    Ok(PortfolioReport { answered, fewest: true, ..nobody(report, None) })
}

/// The diagrams are no longer at work.
struct Ending(Arc<Baton>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end(Runner::Diagrams);
    }
}

/// The diagrams on a thread of their own, which works while it has the baton.
fn diagrams(
    program: &Arc<Program>,
    baton: &Arc<Baton>,
    budget: &Budget,
) -> (Budget, Option<Receiver<Analysed>>) {
    let part = budget.part(&Default::default());
    let (sender, receiver) = mpsc::channel();
    let (program, baton, own) = (program.clone(), baton.clone(), part.clone());
    let work = move || {
        // also if it panics
        let ended = Ending(baton.clone());
        baton.wait(Runner::Diagrams);
        let analysed = analyse(&program.0, &program.1, &program.2, &own, Some(&baton));
        // Nobody may want to know any more.
        let _ = sender.send(analysed);
        drop(ended);
    };
    let spawned = std::thread::Builder::new().stack_size(64 << 20).spawn(work);
    (part, spawned.ok().map(|_| receiver))
}

fn by_rounds(search: &Search<'_>, setting: &Setting<'_>, answer: Answer, budget: &Budget) -> PortfolioReport {
    let (violation, counterexample) = answer.violation.unzip();
    let mut stats = Stats { peak_bytes: budget.counters().bytes.get(), ..Stats::default() };
    if let Some(property) = &violation {
        stats.violations.insert(property.kind, 1);
    }
    let (verdict, guarantee) = (answer.verdict, answer.guarantee);
    let report = SymbolicReport {
        outcome: Outcome { verdict, guarantee, violation, counterexample, stats },
        contexts: answer.contexts,
        threads: setting.threads.all.iter().map(|thread| thread.name.clone()).collect(),
        complete: answer.complete,
        nodes: 0,
        shared_states: search.shared_states(),
    };
    PortfolioReport {
        report,
        answered: Answered::Rounds(answer.basis),
        configurations: search.configurations(),
        fewest: answer.fewest,
        too_much: None,
    }
}

fn by_diagrams(report: SymbolicReport, search: &Search<'_>) -> PortfolioReport {
    let answered = match report.outcome.verdict {
        Verdict::Inconclusive(_) => Answered::Nobody,
        _ => Answered::Diagrams,
    };
    PortfolioReport {
        answered,
        configurations: search.configurations(),
        fewest: true,
        ..nobody(report, None)
    }
}

fn nobody(report: SymbolicReport, too_much: Option<Cap>) -> PortfolioReport {
    PortfolioReport { report, answered: Answered::Nobody, configurations: 0, fewest: false, too_much }
}

/// A limit was reached: so many rounds were completed.
fn stopped(
    search: &Search<'_>,
    setting: &Setting<'_>,
    reason: StopReason,
    budget: &Budget,
) -> PortfolioReport {
    let rounds = search.round().saturating_sub(1);
    let answer = Answer {
        verdict: Verdict::Inconclusive(reason),
        guarantee: Guarantee::Contexts(rounds),
        contexts: rounds,
        violation: None,
        fewest: false,
        basis: Basis::Rounds,
        complete: true,
    };
    PortfolioReport { answered: Answered::Nobody, ..by_rounds(search, setting, answer, budget) }
}
