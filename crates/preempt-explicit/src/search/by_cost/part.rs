//! One part of a search in order of cost that several processes make together ([`crate::parts`]).
//!
//! It is the search as it is, with its own states only: what it meets of another's is sent there, and counts there. At each
//! moment the mail comes first, then, if nobody knows a violation that is as cheap, the bucket. So everything that is
//! counted is what one process would count: the same items are worked on at the same costs, until the same bucket.
//!
//! No part knows how a state was reached, which would be as much as the states. When the least cost is known, the run is found
//! by one process (`search/in_parts.rs`).

use super::checkpoint::{describe, restore, save};
use super::cost_store::{Arrival, CostStore};
use super::exact::ExactStore;
use super::wire::{Receiver, STATES, Sender, Sent, put_number, take_number};
use super::{BATCH, ByCost};
use crate::parts::{Mail, Moment, Part, PartFiles, Post, Traffic};
use crate::saved::{damaged, read_below, read_u64, write_u64};
use crate::store::Opened;
use crate::successors::Replayable;
use preempt_core::{Memory, Progress, Stats, StopReason};
use preempt_model::search::RunCost;
use std::io::{Read, Write};

/// What is said beside [`STATES`], by the first byte.
const VIOLATED: u8 = 1;
const STOPPED: u8 = 2;
const COUNTED: u8 = 3;
const SAVE: u8 = 4;
const SAVED: u8 = 5;

/// The other parts, as one of them sees them.
#[derive(Debug)]
pub struct Neighbours {
    own: usize,
    count: usize,
    sender: Sender,
    receivers: Vec<Receiver>,
    /// Full batches.
    ready: Vec<(usize, Vec<u8>)>,
    traffic: Traffic,
    /// A state could not be sent.
    failed: bool,
}

impl Neighbours {
    pub fn new((own, count): (usize, usize)) -> Neighbours {
        Neighbours {
            own,
            count,
            sender: Sender::new(count),
            receivers: (0..count).map(|_| Receiver::default()).collect(),
            ready: Vec::new(),
            traffic: Traffic::default(),
            failed: false,
        }
    }

    /// To which other part the state belongs; `None` if it belongs here.
    #[inline]
    pub fn owner_of<S: Replayable + ?Sized>(&self, system: &S, state: &[u8]) -> Option<usize> {
        let share = u128::from(system.fingerprint(state)) * self.count as u128;
        Some((share >> 64) as usize).filter(|owner| *owner != self.own)
    }

    pub fn send<S: Replayable + ?Sized>(&mut self, system: &S, to: usize, state: &[u8], sent: Sent) {
        self.traffic.states += 1;
        match self.sender.put(system, to, state, sent) {
            Some(Some(batch)) => self.ready.push((to, batch)),
            Some(None) => {}
            None => self.failed = true,
        }
    }

    /// Hands over what is full; and what is not, if `all` is to go.
    fn deliver(&mut self, all: bool, post: &mut dyn Post) {
        if all {
            for to in 0..self.count {
                self.ready.extend(self.sender.batch(to).map(|batch| (to, batch)));
            }
        }
        for (to, batch) in self.ready.drain(..) {
            self.traffic.messages += 1;
            self.traffic.bytes += batch.len() as u64;
            post.send(to, batch);
        }
    }

    fn bytes(&self) -> u64 {
        let read: usize = self.receivers.iter().map(Receiver::bytes).sum();
        (self.sender.bytes() + read) as u64
    }
}

/// A part of the search at work.
pub struct SearchPart<'a, 'b, S: ?Sized> {
    pub search: ByCost<'a, S, ExactStore>,
    pub files: &'b mut dyn PartFiles,
    pub progress: &'b mut dyn Progress,
    /// Most states of all parts together; only the first part looks at it.
    pub most_states: Option<u64>,
    /// Where a checkpoint was made that is continued from.
    pub resumed: Option<Moment>,
    /// The cheapest violation that anybody knows.
    pub known: Option<RunCost>,
    /// Why everybody stops.
    pub stopped: Option<StopReason>,
    began: bool,
    /// The states of each part, as far as the first one knows; and what it was told by this one.
    counted: Vec<u64>,
    told: u64,
    /// A checkpoint that is to be made now, and the last one that everybody has.
    save: Option<(u64, u64)>,
    /// The checkpoint that the first part has asked for, and how many have it.
    asked: u64,
    saved: usize,
    complete: u64,
    /// States of all parts when it was asked for.
    counted_at_save: u64,
}

/// What has come of a part.
pub struct PartResult {
    pub stats: Stats,
    pub memory: Memory,
    pub traffic: Traffic,
    pub known: Option<RunCost>,
    pub stopped: Option<StopReason>,
}

impl<'a, 'b, S: Replayable + ?Sized> SearchPart<'a, 'b, S> {
    /// `last` is the number of the last checkpoint, by whomever.
    pub fn new(
        mut search: ByCost<'a, S, ExactStore>,
        place: (usize, usize),
        last: u64,
        files: &'b mut dyn PartFiles,
        progress: &'b mut dyn Progress,
    ) -> Self {
        search.neighbours = Some(Box::new(Neighbours::new(place)));
        search.system.work_within(search.budget.begin(&*progress));
        SearchPart {
            search,
            files,
            progress,
            most_states: None,
            resumed: None,
            known: None,
            stopped: None,
            began: false,
            counted: vec![0; place.1],
            told: 0,
            save: None,
            asked: last,
            saved: 0,
            complete: 0,
            counted_at_save: 0,
        }
    }

    /// Goes on from this part of a checkpoint.
    pub fn resume(&mut self, number: u64) -> Result<(), String> {
        let mut input = self.files.open(number).map_err(|error| error.to_string())?;
        self.restore(number, &mut input).map_err(|error| describe(&error))
    }

    fn restore(&mut self, number: u64, input: &mut dyn Read) -> std::io::Result<()> {
        let (own, count) = self.place();
        if [own as u64, count as u64, number] != [read_u64(input)?, read_u64(input)?, read_u64(input)?] {
            return Err(damaged("it is another part, or there were more of them or fewer"));
        }
        let known = RunCost { preemptions: read_below(input, 1 << 32)? as u32, steps: read_u64(input)? };
        self.known = Some(known).filter(|known| known.preemptions < u32::MAX);
        restore(&mut self.search, input)?;
        self.search.system.work_within(self.search.budget.begin(&*self.progress));
        self.resumed = Some((self.search.at.preemptions, self.search.at.steps));
        self.complete = number;
        Ok(())
    }

    fn place(&self) -> (usize, usize) {
        place(&self.search)
    }

    fn tell_all(&self, post: &mut dyn Post, kind: u8, numbers: &[u64]) {
        let (own, count) = self.place();
        (0..count).filter(|to| *to != own).for_each(|to| post.send(to, message(kind, numbers)));
    }

    /// States come to where they belong; everything else is for all.
    fn receive(&mut self, mail: &Mail) -> Option<()> {
        let (kind, mut rest) = mail.bytes.split_first()?;
        match *kind {
            STATES => self.receive_states(mail.from, rest)?,
            VIOLATED => {
                let (preemptions, steps) = (take_number(&mut rest)?, take_number(&mut rest)?);
                let cost = RunCost { preemptions: u32::try_from(preemptions).ok()?, steps };
                self.known = Some(self.known.map_or(cost, |known| known.min(cost)));
            }
            STOPPED => {
                let reason = reason_of(take_number(&mut rest)?)?;
                self.stopped = self.stopped.or(Some(reason));
            }
            COUNTED => *self.counted.get_mut(mail.from)? = take_number(&mut rest)?,
            SAVE => self.save = Some((take_number(&mut rest)?, take_number(&mut rest)?)),
            SAVED => self.saved += usize::from(take_number(&mut rest)? == self.asked),
            _ => return None,
        }
        Some(())
    }

    fn receive_states(&mut self, from: usize, batch: &[u8]) -> Option<()> {
        let mut neighbours = self.search.neighbours.take()?;
        let search = &mut self.search;
        let mut is_possible = true;
        let system = &*search.system;
        // The arrivals need the search, which has the system: they wait until the batch is read.
        let (arrivals, store, full) = (&mut search.arrivals, &mut search.store, &mut search.full);
        let read = neighbours.receivers.get_mut(from)?.read(system, batch, &mut |state, sent| {
            if !system.is_possible(state) {
                is_possible = false;
                return;
            }
            let Some(key) = store.key(system, state, &Opened::default()) else {
                *full = true;
                return;
            };
            arrivals.push(Arrival {
                key,
                start: 0,
                length: 0,
                // How it was reached is nobody's matter here.
                from: 0,
                choice: 0,
                by: sent.runs,
                runs: sent.runs,
                steps: sent.steps,
                processes: system.process_count(state) as u8,
                leaving_is_free: sent.leaving_is_free,
                runs_alone: sent.runs_alone,
            });
        });
        search.neighbours = Some(neighbours);
        search.look_up();
        read.filter(|()| is_possible)
    }

    /// Everything that waits at this moment.
    fn work(&mut self, post: &mut dyn Post) -> Option<StopReason> {
        loop {
            let count = self.search.store.next_batch(self.search.at, BATCH);
            if count == 0 {
                return self.search.budget.stopped();
            }
            (0..count).for_each(|number| self.search.work(number));
            self.search.look_up();
            self.search.store.end_batch();
            let neighbours = self.search.neighbours.as_mut()?;
            neighbours.deliver(false, post);
            if let Some(reason) = self.search.poll(self.progress) {
                return Some(reason);
            }
        }
    }

    /// The first part adds up what all have, and says when it is enough, and when it is to be saved.
    fn look_after_all(&mut self, post: &mut dyn Post) {
        let total: u64 = self.counted.iter().sum();
        if self.stopped.is_none() && self.most_states.is_some_and(|most| total > most) {
            self.stopped = Some(StopReason::States);
            self.tell_all(post, STOPPED, &[code_of(StopReason::States)]);
        }
        if self.saved == self.counted.len() {
            self.saved = 0;
            self.complete = self.asked;
            let RunCost { preemptions, steps } = self.search.at;
            let about = format!("{total} states, {preemptions} preemptions, {steps} steps");
            self.files.complete(self.complete, &about);
        }
        // Only if something is new: a checkpoint is mail, and the search ends when there is none.
        if total > self.counted_at_save && self.files.is_due() && self.stopped.is_none() {
            self.counted_at_save = total;
            self.asked += 1;
            self.saved = 0;
            let save = message(SAVE, &[self.asked, self.complete]);
            (0..self.counted.len()).for_each(|to| post.send(to, save.clone()));
        }
    }

    fn save_if_asked(&mut self, post: &mut dyn Post) {
        if let Some((number, complete)) = self.save.take() {
            let SearchPart { search, known, files, .. } = self;
            let saved = files.save(number, complete, &mut |out| write(search, *known, number, out));
            if saved.is_ok() {
                post.send(0, message(SAVED, &[number]));
            }
        }
    }

    pub fn finish(self) -> PartResult {
        let neighbours = self.search.neighbours.as_ref();
        let mut memory = self.search.store.memory();
        memory.store += self.search.system.bytes() + neighbours.map_or(0, |it| it.bytes());
        let stats = self.search.statistics.stats;
        let traffic = Traffic { own: stats.states, ..neighbours.map(|it| it.traffic).unwrap_or_default() };
        PartResult { stats, memory, traffic, known: self.known, stopped: self.stopped }
    }
}

impl<S: Replayable + ?Sized> Part for SearchPart<'_, '_, S> {
    fn at(&mut self, moment: Moment, mail: Vec<Mail>, post: &mut dyn Post) -> Result<(), String> {
        let now = RunCost { preemptions: moment.0, steps: moment.1 };
        if !std::mem::replace(&mut self.began, true) {
            match self.resumed {
                Some(at) if at > moment => {
                    post.wake(at);
                    return Ok(());
                }
                Some(_) => {}
                None => self.search.begin(),
            }
        }
        // It was sent one step before.
        let before = RunCost { steps: now.steps.saturating_sub(1), ..now };
        if self.search.at.preemptions < now.preemptions {
            (self.search.at.preemptions..now.preemptions)
                .for_each(|level| self.search.store.forget_level(level));
        }
        self.search.at = before;
        for mail in &mail {
            let damaged = || format!("part {} has sent what cannot be read", mail.from);
            self.receive(mail).ok_or_else(damaged)?;
        }
        self.search.at = now;
        let (own, _) = self.place();
        if self.stopped.is_none() && self.known.is_none_or(|known| known > now) {
            self.save_if_asked(post);
            if let Some(reason) = self.work(post) {
                self.stopped = Some(reason);
                self.tell_all(post, STOPPED, &[code_of(reason)]);
            }
            if let Some((cost, _)) = self.search.cheapest
                && self.known.is_none_or(|known| cost < known)
            {
                self.known = Some(cost);
                self.tell_all(post, VIOLATED, &[cost.preemptions.into(), cost.steps]);
            }
        }
        if let Some(neighbours) = &mut self.search.neighbours {
            neighbours.traffic.moments += 1;
            neighbours.deliver(true, post);
            if neighbours.failed {
                return Err("a state has a form that cannot be sent".into());
            }
        }
        let states = self.search.statistics.stats.states;
        self.counted[own] = states;
        if own == 0 {
            self.look_after_all(post);
        } else if states > self.told {
            self.told = states;
            post.send(0, message(COUNTED, &[states]));
        }
        if self.stopped.is_none() {
            let frontier = &self.search.store.frontier;
            let next = frontier.next_waiting(now.preemptions, now.steps + 1);
            let next = next.map(|steps| RunCost { steps, ..now });
            let above = RunCost { preemptions: now.preemptions + 1, steps: 0 };
            let above = Some(above).filter(|it| frontier.has_level(it.preemptions));
            let is_needed = |at: &RunCost| self.known.is_none_or(|known| known > *at);
            [next, above].into_iter().flatten().filter(is_needed).for_each(|at| {
                post.wake((at.preemptions, at.steps));
            });
        }
        Ok(())
    }
}

fn place<S: Replayable + ?Sized>(search: &ByCost<'_, S, ExactStore>) -> (usize, usize) {
    search.neighbours.as_ref().map_or((0, 1), |it| (it.own, it.count))
}

/// One part of a checkpoint.
fn write<S: Replayable + ?Sized>(
    search: &ByCost<'_, S, ExactStore>,
    known: Option<RunCost>,
    number: u64,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (own, count) = place(search);
    let known = known.unwrap_or(RunCost { preemptions: u32::MAX, steps: 0 });
    let numbers = [own as u64, count as u64, number, known.preemptions.into(), known.steps];
    numbers.into_iter().try_for_each(|number| write_u64(out, number))?;
    save(search, out)
}

fn message(kind: u8, numbers: &[u64]) -> Vec<u8> {
    let mut bytes = vec![kind];
    numbers.iter().for_each(|number| put_number(&mut bytes, *number));
    bytes
}

const REASONS: [StopReason; 6] = [
    StopReason::States,
    StopReason::Depth,
    StopReason::Time,
    StopReason::Memory,
    StopReason::Interrupted,
    StopReason::Partial,
];

pub fn code_of(reason: StopReason) -> u64 {
    REASONS.iter().position(|known| *known == reason).unwrap_or(0) as u64
}

pub fn reason_of(code: u64) -> Option<StopReason> {
    REASONS.get(usize::try_from(code).ok()?).copied()
}
