//! The steps of one process in the state that is being expanded: remembered, or computed and then remembered.

use super::arrival::{Arrival, Deferred};
use super::how::How;
use super::remembered::{Answer, MOST_UNCHANGED, Place, Question, Tag};
use super::stepper::Stepper;
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Key, Source};
use crate::successors::{Expander, Sink};
use preempt_core::PropertyKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// What is done with steps that were computed.
#[derive(Debug, Clone, Copy)]
enum Remember {
    Nothing,
    At(Tag),
    /// Where is not known yet.
    Somewhere,
}

impl<S: Expander> Stepper<'_, S> {
    pub fn can_move(&mut self, store: &PackedStore, process: usize) -> bool {
        if self.remembers
            && let Answer::Known { place, asks_timeout } = self.ask(process)
        {
            let moves = self.remembered.moves(place);
            if moves || !asks_timeout || self.somebody_moves(store, process) {
                return moves;
            }
        }
        self.open(store);
        self.system.can_move(&self.state, process)
    }

    /// What is known of a process now.
    fn ask(&mut self, process: usize) -> Answer {
        let Source { class, key, .. } = self.source;
        let first = self.questions.len();
        self.remembered.ask(class, &key, std::iter::once(process), &mut self.questions);
        let question = if self.questions.len() > first { self.questions.pop() } else { None };
        question.map_or(Answer::Never, |question| self.remembered.answer(class, &question))
    }

    /// Can another process move without a timeout? Then there is none, whoever asks for it.
    fn somebody_moves(&mut self, store: &PackedStore, but: usize) -> bool {
        for process in (0..self.processes).filter(|process| *process != but) {
            let moves = match self.ask(process) {
                Answer::Known { place, .. } => self.remembered.moves(place),
                Answer::New(_) | Answer::Unknown | Answer::Never => {
                    self.open(store);
                    self.system.moves_without_timeout(&self.state, process)
                }
            };
            if moves {
                return true;
            }
        }
        false
    }

    /// Expands those who were asked about and are left, or, if nobody was asked about, all these processes. Says whether one of
    /// them could move, or somebody before them (`moved`).
    pub fn expand_processes(
        &mut self,
        store: &PackedStore,
        mut moved: bool,
        is_among: impl Fn(usize) -> bool,
    ) -> bool {
        if !self.is_asked {
            for process in (0..self.processes).filter(|process| is_among(*process)) {
                moved |= self.expand_process(store, process, None);
            }
        }
        while let Some(question) = self.open_questions.next() {
            let question = self.questions[question];
            moved |= self.expand_process(store, question.process(), Some(question));
            moved |= self.take_remembered(store);
        }
        self.is_asked = false;
        moved
    }

    /// The first of those who were asked about, as long as their steps are remembered. Says whether one could move.
    #[inline(always)]
    pub(super) fn take_remembered(&mut self, store: &PackedStore) -> bool {
        let Range { start, end } = self.open_questions;
        let (mut at, mut moved) = (start, false);
        while at < end
            && let Some(question) = self.questions.get(at)
            && let Some(place) = self.remembered.steps_of(question)
        {
            let process = question.process();
            moved |= self.take_steps(store, process, place);
            at += 1;
        }
        self.open_questions.start = at;
        self.work += (at - start) as u64;
        moved
    }

    /// What remembered steps of a process lead to. Says whether there are any.
    #[inline(always)]
    fn take_steps(&mut self, store: &PackedStore, process: usize, place: Place) -> bool {
        let (key, (steps, unchanged)) = (self.source.key, self.remembered.steps(place));
        let count = steps.len() as u64 + unchanged;
        for step in steps {
            let arrival =
                Arrival::new(step.from(&key), How::runs(step.runs(), How::LIVES | step.note(), step.steps()));
            store.table.prefetch(arrival.hash);
            self.arrivals.push(arrival);
        }
        self.counted.transitions += count;
        self.work += count;
        #[cfg(debug_assertions)]
        self.audit(store, process, place);
        #[cfg(not(debug_assertions))]
        let _ = process;
        count > 0
    }

    /// Says whether the process could move at all. What was asked about it before the batch was expanded is not asked again.
    fn expand_process(&mut self, store: &PackedStore, process: usize, question: Option<Question>) -> bool {
        self.work += 1;
        if !self.remembers {
            return self.compute(store, process, Remember::Nothing);
        }
        let answer = match question {
            Some(question) => self.remembered.answer(self.source.class, &question),
            None => self.ask(process),
        };
        match answer {
            // Where there is a timeout, something else may be done.
            Answer::Known { place, asks_timeout }
                if !asks_timeout || self.remembered.moves(place) || self.somebody_moves(store, process) =>
            {
                self.take_steps(store, process, place)
            }
            Answer::Known { .. } | Answer::Never => self.compute(store, process, Remember::Nothing),
            Answer::New(tag) => self.compute(store, process, Remember::At(tag)),
            Answer::Unknown => self.compute(store, process, Remember::Somewhere),
        }
    }

    /// Now and then, are the steps what they are remembered to be?
    #[cfg(debug_assertions)]
    fn audit(&mut self, store: &PackedStore, process: usize, place: Place) {
        self.audited += 1;
        if !self.audited.is_multiple_of(8) {
            return;
        }
        let (counted, work, nearest) = (std::mem::take(&mut self.counted), self.work, self.nearest);
        let (deferred, later) = (std::mem::take(&mut self.deferred), self.arrivals.len());
        self.processes = self.remembered.processes(self.source.class);
        let moved = self.compute(store, process, Remember::Nothing);
        let computed =
            self.arrivals.drain(later..).map(|Arrival { key, how, .. }| how.step(&self.source.key, &key));
        let computed: Vec<_> = computed.collect();
        if self.budget.stopped().is_none() && self.deferred.is_empty() {
            let unchanged = self.counted.transitions - computed.len() as u64;
            assert_eq!((&*computed, unchanged), self.remembered.steps(place), "process {process}");
            assert_eq!(moved, self.remembered.moves(place));
            assert!(self.counted.violations.is_empty());
        }
        (self.counted, self.work, self.deferred, self.nearest) = (counted, work, deferred, nearest);
    }

    /// Executes the process's steps, and remembers them if there is something to be compared with the next time.
    fn compute(&mut self, store: &PackedStore, process: usize, remember: Remember) -> bool {
        self.open(store);
        let first = self.arrivals.len();
        self.bytes.clear();
        let header = self.system.header();
        let mut met = Met {
            store,
            source: &self.source,
            state: &self.state,
            header,
            processes: self.processes,
            process,
            counts_steps: self.asks.steps,
            arrivals: &mut self.arrivals,
            bytes: &mut self.bytes,
            unchanged: 0,
            violations: 0,
            nearest: self.nearest,
            counted: &mut self.counted.violations,
            others: Vec::new(),
            starts: &mut self.starts,
        };
        met.starts.clear();
        let moved = self.system.expand_into(&self.state, process, &mut met);
        let (others, unchanged, violations) = (met.others, met.unchanged, met.violations);
        self.nearest = met.nearest;
        let transitions = (self.arrivals.len() - first + others.len()) as u64 + unchanged;
        self.counted.transitions += transitions;
        self.work += transitions;
        if self.asks.alone {
            for number in first..self.arrivals.len() {
                let (start, end) = self.starts[number - first];
                let how = self.how(self.arrivals[number].how, start..end);
                self.arrivals[number].how = how;
            }
        }
        let is_short = self.arrivals[first..].iter().all(|arrival| arrival.how.is_short());
        let is_plain = others.is_empty() && violations == 0 && is_short;
        for (start, end, how) in others {
            let how = self.how(how, start..end);
            let next = &self.bytes[start..end];
            match store.encode(&*self.system, next) {
                Some(key) => {
                    let arrival = Arrival::new(key, how);
                    store.table.prefetch(arrival.hash);
                    self.arrivals.push(arrival);
                }
                None => self.deferred.push(Deferred { state: next.to_vec(), how }),
            }
        }
        let is_whole = is_plain && moved == (transitions > 0) && unchanged <= MOST_UNCHANGED;
        let may_be_remembered = is_whole && !matches!(remember, Remember::Nothing);
        if may_be_remembered && self.budget.stopped().is_none() {
            self.remember(store, process, remember, (first, unchanged));
        }
        moved
    }

    /// The steps that were met from this arrival on, and so many that change nothing.
    fn remember(
        &mut self,
        store: &PackedStore,
        process: usize,
        remember: Remember,
        (first, unchanged): (usize, u64),
    ) {
        let Source { class, key, .. } = self.source;
        let tag = match remember {
            Remember::Nothing => None,
            Remember::At(tag) => Some(tag),
            Remember::Somewhere => {
                self.remembered.find_group(store, self.system, (class, &key), process, &self.state)
            }
        };
        let Some(tag) = tag else { return };
        // Where somebody can move without one, there is no timeout.
        let is_timeless = !tag.asks_timeout
            || match unchanged > 0 || self.arrivals.len() > first {
                true => self.system.moves_without_timeout(&self.state, process),
                false => self.somebody_moves(store, process),
            };
        if is_timeless {
            let step = |Arrival { key: next, how, .. }: &Arrival| how.step(&key, next);
            let steps = self.arrivals[first..].iter().map(step);
            self.remembered.remember(tag, (steps, unchanged), self.states);
        }
    }

    /// What is to be known of a successor beside who runs.
    fn how(&mut self, how: How, bytes: Range<usize>) -> How {
        let next = &self.bytes[bytes];
        let runs = usize::from(how.number());
        let lives = runs < self.system.process_count(next);
        let alone = self.asks.alone && lives && self.system.runs_alone(next, runs);
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        How::runs(how.number(), bit(lives, How::LIVES) | bit(alone, How::ALONE), how.steps())
    }

    /// May whoever has arrived be left for free, since he only spins? That depends on more than the step, and takes its time: it is
    /// asked once for each process in each state.
    pub fn freely(&mut self, store: &PackedStore, key: &Key, how: How) -> How {
        let Some(process) = how.process().filter(|_| how.has(How::LIVES) && !how.has(How::ALONE)) else {
            return how;
        };
        let mut state = std::mem::take(&mut self.arrived);
        store.open(key, &mut self.numbers, &mut state);
        let is_free = self.spinning.spins(&mut *self.system, &self.budget, &state, process.into());
        self.arrived = state;
        if is_free { how.freely() } else { how }
    }
}

/// What an expansion writes to.
struct Met<'w> {
    store: &'w PackedStore,
    source: &'w Source,
    state: &'w [u8],
    header: usize,
    /// Of the state.
    processes: usize,
    /// Whose steps they are.
    process: usize,
    /// Are there so many of them as there are, or is each path one?
    counts_steps: bool,
    arrivals: &'w mut Vec<Arrival>,
    bytes: &'w mut Vec<u8>,
    /// Where each arrival's bytes lie.
    starts: &'w mut Vec<(usize, usize)>,
    /// Steps that lead back to the state, in which the process is being expanded already: nothing follows from those.
    unchanged: u64,
    violations: u64,
    nearest: Option<u32>,
    counted: &'w mut BTreeMap<PropertyKind, u64>,
    /// Successors of another class, and those that did not fit.
    others: Vec<(usize, usize, How)>,
}

impl Sink for Met<'_> {
    #[inline]
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    #[inline]
    fn arrived(&mut self, start: usize, runs: u8, steps: u32) {
        let next = &self.bytes[start..];
        let end = self.bytes.len();
        if usize::from(runs) == self.process && next == self.state {
            self.unchanged += 1;
            return;
        }
        let steps = if self.counts_steps { steps } else { 1 };
        let how = How::runs(runs, if usize::from(runs) < self.processes { How::LIVES } else { 0 }, steps);
        // States of one class begin in the same way. (A few bytes: a call to compare them takes longer.)
        let is_alike = next.iter().zip(self.state).take(self.header).all(|(now, then)| now == then);
        let PackedStore { encoding, pieces, table, .. } = self.store;
        if is_alike && let Some(key) = encoding.encode_successor(pieces, self.source, self.state, next) {
            let arrival = Arrival::new(key, how);
            table.prefetch(arrival.hash);
            self.arrivals.push(arrival);
            self.starts.push((start, end));
            return;
        }
        self.others.push((start, end, how));
    }

    #[inline]
    fn violated(&mut self, kind: PropertyKind, steps: u32) {
        self.violations += 1;
        self.nearest = Some(self.nearest.map_or(steps, |known| known.min(steps)));
        *self.counted.entry(kind).or_default() += 1;
    }
}
