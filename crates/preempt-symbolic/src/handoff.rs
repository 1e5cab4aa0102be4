//! What the threads hand to each other: E_j says how thread j turns the shared states at the starts of its contexts into
//! those at their ends (R11), and compositions of them say which starts and ends fit together (R8, R9, Checker): Lal and
//! Reps 2009 (paper 002), Fig. 5, for any number of threads.
//!
//! Relations here are over `Start(0..=k)` and `Now(0..=k)`. A vector of starts of thread 1 is carried through threads
//! 1 to n and comes out as the starts of thread 1's next contexts. For thread j, what is before it is the composition of
//! E_1 to E_(j-1) for the same number of contexts, and what is after it the composition of E_(j+1) to E_n for one context
//! less: taking only the neighbours' E, as the rules for two threads read, would join histories that do not fit.
//!
//! Compositions are the most expensive part of many threads (43 % of the last round with seven of them). Two things keep
//! them small: what the contexts before rule out is left out of them, which took eight threads from 22.3 s to 7.4 s and
//! the largest composition of seven from 178 370 nodes to below 15 000; and what comes after a thread is composed only when
//! another round needs it (`results/paper-002.md`).

use crate::error::Result;
use crate::vars::{Copy, Vars};
use preempt_bdd::Bdd;

/// The relations E and their compositions, for each context.
pub(crate) struct Handoff<'a> {
    vars: &'a Vars,
    pub threads: usize,
    /// The shared states that the program begins with, over `Start(0)`.
    pub initial: Bdd,
    /// `e[k][j]`: E_j for the contexts 0 to k.
    pub e: Vec<Vec<Bdd>>,
    /// `before[k][j]`: the composition of the threads before j; none for j = 0, where it would be the identity. Without
    /// what the threads from j on could not have led to in the contexts before: `valid` would drop it anyway, and kept,
    /// it makes the composition an order of magnitude larger for seven threads.
    pub before: Vec<Vec<Option<Bdd>>>,
    /// `from[k][j]`: the composition of thread j and those after it; none for j = n.
    pub from: Vec<Vec<Option<Bdd>>>,
}

impl<'a> Handoff<'a> {
    pub fn new(vars: &'a Vars, threads: usize, initial: Bdd) -> Handoff<'a> {
        Handoff { vars, threads, initial, e: Vec::new(), before: Vec::new(), from: Vec::new() }
    }

    /// E of the next thread in context `k` is known: they come in the order of the round robin.
    pub fn push(&mut self, k: usize, effect: Bdd) -> Result<()> {
        if self.e.len() == k {
            self.e.push(Vec::new());
            self.before.push(vec![None]);
        }
        let composed = match self.before[k].last().and_then(Option::as_ref) {
            None => effect.and(&self.initial)?,
            Some(before) => self.compose(k, before, &effect)?,
        };
        let composed = match self.after(self.e[k].len(), k, Copy::Start)? {
            Some(after) => composed.and(&after)?,
            None => composed,
        };
        self.e[k].push(effect);
        self.before[k].push(Some(composed));
        Ok(())
    }

    /// Every thread has had its context `k`: what comes after each of them. Only a context to come needs it, and for
    /// many threads it is the most expensive part of a round.
    pub fn close(&mut self, k: usize) -> Result<()> {
        if self.from.len() > k {
            return Ok(());
        }
        let mut from = vec![None];
        for effect in self.e[k].iter().skip(1).rev() {
            from.push(Some(match from.last().and_then(Option::as_ref) {
                None => effect.clone(),
                Some(rest) => self.compose(k, effect, rest)?,
            }));
        }
        // thread 1 is never after another one
        from.push(None);
        from.reverse();
        self.from.push(from);
        Ok(())
    }

    fn compose(&self, k: usize, first: &Bdd, second: &Bdd) -> Result<Bdd> {
        let vars = self.vars;
        let first = first.rename(&vars.shared_renaming((0..=k).map(|i| (Copy::Now(i), Copy::Other(i)))))?;
        let second =
            second.rename(&vars.shared_renaming((0..=k).map(|i| (Copy::Start(i), Copy::Other(i)))))?;
        Ok(first.and_exists(&second, &vars.shared_cube((0..=k).map(Copy::Other))?)?)
    }

    /// Which starts of the contexts 0 to k of thread j, with ends of the contexts before k, fit the other threads:
    /// over `Start(0..=k)` and `Now(0..k)`. R12 for context 0, R8 for the first thread, R9 for the others.
    pub fn valid(&self, j: usize, k: usize) -> Result<Bdd> {
        let vars = self.vars;
        let Some((before, after)) = self.around(j, k)? else {
            // The first thread. R8: it starts as the last thread has ended.
            if k == 0 {
                return Ok(self.initial.clone());
            }
            let after = match self.after(0, k, Copy::Start)? {
                Some(after) => after,
                None => self.shifted(Copy::Start, k)?,
            };
            return Ok(after.and(&self.initial)?);
        };
        Ok(before.and_exists(&after, &vars.shared_cube((0..=k).map(Copy::Other))?)?)
    }

    /// For any thread but the first, with `Other` as the starts of the first: how they become this thread's starts,
    /// and how the ends of this thread's contexts become them.
    pub fn around(&self, j: usize, k: usize) -> Result<Option<(Bdd, Bdd)>> {
        let vars = self.vars;
        let Some(Some(before)) = self.before.get(k).and_then(|row| row.get(j)) else { return Ok(None) };
        let starts = (0..=k).map(|i| (Copy::Start(i), Copy::Other(i)));
        let before = before
            .rename(&vars.shared_renaming(starts.chain((0..=k).map(|i| (Copy::Now(i), Copy::Start(i))))))?;
        let after = match self.after(j, k, Copy::Other)? {
            Some(after) => after,
            None => self.shifted(Copy::Other, k)?,
        };
        Ok(Some((before, after)))
    }

    /// How the ends of thread j's contexts before `k` become the first thread's next `starts`; none if no thread is
    /// after it.
    fn after(&self, j: usize, k: usize, starts: fn(usize) -> Copy) -> Result<Option<Bdd>> {
        let Some(Some(after)) = k.checked_sub(1).map(|last| &self.from[last][j + 1]) else { return Ok(None) };
        let ends = (0..k).map(|i| (Copy::Now(i), starts(i + 1)));
        let pairs = (0..k).map(|i| (Copy::Start(i), Copy::Now(i))).chain(ends);
        Ok(Some(after.rename(&self.vars.shared_renaming(pairs))?))
    }

    /// Every end of a context is the start of the next.
    fn shifted(&self, start: fn(usize) -> Copy, k: usize) -> Result<Bdd> {
        let mut result = self.vars.space.yes();
        for i in 0..k {
            result = result.and(&self.vars.shared_equal(Copy::Now(i), start(i + 1))?)?;
        }
        Ok(result)
    }

    /// The rule Checker: the shared states after round `k`, over `Now(k)`.
    pub fn reachable(&self, k: usize) -> Result<Bdd> {
        let vars = self.vars;
        let Some(Some(through)) = self.before[k].get(self.threads) else { return Ok(vars.space.no()) };
        let fits = through.and(&self.shifted(Copy::Start, k)?)?;
        let history = (0..=k).map(Copy::Start).chain((0..k).map(Copy::Now));
        Ok(fits.exists(&vars.shared_cube(history)?)?)
    }
}
