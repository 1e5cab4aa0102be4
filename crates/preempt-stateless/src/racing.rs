//! Which steps are scheduling points: those on objects that race.
//!
//! **What it computes.** Two steps of different threads *race* if they conflict and nothing but this conflict orders them. A
//! step that races with none in any run is *hidden*: nobody needs to be let in before it. The search lets a thread that has
//! moved go on while its next step is hidden and enabled.
//!
//! **Why nothing is lost, within any bound.** Let `p` be a step of thread t and `e` the next one of t, hidden and enabled
//! after `p`, and take a run `α p X e β` in which others do `X` in between. No step of `X` happens before `e`: the first that
//! conflicts with `e` would race with it. So `α p e X β` is a run with the same graph. It costs no more: leaving t after
//! `p` was a preemption, since `e` was enabled; leaving it after `e` is at most one. Returning from `X` to t is left
//! out, and what comes after `e` is entered from `X` at the price that `e` was. Who is enabled within `X` is the same,
//! since an operation that `e` enables or disables conflicts with `e`. So every graph has a cheapest run in which no
//! hidden step is separated from the step before.
//!
//! **Why what races may be learned.** At first nothing is known to race. With every step of every run we look for races with
//! steps done and with operations pending ([`Graph::learn`]), and what is found races from then on. Suppose that at the end a
//! graph within the bound was not run, and take of all runs of such graphs within the bound one that keeps to the rule for
//! longest: `α p X..`, where the rule demanded `e` after `p`. By the above, `e` cannot be moved to `p`: let `d` be the
//! first step (or pending operation) of `X..` that conflicts with `e`. Then `α p e`, followed by `X` up to `d`, is the
//! beginning of a run that costs no more and keeps to the rule for longer, so its graph was run. In it `d` is done or
//! pending, and `e` does not happen before the step of `d`'s thread before `d`: so `e` was found to race, and the rule
//! cannot have demanded it. (If an operation in between is enabled by `e` and raises the cost of the run, it is this
//! operation that conflicts with `e`, and the same holds of it.)
//!
//! **Never hidden** are: the first step of a thread (there is none before it); a step with several choices; one that waits
//! for the end of a thread; and steps of a thread that has yielded, which may be held back by the fair bound. So a
//! hidden step that is enabled was so since the step before it, and whether it is hidden follows from the prefix. A
//! step that ends the run depends on all others: once there is one, nothing is hidden.
//!
//! Objects that race are remembered by thread and *class*: "the n-th that this thread has first used by such an operation" (with
//! Rust code, in this place of the program), which follows from the thread's own steps in every run.
//!
//! **What it costs.** Independent work costs no more than the steps themselves: three threads with n steps on private objects
//! have one prefix for each block instead of n^3. Each discovery of a race opens the table again (complete graphs
//! excepted), so a program in which everything races is searched anew a few times near the beginning.
//!
//! **Tried and dropped.** *Working out at each prefix whether a step is hidden*: it changes only when something is found to
//! race, and showed in the profile of small programs, so it is kept with each step. *"The n-th object that this thread has
//! used"*: who comes first often uses an object more (it initialises something), and what races for one then stood for
//! private objects of the other.

use crate::executable::Flow;
use crate::graph::{Event, Graph, ObjectLog, ThreadLog};
use crate::operation::{Choices, Need, Operation};
use crate::prefix::Prefix;
use crate::private::Privacy;
use crate::stamp::Stamp;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is known to race.
#[derive(Debug, Clone, Default)]
pub(crate) struct Racing {
    /// Without it everything counts as racing.
    hides: bool,
    /// Names of threads, and which of their objects race.
    known: HashSet<(u64, u64), foldhash::fast::FixedState>,
    /// Which threads are not private.
    pub(crate) privacy: Privacy,
    /// How often something was learned.
    epoch: u32,
}

impl Racing {
    /// Adds what another search knows. False if there was nothing to add.
    fn add(&mut self, other: &Racing) -> bool {
        let mut news = self.hides && !other.hides;
        news |= self.privacy.add(&other.privacy);
        self.hides &= other.hides;
        for known in &other.known {
            news |= self.known.insert(*known);
        }
        news
    }
}

/// What several searches of the same program know to race, together. What one learns begins an epoch for all: each
/// takes it over before its next step, and what it closes in the meantime counts for the epoch before.
#[derive(Debug)]
pub(crate) struct SharedRacing {
    all: Mutex<Racing>,
    /// That of `all`, to look at without the lock.
    epoch: AtomicU32,
}

impl SharedRacing {
    /// Nothing is known to race.
    pub fn new() -> SharedRacing {
        SharedRacing {
            all: Mutex::new(Racing { hides: true, ..Racing::default() }),
            epoch: AtomicU32::new(0),
        }
    }
}

/// An object that a thread has used, or is about to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsedObject {
    /// The kind of operation by which it was first used, and how many had been before by the same kind.
    class: u64,
    /// It is known to race.
    races: bool,
}

fn is_set(used: &[UsedObject], place: u32) -> bool {
    used.get(place as usize).is_some_and(|used| used.races)
}

/// Can the operation be hidden at all? What it needs must be decided by what it conflicts with.
pub(crate) fn hideable(operation: &Operation) -> bool {
    let touches = |need: &Need| match need {
        Need::Clear { object, .. } | Need::Set { object, .. } => {
            operation.accesses().any(|access| access.object == *object)
        }
        Need::Finished(_) => false,
    };
    operation.choices == Choices::One && operation.needs.iter().flatten().all(touches)
}

impl Graph {
    /// From now on steps are hidden unless they are known to race.
    pub(crate) fn hide(&mut self) {
        self.racing.hides = true;
        for thread in 0..self.threads.len() {
            self.expose_pending(thread);
        }
        self.look_again();
    }

    /// Are steps hidden at all?
    pub(crate) fn hides_steps(&self) -> bool {
        self.racing.hides
    }

    /// Tells the team what was learned since `epoch`, and learns what the team knows.
    pub(crate) fn exchange_races(&mut self, team: &SharedRacing, epoch: u32) {
        if self.racing.epoch == epoch && team.epoch.load(Ordering::SeqCst) == epoch {
            return;
        }
        let mut all = team.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.add(&self.racing) {
            all.epoch += 1;
            team.epoch.store(all.epoch, Ordering::SeqCst);
        }
        self.racing.clone_from(&all);
        drop(all);
        self.others_may_defer();
        for log in &mut self.threads {
            for used in &mut log.used {
                used.races = self.racing.known.contains(&(log.name, used.class));
            }
        }
        self.look_again();
    }

    /// A number that changes when something was found to race, and with it which steps are hidden.
    pub(crate) fn epoch(&self) -> u32 {
        self.racing.epoch
    }

    /// The thread has moved, and goes on before anybody else: its next step is hidden, and enabled.
    pub(crate) fn goes_on(&self, counts: &[u32], thread: usize) -> bool {
        let log = &self.threads[thread];
        let hidden = log.events.get(counts[thread] as usize).map_or(log.pending_hidden, |event| event.hidden);
        hidden && self.enabled_in(counts, thread)
    }

    /// Is the thread's next operation hidden?
    pub(crate) fn hides_pending(&self, log: &ThreadLog) -> bool {
        let operation = log.pending.as_ref().filter(|_| !log.events.is_empty() && log.yields() == 0);
        operation.is_some_and(|operation| self.hides(log, operation, log.pending_places))
    }

    /// Is the operation hidden, as far as what it touches decides?
    fn hides(&self, log: &ThreadLog, operation: &Operation, places: [u32; 3]) -> bool {
        let races = || operation.accesses().zip(places).any(|(_, place)| is_set(&log.used, place));
        self.racing.hides && hideable(operation) && !races()
    }

    /// Something else is known to race: which steps are hidden now?
    fn look_again(&mut self) {
        for thread in 0..self.threads.len() {
            let log = &self.threads[thread];
            let hidden = |(index, event): (usize, &Event)| {
                index > 0 && event.yields_before == 0 && self.hides(log, &event.operation, event.places)
            };
            let hidden: Vec<bool> = log.events.iter().enumerate().map(hidden).collect();
            let (pending, private) = (self.hides_pending(log), self.is_private(log.name));
            let log = &mut self.threads[thread];
            (log.pending_hidden, log.private) = (pending, private);
            log.events.iter_mut().zip(hidden).for_each(|(event, hidden)| event.hidden = hidden);
        }
    }

    /// The prefix without the last *block* of the thread: its last step and those that it is glued to. Also the stamp of the
    /// prefix with the first step of the block only, the successor as it is known at the start.
    ///
    /// `None` if steps of others depend on the block, or hidden ones of others had to come first: no run that keeps to the
    /// rule ends with it.
    pub(crate) fn without_block(&self, prefix: &Prefix, thread: usize) -> Option<(Prefix, Stamp)> {
        if !self.in_frontier(&prefix.counts, thread) {
            return None;
        }
        let mut start = prefix.clone();
        loop {
            let first = start.stamp;
            let index = start.counts[thread] - 1;
            start.counts[thread] = index;
            start.stamp = first.toggle(self.threads[thread].events[index as usize].stamp);
            if !self.threads[thread].events[index as usize].hidden {
                start.counts[thread] = index + 1;
                let maximal = first == prefix.stamp || self.in_frontier(&start.counts, thread);
                start.counts[thread] = index;
                let reachable =
                    maximal && self.admits(&start.counts, thread) && self.is_orderly(&start.counts);
                return reachable.then_some((start, first));
            }
        }
    }

    /// Who must go on here, if anybody must.
    pub(crate) fn must_continue(&self, counts: &[u32]) -> Option<usize> {
        (0..counts.len()).find(|&thread| self.goes_on(counts, thread))
    }

    /// May the thread do its next step here, as far as hidden steps of others and private threads are concerned?
    fn admits(&self, counts: &[u32], thread: usize) -> bool {
        !self.racing.hides
            || (0..counts.len()).all(|other| other == thread || !self.goes_on(counts, other))
                && !self.is_deferred(counts, thread)
    }

    /// Finds the objects of the thread's next operation among those that it has used, and adds those that are new.
    pub(crate) fn place_accesses(&mut self, thread: usize) {
        let Some(pending) = self.threads[thread].pending else { return };
        let places = self.places_of(thread, &pending);
        let Graph { threads, racing, .. } = self;
        let log = &mut threads[thread];
        log.pending_places = places;
        log.used.truncate(log.objects as usize);
        for (slot, (_, place)) in pending.accesses().zip(places).enumerate() {
            if place as usize == log.used.len() {
                let kind = u64::from(pending.code.rotate_left(11 * slot as u32));
                let before = log.used.iter().rev().find(|used| used.class >> 32 == kind);
                let class = before.map_or(kind << 32, |before| before.class + 1);
                let races = racing.known.contains(&(log.name, class));
                log.used.push(UsedObject { class, races });
            }
        }
    }

    /// "The n-th object that this thread has used", for each access of its next operation.
    fn places_of(&self, thread: usize, operation: &Operation) -> [u32; 3] {
        let mut places = [0; 3];
        let mut fresh = self.threads[thread].objects;
        for (i, access) in operation.accesses.iter().enumerate() {
            let Some(access) = access else { continue };
            let repeated = operation.accesses[..i]
                .iter()
                .position(|before| before.is_some_and(|before| before.object == access.object));
            let known = self.objects.get(&access.object).and_then(|log| log.place_for(thread));
            places[i] = match (repeated, known) {
                (Some(before), _) => places[before],
                (None, Some(known)) => known,
                (None, None) => {
                    fresh += 1;
                    fresh - 1
                }
            };
        }
        places
    }

    /// Looks for races of the step that the thread has just done, of its next operation, and of the first ones of
    /// the threads that it has started (from number `from` on).
    pub(crate) fn learn(&mut self, thread: usize, flow: Flow, from: usize) {
        if !self.racing.hides {
            return;
        }
        if flow == Flow::Stop {
            // Whatever was hidden before: nothing is any more.
            (self.racing.hides, self.racing.epoch) = (false, self.racing.epoch + 1);
            self.look_again();
            return;
        }
        let mut found: Vec<(usize, u32)> = Vec::new();
        let Some(done) = self.threads[thread].events.last() else { return };
        for (other, log) in self.threads.iter().enumerate().take(from).filter(|(other, _)| *other != thread) {
            let Some(pending) = log.pending.as_ref().filter(|pending| pending.conflicts(&done.operation))
            else {
                continue;
            };
            for (a, place) in done.operation.accesses().zip(done.places) {
                for (b, pending_place) in pending.accesses().zip(log.pending_places) {
                    let known = is_set(&self.threads[thread].used, place) && is_set(&log.used, pending_place);
                    if a.object == b.object && (a.write || b.write) && !known {
                        found.extend([(thread, place), (other, pending_place)]);
                    }
                }
            }
        }
        self.against_the_past(thread, done, &mut found);
        for child in from..self.threads.len() {
            self.against_the_past(child, done, &mut found);
        }
        let mut news = false;
        for (thread, place) in found {
            let log = &mut self.threads[thread];
            let Some(used) = log.used.get_mut(place as usize) else { continue };
            if !std::mem::replace(&mut used.races, true) {
                self.racing.known.insert((log.name, used.class));
                news = true;
                self.expose(thread);
            }
        }
        news |= self.expose_movers(thread, from);
        if news {
            self.racing.epoch += 1;
            self.look_again();
        }
    }

    /// The thread's pending operation against all steps that do not happen before the step that precedes it.
    fn against_the_past(&self, thread: usize, before: &Event, found: &mut Vec<(usize, u32)>) {
        let log = &self.threads[thread];
        let Some(pending) = &log.pending else { return };
        let ordered = |by: usize, index: u32| before.clock.get(by).is_some_and(|&seen| seen > index);
        for (access, place) in pending.accesses().zip(log.pending_places) {
            let Some(object) = self.objects.get(&access.object) else { continue };
            let known = |&(user, place): &(usize, u32)| is_set(&self.threads[user].used, place);
            if known(&(thread, place)) && object.places.iter().all(known) {
                continue;
            }
            let mut races_with = |by: usize, index: u32| {
                let event = &self.threads[by].events[index as usize];
                let theirs = event.operation.accesses().zip(event.places);
                let theirs = theirs.filter(|(a, _)| a.object == access.object).map(|(_, place)| (by, place));
                found.extend(theirs.chain([(thread, place)]));
            };
            // Newest first: what comes before an ordered write is ordered too.
            for version in (0..=object.writes.len()).rev() {
                if access.write {
                    let unordered = object.reads[version].iter().filter(|r| !ordered(r.thread, r.index));
                    unordered.for_each(|read| races_with(read.thread, read.index));
                }
                let Some(write) = version.checked_sub(1).map(|version| object.writes[version]) else { break };
                if ordered(write.thread, write.index) {
                    break;
                }
                races_with(write.thread, write.index);
            }
        }
    }
}

impl ObjectLog {
    fn place_for(&self, thread: usize) -> Option<u32> {
        self.places.iter().find(|(user, _)| *user == thread).map(|(_, place)| *place)
    }
}
