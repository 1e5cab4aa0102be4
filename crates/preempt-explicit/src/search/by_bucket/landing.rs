//! The end of a bucket: what it has met is looked up, and room is made for it.

use super::ByBucket;
use super::met::Met;
use super::worker::{Candidate, repack_candidates};
use super::{Bucket, Early};
use crate::pool::was_helped;
use crate::search::keys::arrival::Deferred;
use crate::search::keys::how::How;
use crate::search::keys::waiting::Waiting;
use crate::store::packed::Full;
use crate::store::packed::encoding::{Encoding, Key};
use crate::successors::Expander;
use preempt_model::search::RunCost;
use std::sync::Arc;

/// So often room is made for what did not fit.
const MOST_ATTEMPTS: u32 = 20;

impl<S: Expander + Send, M: Met> ByBucket<'_, S, M> {
    /// What is met from now on costs this much: is that within what is searched, and what costs a switch more?
    pub(super) fn aim_at(&mut self, cost: RunCost) -> (bool, bool) {
        let later = RunCost { preemptions: cost.preemptions + 1, ..cost };
        let (next_costs, later_costs) = (self.is_within(cost), self.is_within(later));
        let is_deep = self.is_deep(cost);
        for worker in &mut self.workers {
            worker.wants_next = next_costs && !is_deep;
            worker.wants_later = later_costs && !is_deep;
        }
        (next_costs, later_costs)
    }

    /// Looks up what was met at this cost, and lists what it brings.
    pub(super) fn land_at(&mut self, cost: RunCost) -> Result<(), Early> {
        let (next_costs, later_costs) = self.aim_at(cost);
        let is_deep = self.is_deep(cost);
        // What was looked up at once has landed there, too.
        self.take_in_deferred()?;
        if is_deep {
            // A dearer run may come there in fewer steps.
            let candidates = self.workers.iter_mut().flat_map(|worker| &mut worker.candidates);
            candidates.for_each(|candidate| candidate.how = How::TOO_DEEP);
        }
        self.commit()?;
        if self.statistics.stats.states > self.known_states {
            self.known_states = self.statistics.stats.states;
            self.statistics.stats.depth = self.statistics.stats.depth.max(cost.steps);
        }
        let (mut going_on, mut others, mut at_next_level) = <(Waiting, Waiting, Waiting)>::default();
        let mut judged = false;
        for worker in &mut self.workers {
            let brought = std::mem::take(&mut worker.brought);
            going_on.append(brought.next);
            others.append(brought.next_others);
            at_next_level.append(brought.later);
            let left_out = std::mem::take(&mut worker.left_out_next) && next_costs
                || std::mem::take(&mut worker.left_out_later) && later_costs;
            self.cut_by_depth |= is_deep && left_out;
            judged |= std::mem::take(&mut worker.judged);
            for far in worker.take_far() {
                // Their steps are those from the bucket before.
                let more = far.first().map_or(0, |candidate| candidate.how.steps());
                let steps = (cost.steps + u64::from(more)).saturating_sub(1);
                self.buckets.entry(steps).or_default().far.push(far);
            }
        }
        if judged {
            self.found_at(cost);
        }
        if going_on.states() + others.states() > 0 {
            let bucket = self.buckets.entry(cost.steps).or_default();
            bucket.going_on.append(going_on);
            bucket.others.append(others);
        }
        if at_next_level.states() > 0 {
            self.later.entry(cost.steps).or_default().append(at_next_level);
        }
        Ok(())
    }

    /// All candidates, as long as there are no more states than are allowed: then as many at a time as may be new, in an order that
    /// is the same with any number of threads.
    fn commit(&mut self) -> Result<(), Early> {
        let aside = if self.may_be_too_many() { self.all_in_order() } else { Vec::new() };
        let mut aside = aside.into_iter();
        let mut attempts = 0;
        loop {
            if self.candidates() == 0 {
                let left = self.left();
                self.workers[0].candidates.extend(aside.by_ref().take(left));
                attempts = 0;
            }
            let count = self.candidates();
            if count == 0 {
                return Ok(());
            }
            // What did not fit finds more room each time.
            let more = (count / 2).max(self.most_new()) << attempts;
            let processes = self.most_processes();
            self.met.make_room(&mut self.store, more, processes, &mut self.crew)?;
            let threads = self.threads_for(count);
            self.met.set_shared(&mut self.store, threads > 1);
            self.met.commit(&self.store, &mut self.workers, threads, &mut self.crew);
            self.count();
            attempts += 1;
            if attempts > MOST_ATTEMPTS {
                return Err(Early::Full);
            }
        }
    }

    fn candidates(&self) -> u64 {
        self.workers.iter().map(|worker| worker.candidates.len() as u64).sum()
    }

    /// How many states there may be until there are too many.
    fn left(&self) -> usize {
        let states = self.statistics.stats.states;
        let left = self.options.limits.states.map(|most| most.saturating_add(1).saturating_sub(states));
        left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX))
    }

    fn may_be_too_many(&self) -> bool {
        self.candidates() > self.left() as u64
    }

    fn all_in_order(&mut self) -> Vec<Candidate<M::Id>> {
        let of_workers = self.workers.iter_mut().flat_map(|worker| worker.candidates.drain(..));
        let mut all: Vec<_> = of_workers.collect();
        M::put_in_order(&mut all);
        all
    }

    /// What the workers have counted since the last time.
    fn count(&mut self) {
        for (number, worker) in self.workers.iter_mut().enumerate() {
            let counted = std::mem::take(&mut worker.steps.counted);
            if number > 0 {
                was_helped(counted.states);
            }
            if counted.states + counted.transitions > 0 {
                self.statistics.add(self.at.preemptions, counted.states, counted.transitions);
            }
            for (kind, count) in counted.violations {
                *self.statistics.stats.violations.entry(kind).or_default() += count;
            }
            self.met.count(&mut self.store, &std::mem::take(&mut worker.new));
        }
    }

    /// What did not fit is a candidate as soon as the store is wide enough. What was met is counted before: a table that is packed anew
    /// has room for so many.
    pub(super) fn take_in_deferred(&mut self) -> Result<(), Full> {
        self.count();
        let deferred: Vec<Deferred> =
            self.workers.iter_mut().flat_map(|worker| std::mem::take(&mut worker.steps.deferred)).collect();
        if deferred.is_empty() {
            return Ok(());
        }
        let fits = |it: &Deferred| self.store.encode(&*self.workers[0].steps.system, &it.state).is_some();
        if !deferred.iter().all(fits) {
            let old = Arc::clone(&self.store.encoding);
            let mut states = deferred.iter().map(|it| &*it.state);
            let (workers, buckets) = (&self.workers, &self.buckets);
            let (later, feed) = (&self.later, &*self.feed.get_mut());
            let beside = |visit: &mut dyn FnMut(&Encoding, &Key)| {
                workers.iter().for_each(|worker| worker.each_key(&old, visit));
                for Bucket { going_on, others, far } in buckets.values() {
                    going_on.each_key(visit);
                    others.each_key(visit);
                    far.iter().flatten().for_each(|candidate| visit(&old, &candidate.key));
                }
                later.values().chain([feed]).for_each(|waiting| waiting.each_key(visit));
            };
            self.store.widen(&*workers[0].steps.system, &mut states, &beside, &mut self.crew)?;
            for worker in &mut self.workers {
                worker.repack(&self.store, &self.met, &old);
            }
            let far = self.buckets.values_mut().flat_map(|bucket| bucket.far.iter_mut().flatten());
            repack_candidates(&self.store, &self.met, &old, far);
        }
        for Deferred { state, how } in deferred {
            if !self.workers[0].arrive(&self.store, &self.met, &state, how) {
                return Err(Full);
            }
        }
        let most = self.most_processes();
        self.met.make_room(&mut self.store, 0, most, &mut self.crew)
    }
}
