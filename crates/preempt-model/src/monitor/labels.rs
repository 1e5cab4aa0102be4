//! Cycles that the processes' own labels forbid.

use super::{Monitor, Reading};
use crate::interpreter::{Interpreter, State};
use crate::system::Violation;
use preempt_core::PropertyKind;

/// A process stands at an accept label infinitely often.
#[derive(Debug, Clone, Copy)]
pub struct AcceptanceMonitor<'a, 'm> {
    /// What it observes.
    pub interpreter: &'a Interpreter<'m>,
}

impl<'m> Monitor<Interpreter<'m>> for AcceptanceMonitor<'_, 'm> {
    type Place = ();

    fn start(&self) {}

    fn read(&self, _: &State, (): ()) -> Vec<Reading<()>> {
        vec![Reading::on(())]
    }

    fn accepts(&self, state: &State, (): ()) -> bool {
        self.interpreter.stands_at_accept(state)
    }

    fn violation(&self) -> Violation {
        let name = "an accept label is passed infinitely often".into();
        Violation { kind: PropertyKind::Acceptance, name, location: None }
    }
}

/// From some time on no process stands at a progress label.
#[derive(Debug, Clone, Copy)]
pub struct NonProgressMonitor<'a, 'm> {
    /// What it observes.
    pub interpreter: &'a Interpreter<'m>,
}

/// It waits, or it has decided that from the next state on there is no progress. It may have decided that before the
/// first state: otherwise a loop that begins there would be found one step late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Progress may still come.
    Waiting,
    /// There is to be none any more.
    Without,
}

impl<'m> Monitor<Interpreter<'m>> for NonProgressMonitor<'_, 'm> {
    type Place = Stage;

    fn start(&self) -> Stage {
        Stage::Waiting
    }

    fn starts(&self) -> Vec<Stage> {
        vec![Stage::Waiting, Stage::Without]
    }

    fn read(&self, state: &State, place: Stage) -> Vec<Reading<Stage>> {
        match place {
            Stage::Waiting => vec![Reading::on(Stage::Waiting), Reading::on(Stage::Without)],
            Stage::Without if self.interpreter.stands_at_progress(state) => Vec::new(),
            Stage::Without => vec![Reading::on(Stage::Without)],
        }
    }

    fn accepts(&self, _: &State, place: Stage) -> bool {
        place == Stage::Without
    }

    /// A system that has come to rest is not running without progress.
    fn stutters(&self) -> bool {
        false
    }

    fn judges_system(&self) -> bool {
        self.interpreter.feels_claim()
    }

    fn violation(&self) -> Violation {
        let name = "a run goes on for ever without progress".into();
        Violation { kind: PropertyKind::NonProgress, name, location: None }
    }
}
