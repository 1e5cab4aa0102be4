//! What the threads hand to each other: E_j says how thread j turns the shared states at the starts of its contexts into
//! those at their ends (R11), and compositions of them say which starts and ends fit together (R8, R9, Checker): Lal and
//! Reps 2009 (paper 002), Fig. 5, for any number of threads.
//!
//! A vector of starts of thread 1 is carried through threads 1 to n and comes out as the starts of thread 1's next
//! contexts. For thread j, what is before it is the composition of E_1 to E_(j-1) for the same number of contexts, and what
//! is after it the composition of E_(j+1) to E_n for one context less: taking only the neighbours' E, as the rules for two
//! threads read, would join histories that do not fit. The starts of thread 1 are `Other` throughout: E is over `Start` and
//! `Now`, what is before a thread over `Other` and its `Start`, what is after one over its `Now` and the `Other` of the next
//! contexts. So the renamings between them keep the order of the copies (see `vars`).
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
    /// `before[k][j]`: how the first thread's starts become those of thread j, over `Other(0..=k)` and `Start(0..=k)`;
    /// none for j = 0, where it would be the identity. Without what the threads from j on could not have led to in the
    /// contexts before: `valid` would drop it anyway, and kept, it makes the composition an order of magnitude larger for
    /// seven threads.
    pub before: Vec<Vec<Option<Bdd>>>,
    /// `from[k][j]`: how the starts of thread j become the first thread's next ones, over `Start(0..=k)` and
    /// `Other(1..=k + 1)`; none for j = 0, which is never after another thread, and for j = n.
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
        let vars = self.vars;
        let ends = (0..=k).map(|i| (Copy::Now(i), Copy::Start(i)));
        let composed = match self.before[k].last().and_then(Option::as_ref) {
            None => {
                let starts = (0..=k).map(|i| (Copy::Start(i), Copy::Other(i)));
                effect.and(&self.initial)?.rename(&vars.shared_renaming(starts.chain(ends)))?
            }
            Some(before) => {
                let starts = vars.shared_cube((0..=k).map(Copy::Start))?;
                before.and_exists(&effect, &starts)?.rename(&vars.shared_renaming(ends))?
            }
        };
        let composed = match self.following(self.e[k].len(), k) {
            Some(following) => composed.and(following)?,
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
        let vars = self.vars;
        let mut from: Vec<Option<Bdd>> = vec![None];
        for effect in self.e[k].iter().skip(1).rev() {
            from.push(Some(match from.last().and_then(Option::as_ref) {
                None => {
                    let next = (0..=k).map(|i| (Copy::Now(i), Copy::Other(i + 1)));
                    effect.rename(&vars.shared_renaming(next))?
                }
                Some(rest) => {
                    let meet = (0..=k).map(|i| (Copy::Start(i), Copy::Now(i)));
                    let rest = rest.rename(&vars.shared_renaming(meet))?;
                    effect.and_exists(&rest, &vars.shared_cube((0..=k).map(Copy::Now))?)?
                }
            }));
        }
        // thread 1 is never after another one
        from.push(None);
        from.reverse();
        self.from.push(from);
        Ok(())
    }

    /// Which starts of the contexts 0 to k of thread j, with ends of the contexts before k, fit the other threads:
    /// over `Start(0..=k)` and `Now(0..k)`. R12 for context 0, R8 for the first thread, R9 for the others.
    pub fn valid(&self, j: usize, k: usize) -> Result<Bdd> {
        let vars = self.vars;
        let after = self.after(j, k)?;
        let Some(before) = self.before(j, k) else {
            // The first thread. R8: it starts as the last thread has ended.
            let starts = vars.shared_renaming((1..=k).map(|i| (Copy::Other(i), Copy::Start(i))));
            return Ok(after.rename(&starts)?.and(&self.initial)?);
        };
        Ok(before.and_exists(&after, &vars.shared_cube((0..=k).map(Copy::Other))?)?)
    }

    /// How the first thread's starts become those of thread j; none for the first thread itself.
    pub fn before(&self, j: usize, k: usize) -> Option<&Bdd> {
        self.before.get(k)?.get(j)?.as_ref()
    }

    /// What follows thread j in the contexts before `k`; none if no thread is after it, or no context before.
    fn following(&self, j: usize, k: usize) -> Option<&Bdd> {
        self.from.get(k.checked_sub(1)?)?.get(j + 1)?.as_ref()
    }

    /// How the ends of thread j's contexts before `k` become the first thread's next starts: over `Now(0..k)` and
    /// `Other(1..=k)`.
    pub fn after(&self, j: usize, k: usize) -> Result<Bdd> {
        let vars = self.vars;
        if let Some(following) = self.following(j, k) {
            let ends = (0..k).map(|i| (Copy::Start(i), Copy::Now(i)));
            return Ok(following.rename(&vars.shared_renaming(ends))?);
        }
        // every end of a context is the start of the next
        (0..k).try_fold(vars.space.yes(), |all, i| {
            Ok(all.and(&vars.shared_equal(Copy::Now(i), Copy::Other(i + 1))?)?)
        })
    }

    /// The rule Checker: the shared states after round `k`, over `Start(k)`, since they are what a next round starts with.
    pub fn reachable(&self, k: usize) -> Result<Bdd> {
        let vars = self.vars;
        let Some(through) = self.before(self.threads, k) else { return Ok(vars.space.no()) };
        let mut fits = through.clone();
        for i in 0..k {
            fits = fits.and(&vars.shared_equal(Copy::Start(i), Copy::Other(i + 1))?)?;
        }
        let history = (0..=k).map(Copy::Other).chain((0..k).map(Copy::Start));
        Ok(fits.exists(&vars.shared_cube(history)?)?)
    }
}
