//! Machine code as a source of successors: from one stable state to the next.

use super::actor::Actor;
use super::compiled::Native;
use super::layout::{Full, LAYOUT_BYTES, LAYOUT_VERSION};
use super::moves::{Moves, Timeout};
use crate::Unsupported;
use crate::reduction::strong::{Cycles, StateQuery};
use crate::replay::{Ending, ReplayError, ReplayOptions, Replayer, StatePath};
use crate::search::Counterexample;
use crate::store::packed::pieces::Part;
use crate::successors::{Decided, Event, Expander, Parallel, Replayable, Sink, Successors};
use preempt_core::{Budget, Property, PropertyKind};
use preempt_model::{CodeId, LocationId, System};
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::ops::Range;

impl Native<'_> {
    #[allow(unsafe_code)]
    fn persistent_set(&mut self, state: &[u8], cycles: Cycles) -> Option<Vec<u8>> {
        let mut sets = self.persistent.take()?;
        let (start, context) = (self.open_stable(state), self.take_context());
        let layout = self.layout(state);
        let shape = &self.program.shape;
        let location = |(code, base): (&CodeId, &u32)| {
            let location = shape.code(*code).location.read(state, *base as usize);
            (*code, LocationId(location as u32))
        };
        let locations: Vec<_> = layout.codes.iter().zip(&layout.bases).map(location).collect();
        let mut moves = Moves::with(&self.program, context);
        // SAFETY: the state was just opened there, and is not opened again before the set is chosen.
        let actor = |process: usize| unsafe { Actor::new(start, layout, process) };
        let chosen = sets.choose(&locations, cycles, &mut |query| match query {
            StateQuery::CanMove(process) => i32::from(moves.has_move(actor(process), Timeout::Never)),
            StateQuery::IsReady(process, edge) => i32::from(moves.is_ready(actor(process), edge)),
            StateQuery::Local(process, slot) => {
                let (code, base) = (layout.codes[process], layout.bases[process] as usize);
                shape.code(code).locals.read(state, base, slot as usize)
            }
            StateQuery::Priority(process) => i32::from(self.program.priority_of(actor(process))),
        });
        let context = moves.context;
        self.keep_context(context);
        self.persistent = Some(sets);
        chosen
    }
}

impl Native<'_> {
    #[allow(unsafe_code)]
    fn has_move(&mut self, state: &[u8], process: usize, timeout: Timeout) -> bool {
        let (start, context) = (self.open_stable(state), self.take_context());
        let mut moves = Moves::with(&self.program, context);
        // SAFETY: the state was just opened there, and is not opened again before the answer is known.
        let actor = unsafe { Actor::new(start, self.layout(state), process) };
        let has_move = moves.has_move(actor, timeout);
        let context = moves.context;
        self.keep_context(context);
        has_move
    }
}

impl Native<'_> {
    /// Steps that are not direct.
    fn follow(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        let context = self.take_context();
        let mut moves = Moves::with(&self.program, context);
        let moved = self.sequence.follow(&mut moves, (state, &self.initial.hidden), process, visit);
        let context = moves.context;
        self.out_of_layouts |= context.out_of_layouts;
        self.keep_context(context);
        moved
    }
}

/// Whoever looks at one successor after the other, and keeps none of them here.
struct Visitor<'v> {
    buffer: Vec<u8>,
    visit: &'v mut dyn FnMut(Event<'_>),
}

impl Sink for Visitor<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn arrived(&mut self, start: usize, runs: u8, steps: u32) {
        (self.visit)(Event::Arrival { state: &self.buffer[start..], runs, steps });
        self.buffer.truncate(start);
    }

    fn violated(&mut self, kind: PropertyKind, steps: u32) {
        (self.visit)(Event::Violation { kind, steps });
    }
}

impl Expander for Native<'_> {
    fn expand_into(&mut self, state: &[u8], process: usize, sink: &mut impl Sink) -> bool {
        if self.budget.stopped().is_some() {
            return true;
        }
        if let Some(moved) = self.expand_directly(state, process, sink) {
            return moved;
        }
        self.follow(state, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                let start = sink.buffer().len();
                sink.buffer().extend_from_slice(state);
                sink.arrived(start, runs, steps);
            }
            Event::Violation { kind, steps } => sink.violated(kind, steps),
        })
    }

    fn place_of(&self, state: &[u8], process: usize) -> Option<usize> {
        self.layout(state).bases.get(process).map(|base| *base as usize)
    }

    fn decided_by(
        &mut self,
        state: &[u8],
        process: usize,
        is_known: &dyn Fn(&Range<usize>) -> bool,
    ) -> Option<Decided> {
        self.stretches(state, process, is_known)
    }

    fn persistent(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.persistent_set(state, Cycles::InGraphs)
    }

    fn moves_without_timeout(&mut self, state: &[u8], process: usize) -> bool {
        self.has_move(state, process, Timeout::Never)
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
        if self.budget.stopped().is_some() {
            return true;
        }
        let mut visitor = Visitor { buffer: std::mem::take(&mut self.visited), visit };
        visitor.buffer.clear();
        let moved = self.expand_directly(state, process, &mut visitor);
        self.visited = visitor.buffer;
        moved.unwrap_or_else(|| self.follow(state, process, visit))
    }
    fn work_within(&mut self, budget: &Budget) {
        if let Some(reason) = self.incomplete {
            budget.stop(reason);
        }
        self.program.work_within(budget);
        self.budget = budget.clone();
        self.interpreter.work_within(budget);
    }

    fn bytes(&self) -> u64 {
        self.sequence.bytes() + self.visited.capacity() as u64
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        self.has_move(state, process, Timeout::Evaluated)
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.locations(state).all(|location| location.end)
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
        self.program.layouts.known(class).map(|layout| layout.size as usize)
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        state[..LAYOUT_BYTES].copy_from_slice(&(class as u16).to_le_bytes());
    }

    /// Layouts are numbered as they are met: by the codes of the living processes.
    fn describe_class(&self, class: u32) -> Option<Vec<u16>> {
        let layout = self.program.layouts.known(class)?;
        Some(layout.codes.iter().map(|code| code.0).collect())
    }

    fn class_described(&self, description: &[u16]) -> Option<u32> {
        let (layouts, shape) = (&self.program.layouts, &self.program.shape);
        let mut number = 0;
        for code in description {
            (usize::from(*code) < self.program.locations.len()).then_some(())?;
            number = layouts.with_one_more(shape, number, CodeId(*code)).ok()?.number;
        }
        Some(number.into())
    }

    fn fingerprint(&self, state: &[u8]) -> u64 {
        // Layouts are numbered as they are met; which processes live is what the number stands for.
        let mut hasher = foldhash::quality::FixedState::default().build_hasher();
        self.layout(state).codes.iter().for_each(|code| hasher.write_u16(code.0));
        hasher.write(&state[LAYOUT_BYTES..]);
        hasher.finish()
    }

    fn header(&self) -> usize {
        LAYOUT_BYTES
    }

    /// The globals, every channel, and of every process what is its own, apart from what never changes, wide numbers, and elements that belong to one process.
    fn parts(&self, class: u32) -> Vec<Part> {
        let Some(layout) = self.program.layouts.known(class) else { return Vec::new() };
        let size = layout.size as usize;
        let mut starts: Vec<usize> = std::iter::once(LAYOUT_BYTES)
            .chain(layout.channel_offsets.iter().chain(&layout.bases).map(|at| *at as usize))
            .collect();
        for (code, base) in layout.codes.iter().zip(&layout.bases) {
            let fixed = self.fixed[usize::from(code.0)].iter();
            starts.extend(fixed.flat_map(|it| [it.start, it.end]).map(|at| *base as usize + at));
        }
        let Range { start, end } = self.observer_range();
        starts.extend([start, end].into_iter().filter(|at| start < end && *at > 0));
        starts.extend(self.apart.iter().flat_map(|it| [it.start, it.end]));
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([size]);
        let part = |(start, end): (&usize, usize)| {
            let process = layout.bases.partition_point(|base| *base as usize <= *start);
            let meaning = process.checked_sub(1).map_or(0, |process| u32::from(layout.codes[process].0) + 1);
            Part { start: *start, end, meaning }
        };
        starts.iter().zip(ends).map(part).filter(|part| part.start < part.end).collect()
    }

    fn identity(&self) -> u64 {
        let mut hasher = foldhash::quality::FixedState::default().build_hasher();
        hasher.write_u8(LAYOUT_VERSION);
        hasher.write(format!("{:?}", self.interpreter.model()).as_bytes());
        hasher.finish()
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.program.layouts.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        self.program.layouts.restore(&self.program.shape, input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        let (layout, shape) = (self.layout(state), &self.program.shape);
        let stands_somewhere = layout.codes.iter().zip(&layout.bases).all(|(code, base)| {
            let location = shape.code(*code).location.read(state, *base as usize);
            (location as usize) < self.program.locations[usize::from(code.0)].len()
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

impl Replayable for Native<'_> {
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
        Replayer { system, state_of, budget: &self.budget }.violation(state, ending)
    }
}

impl<'m> Parallel for Native<'m> {
    type Worker = Native<'m>;

    fn worker(&self) -> Option<Native<'m>> {
        self.another()
    }
}
