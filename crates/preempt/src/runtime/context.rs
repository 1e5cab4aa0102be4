//! The current run, as the mirrors of std see it. Where it is kept is in `current.rs`.

use super::clock::Clock;
use super::current::reset_choices;
use super::extra::YieldObjects;
use super::failure::{RunFailure, StepRecord};
use super::identity::StaticCopy;
use super::leaks::LiveObjects;
use super::object::{Object, Objects};
use super::race::Cells;
use super::thread::{Label, Pending, Thread};
use crate::scheduled::RandomNumbers;
use preempt_stateless::{Move, Need, ObjectId, Operation, derive_name};
use std::collections::HashMap;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The current run.
pub(crate) struct Context {
    /// Different for every run of the process.
    pub run: u64,
    /// How many of a thread's steps may be spurious.
    pub max_spurious: u32,
    /// The size of stacks, unless the thread says otherwise.
    pub stack: usize,
    /// Is the step that is being done spurious?
    pub spurious: bool,
    /// Of statics, by their addresses.
    pub static_copies: HashMap<usize, StaticCopy, foldhash::fast::FixedState>,
    /// The objects of statics that are atomics, by their addresses.
    pub static_words: HashMap<usize, ObjectId, foldhash::fast::FixedState>,
    pub threads: Vec<Thread>,
    pub objects: Objects,
    parts: HashMap<(ObjectId, u64), ObjectId, foldhash::fast::FixedState>,
    pub cells: Cells,
    pub live: LiveObjects,
    /// The thread that is running.
    pub current: usize,
    /// `thread::current` of the main thread has no name.
    pub unnamed_main: bool,
    /// shuttle's rules: see [`crate::hooks::shuttle_rules`].
    pub stricter: bool,
    /// Under those rules: each thread's park may return spuriously once.
    pub spurious_parks: bool,
    /// Is told of new threads.
    pub on_spawn: Option<fn(usize, usize)>,
    /// What random numbers begin with.
    pub random_seed: u64,
    /// Somebody has asked for it, or for one of the numbers.
    pub used_random: bool,
    /// Random numbers come from here, and so many of them were used.
    pub numbers: Option<(RandomNumbers, usize)>,
    /// So many steps do not count as those of a run that does not end.
    pub counts_from: usize,
    /// Which extra steps (`extra.rs`) the run has.
    pub extra: u8,
    /// Which it should have: it is not what it would be then.
    pub wanted: u8,
    pub(super) yield_objects: Option<YieldObjects>,
    /// Spawned and not yet started, with their numbers.
    pub spawned: Vec<(usize, Box<dyn FnOnce()>)>,
    /// The run is over, and what its statics own is dropped: operations do nothing and return at once.
    pub cutting: bool,
    /// A thread has been trapped (see `trap.rs`): the run is over.
    pub doomed: bool,
    /// Two threads have used the same object, in this run or one before.
    pub shared: bool,
    /// What went wrong, first things first.
    pub failed: Vec<RunFailure>,
    /// The run is a replay: panics are recorded with where they came from.
    pub replay: bool,
    /// Of the run so far.
    pub steps: Option<Vec<StepRecord>>,
    /// Of a replay: what is to be said of steps beyond their verbs, by the number of the step.
    pub notes: Vec<(usize, Note)>,
    /// Of a replay: the addresses that atomics have held, for people to tell them apart.
    pub addresses: Vec<usize>,
}

/// What a step did, beyond its verb.
#[derive(Debug, Clone, Default)]
pub(crate) struct Note {
    /// Follows the verb: ` -> 0`.
    pub text: String,
    /// What the object holds now, if the step has changed it.
    pub value: Option<String>,
}

/// Memory of a run that is over, for the next one: most runs are so short that allocating would be much of their time.
#[derive(Default)]
pub(crate) struct RunMemory {
    threads: Vec<Thread>,
    objects: Objects,
    spawned: Vec<(usize, Box<dyn FnOnce()>)>,
    /// Where the context of the run was.
    place: Option<Box<Context>>,
}

/// The number of the last run that was begun.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl Context {
    /// Before its first thread. `record`: it is a replay.
    pub fn new(record: bool, max_spurious: u32, stack: usize, memory: RunMemory) -> Box<Context> {
        reset_choices(max_spurious > 0);
        let RunMemory { threads, objects, spawned, place } = memory;
        let context = Context {
            run: RUNS.fetch_add(1, Ordering::Relaxed) + 1,
            max_spurious,
            stack,
            spurious: false,
            static_copies: HashMap::default(),
            static_words: HashMap::default(),
            threads,
            objects,
            parts: HashMap::default(),
            cells: Cells::default(),
            live: LiveObjects::default(),
            current: 0,
            unnamed_main: false,
            stricter: false,
            spurious_parks: false,
            on_spawn: None,
            random_seed: 0,
            used_random: false,
            numbers: None,
            counts_from: 0,
            extra: 0,
            wanted: 0,
            yield_objects: None,
            spawned,
            cutting: false,
            doomed: false,
            shared: false,
            failed: Vec::new(),
            replay: record,
            steps: Some(Vec::new()),
            notes: Vec::new(),
            addresses: Vec::new(),
        };
        match place {
            Some(mut place) => {
                *place = context;
                place
            }
            None => Box::new(context),
        }
    }

    /// Forgets a run that was cut, without running any code of the program's: see `Fibers::end_run`.
    pub fn abandon(mut self: Box<Self>) {
        std::mem::forget(std::mem::take(&mut self.spawned));
        for thread in &mut self.threads {
            std::mem::forget(std::mem::take(&mut thread.deferred));
            std::mem::forget(std::mem::take(&mut thread.locals));
        }
    }

    /// The run has come to its end.
    pub fn into_memory(mut self: Box<Self>) -> RunMemory {
        self.threads.clear();
        self.spawned.clear();
        self.objects.clear();
        let Context { threads, objects, spawned, .. } = &mut *self;
        let (threads, objects, spawned) = (take(threads), take(objects), take(spawned));
        RunMemory { threads, objects, spawned, place: Some(self) }
    }

    /// The number of a new thread. It knows what its parent knows.
    pub fn add_thread(&mut self, parent: Option<usize>, label: Option<String>) -> usize {
        let number = self.threads.len();
        let (name, clock) = match parent {
            None => (1, Clock::default()),
            Some(parent) => {
                let parent = &mut self.threads[parent];
                parent.children += 1;
                (derive_name(parent.name, parent.children), parent.clock.clone())
            }
        };
        let origin = parent.and_then(|parent| self.threads[parent].at);
        let born = self.done();
        self.threads.push(Thread { origin, born, ..Thread::new(name, label, clock, self.stack) });
        self.threads[number].clock.tick(number);
        number
    }

    /// The thread's name for people.
    pub fn thread_label(&self, thread: usize) -> String {
        match (&self.threads[thread].label, thread) {
            (Some(label), _) => label.clone(),
            (None, 0) => "main".into(),
            (None, _) => "thread".into(),
        }
    }

    /// The running thread.
    pub fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// How many operations the running thread has done, as clocks count them.
    pub fn time(&self) -> u32 {
        self.threads[self.current].clock.get(self.current)
    }

    /// The name of an object that is used for the first time.
    pub fn fresh_object(&mut self) -> ObjectId {
        self.objects.add()
    }

    /// The name of a part of an object: a round of a barrier, a rendezvous of a channel.
    pub fn part(&mut self, whole: ObjectId, number: u64) -> ObjectId {
        match self.parts.get(&(whole, number)) {
            Some(part) => *part,
            None => {
                let part = self.fresh_object();
                self.parts.insert((whole, number), part);
                part
            }
        }
    }

    /// The name of a thread's park token.
    pub fn token(&mut self, thread: usize) -> ObjectId {
        match self.threads[thread].token {
            Some(token) => token,
            None => {
                let token = self.fresh_object();
                *self.threads[thread].token.insert(token)
            }
        }
    }

    /// The name of what says whether a thread has ended.
    pub fn end_of(&mut self, thread: usize) -> ObjectId {
        match self.threads[thread].ended {
            Some(ended) => ended,
            None => {
                let ended = self.fresh_object();
                *self.threads[thread].ended.insert(ended)
            }
        }
    }

    /// Only tasks that nobody can wait for are left, and under shuttle's rules they end with the test.
    pub fn is_over(&self) -> bool {
        let left = || self.threads.iter().filter(|thread| !thread.finished);
        self.stricter && left().next().is_some() && left().all(|thread| thread.daemon && thread.detached)
    }

    /// May a step of the running thread be spurious?
    pub fn may_be_spurious(&self) -> bool {
        self.threads.get(self.current).is_some_and(|me| me.spurious_steps < self.max_spurious)
    }

    pub fn object(&mut self, id: ObjectId, kind: &'static str) -> &mut Object {
        let object = self.objects.get_mut(id);
        object.kind = kind;
        object
    }

    /// The running thread's virtual clock goes on.
    pub fn advance_time(&mut self, time: Duration) {
        let clock = &mut self.me().clock;
        clock.time = clock.time.saturating_add(time.as_nanos().try_into().unwrap_or(u64::MAX));
    }

    /// Everything that the object's releases made known is known to the running thread.
    pub fn acquire(&mut self, id: ObjectId) {
        let thread = &mut self.threads[self.current];
        if let Some(object) = self.objects.get(id) {
            thread.clock.join(&object.clock);
        }
    }

    /// The object will make known what the running thread knows.
    pub fn release(&mut self, id: ObjectId) {
        let thread = &self.threads[self.current];
        self.objects.get_mut(id).clock.join(&thread.clock);
    }

    /// Can the thread do its next operation, by this choice?
    pub fn can_move(&self, step: Move) -> bool {
        if step.choice != 0 {
            return self.other_choices(step.thread).contains(&step.choice);
        }
        let finished = |other: usize| self.threads[other].finished;
        self.operation(step.thread).is_some_and(|next| next.enabled(|id| self.objects.gate(id), finished))
    }

    pub fn other_choices(&self, thread: usize) -> Range<u8> {
        let finished = |other: usize| self.threads[other].finished;
        self.operation(thread).map_or(1..1, |next| next.other_choices(|id| self.objects.gate(id), finished))
    }

    fn operation(&self, thread: usize) -> Option<&Operation> {
        Some(&self.threads.get(thread)?.pending.as_ref()?.operation)
    }

    /// The running thread does an operation. Its time goes on *after* the effect: what a release makes known ends with the
    /// release, and an access to a cell behind it is not part of that.
    pub fn perform<R>(&mut self, pending: &Pending, effect: impl FnOnce(&mut Context) -> R) -> R {
        let current = self.current;
        self.record(pending);
        let result = effect(self);
        self.threads[current].clock.tick(current);
        result
    }

    /// Of a replay: says more of the step that is being done.
    #[inline]
    pub fn note(&mut self, note: impl FnOnce(&mut Context) -> Note) {
        if self.replay {
            let note = note(self);
            self.notes.push((self.done().saturating_sub(1), note));
        }
    }

    /// As [`Context::note`], with words only.
    #[inline]
    pub fn note_text(&mut self, text: impl FnOnce(&mut Context) -> String) {
        self.note(|context| Note { text: text(context), value: None });
    }

    /// A try to lock has taken the lock, or not.
    pub fn note_taken(&mut self, taken: bool) {
        self.note_text(|_| if taken { " -> taken".into() } else { " -> would block".into() });
    }

    /// How many steps the run has done.
    pub fn done(&self) -> usize {
        self.steps.as_ref().map_or(0, Vec::len)
    }

    /// The running thread uses the object.
    #[inline]
    pub fn used(&mut self, id: ObjectId) {
        if self.shared {
            return;
        }
        let current = Some(self.current);
        let before = std::mem::replace(&mut self.objects.get_mut(id).user, current);
        self.shared |= before.is_some() && before != current;
    }

    pub(super) fn record(&mut self, pending: &Pending) {
        let current = self.current;
        self.threads[current].spurious_steps += u32::from(self.spurious);
        self.threads[current].at = Some(pending.location);
        if !self.shared {
            pending.operation.accesses().for_each(|access| self.used(access.object));
        }
        if let Some(steps) = &mut self.steps {
            let (Label { verb, object }, location, spurious) =
                (pending.label, pending.location, self.spurious);
            steps.push(StepRecord { thread: current, verb, object, location, spurious });
        }
    }
}

/// A need of an operation, in short.
pub(crate) fn clear(object: ObjectId, mask: u128) -> Need {
    Need::Clear { object, mask }
}

pub(crate) fn set(object: ObjectId, mask: u128) -> Need {
    Need::Set { object, mask }
}
