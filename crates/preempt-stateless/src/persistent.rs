//! Definitions 1.6 and 1.10 of Coons, Musuvathi and McKinley 2013 (paper 003) as predicates: what its Algorithm 1
//! ([`crate::bpor`]) explores at every point is supposed to be persistent in their sense.
//!
//! They are decided by enumerating all sequences of steps of other threads within the bound, so they are exponential in
//! the length of the run: for small programs, in tests. They share nothing with the algorithm but the program.

use crate::executable::{Executable, Move};
use crate::operation::{Need, Operation};

/// A point of a small program: the state after `S`.
#[derive(Debug, Clone)]
struct Point<E> {
    program: E,
    last: Option<usize>,
    preemptions: u32,
    yields: Vec<u32>,
    /// Of threads that others have created: who, and how often it had yielded.
    created: Vec<(usize, u32)>,
    /// The threads from the start.
    initial: usize,
}

impl<E: Executable + Clone> Point<E> {
    fn enabled(&self) -> Vec<usize> {
        (0..self.program.threads()).filter(|&thread| self.program.enabled(thread)).collect()
    }

    fn next(&self, thread: usize) -> Option<Operation> {
        self.program.next(thread)
    }

    fn preempts(&self, thread: usize) -> bool {
        self.last.is_some_and(|last| last != thread && self.program.enabled(last))
    }

    /// How many yields the thread is ahead of the enabled one that has yielded least. Those do not count that it did before
    /// the other was created, by itself or by those that it had created.
    fn unfairness(&self, thread: usize) -> u32 {
        let yields = |thread: usize| self.yields.get(thread).copied().unwrap_or(0);
        let ahead = |other: usize| {
            let parent = |other: usize| other.checked_sub(self.initial).map(|child| self.created[child]);
            let mut ancestors = std::iter::successors(parent(other), |&(other, _)| parent(other));
            let before = ancestors.find(|(parent, _)| *parent == thread).map_or(0, |(_, before)| before);
            (yields(thread) - before).saturating_sub(yields(other))
        };
        self.enabled().into_iter().map(ahead).max().unwrap_or(0)
    }

    fn after(&self, thread: usize) -> Point<E> {
        let mut next = self.clone();
        next.preemptions += u32::from(self.preempts(thread));
        next.yields.resize(next.yields.len().max(thread + 1), 0);
        next.yields[thread] += u32::from(self.next(thread).is_some_and(|operation| operation.yields));
        next.program.step(Move::from(thread));
        let threads = next.program.threads() - next.initial;
        next.created.resize(threads, (thread, next.yields[thread]));
        next.last = Some(thread);
        next
    }

    fn start(program: &E, path: &[Move]) -> Point<E> {
        let mut program = program.clone();
        program.start();
        let initial = program.threads();
        let (yields, created) = (Vec::new(), Vec::new());
        let start = Point { program, last: None, preemptions: 0, yields, created, initial };
        path.iter().fold(start, |point, step| point.after(step.thread))
    }

    /// `ext(s, t)`: the operations that the thread does alone, until it is disabled.
    fn extension(&self, thread: usize) -> Vec<(usize, Operation, bool)> {
        let mut operations = Vec::new();
        let mut point = self.clone();
        while let Some(operation) = point.next(thread).filter(|_| point.program.enabled(thread)) {
            point = point.after(thread);
            operations.push((thread, operation, point.next(thread).is_none()));
        }
        operations
    }
}

/// Independent: they do not conflict, and neither waits for the end that the other is.
fn independent((u, a, last): &(usize, Operation, bool), b: &Operation) -> bool {
    let awaited = *last && b.needs.contains(&Some(Need::Finished(*u)));
    !a.conflicts(b) && !awaited
}

/// Definition 1.6: are the next steps of these threads preemption-bound persistent after `path`, within `bound`?
pub fn is_preemption_bound_persistent<E: Executable + Clone>(
    program: &E,
    path: &[Move],
    threads: &[usize],
    bound: u32,
) -> bool {
    let point = Point::start(program, path);
    let member = |thread: usize| {
        let price = point.preemptions + u32::from(point.preempts(thread));
        let extension = point.extension(thread);
        (price, extension)
    };
    let members: Vec<_> = threads.iter().map(|&thread| member(thread)).collect();
    let within =
        |from: &Point<E>, thread: usize| from.preemptions + u32::from(from.preempts(thread)) <= bound;
    outside(&point, threads, &within, &mut |first, operation, after, thread| {
        let first = point.preemptions + u32::from(point.preempts(first));
        members.iter().all(|(price, extension)| {
            // Requirement 1, and 2 or 3: the step alone, or all that its thread does.
            let moved = if *price < first { &extension[..1] } else { &extension[..] };
            let commutes = |other: &Operation| moved.iter().all(|own| independent(own, other));
            *price <= first && commutes(operation) && after.next(thread).as_ref().is_none_or(commutes)
        })
    })
}

/// Definition 1.10: are they fair-bound persistent? A step counts as a release if it is one by kind, or if somebody waits
/// for the end of its thread.
pub fn is_fair_bound_persistent<E: Executable + Clone>(
    program: &E,
    path: &[Move],
    threads: &[usize],
    bound: u32,
) -> bool {
    let point = Point::start(program, path);
    let fair = |from: &Point<E>, thread: usize| from.unfairness(thread) <= bound;
    let awaited = |thread: usize| {
        let pending = (0..point.program.threads()).filter_map(|other| point.next(other));
        pending.into_iter().any(|operation| operation.needs.contains(&Some(Need::Finished(thread))))
    };
    let releases = |thread: usize| point.next(thread).is_some_and(|next| next.releases) || awaited(thread);
    // Requirements 1 and 2; threads that are beyond the bound cannot be members.
    let all = point.enabled().into_iter().filter(|&thread| fair(&point, thread));
    let complete = all.into_iter().all(|thread| threads.contains(&thread));
    if !threads.iter().all(|&thread| fair(&point, thread) && (complete || !releases(thread))) {
        return false;
    }
    let members: Vec<_> =
        threads.iter().filter_map(|&thread| point.extension(thread).into_iter().next()).collect();
    outside(&point, threads, &fair, &mut |_, operation, _, _| {
        members.iter().all(|member| independent(member, operation))
    })
}

/// Does `holds(first, last operation, after, last)` hold for every sequence of steps of other threads within the bound?
fn outside<E: Executable + Clone>(
    point: &Point<E>,
    threads: &[usize],
    within: &impl Fn(&Point<E>, usize) -> bool,
    holds: &mut impl FnMut(usize, &Operation, &Point<E>, usize) -> bool,
) -> bool {
    let mut work: Vec<(Option<usize>, Point<E>)> = vec![(None, point.clone())];
    while let Some((first, from)) = work.pop() {
        for thread in from.enabled() {
            if threads.contains(&thread) || !within(&from, thread) {
                continue;
            }
            let Some(operation) = from.next(thread) else { continue };
            let (first, after) = (first.unwrap_or(thread), from.after(thread));
            if !holds(first, &operation, &after, thread) {
                return false;
            }
            work.push((Some(first), after));
        }
    }
    true
}
