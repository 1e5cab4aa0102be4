//! Work that other threads may do before it is needed.
//!
//! A search goes on in one thread, step after step, so that what it finds and counts is what one thread finds and counts. What
//! follows a state depends on the state alone: so others may compute it before the search comes there. The search *gives*
//! jobs, helpers take them, and the search takes the *answers*; what is not answered by then it computes itself.
//!
//! **The search never waits.** A helper may have lost its processor to somebody else in the middle of a job. So whoever asks
//! for an answer that is under way does another job that nobody has begun yet ([`Pool::take_or_help`]), and if there is none, it
//! computes the one thing that it needs.
//!
//! The oldest jobs are done first, so it is for searches that come to what they have met in the order in which they have met it.
//! Along a path it does not help: a depth-first search goes on from what it has met last, and comes back to most of the rest
//! before anybody else could be done with it. (Measured: of the instructions of an interpreted search 8 of 100 less for the
//! search, for 62 of 100 more by a helper.)
//!
//! A job should be worth several microseconds: for each of them a lock is taken four times.

use crate::crew::looks_until;
use preempt_core::{Budget, Limits, StopReason};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of a job, given in ascending order.
pub type Ticket = u64;

struct Board<J, A> {
    waiting: VecDeque<(Ticket, J)>,
    under_way: Vec<Ticket>,
    /// And was it a helper who has done it?
    done: HashMap<Ticket, (A, bool)>,
    budget: Budget,
    /// Helpers that wait for a job.
    idle: usize,
    is_over: bool,
}

impl<J, A> Board<J, A> {
    /// Begins the oldest.
    fn next(&mut self) -> Option<(Ticket, J)> {
        let (ticket, job) = self.waiting.pop_front()?;
        self.under_way.push(ticket);
        Some((ticket, job))
    }

    /// Nobody has begun it, and nobody will: those that wait are in the order of their tickets.
    fn withdraw(&mut self, ticket: Ticket) -> Option<J> {
        let at = self.waiting.binary_search_by_key(&ticket, |(it, _)| *it).ok()?;
        self.waiting.remove(at).map(|(_, job)| job)
    }
}

/// Jobs `J` and answers `A`, for the search and its helpers.
pub struct Pool<J, A> {
    board: Mutex<Board<J, A>>,
    /// There is a job, or everything is over.
    news: Condvar,
    /// Is there, as far as can be seen without the lock?
    has_news: AtomicBool,
}

thread_local! {
    static ANSWERS: Cell<u64> = const { Cell::new(0) };
}

/// How many answers the searches of this thread had from others, or from threads that searched beside it: tests look at it to
/// see that there was help at all.
pub fn answers_of_others() -> u64 {
    ANSWERS.get()
}

/// Others have done so much for the search of this thread.
pub fn was_helped(times: u64) {
    ANSWERS.set(ANSWERS.get() + times);
}

impl<J, A> Pool<J, A> {
    pub fn new() -> Pool<J, A> {
        let board = Board {
            waiting: VecDeque::new(),
            under_way: Vec::new(),
            done: HashMap::new(),
            budget: Budget::unlimited(),
            idle: 0,
            is_over: false,
        };
        Pool { board: Mutex::new(board), news: Condvar::new(), has_news: AtomicBool::new(false) }
    }

    /// Runs a search with these helpers, one thread for each: what they do with a job, within the search's budget.
    pub fn with_helpers<H, R>(&self, helpers: Vec<H>, run: impl FnOnce(&Self) -> R) -> R
    where
        J: Send,
        A: Send,
        H: FnMut(J, &Budget) -> A + Send,
    {
        /// Also if the search panics: or its helpers would wait for ever, and the scope for them.
        struct Over<'p, J, A>(&'p Pool<J, A>);
        impl<J, A> Drop for Over<'_, J, A> {
            fn drop(&mut self) {
                let mut board = self.0.board();
                board.is_over = true;
                self.0.has_news.store(true, Ordering::Relaxed);
                board.budget.stop(StopReason::Interrupted);
                self.0.news.notify_all();
            }
        }
        std::thread::scope(|scope| {
            for helper in helpers {
                scope.spawn(move || self.help(helper));
            }
            let _over = Over(self);
            run(self)
        })
    }

    fn help(&self, mut compute: impl FnMut(J, &Budget) -> A) {
        let mut board = self.board();
        while !board.is_over {
            let Some((ticket, job)) = board.next() else {
                board = self.wait(board);
                continue;
            };
            let budget = board.budget.clone();
            drop(board);
            let answer = compute(job, &budget);
            board = self.board();
            // What was cut short is no answer.
            match budget.stopped() {
                None => finish(&mut board, ticket, answer, true),
                Some(_) => board.under_way.retain(|it| *it != ticket),
            }
        }
    }

    /// Until there may be something to do. To be woken takes longer than most jobs, so that a helper looks out for a while before.
    fn wait<'b>(&'b self, board: MutexGuard<'b, Board<J, A>>) -> MutexGuard<'b, Board<J, A>> {
        self.has_news.store(false, Ordering::Relaxed);
        drop(board);
        let is_news = looks_until(|| self.has_news.load(Ordering::Relaxed));
        let mut board = self.board();
        if !is_news && board.waiting.is_empty() && !board.is_over {
            board.idle += 1;
            board = self.news.wait(board).unwrap_or_else(PoisonError::into_inner);
            board.idle -= 1;
        }
        board
    }

    /// From now on helpers work within a part of this budget: they stop with the search, and when it is over. If one of them runs
    /// out of memory, that is nothing to the search, which may never come to what it was computing.
    pub fn work_within(&self, budget: &Budget) {
        let limits = Limits { memory_bytes: budget.limits().memory_bytes, ..Limits::default() };
        self.board().budget = budget.part(&limits);
    }

    pub fn give(&self, ticket: Ticket, job: J) {
        let mut board = self.board();
        board.waiting.push_back((ticket, job));
        self.has_news.store(true, Ordering::Relaxed);
        // To wake somebody asks the operating system, also if there is nobody.
        if board.idle > 0 {
            drop(board);
            self.news.notify_one();
        }
    }

    /// The answer, if there is one by now.
    pub fn take(&self, ticket: Ticket) -> Option<A> {
        taken(&mut self.board(), ticket)
    }

    /// The answer, which the search computes itself if nobody has begun to; while somebody is at it, it does what comes next.
    /// `None` if there is nothing else to be done, and for a job that was not given.
    pub fn take_or_help(&self, ticket: Ticket, compute: &mut dyn FnMut(J) -> A) -> Option<A> {
        loop {
            let mut board = self.board();
            if let Some(answer) = taken(&mut board, ticket) {
                return Some(answer);
            }
            if let Some(job) = board.withdraw(ticket) {
                drop(board);
                return Some(compute(job));
            }
            if !board.under_way.contains(&ticket) {
                return None;
            }
            let (other, job) = board.next()?;
            drop(board);
            let answer = compute(job);
            finish(&mut self.board(), other, answer, false);
        }
    }

    /// Nobody will ask for it any more.
    pub fn forget(&self, ticket: Ticket) {
        let mut board = self.board();
        if board.done.remove(&ticket).is_none() && board.withdraw(ticket).is_none() {
            board.under_way.retain(|it| *it != ticket);
        }
    }

    /// Is there an answer?
    #[cfg(test)]
    pub fn is_done(&self, ticket: Ticket) -> bool {
        self.board().done.contains_key(&ticket)
    }

    fn board(&self) -> MutexGuard<'_, Board<J, A>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was forgotten while it was under way is thrown away.
fn finish<J, A>(board: &mut Board<J, A>, ticket: Ticket, answer: A, by_helper: bool) {
    if let Some(at) = board.under_way.iter().position(|it| *it == ticket) {
        board.under_way.swap_remove(at);
        board.done.insert(ticket, (answer, by_helper));
    }
}

fn taken<J, A>(board: &mut Board<J, A>, ticket: Ticket) -> Option<A> {
    let (answer, by_helper) = board.done.remove(&ticket)?;
    was_helped(u64::from(by_helper));
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn square(number: u64, _: &Budget) -> u64 {
        number * number
    }

    #[test]
    fn every_job_is_done_by_somebody() {
        let pool = Pool::new();
        let sum: u64 = pool.with_helpers(vec![square, square], |pool| {
            (0..1000).for_each(|number| pool.give(number, number));
            let mut compute = |number: u64| square(number, &Budget::unlimited());
            let answer = |number| pool.take_or_help(number, &mut compute).unwrap_or(number * number);
            (0..1000).map(answer).sum()
        });
        assert_eq!(sum, (0..1000).map(|number| number * number).sum());
    }

    /// A helper that does not come back holds nobody up.
    #[test]
    fn the_search_never_waits() {
        let pool: Pool<u64, u64> = Pool::new();
        let ((begun, has_begun), (go_on, may_go_on)) = (channel(), channel());
        let helper = move |number: u64, _: &Budget| {
            begun.send(()).expect("the search waits for it");
            may_go_on.recv().expect("the search says so");
            number
        };
        let before = answers_of_others();
        pool.with_helpers(vec![helper], |pool| {
            pool.give(0, 7);
            has_begun.recv().expect("the helper begins");
            pool.give(1, 8);
            let mut own = Vec::new();
            let mut compute = |number: u64| {
                own.push(number);
                number + 1
            };
            assert_eq!(
                pool.take_or_help(0, &mut compute),
                None,
                "under way, and the other one done meanwhile"
            );
            assert_eq!(pool.take_or_help(1, &mut compute), Some(9));
            assert_eq!(own, [8]);
            assert_eq!(answers_of_others(), before);
            go_on.send(()).expect("the helper waits for it");
            while !pool.is_done(0) {
                std::thread::yield_now();
            }
            assert_eq!(pool.take(0), Some(7));
            assert_eq!(answers_of_others(), before + 1);
        });
    }

    /// A helper may be at something without end that the search never comes to.
    #[test]
    fn helpers_stop_with_the_search() {
        let pool: Pool<u64, u64> = Pool::new();
        let (begun, has_begun) = channel();
        let helper = move |number: u64, budget: &Budget| {
            begun.send(()).expect("the search waits for it");
            while budget.stopped().is_none() {
                std::thread::yield_now();
            }
            number
        };
        let budget = Budget::unlimited();
        pool.with_helpers(vec![helper], |pool| {
            pool.work_within(&budget);
            pool.give(0, 7);
            has_begun.recv().expect("the helper begins");
        });
        assert_eq!((pool.take(0), budget.stopped()), (None, None));
    }

    #[test]
    fn what_is_forgotten_has_no_answer() {
        let pool: Pool<u64, u64> = Pool::new();
        pool.give(0, 1);
        pool.forget(0);
        assert_eq!(pool.take_or_help(0, &mut |number| number), None);
        assert!(pool.board().waiting.is_empty());
    }
}
