//! Expanding what waits, and looking up where it leads.

use super::cost_store::{Arrival, CostStore, End, Pending, Who};
use super::expansion_log::ProcessSet;
use super::wire::Sent;
use super::{ByCost, Expansion};
use crate::replay::Ending;
use crate::search::Goal;
use crate::successors::{Event, Replayable};
use preempt_core::PropertyKind;
use preempt_model::search::RunCost;

impl<S: Replayable + ?Sized, T: CostStore> ByCost<'_, S, T> {
    /// Expands one item of the batch.
    pub(super) fn work(&mut self, number: usize) {
        let item = self.store.item(number);
        match item.who() {
            Who::Last => {
                let last = usize::from(item.last());
                let place = self.store.place(&*self.system, number);
                if self.store.has_run(place, last) {
                    return;
                }
                let mut opened = std::mem::take(&mut self.opened);
                self.store.open(&*self.system, number, &mut opened);
                let state = T::bytes_of(&opened);
                if last < self.system.process_count(state) && self.expand(item, item.last(), &opened) {
                    self.store.ran_alone(place, last);
                    self.log(item, ProcessSet::default());
                } else {
                    self.give_way(number, place, state);
                }
                self.opened = opened;
            }
            Who::Others => self.expand_others(number),
            Who::Nobody => {
                // The first to be taken is the cheapest.
                if !self.wrong.insert(self.store.identity(number), true).unwrap_or(true) {
                    let mut opened = std::mem::take(&mut self.opened);
                    self.store.open(&*self.system, number, &mut opened);
                    self.end_here(item, T::bytes_of(&opened));
                    self.opened = opened;
                }
            }
        }
    }

    /// The process that was running cannot go on.
    fn give_way(&mut self, number: usize, place: T::Place, state: &[u8]) {
        let item = self.store.item(number);
        let preemptions = self.at.preemptions + self.cost_model.forced;
        self.queue_others(place, item, state, RunCost { preemptions, ..self.at });
        if self.cost_model.forced > 0 {
            // The others come later, if at all: that nobody can move is seen now.
            let count = self.system.process_count(state);
            if !(0..count).any(|process| self.system.can_move(state, process)) {
                self.dead_end(number, state, count);
            }
        }
    }

    pub(super) fn log(&mut self, item: T::Item, ran: ProcessSet) {
        if self.goal != Goal::Count && self.neighbours.is_none() {
            self.store.log(item, ran);
        }
    }

    fn expand_others(&mut self, number: usize) {
        let place = self.store.place(&*self.system, number);
        if !self.store.begin_others(place) {
            return;
        }
        let item = self.store.item(number);
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&*self.system, number, &mut opened);
        let count = self.system.process_count(T::bytes_of(&opened));
        let (mut moved, mut ran) = (false, ProcessSet::default());
        for process in (0..count).filter(|process| *process != usize::from(item.last())) {
            if self.store.has_run_alone(place, process) {
                moved = true;
            } else if self.expand(item, process as u8, &opened) {
                self.store.ran_among_others(place, process);
                moved = true;
                ran[process / 64] |= 1 << (process % 64);
            }
        }
        if ran != ProcessSet::default() {
            self.log(item, ran);
        }
        if !moved {
            self.dead_end(number, T::bytes_of(&opened), count);
        }
        self.opened = opened;
    }

    /// Expands one process; false if it has no move.
    fn expand(&mut self, item: T::Item, process: u8, opened: &T::Opened) -> bool {
        let state = T::bytes_of(opened);
        let (bytes, Expansion { arrivals, violations }) = (&mut self.bytes, &mut self.expansion);
        let visit = &mut |event: Event<'_>| match event {
            Event::Arrival { state, runs, steps } => {
                arrivals.push((bytes.len(), state.len(), runs, steps));
                bytes.extend_from_slice(state);
            }
            Event::Violation { kind, steps } => violations.push((kind, steps)),
        };
        let answer = self.ahead.as_mut().and_then(|ahead| ahead.answer(state, process, visit));
        let moved = answer.unwrap_or_else(|| self.system.expand(state, usize::from(process), visit));
        if !moved {
            return false;
        }
        let mut expansion = std::mem::take(&mut self.expansion);
        for (choice, (start, length, runs, steps)) in expansion.arrivals.drain(..).enumerate() {
            let state = &self.bytes[start..start + length];
            let runs_alone = self.reduces && self.system.runs_alone(state, usize::from(runs));
            let leaving_is_free = self.options.fair_switch
                && !runs_alone
                && self.spinning.spins(self.system, &self.budget.shared, state, usize::from(runs));
            if let Some(neighbours) = &mut self.neighbours
                && let Some(owner) = neighbours.owner_of(&*self.system, state)
            {
                let sent = Sent { runs, steps, leaving_is_free, runs_alone };
                neighbours.send(&*self.system, owner, state, sent);
                continue;
            }
            let Some(key) = self.store.key(&*self.system, state, opened) else {
                self.full = true;
                continue;
            };
            let processes = self.system.process_count(state) as u8;
            let (from, choice, by) = (item.site(), choice as u32, process);
            self.arrivals.push(Arrival {
                key,
                start,
                length,
                from,
                choice,
                by,
                runs,
                steps,
                processes,
                leaving_is_free,
                runs_alone,
            });
        }
        for (number, (kind, steps)) in expansion.violations.drain(..).enumerate() {
            let cost = RunCost { steps: self.at.steps + u64::from(steps), ..self.at };
            self.statistics.violation(kind);
            let ending = Ending::During { process, violation: number as u32 };
            self.violation(cost, End { site: item.site(), last: item.last(), ending }, state);
        }
        self.expansion = expansion;
        if !T::NEEDS_BYTES {
            self.bytes.clear();
        }
        true
    }

    /// Everything that the batch has met: which states are new, and who is to run in them.
    pub(super) fn look_up(&mut self) {
        let (mut arrivals, mut bytes) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.bytes));
        self.store.prefetch(&arrivals);
        for arrival in arrivals.drain(..) {
            let state = match T::NEEDS_BYTES {
                true => &bytes[arrival.start..arrival.start + arrival.length],
                false => &[],
            };
            self.arrive(&arrival, state);
        }
        bytes.clear();
        (self.arrivals, self.bytes) = (arrivals, bytes);
    }

    fn arrive(&mut self, arrival: &Arrival<T::Key>, state: &[u8]) {
        let cost = RunCost { steps: self.at.steps + u64::from(arrival.steps), ..self.at };
        self.statistics.transition(cost);
        let Some(met) = self.store.meet(&*self.system, arrival, state) else {
            self.full = true;
            return;
        };
        let item = met.item;
        if met.is_new {
            self.statistics.new_state(cost);
            if self.judges {
                let mut opened = std::mem::take(&mut self.opened);
                self.store.open_met(&*self.system, &met, state, &mut opened);
                self.judge(T::bytes_of(&opened), met.identity, item, cost);
                self.opened = opened;
            }
        } else if self.wrong.contains_key(&met.identity) {
            self.queue(cost, item.with(Who::Nobody), state);
        }
        if !self.store.has_run(met.place, usize::from(arrival.runs)) {
            self.queue(cost, item, state);
        }
        if !arrival.runs_alone {
            let charge = if arrival.leaving_is_free { 0 } else { self.cost_model.preemption };
            let later = RunCost { preemptions: cost.preemptions + charge, ..cost };
            self.queue_others(met.place, item, state, later);
        }
        self.store.release(item.site());
    }

    /// A state that is a violation in itself is counted once, and reported at its cheapest arrival.
    pub(super) fn judge(&mut self, state: &[u8], identity: T::Identity, item: T::Item, cost: RunCost) {
        if let Some(kind) = self.system.state_violation(state) {
            self.statistics.violation(kind);
            self.wrong.insert(identity, false);
            self.queue(cost, item.with(Who::Nobody), state);
        }
    }

    /// Queues everybody else, unless everybody has been queued at this cost or a lower one.
    fn queue_others(&mut self, place: T::Place, item: T::Item, state: &[u8], cost: RunCost) {
        if self.is_within(cost) && self.store.lower_everybody(place, self.at.preemptions, cost) {
            self.queue(cost, item.with(Who::Others), state);
        }
    }

    /// Nobody but perhaps the last process can move.
    fn dead_end(&mut self, number: usize, state: &[u8], count: usize) {
        let item = self.store.item(number);
        let last = usize::from(item.last());
        let last_can_move = last < count && self.system.can_move(state, last);
        // Without its budget the system has no moves either.
        let undone = self.budget.stopped().is_some();
        let identity = self.store.identity(number);
        if undone || last_can_move || self.system.may_end(state) || !self.store.set_dead(identity) {
            return;
        }
        self.statistics.violation(PropertyKind::Deadlock);
        self.end_here(item, state);
    }
}
