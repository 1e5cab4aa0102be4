//! A model in machine code, and what can be asked of its states.

use super::actor::Actor;
use super::context::{Context, FAULT, YES};
use super::convert::{FlatState, flatten, unflatten};
use super::dependence::{KnownDependences, apart, fixed_stretches};
use super::layout::{Layout, OBSERVER_BYTES};
use super::moves::{Moves, Step, StepList, Timeout};
use super::program::{LocationFacts, Program};
use super::sequence::{Sequence, layout_of};
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::reduction::strong::PersistentSets;
use crate::search::{Checkpoints, Goal, SearchJob, SearchOptions, SearchReport};
use crate::{CheckError, Unsupported};
use preempt_core::{Budget, Progress, PropertyKind, SourceMap, StopReason};
use preempt_model::interpreter::{Action, State};
use preempt_model::{CodeId, Expr, Interpreter, LocationId, Model, System};
use std::ops::Range;
use std::sync::Arc;

/// A model in machine code, ready to be searched by one thread. Several threads have each their own, with the same program;
/// its layouts are behind a lock that is taken only when a new one is met.
pub struct Native<'m> {
    pub(super) interpreter: Interpreter<'m>,
    pub(super) program: Arc<Program>,
    pub(super) budget: Budget,
    pub(super) initial: FlatState,
    /// A state that is looked at, after its hidden variables.
    source: Vec<u8>,
    /// What an expansion leads to, until whoever asked has seen it.
    pub(super) visited: Vec<u8>,
    pub(super) sequence: Sequence,
    /// Why there is not machine code for everything, if so.
    pub(super) incomplete: Option<StopReason>,
    pub(super) out_of_layouts: bool,
    /// Between expansions.
    pub(super) context: Option<Box<Context>>,
    pub(super) private: PrivateLocations,
    pub(super) persistent: Option<PersistentSets<'m>>,
    /// For remembering steps.
    pub(super) dependences: KnownDependences<'m>,
    /// Which locals of each code never change.
    pub(super) fixed: Arc<[Vec<Range<usize>>]>,
    /// Globals that are pieces of their own.
    pub(super) apart: Arc<[Range<usize>]>,
    /// What an observer reads.
    conditions: Vec<Expr>,
}

impl std::fmt::Debug for Native<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

/// One successor, for comparison with the interpreter's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeSuccessor {
    /// Which of its moves the process makes.
    pub action: Action,
    /// `None` if the run ends here.
    pub state: Option<State>,
    /// Who is running afterwards.
    pub runs: usize,
    /// What the step violates.
    pub violation: Option<PropertyKind>,
}

impl<'m> Native<'m> {
    /// Compiles a model.
    pub fn new(model: &'m Model, sources: &'m SourceMap) -> Result<Native<'m>, Unsupported> {
        Native::within(model, sources, &Budget::unlimited())
    }

    /// Machine code of a large model takes its time. If the budget ends first, no search with it begins.
    pub fn within(
        model: &'m Model,
        sources: &'m SourceMap,
        budget: &Budget,
    ) -> Result<Native<'m>, Unsupported> {
        Native::with_conditions(model, sources, None, budget)
    }

    /// Leaves out what this reduction allows to leave out.
    pub fn reduced(self, reduction: Reduction) -> Native<'m> {
        let model = self.interpreter.model();
        match reduction {
            Reduction::None => self,
            Reduction::Exact => Native { private: PrivateLocations::new(model), ..self },
            Reduction::Strong => Native { persistent: PersistentSets::new(model, &[]), ..self },
        }
    }

    /// Searches the model. Several searches, one after the other, can use the same machine code.
    pub fn explore(
        &mut self,
        options: &SearchOptions,
        goal: Goal,
        checkpoints: &mut dyn Checkpoints,
        progress: &mut dyn Progress,
    ) -> Result<SearchReport, CheckError> {
        SearchJob::new(options, goal, checkpoints, progress).search_by_all(self)
    }

    /// With room for an observer's state, and what the observer reads; see [`crate::product`].
    pub(crate) fn with_conditions(
        model: &'m Model,
        sources: &'m SourceMap,
        conditions: Option<Vec<Expr>>,
        budget: &Budget,
    ) -> Result<Native<'m>, Unsupported> {
        let interpreter = Interpreter::new(model, sources)
            .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))?;
        let program = Arc::new(Program::new(model, conditions.as_deref(), budget)?);
        let first = interpreter.initial_states().swap_remove(0);
        let initial = flatten(&program.shape, &program.layouts, &interpreter.open(&first))?;
        Ok(Native {
            interpreter,
            budget: budget.clone(),
            initial,
            source: Vec::new(),
            visited: Vec::new(),
            sequence: Sequence::new(),
            incomplete: budget.stopped(),
            out_of_layouts: false,
            context: None,
            private: PrivateLocations::none(model),
            persistent: None,
            dependences: KnownDependences::default(),
            fixed: fixed_stretches(model, &program.shape).into(),
            apart: apart(model, &program.shape).into(),
            conditions: conditions.unwrap_or_default(),
            program,
        })
    }

    /// The same machine code for another thread. What it needs for itself is its own; the strong reduction stays here.
    pub(crate) fn another(&self) -> Option<Native<'m>> {
        let interpreter = Interpreter::new(self.interpreter.model(), self.interpreter.sources()).ok()?;
        Some(Native {
            interpreter,
            program: Arc::clone(&self.program),
            budget: self.budget.clone(),
            initial: self.initial.clone(),
            source: Vec::new(),
            visited: Vec::new(),
            sequence: Sequence::new(),
            incomplete: self.incomplete,
            out_of_layouts: false,
            context: None,
            private: self.private.clone(),
            persistent: self.persistent.clone(),
            dependences: KnownDependences::default(),
            fixed: Arc::clone(&self.fixed),
            apart: Arc::clone(&self.apart),
            conditions: self.conditions.clone(),
        })
    }

    pub(super) fn layout(&self, state: &[u8]) -> &Layout {
        layout_of(&self.program, state)
    }

    /// Where a stable state lies now, with its hidden variables before it: until this is called again, it stays there.
    #[allow(unsafe_code)]
    pub(super) fn open_stable(&mut self, state: &[u8]) -> *mut u8 {
        self.source.clear();
        self.source.extend_from_slice(&self.initial.hidden);
        self.source.extend_from_slice(state);
        // SAFETY: so many bytes were just written.
        unsafe { self.source.as_mut_ptr().add(self.initial.hidden.len()) }
    }

    /// The context of the last expansion, to be used again. Give it back with [`Native::keep_context`].
    pub(super) fn take_context(&mut self) -> Box<Context> {
        self.context.take().unwrap_or_else(|| Box::new(Context::new(&self.program)))
    }

    pub(super) fn keep_context(&mut self, context: Box<Context>) {
        self.context = Some(context);
    }

    fn opened(&self, flat: &FlatState) -> State {
        let layout = self.layout(&flat.bytes);
        self.interpreter.close(&unflatten(self.interpreter.model(), &self.program.shape, layout, flat))
    }

    /// The same state in the interpreter's terms.
    pub(crate) fn state_of(&self, state: &[u8]) -> State {
        let hidden = self.initial.hidden.clone();
        self.opened(&FlatState { bytes: state.to_vec(), hidden, exclusive: None })
    }

    /// What is known of the locations at which the processes stand.
    pub(super) fn locations(&self, state: &[u8]) -> impl Iterator<Item = LocationFacts> {
        let layout = self.layout(state);
        layout.codes.iter().zip(&layout.bases).map(|(code, base)| {
            let location = self.program.shape.code(*code).location.read(state, *base as usize);
            self.program.locations[usize::from(code.0)][location as usize]
        })
    }

    /// Where the process stands; `None` if there is none.
    #[inline]
    pub(crate) fn location(&self, state: &[u8], process: usize) -> Option<(CodeId, LocationId)> {
        let layout = self.layout(state);
        let code = *layout.codes.get(process)?;
        let location = self.program.shape.code(code).location.read(state, layout.bases[process] as usize);
        Some((code, LocationId(location as u32)))
    }

    /// Does a process stand at an accept label?
    pub(crate) fn stands_at_accept(&self, state: &[u8]) -> bool {
        self.locations(state).any(|location| location.accept)
    }

    /// Where the observer's state lies; empty without one.
    pub(crate) fn observer_range(&self) -> std::ops::Range<usize> {
        self.program.shape.observer.map_or(0..0, |at| at as usize..at as usize + OBSERVER_BYTES)
    }

    pub(crate) fn observer_state(&self, state: &[u8]) -> u16 {
        <[u8; OBSERVER_BYTES]>::try_from(&state[self.observer_range()]).map_or(0, u16::from_le_bytes)
    }

    pub(crate) fn set_observer_state(&self, state: &mut [u8], at: u16) {
        state[self.observer_range()].copy_from_slice(&at.to_le_bytes());
    }

    /// Does one of the observer's conditions hold? `None` if that has no meaning here.
    #[allow(unsafe_code)]
    pub(crate) fn holds(&mut self, state: &[u8], condition: usize) -> Option<bool> {
        let Some(function) = self.program.conditions[condition] else {
            return self.interpreter.holds(&self.state_of(state), &self.conditions[condition]).ok();
        };
        let (start, mut context) = (self.open_stable(state), self.take_context());
        context.point_at(start, self.layout(state));
        (context.process, context.asks_timeout, context.chooses) = (0, true, false);
        // SAFETY: the code belongs to the program, and the context points at the state. A condition belongs to nobody, so it
        // does not look at the segment that it is given.
        let answer = unsafe { function(&mut *context, start, start) };
        self.keep_context(context);
        match answer {
            FAULT => None,
            answer => Some(answer == YES),
        }
    }

    /// Every step of a process, as the interpreter lists them.
    pub fn successors(&mut self, state: &State, process: usize) -> Result<Vec<NativeSuccessor>, Unsupported> {
        let flat = flatten(&self.program.shape, &self.program.layouts, &self.interpreter.open(state))?;
        self.source.clear();
        self.source.extend_from_slice(&flat.hidden);
        self.source.extend_from_slice(&flat.bytes);
        if flat.exclusive.is_some_and(|holder| usize::from(holder) != process)
            || process >= state.process_count()
        {
            return Ok(Vec::new());
        }
        let mut found = StepList::default();
        let hidden = flat.hidden.len();
        let timeout = if flat.exclusive.is_none() { Timeout::Evaluated } else { Timeout::Never };
        let start = self.source.as_mut_ptr();
        // SAFETY: the source is this state after its hidden variables, and is not changed until the steps are found.
        #[allow(unsafe_code)]
        let actor = unsafe { Actor::new(start.add(hidden), self.layout(&flat.bytes), process) };
        Moves::new(&self.program).moves(actor, timeout, &mut found);
        let successor = |step: &Step| NativeSuccessor {
            action: Action { edge: step.edge, partner: step.partner, picks: step.picks.clone() },
            state: (step.size > 0).then(|| {
                self.opened(&FlatState {
                    bytes: found.state(step).to_vec(),
                    hidden: found.bytes[step.start - hidden..step.start].to_vec(),
                    exclusive: step.exclusive,
                })
            }),
            runs: usize::from(step.runs),
            violation: step.violation,
        };
        Ok(found.steps.iter().map(successor).collect())
    }
}
