//! Runs whose steps somebody else chooses: a strategy that is not known here.
//!
//! It proves nothing by itself, since nobody knows which runs were left out.

use crate::executable::{Executable, Move};
use crate::explore::{Exploration, ExplorationLimits, RunObserver};
use crate::random::one;
use crate::recorder::RunRecorder;
use crate::runner::Runner;

/// Chooses every step of one run after the other.
pub trait Chooser {
    /// A run is to begin; false: there shall be none any more.
    fn begin_run(&mut self) -> bool;

    /// Which of these is the next step of the run? There is at least one. `None`: the run is given up where it stands.
    fn choose(&mut self, moves: &[Move]) -> Option<Move>;
}

/// Runs until the chooser wants no more, or a limit is reached.
///
/// ```
/// use preempt_stateless::chosen::{self, Chooser};
/// use preempt_stateless::program::{Op, Program};
/// use preempt_stateless::{ExplorationLimits, Move};
///
/// /// One run, in which whoever was created last comes first.
/// struct LastFirst(bool);
///
/// impl Chooser for LastFirst {
///     fn begin_run(&mut self) -> bool {
///         !std::mem::replace(&mut self.0, true)
///     }
///     fn choose(&mut self, moves: &[Move]) -> Option<Move> {
///         moves.last().copied()
///     }
/// }
///
/// // The first thread fails if the second has stored before.
/// let mut program = Program::new(vec![vec![Op::FailIf(0, 1)], vec![Op::Store(0, 1)]]);
/// let found = chosen::explore(&mut program, &ExplorationLimits::default(), &mut LastFirst(false), &mut ());
/// assert_eq!(found.failure.unwrap().schedule, [1, 0].map(Move::from));
/// ```
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    chooser: &mut impl Chooser,
    observer: &mut impl RunObserver,
) -> Exploration {
    // Asked before the program is started: whoever wants no run gets none.
    if limits.executions == Some(0) || !chooser.begin_run() {
        return Exploration::default();
    }
    let mut recorder = RunRecorder::new(limits);
    let mut runner = Runner::new(program);
    let result = loop {
        let done = one(&mut runner, &mut recorder, observer, |moves, _, _| chooser.choose(moves));
        runner.reset();
        if done.is_err() || !chooser.begin_run() {
            break done;
        }
    };
    recorder.finish(result, &runner)
}
