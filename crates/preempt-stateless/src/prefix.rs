//! Prefixes of a graph, most of which no run has stood in: what is enabled there, and where a step leads.
//!
//! A prefix-closed set of steps is given by how many steps of each thread it has. A thread that stands somewhere in the
//! graph will next do what it did there, or, at its end, what is pending; whether it can depends on the gates of
//! its objects, and those on the accesses inside the prefix alone. So the graph and the pending operations answer
//! everything that `Mark` of Musuvathi and Qadeer 2007 (paper 001) needs to know about `E(x)` and `next(x, t)`, without
//! running the program. A question costs a binary search in the log of each object that the operation touches.

use crate::counts::Counts;
use crate::executable::Move;
use crate::graph::{Graph, ObjectLog, stamp_of};
use crate::operation::{Choices, ObjectId, Operation};
use crate::stamp::Stamp;

/// A prefix-closed set of steps of a [`Graph`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// How many steps of each thread; a thread that does not exist yet has none.
    pub counts: Counts,
    /// Of the set of these steps: it identifies the prefix, also in other graphs.
    pub stamp: Stamp,
}

impl Graph {
    /// The prefix that is all of the graph.
    pub fn whole(&self) -> Prefix {
        let counts = self.threads.iter().map(|log| log.events.len() as u32).collect();
        Prefix { counts, stamp: self.stamp() }
    }

    /// Everything that happened before the last step of `thread`, and that step.
    pub fn past_of(&self, thread: usize) -> Prefix {
        let mut counts = Counts::zero(self.threads.len());
        if let Some(event) = self.threads[thread].events.last() {
            counts[..event.clock.len()].copy_from_slice(&event.clock);
        }
        let mut stamp = Stamp::EMPTY;
        for (log, &count) in self.threads.iter().zip(&*counts) {
            for event in &log.events[..count as usize] {
                stamp = stamp.toggle(event.stamp);
            }
        }
        Prefix { counts, stamp }
    }

    fn exists(&self, counts: &[u32], thread: usize) -> bool {
        self.threads[thread].parent.is_none_or(|(parent, index)| counts[parent] > index)
    }

    fn finished_in(&self, counts: &[u32], thread: usize) -> bool {
        let log = &self.threads[thread];
        log.pending.is_none() && counts[thread] as usize == log.events.len() && self.exists(counts, thread)
    }

    /// What the thread would do next, if it exists and has not finished.
    pub fn next_in(&self, counts: &[u32], thread: usize) -> Option<&Operation> {
        let log = &self.threads[thread];
        if !self.exists(counts, thread) {
            return None;
        }
        log.events.get(counts[thread] as usize).map(|event| &event.operation).or(log.pending.as_ref())
    }

    fn gate_in(&self, counts: &[u32], object: ObjectId) -> u128 {
        let Some(log) = self.objects.get(&object) else { return 0 };
        let version = log.version_in(counts);
        let base = if version == 0 { log.initial } else { log.writes[version - 1].gate };
        let inside = log.reads[version].iter().filter(|read| read.index < counts[read.thread]);
        inside.fold(base, |gate, read| gate.wrapping_add(read.delta))
    }

    /// Is the thread in `E(x)`?
    pub fn enabled_in(&self, counts: &[u32], thread: usize) -> bool {
        self.next_in(counts, thread).is_some_and(|operation| {
            operation.enabled(|object| self.gate_in(counts, object), |other| self.finished_in(counts, other))
        })
    }

    /// Every possible move, `E(x)` first.
    pub fn moves_in(&self, counts: &[u32]) -> Vec<Move> {
        let mut moves = Vec::new();
        self.add_moves_in(counts, &mut moves);
        moves
    }

    /// As [`Graph::moves_in`], into a list that is used again.
    pub(crate) fn add_moves_in(&self, counts: &[u32], moves: &mut Vec<Move>) {
        let threads = 0..self.threads.len();
        moves.extend(threads.clone().filter(|&thread| self.enabled_in(counts, thread)).map(Move::from));
        for thread in threads {
            let next = self.next_in(counts, thread).filter(|next| next.choices != Choices::One);
            let choices =
                next.map(|next| next.other_choices(|object| self.gate_in(counts, object), |_| false));
            moves.extend(choices.into_iter().flatten().map(|choice| Move { thread, choice }));
        }
    }

    /// The stamp of `next(x, t)`.
    pub fn successor_stamp(&self, prefix: &Prefix, step: Move) -> Option<Stamp> {
        let Move { thread, choice } = step;
        let operation = self.next_in(&prefix.counts, thread)?;
        let mut seen = [Stamp::EMPTY; 3];
        for (seen, access) in seen.iter_mut().zip(&operation.accesses) {
            let Some(log) = access.and_then(|access| self.objects.get(&access.object)) else { continue };
            let version = log.version_in(&prefix.counts);
            *seen = if version == 0 { Stamp::EMPTY } else { log.writes[version - 1].version };
        }
        let name = self.threads[thread].name;
        Some(prefix.stamp.toggle(stamp_of(name, prefix.counts[thread], choice, operation, seen)))
    }

    /// Is the thread's last step maximal, so that the prefix without it is a prefix too (paper 001: the frontier)?
    pub fn in_frontier(&self, counts: &[u32], thread: usize) -> bool {
        let own = counts[thread];
        own > 0
            && self.threads.iter().zip(counts).enumerate().all(|(other, (log, &count))| {
                other == thread
                    || count == 0
                    || log.events[count as usize - 1].clock.get(thread).is_none_or(|&seen| seen < own)
            })
    }

    /// `x - t`, for a thread in the frontier.
    pub fn without_last(&self, prefix: &Prefix, thread: usize) -> Prefix {
        let mut counts = prefix.counts.clone();
        counts[thread] -= 1;
        let event = &self.threads[thread].events[counts[thread] as usize];
        Prefix { counts, stamp: prefix.stamp.toggle(event.stamp) }
    }

    /// By how many yields the thread is ahead of the enabled thread that has yielded least (paper 003, definition
    /// 1.9). It depends on the graph alone, not on the path that led there. The paper has no threads that are created: yields
    /// of a thread do not count against those that it has created later, who could not have moved then.
    pub fn unfairness(&self, counts: &[u32], thread: usize) -> u32 {
        let yields = |thread: usize| self.threads[thread].yields_within(counts[thread]);
        let own = yields(thread);
        if own == 0 {
            return 0;
        }
        let ahead =
            |other: usize| (own - self.yields_before_creating(thread, other)).saturating_sub(yields(other));
        let enabled = (0..self.threads.len()).filter(|&other| self.enabled_in(counts, other));
        enabled.map(ahead).max().unwrap_or(0)
    }

    /// How often `thread` had yielded when it created the other thread, or one that did so by itself or others; 0 if it did not.
    fn yields_before_creating(&self, thread: usize, mut other: usize) -> u32 {
        while let Some((parent, index)) = self.threads[other].parent {
            if parent == thread {
                return self.threads[parent].yields_within(index);
            }
            other = parent;
        }
        0
    }
}

impl ObjectLog {
    /// The number of writes inside. They are totally ordered, so those inside come before those outside.
    fn version_in(&self, counts: &[u32]) -> usize {
        self.writes.partition_point(|write| write.index < counts[write.thread])
    }
}
