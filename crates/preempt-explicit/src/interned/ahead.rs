//! Steps of a system that other threads compute before the search asks for them.
//!
//! A helper computes what follows a state; to number what was found is left to the search, so that numbers are those of one
//! thread. Here computing takes far longer than numbering, so the search does a helper's work while it has none of its own.
//!
//! **Memory goes back to whom it came from.** Whatever lies in several pieces of memory is dropped by the thread that has made it, helpers
//! and search alike: to free another thread's pieces takes a lock of that thread's, for which both came to wait more than for anything
//! else.

use super::Interned;
use crate::pool::{Pool, Ticket};
use crate::search::{ProcessSet, members};
use crate::successors::Event;
use preempt_core::{Budget, PropertyKind};
use preempt_model::System;
use preempt_model::search::stable;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// States of a job: what follows a state of the interpreter takes some ten microseconds.
const STATES: usize = 4;

/// So many jobs, and answers of theirs that nobody has asked for, are kept; the oldest are forgotten.
const MOST_JOBS: u64 = 1 << 12;
const MOST_KNOWN: usize = 1 << 14;

/// A state, and whose steps from it are wanted.
pub struct Wanted<T> {
    number: u32,
    state: T,
    processes: Vec<u8>,
}

/// What one process can do in a state.
pub struct Answer<T> {
    number: u32,
    process: u8,
    moved: bool,
    found: Vec<Found<T>>,
    by: Option<usize>,
}

enum Found<T> {
    /// The state is taken out if it is new.
    Arrival {
        state: Option<T>,
        hash: u64,
        runs: u8,
        steps: u32,
    },
    Violation {
        kind: PropertyKind,
        steps: u32,
    },
}

/// The answers, and what was asked, which goes back with them.
type Answered<T> = (Vec<Answer<T>>, Vec<Wanted<T>>);
type Jobs<T> = Pool<Vec<Wanted<T>>, Answered<T>>;

/// What was made by each helper, and is to be dropped by it.
type Spent<T> = [Mutex<Vec<Vec<Found<T>>>>];

/// The search's side.
pub struct Ahead<'p, T> {
    pool: &'p Jobs<T>,
    spent: &'p Spent<T>,
    next_ticket: Ticket,
    collected: Vec<Wanted<T>>,
    /// In which job the steps of a process from a state are.
    asked: HashMap<(u32, u8), Ticket, foldhash::fast::FixedState>,
    known: HashMap<(u32, u8), Answer<T>, foldhash::fast::FixedState>,
}

/// Steps of the process from the state, as [`super::Interned`] tells them.
fn compute<S: System>(
    system: &S,
    hasher: &impl BuildHasher,
    budget: &Budget,
    wanted: Vec<Wanted<S::State>>,
    by: Option<usize>,
) -> Answered<S::State> {
    let mut answers = Vec::new();
    for Wanted { number, state, processes } in &wanted {
        for process in processes {
            let mut found = Vec::new();
            let moved = stable::expand_within(system, budget, state, usize::from(*process), |event| {
                found.push(match event {
                    stable::Event::Arrival { path, state, runs } => {
                        let (hash, steps) = (hasher.hash_one(&state), path.len() as u32);
                        Found::Arrival { state: Some(state), hash, runs: runs as u8, steps }
                    }
                    stable::Event::Violation { path, violation } => {
                        Found::Violation { kind: violation.kind, steps: path.len() as u32 }
                    }
                });
            });
            answers.push(Answer { number: *number, process: *process, moved, found, by });
        }
    }
    (answers, wanted)
}

fn lock<T>(spent: &Mutex<T>) -> MutexGuard<'_, T> {
    spent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: System + Sync> Interned<'_, S>
where
    S::State: Send,
{
    /// Runs a search of this system by so many threads together.
    pub fn with_threads<R>(self, threads: usize, search: impl FnOnce(&mut Interned<'_, S>) -> R) -> R {
        let mut interned: Interned<'_, S> = self;
        if threads <= 1 {
            return search(&mut interned);
        }
        let system = interned.system;
        let spent: Vec<_> = (1..threads).map(|_| Mutex::default()).collect();
        let spent = &*spent;
        let help = |number: usize| {
            let hasher = interned.hasher.clone();
            move |wanted: Vec<Wanted<S::State>>, budget: &Budget| {
                let own = std::mem::take(&mut *lock(&spent[number]));
                drop(own);
                compute(system, &hasher, budget, wanted, Some(number))
            }
        };
        let helpers = (0..threads - 1).map(help).collect();
        let pool = Jobs::new();
        pool.with_helpers(helpers, |pool| {
            let mut interned: Interned<'_, S> = interned;
            interned.ahead = Some(Ahead::new(pool, spent));
            search(&mut interned)
        })
    }
}

impl<'p, T: Clone> Ahead<'p, T> {
    fn new(pool: &'p Jobs<T>, spent: &'p Spent<T>) -> Ahead<'p, T> {
        let (asked, known) = (HashMap::default(), HashMap::default());
        Ahead { pool, spent, next_ticket: 0, collected: Vec::new(), asked, known }
    }

    pub fn work_within(&self, budget: &Budget) {
        self.pool.work_within(budget);
    }

    pub fn announce(&mut self, number: u32, state: &T, processes: &ProcessSet) {
        let is_new = |process: &u8| {
            let one = (number, *process);
            !self.asked.contains_key(&one) && !self.known.contains_key(&one)
        };
        let processes: Vec<u8> = members(processes).filter(is_new).collect();
        if processes.is_empty() {
            return;
        }
        for process in &processes {
            self.asked.insert((number, *process), self.next_ticket);
        }
        self.collected.push(Wanted { number, state: state.clone(), processes });
        if self.collected.len() == STATES {
            self.give();
        }
    }

    /// That was all for now.
    pub fn give(&mut self) {
        if !self.collected.is_empty() {
            self.pool.give(self.next_ticket, std::mem::take(&mut self.collected));
            self.next_ticket += 1;
            if let Some(oldest) = self.next_ticket.checked_sub(MOST_JOBS) {
                self.pool.forget(oldest);
            }
        }
    }
}

impl<S: System> Interned<'_, S> {
    /// What the process can do in the state, if somebody has computed it or it can be computed with what comes next; says
    /// whether it could move at all.
    pub(super) fn answer(
        &mut self,
        number: u32,
        process: u8,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> Option<bool> {
        let Ahead { pool, spent, asked, known, .. } = self.ahead.as_mut()?;
        let spent = *spent;
        if let Some(ticket) = asked.remove(&(number, process))
            && !known.contains_key(&(number, process))
        {
            let (system, hasher, budget) = (self.system, &self.hasher, &self.budget);
            let answers =
                pool.take_or_help(ticket, &mut |wanted| compute(system, hasher, budget, wanted, None));
            if known.len() > MOST_KNOWN {
                // What was not asked for until now hardly ever will be.
                known.clear();
            }
            for answer in answers.into_iter().flat_map(|(answers, _)| answers) {
                asked.remove(&(answer.number, answer.process));
                known.insert((answer.number, answer.process), answer);
            }
        }
        let Answer { moved, mut found, by, .. } = known.remove(&(number, process))?;
        for found in &mut found {
            match found {
                Found::Arrival { state, hash, runs, steps } => {
                    let Some(new) = state.take() else { continue };
                    let (number, known) = self.number_hashed(new, *hash);
                    *state = known;
                    visit(Event::Arrival { state: &number, runs: *runs, steps: *steps });
                }
                Found::Violation { kind, steps } => visit(Event::Violation { kind: *kind, steps: *steps }),
            }
        }
        if let Some(helper) = by {
            lock(&spent[helper]).push(found);
        }
        Some(moved)
    }
}
