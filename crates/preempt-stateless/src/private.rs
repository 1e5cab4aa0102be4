//! Which threads are left until they are needed: those that share nothing.
//!
//! **What it computes.** A thread is *private* if all its steps are hidden (`racing.rs`; its first step counts too): they
//! race with nobody, leave no choice, wait for no thread's end, start no thread and do not yield. The search *defers* it: it
//! moves only where somebody stands before an operation that waits for its end, or where nobody else can move but private
//! threads that nobody waits for, and then in the order of their names.
//!
//! **Why nothing is lost, within any bound.** Take a cheapest run of a graph and move all steps of a private thread t together:
//! before the first step that waits for t's end, or to the end of the run. No step in between conflicts with them, so the
//! graph is the same. It costs no more. Where t's steps were taken out, u before and v after them, the switch from u to v is a
//! preemption only if u could go on, and then the one from u to t was; t cannot have enabled u. Where they are put in,
//! before a step of j that waits for t, the switch from u to t is a preemption only if u could go on, so if u is not j,
//! which waits; then the switch from u to j was one, and the one from t, which has finished, to j is free. At the end nobody
//! else can go on. A thread that waits for t now does so for longer, which can only make switches from it free. Private
//! threads do not wait for each other, so all of them can be moved at once.
//!
//! **Why it may be learned.** As in `racing.rs`, every thread counts as private until it is seen to do otherwise, in a step that
//! it has done or stands before. Suppose that a graph within the bound was not run, and let its run be one that keeps to the
//! rule for longest: `α Y`, where Y begins with a step of t, which should have been deferred. If t is not private in Y, take
//! the steps of others in Y up to the first that depends on t's steps or, if there is none, that yields, and then go on
//! without preemptions as the rule has it. That costs no more than `α Y` and keeps to the rule for longer, so it was run. In
//! it t does the same steps, and meets the step that it conflicts with done or pending, unordered: `Graph::learn` has seen it.
//!
//! **Yields** would count t's steps against others under the fair bound, so once a step yields nobody is deferred any more.
//!
//! **What it costs.** k threads of private work that are joined one by one have 2 k prefixes instead of 2^k. A thread that is
//! found not to be private opens the table again, if one was deferred since the last time.

use crate::graph::{Graph, ThreadLog};
use crate::operation::{Need, Operation};
use crate::racing::hideable;
use std::cell::Cell;
use std::collections::HashSet;

/// Which threads are not private.
#[derive(Debug, Clone, Default)]
pub(crate) struct Privacy {
    /// Their names.
    exposed: HashSet<u64, foldhash::fast::FixedState>,
    /// Something yields, so that none is.
    yields: bool,
    /// A thread was deferred since something was learned.
    deferred: Cell<bool>,
}

impl Privacy {
    /// Adds what another search knows. False if there was nothing to add.
    pub fn add(&mut self, other: &Privacy) -> bool {
        let mut news = other.yields && !self.yields;
        self.yields |= other.yields;
        for name in &other.exposed {
            news |= self.exposed.insert(*name);
        }
        news
    }
}

fn waits_for(operation: &Operation, thread: usize) -> bool {
    operation.needs.contains(&Some(Need::Finished(thread)))
}

impl Graph {
    /// Is nothing known that the thread of this name shares?
    pub(crate) fn is_private(&self, name: u64) -> bool {
        let Privacy { exposed, yields, .. } = &self.racing.privacy;
        self.hides_steps() && !yields && !exposed.contains(&name)
    }

    /// Is the thread left until it is needed?
    pub(crate) fn is_deferred(&self, counts: &[u32], thread: usize) -> bool {
        if !self.threads[thread].private {
            return false;
        }
        let deferred = !self.is_waited_for(counts, thread) && self.somebody_comes_before(counts, thread);
        if deferred {
            self.racing.privacy.deferred.set(true);
        }
        deferred
    }

    fn is_waited_for(&self, counts: &[u32], thread: usize) -> bool {
        (0..counts.len()).any(|other| self.next_in(counts, other).is_some_and(|next| waits_for(next, thread)))
    }

    /// Can somebody move who comes before the private thread, if nobody waits for it?
    fn somebody_comes_before(&self, counts: &[u32], thread: usize) -> bool {
        let mine = &self.threads[thread];
        let comes_before = |(other, theirs): (usize, &ThreadLog)| {
            other != thread
                && self.enabled_in(counts, other)
                && (!theirs.private || theirs.name < mine.name || self.is_waited_for(counts, other))
        };
        self.threads.iter().enumerate().any(comes_before)
    }

    /// Does some run that keeps to the rule end with this prefix? A private thread has moved only if its end was waited
    /// for, or still is, or if nobody comes before it even now: its steps have enabled nobody else.
    pub(crate) fn is_orderly(&self, counts: &[u32]) -> bool {
        let was_waited_for = |thread: usize| {
            self.threads.iter().zip(counts).enumerate().any(|(other, (log, &count))| {
                other != thread
                    && count > 0
                    && log.events[count as usize - 1].clock.get(thread).is_some_and(|&seen| seen > 0)
            })
        };
        let in_order = |thread: usize| {
            was_waited_for(thread)
                || self.is_waited_for(counts, thread)
                || !self.somebody_comes_before(counts, thread)
        };
        (0..counts.len())
            .all(|thread| !self.threads[thread].private || counts[thread] == 0 || in_order(thread))
    }

    /// Another search with the same table may have deferred somebody at any time.
    pub(crate) fn others_may_defer(&mut self) {
        self.racing.privacy.deferred.set(true);
    }

    /// The thread is not private.
    pub(crate) fn expose(&mut self, thread: usize) -> bool {
        let log = &mut self.threads[thread];
        std::mem::take(&mut log.private) && self.racing.privacy.exposed.insert(log.name)
    }

    /// As far as its next operation is concerned.
    pub(crate) fn expose_pending(&mut self, thread: usize) -> bool {
        let Some(pending) = self.threads[thread].pending.as_ref() else { return false };
        let (shares, yields) = (!hideable(pending) || pending.yields, pending.yields);
        let news = yields && !std::mem::replace(&mut self.racing.privacy.yields, true);
        if news {
            // At once, whether or not that opens the table again: a thread that stays deferred while another spins is waited for
            // in vain, since the fair bound holds the other back.
            self.threads.iter_mut().for_each(|log| log.private = false);
        }
        news | (shares && self.expose(thread))
    }

    /// The thread has moved, and started those from number `from` on. True if that matters to what was searched.
    pub(crate) fn expose_movers(&mut self, thread: usize, from: usize) -> bool {
        let mut news = self.expose_pending(thread);
        news |= from < self.threads.len() && self.expose(thread);
        for child in from..self.threads.len() {
            news |= self.expose_pending(child);
        }
        news && self.racing.privacy.deferred.take()
    }
}
