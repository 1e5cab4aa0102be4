//! A model in machine code as a source of successors: from one stable state to the next.

use super::context::{Context, FAULT, YES};
use super::moves::{Ask, Found, Moves};
use super::program::{LocationFacts, Program};
use super::sequence::{Sequence, layout_of};
use crate::convert::{FlatState, flatten, unflatten};
use crate::layout::{Full, LAYOUT_BYTES, Layout, OBSERVER_BYTES};
use crate::reduction::Reduction;
use crate::reduction::exact::PrivateLocations;
use crate::reduction::strong::{Ask as Check, Cycles, PersistentSets};
use crate::replay::{Ending, ReplayError, ReplayOptions, Replayer, StatePath};
use crate::search::{Checkpoints, Counterexample, Goal, SearchJob, SearchOptions, SearchReport, Variety};
use crate::successors::{Event, Successors};
use crate::{CheckError, Unsupported};
use preempt_core::{Budget, Progress, Property, PropertyKind, SourceMap, StopReason};
use preempt_model::interpreter::{Action, State};
use preempt_model::{CodeId, Expr, Interpreter, LocationId, Model, System};
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};

/// A model in machine code, ready to be searched by one thread. Several threads would each have their own, with the
/// layouts behind a lock that is taken only when a new one is met.
pub struct Native<'m> {
    interpreter: Interpreter<'m>,
    program: Box<Program>,
    initial: FlatState,
    /// The state that is expanded, after its hidden variables.
    source: Vec<u8>,
    sequence: Sequence,
    /// Why there is not machine code for everything, if so.
    incomplete: Option<StopReason>,
    out_of_layouts: bool,
    /// Between expansions.
    context: Option<Box<Context>>,
    private: PrivateLocations,
    persistent: Option<PersistentSets<'m>>,
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
    pub action: Action,
    pub state: Option<State>,
    pub runs: usize,
    pub violation: Option<PropertyKind>,
}

impl<'m> Native<'m> {
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
        SearchJob { options, goal, variety: Variety::default(), checkpoints, progress }.search(self)
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
        let program = Box::new(Program::new(model, conditions.as_deref(), budget)?);
        let first = interpreter.initial_states().swap_remove(0);
        // SAFETY: nothing else refers to the layouts.
        #[allow(unsafe_code)]
        let layouts = unsafe { &mut *program.layouts.get() };
        let initial = flatten(&program.shape, layouts, &interpreter.open(&first))?;
        Ok(Native {
            interpreter,
            initial,
            source: Vec::new(),
            sequence: Sequence::default(),
            incomplete: budget.stopped(),
            out_of_layouts: false,
            context: None,
            private: PrivateLocations::none(model),
            persistent: None,
            conditions: conditions.unwrap_or_default(),
            program,
        })
    }

    fn layout(&self, state: &[u8]) -> &Layout {
        layout_of(&self.program, state)
    }

    fn open_source(&mut self, state: &[u8], hidden: &[u8]) {
        self.source.clear();
        self.source.extend_from_slice(hidden);
        self.source.extend_from_slice(state);
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
    fn places(&self, state: &[u8]) -> impl Iterator<Item = LocationFacts> {
        let layout = self.layout(state);
        layout.codes.iter().zip(&layout.bases).map(|(code, base)| {
            let location = self.program.shape.code(*code).location.read(state, *base as usize);
            self.program.places[usize::from(code.0)][location as usize]
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
        self.places(state).any(|place| place.accept)
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
        self.source.clear();
        self.source.extend_from_slice(&self.initial.hidden);
        self.source.extend_from_slice(state);
        let mut context = self.context.take().unwrap_or_else(|| Box::new(Context::new(&self.program)));
        let layout: *const Layout = self.layout(state);
        // SAFETY: the source is this state after its hidden variables, and layouts never move.
        let answer = unsafe {
            let start = self.source.as_mut_ptr().add(self.initial.hidden.len());
            context.point_at(start, &*layout);
            (context.process, context.asks_timeout, context.chooses) = (0, true, false);
            function(&mut *context, start, start)
        };
        self.context = Some(context);
        match answer {
            FAULT => None,
            answer => Some(answer == YES),
        }
    }

    /// Every step of a process, as the interpreter lists them.
    pub fn successors(&mut self, state: &State, process: usize) -> Result<Vec<NativeSuccessor>, Unsupported> {
        // SAFETY: as in `new`: no machine code is running.
        #[allow(unsafe_code)]
        let layouts = unsafe { &mut *self.program.layouts.get() };
        let flat = flatten(&self.program.shape, layouts, &self.interpreter.open(state))?;
        self.open_source(&flat.bytes, &flat.hidden);
        if flat.exclusive.is_some_and(|holder| usize::from(holder) != process)
            || process >= state.process_count()
        {
            return Ok(Vec::new());
        }
        let mut found = Found::default();
        let hidden = flat.hidden.len();
        let mut moves = Moves::new(&self.program);
        let ask = Ask { timeout: flat.exclusive.is_none() };
        // SAFETY: the source is this state after its hidden variables.
        #[allow(unsafe_code)]
        unsafe {
            let start = self.source.as_mut_ptr().add(hidden);
            moves.moves(start, self.layout(&flat.bytes), process, ask, &mut found);
        }
        let successor = |step: &super::moves::Step| NativeSuccessor {
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

    /// The processes that the strong reduction tries here, whatever the order of the search; `None` for everybody.
    pub(crate) fn persistent(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.persistent_set(state, Cycles::InGraphs)
    }

    #[allow(unsafe_code)]
    fn persistent_set(&mut self, state: &[u8], cycles: Cycles) -> Option<Vec<u8>> {
        let mut sets = self.persistent.take()?;
        let hidden = self.initial.hidden.len();
        self.source.clear();
        self.source.extend_from_slice(&self.initial.hidden);
        self.source.extend_from_slice(state);
        // SAFETY: the hidden variables lie before the state.
        let start = unsafe { self.source.as_mut_ptr().add(hidden) };
        let context = self.context.take().unwrap_or_else(|| Box::new(Context::new(&self.program)));
        let layout = self.layout(state);
        let shape = &self.program.shape;
        let place = |(code, base): (&CodeId, &u32)| {
            let location = shape.code(*code).location.read(state, *base as usize);
            (*code, LocationId(location as u32))
        };
        let places: Vec<_> = layout.codes.iter().zip(&layout.bases).map(place).collect();
        let mut moves = Moves::with(&self.program, context);
        let now = Ask { timeout: false };
        let chosen = sets.choose(&places, cycles, &mut |ask| {
            match ask {
                // SAFETY: `start` is this state, in the source after its hidden variables.
                Check::CanMove(process) => unsafe { moves.has_move(start, layout, process, now) }.into(),
                Check::IsReady(process, edge) => {
                    // SAFETY: as above.
                    unsafe { moves.is_ready(start, layout, process, edge) }.into()
                }
                Check::Local(process, slot) => {
                    let (code, base) = (layout.codes[process], layout.bases[process] as usize);
                    shape.code(code).locals.read(state, base, slot as usize)
                }
                Check::Priority(process) => {
                    // SAFETY: as above.
                    i32::from(unsafe { self.program.priority_of(start, layout, process) })
                }
            }
        });
        self.context = Some(moves.context);
        self.persistent = Some(sets);
        chosen
    }
}

impl Successors for Native<'_> {
    fn initial(&mut self) -> Vec<Vec<u8>> {
        vec![self.initial.bytes.clone()]
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.layout(state).bases.len()
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        if self.program.budget.stopped().is_some() {
            return true;
        }
        let context = self.context.take().unwrap_or_else(|| Box::new(Context::new(&self.program)));
        let mut moves = Moves::with(&self.program, context);
        let moved = self.sequence.follow(&mut moves, (state, &self.initial.hidden), process, visit);
        self.out_of_layouts |= moves.context.out_of_layouts;
        self.context = Some(moves.context);
        moved
    }

    fn work_within(&mut self, budget: &Budget) {
        if let Some(reason) = self.incomplete {
            budget.stop(reason);
        }
        self.program.budget = budget.clone();
        self.interpreter.work_within(budget);
    }

    fn bytes(&self) -> u64 {
        self.sequence.bytes()
    }

    #[allow(unsafe_code)]
    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        let hidden = self.initial.hidden.len();
        self.source.clear();
        self.source.extend_from_slice(&self.initial.hidden);
        self.source.extend_from_slice(state);
        let start = self.source.as_mut_ptr();
        // SAFETY: the source is this state after its hidden variables.
        unsafe {
            let start = start.add(hidden);
            Moves::new(&self.program).has_move(start, self.layout(state), process, Ask { timeout: true })
        }
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.places(state).all(|place| place.end)
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.location(state, process).is_some_and(|(code, location)| self.private.contains(code, location))
    }

    fn persistent_on_path(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.persistent_set(state, Cycles::OnPath)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        u32::from(u16::from_le_bytes([state[0], state[1]]))
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        // SAFETY: as in `layout`.
        #[allow(unsafe_code)]
        let layouts = unsafe { &*self.program.layouts.get() };
        layouts.known(class).map(|layout| layout.size as usize)
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        state[..LAYOUT_BYTES].copy_from_slice(&(class as u16).to_le_bytes());
    }

    fn header(&self) -> usize {
        LAYOUT_BYTES
    }

    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        let (system, state_of) = (&self.interpreter, &|state: &[u8]| self.state_of(state));
        Replayer { system, state_of, budget }.counterexample(path, options)
    }

    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        let (system, state_of) = (&self.interpreter, &|state: &[u8]| self.state_of(state));
        Replayer { system, state_of, budget: &self.program.budget }.violation(state, ending)
    }

    fn identity(&self) -> u64 {
        let mut hasher = foldhash::quality::FixedState::default().build_hasher();
        hasher.write(format!("{:?}", self.interpreter.model()).as_bytes());
        hasher.finish()
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        // SAFETY: as in `layout`.
        #[allow(unsafe_code)]
        unsafe { &*self.program.layouts.get() }.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        // SAFETY: no machine code is running, and nothing else refers to the layouts.
        #[allow(unsafe_code)]
        unsafe { &mut *self.program.layouts.get() }.restore(&self.program.shape, input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        let (layout, shape) = (self.layout(state), &self.program.shape);
        let stands_somewhere = layout.codes.iter().zip(&layout.bases).all(|(code, base)| {
            let location = shape.code(*code).location.read(state, *base as usize);
            (location as usize) < self.program.places[usize::from(code.0)].len()
        });
        let has_room =
            layout.channel_offsets.iter().zip(&layout.channel_templates).all(|(offset, template)| {
                let template = shape.template(*template);
                template.capacity == 0
                    || template.length.read(state, *offset as usize) as u32 <= template.capacity
            });
        stands_somewhere && has_room
    }

    fn error(&self) -> Option<Unsupported> {
        self.out_of_layouts.then(|| Full::Numbers.into())
    }
}
