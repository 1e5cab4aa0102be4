//! States up to the order of processes that can be interchanged.
//!
//! **What it computes.** A model in machine code as a source of successors whose states are canonical: of all states that
//! are permutations of each other one is kept. Every search works on it as it is.
//!
//! **Why it is right.** A permutation of processes that the model does not tell apart
//! ([`preempt_model::symmetry`]) maps runs to runs, step by step, and who runs next is permuted with them: so the process that ran
//! last is followed through every permutation, and a run in here has the preemptions and the steps of a run of the model. What
//! is found is led back: the permutations on its path are undone one after the other ([`Symmetric::undo`]), and the run that
//! comes of it is replayed like every other.
//!
//! **What it costs.** A sort for each successor ([`canonical`]). It saves up to a factor of `n!` in states for `n` processes, and
//! `n` for rotations.

mod canonical;

use crate::native::{Cells, CellsByLayout, Native};
use crate::replay::{Ending, PathState, ReplayError, ReplayOptions, StatePath};
use crate::search::{Counterexample, Goal, Order, SearchOptions};
use crate::store::packed::pieces::Part;
use crate::successors::{Event, Expander, Parallel, Replayable, Sink, Successors};
use canonical::{Canonical, permute};
use preempt_core::{Budget, Property, PropertyKind};
use preempt_model::symmetry::Interchangeable;
use std::io::{Read, Write};
use std::sync::Arc;

/// Why a search looks at every order of the processes although symmetry is asked for, if so.
pub fn why_no_symmetry(options: &SearchOptions, goal: Goal) -> Option<&'static str> {
    match options.order {
        _ if !options.successors.is_native() => Some("it needs successors in machine code"),
        _ if goal == Goal::All => Some("every violation is asked for"),
        _ if options.fair_switch => Some("--fair-switch follows a process by its number"),
        Order::Published(_) => Some("the published searches are made as they are published"),
        Order::Random(_) => Some("a random walk keeps no states"),
        Order::ByCost | Order::DepthFirst => None,
    }
}

/// A permutation for each group; empty for one that is not complete.
type Permutation = Vec<Vec<u8>>;

/// A model of which only canonical states are seen.
pub(crate) struct Symmetric<'m> {
    native: Native<'m>,
    groups: Arc<[Interchangeable]>,
    form: Form,
}

/// Brings states into their form.
#[derive(Clone)]
struct Form {
    cells: CellsByLayout,
    canonical: Canonical,
    bytes: Vec<u8>,
}

impl Form {
    /// Brings the state into its form. Who runs next is permuted with it.
    #[inline]
    fn bring(&mut self, state: &mut [u8], mut runs: u8) -> u8 {
        let cells = self.cells.of(state);
        for group in cells.iter().flatten() {
            if self.canonical.bring(group, state) {
                runs = permuted(group.first, self.canonical.to(), runs);
            }
        }
        runs
    }

    /// The same, and by which permutations.
    fn bring_and_tell(&mut self, state: &mut [u8]) -> Permutation {
        let cells = self.cells.of(state);
        let bring = |group: &Option<Cells>| {
            let Some(group) = group else { return Vec::new() };
            self.canonical.bring(group, state);
            self.canonical.to().to_vec()
        };
        cells.iter().map(bring).collect()
    }

    /// Applies a permutation of each group.
    fn apply(&mut self, by: &Permutation, state: &mut [u8]) {
        let cells = self.cells.of(state);
        for (group, to) in cells.iter().zip(by).filter_map(present) {
            let before = state.to_vec();
            permute(group, to, &before, state);
        }
    }

    /// A process of this state after a permutation.
    fn moved(&mut self, state: &[u8], by: &Permutation, process: u8) -> u8 {
        let cells = self.cells.of(state);
        let groups = cells.iter().zip(by).filter_map(present);
        groups.fold(process, |process, (group, to)| permuted(group.first, to, process))
    }
}

/// A group that is complete, and was when it was permuted.
fn present<'a>((group, to): (&'a Option<Cells>, &'a Vec<u8>)) -> Option<(&'a Cells, &'a Vec<u8>)> {
    group.as_ref().filter(|_| !to.is_empty()).map(|group| (group, to))
}

fn permuted(first: usize, to: &[u8], process: u8) -> u8 {
    let inside = usize::from(process).checked_sub(first).and_then(|k| to.get(k));
    inside.map_or(process, |to| first as u8 + to)
}

fn inverse(of: &Permutation) -> Permutation {
    let one = |to: &Vec<u8>| {
        let mut back = vec![0; to.len()];
        to.iter().enumerate().for_each(|(from, to)| back[usize::from(*to)] = from as u8);
        back
    };
    of.iter().map(one).collect()
}

/// First the one, then the other. Where a group appears on the way, nothing was permuted before.
fn composed(first: &Permutation, then: &Permutation) -> Permutation {
    let both = |(first, then): (&Vec<u8>, &Vec<u8>)| match (first.is_empty(), then.is_empty()) {
        (true, _) => then.clone(),
        (false, true) => first.clone(),
        (false, false) => first.iter().map(|k| then[usize::from(*k)]).collect(),
    };
    first.iter().zip(then).map(both).collect()
}

impl<'m> Symmetric<'m> {
    /// The model with these groups of processes.
    pub fn new(native: Native<'m>, groups: Vec<Interchangeable>) -> Symmetric<'m> {
        let groups: Arc<[Interchangeable]> = groups.into();
        let form = Form {
            cells: native.cells(Arc::clone(&groups)),
            canonical: Canonical::default(),
            bytes: Vec::new(),
        };
        Symmetric { native, groups, form }
    }

    /// The path as the model goes it: each permutation is undone. `None` if that cannot be done.
    fn undo(&self, path: &StatePath) -> Option<StatePath> {
        let (mut native, mut form) = (self.native.another()?, self.form.clone());
        let mut states = Vec::new();
        let first = native.initial().swap_remove(0);
        let mut form_of_it = first.clone();
        // From the model's state to the canonical one.
        let mut there = form.bring_and_tell(&mut form_of_it);
        let (begin, rest) = path.states.split_first()?;
        (form_of_it == begin.bytes).then_some(())?;
        states.push(PathState { bytes: first, ..*begin });
        let mut at = begin.bytes.clone();
        for next in rest {
            let mut found = None;
            native.expand(&at, usize::from(next.by), &mut |event| {
                if let (Event::Arrival { state, runs, .. }, None) = (event, &found) {
                    let mut bytes = state.to_vec();
                    let by = form.bring_and_tell(&mut bytes);
                    if bytes == next.bytes && form.moved(&bytes, &by, runs) == next.last {
                        found = Some((state.to_vec(), runs, by));
                    }
                }
            });
            let (mut bytes, runs, by) = found?;
            let back = inverse(&there);
            let (by_process, last) = (form.moved(&at, &back, next.by), form.moved(&bytes, &back, runs));
            form.apply(&back, &mut bytes);
            there = composed(&there, &by);
            states.push(PathState { bytes, by: by_process, last });
            at = next.bytes.clone();
        }
        let ending = match path.ending {
            Ending::InState => Ending::InState,
            Ending::During { process, violation } => {
                let violations = |native: &mut Native<'_>, state: &[u8], process: u8| {
                    let mut met = Vec::new();
                    native.expand(state, usize::from(process), &mut |event| {
                        if let Event::Violation { kind, steps } = event {
                            met.push((kind, steps));
                        }
                    });
                    met
                };
                let wanted = *violations(&mut native, &at, process).get(violation as usize)?;
                let process = form.moved(&at, &inverse(&there), process);
                let met = violations(&mut native, &states.last()?.bytes, process);
                let violation = met.iter().position(|met| *met == wanted)? as u32;
                Ending::During { process, violation }
            }
        };
        Some(StatePath { states, ending })
    }
}

/// Brings every successor into its form on its way into the sink.
struct Forming<'a, K> {
    form: &'a mut Form,
    sink: &'a mut K,
}

impl<K: Sink> Sink for Forming<'_, K> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.sink.buffer()
    }

    #[inline]
    fn arrived(&mut self, start: usize, runs: u8, steps: u32) {
        let runs = self.form.bring(&mut self.sink.buffer()[start..], runs);
        self.sink.arrived(start, runs, steps);
    }

    fn violated(&mut self, kind: PropertyKind, steps: u32) {
        self.sink.violated(kind, steps);
    }
}

impl Expander for Symmetric<'_> {
    fn expand_into(&mut self, state: &[u8], process: usize, sink: &mut impl Sink) -> bool {
        self.native.expand_into(state, process, &mut Forming { form: &mut self.form, sink })
    }

    fn persistent(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.native.persistent(state)
    }
}

impl Successors for Symmetric<'_> {
    fn initial(&mut self) -> Vec<Vec<u8>> {
        let mut states = self.native.initial();
        states.iter_mut().for_each(|state| {
            self.form.bring(state, 0);
        });
        states
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        let Symmetric { native, form, .. } = self;
        native.expand(state, process, &mut |event| match event {
            Event::Arrival { state, runs, steps } => {
                let mut bytes = std::mem::take(&mut form.bytes);
                bytes.clear();
                bytes.extend_from_slice(state);
                let runs = form.bring(&mut bytes, runs);
                visit(Event::Arrival { state: &bytes, runs, steps });
                form.bytes = bytes;
            }
            violation => visit(violation),
        })
    }

    /// What was saved up to the order of processes can be continued only so.
    fn identity(&self) -> u64 {
        !self.native.identity()
    }

    fn process_count(&self, state: &[u8]) -> usize {
        self.native.process_count(state)
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        self.native.can_move(state, process)
    }

    fn work_within(&mut self, budget: &Budget) {
        self.native.work_within(budget);
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.native.may_end(state)
    }

    fn runs_alone(&self, state: &[u8], process: usize) -> bool {
        self.native.runs_alone(state, process)
    }

    fn persistent_on_path(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.native.persistent_on_path(state)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        self.native.class_of(state)
    }

    fn class_size(&self, class: u32) -> Option<usize> {
        self.native.class_size(class)
    }

    fn header(&self) -> usize {
        self.native.header()
    }

    fn write_class(&self, class: u32, state: &mut [u8]) {
        self.native.write_class(class, state);
    }

    fn describe_class(&self, class: u32) -> Option<Vec<u16>> {
        self.native.describe_class(class)
    }

    fn class_described(&self, description: &[u16]) -> Option<u32> {
        self.native.class_described(description)
    }

    fn fingerprint(&self, state: &[u8]) -> u64 {
        self.native.fingerprint(state)
    }

    fn parts(&self, class: u32) -> Vec<Part> {
        self.native.parts(class)
    }

    fn save(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.native.save(out)
    }

    fn restore(&mut self, input: &mut dyn Read) -> std::io::Result<()> {
        self.native.restore(input)
    }

    fn is_possible(&self, state: &[u8]) -> bool {
        self.native.is_possible(state)
    }

    fn bytes(&self) -> u64 {
        self.native.bytes()
    }

    fn error(&self) -> Option<crate::Unsupported> {
        self.native.error()
    }
}

impl Replayable for Symmetric<'_> {
    fn replay(
        &self,
        path: &StatePath,
        options: ReplayOptions,
        budget: &Budget,
    ) -> Result<Counterexample, ReplayError> {
        let path = self.undo(path).ok_or_else(|| ReplayError::lost(budget))?;
        self.native.replay(&path, options, budget)
    }

    fn violation(&self, state: &[u8], ending: Ending) -> Option<Property> {
        self.native.violation(state, ending)
    }
}

impl<'m> Parallel for Symmetric<'m> {
    type Worker = Symmetric<'m>;

    fn worker(&self) -> Option<Symmetric<'m>> {
        let native = self.native.another()?;
        Some(Symmetric { native, groups: Arc::clone(&self.groups), form: self.form.clone() })
    }
}
