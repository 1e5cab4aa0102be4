//! Steps that other threads compute before the search asks for them.
//!
//! **Why it is right.** What follows a state depends on the state alone. So it may be computed at any time by anybody, and the
//! search, which goes on one item after the other, finds it ready or computes it itself ([`Pool`]): whatever it stores, counts
//! and finds is the same, step for step, as with one thread, in every store and with every option.
//!
//! **What is computed.** The search says what waits behind the batch that it works on ([`Lookahead::announce`]), in the order
//! in which it will come to it; each item has a number, its *ticket*. Tickets are given to the helpers in parts.
//!
//! **What it brings.** At best the time that successors take. In machine code that is little: looking up what was found, in the
//! order in which it was found, takes most of the time and is left to the search. Where it takes longer to tell others than it
//! brings, they are not told ([`trial`]).

mod trial;

use super::expansion_log::ProcessSet;
use crate::pool::{Pool, Ticket};
use crate::successors::{Event, Successors};
use preempt_core::{Budget, PropertyKind};
use std::sync::Arc;
use std::time::Instant;
use trial::Trial;

/// Items of a part.
const PART: usize = 64;

/// So many items are announced before they are come to.
pub const WINDOW: usize = 16 * PART;

/// A state, and whose steps from it are wanted.
struct Wanted {
    start: usize,
    end: usize,
    processes: ProcessSet,
    /// Where its answers begin, once they are known.
    answers: usize,
}

/// What one process can do.
struct Answer {
    process: u8,
    moved: bool,
    /// Where its events end.
    events: usize,
}

enum Recorded {
    Arrival { start: usize, end: usize, runs: u8, steps: u32 },
    Violation { kind: PropertyKind, steps: u32 },
}

/// Some items one after the other, with what is known of them.
#[derive(Default)]
struct Part {
    first: u64,
    wanted: Vec<Wanted>,
    /// Of the states that are wanted, then of those that they lead to.
    bytes: Vec<u8>,
    answers: Vec<Answer>,
    events: Vec<Recorded>,
    /// The helper could not compute all of it: then nothing of it counts.
    is_wrong: bool,
}

impl Part {
    fn clear(&mut self) {
        self.is_wrong = false;
        self.wanted.clear();
        self.bytes.clear();
        self.answers.clear();
        self.events.clear();
    }

    /// Everything that is wanted, computed.
    fn compute<W: Successors>(&mut self, system: &mut W) {
        let mut state = Vec::new();
        let (bytes, events) = (&mut self.bytes, &mut self.events);
        for wanted in &mut self.wanted {
            wanted.answers = self.answers.len();
            state.clear();
            state.extend_from_slice(&bytes[wanted.start..wanted.end]);
            for process in members(&wanted.processes) {
                let moved = system.expand(&state, usize::from(process), &mut |event| match event {
                    Event::Arrival { state, runs, steps } => {
                        let start = bytes.len();
                        bytes.extend_from_slice(state);
                        events.push(Recorded::Arrival { start, end: bytes.len(), runs, steps });
                    }
                    Event::Violation { kind, steps } => events.push(Recorded::Violation { kind, steps }),
                });
                self.answers.push(Answer { process, moved, events: events.len() });
            }
        }
        self.is_wrong = system.error().is_some();
    }
}

/// The processes of a set, in ascending order.
pub fn members(set: &ProcessSet) -> impl Iterator<Item = u8> {
    set.iter().enumerate().flat_map(|(number, word)| {
        let rest = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
        let bits = rest.take_while(|word| *word != 0).map(u64::trailing_zeros);
        bits.map(move |bit| (64 * number) as u8 + bit as u8)
    })
}

/// How many members come before this one; `None` if it is none.
fn rank(set: &ProcessSet, process: u8) -> Option<usize> {
    let (word, bit) = (usize::from(process) / 64, process % 64);
    let before = set[..word].iter().map(|word| word.count_ones()).sum::<u32>();
    let within = set[word] & ((1 << bit) - 1);
    (set[word] >> bit & 1 != 0).then_some((before + within.count_ones()) as usize)
}

/// The search's side: what was announced, and what is known of it.
pub struct Lookahead {
    pool: Arc<Pool<Part, Part>>,
    /// The part that the search is in, if it is known.
    known: Option<Part>,
    collected: Part,
    next_ticket: u64,
    /// Items behind the batch that have a ticket, and of the batch's items the first ticket and how many have one.
    announced: usize,
    batch: (u64, usize),
    /// Of the item that is being expanded.
    current: Option<u64>,
    /// The first part that was not asked for yet; and nobody has computed in time what comes before this ticket.
    next_job: Ticket,
    missed: u64,
    spare: Vec<Part>,
    trial: Trial,
    began: Instant,
}

/// Runs a search with these helpers, one thread for each.
pub fn with_helpers<W: Successors + Send, R>(workers: Vec<W>, run: impl FnOnce(Lookahead) -> R) -> R {
    let help = |mut system: W| {
        move |mut part: Part, budget: &Budget| {
            system.work_within(budget);
            part.compute(&mut system);
            part
        }
    };
    let pool = Arc::new(Pool::new());
    let helpers = workers.into_iter().map(help).collect();
    let ahead = Lookahead::new(Arc::clone(&pool));
    pool.with_helpers(helpers, |_| run(ahead))
}

impl Lookahead {
    fn new(pool: Arc<Pool<Part, Part>>) -> Lookahead {
        Lookahead {
            pool,
            known: None,
            collected: Part::default(),
            next_ticket: 0,
            announced: 0,
            batch: (0, 0),
            current: None,
            next_job: 0,
            missed: 0,
            spare: Vec::new(),
            trial: Trial::new(),
            began: Instant::now(),
        }
    }

    /// The helpers work within the search's own budget: once that is stopped, what they say counts for nothing, and the search
    /// knows it.
    pub fn work_within(&mut self, budget: &Budget) {
        self.pool.work_within(budget);
    }

    /// The next so many items are the batch.
    pub fn begin_batch(&mut self, count: usize) {
        let with_ticket = self.announced.min(count);
        self.batch = (self.next_ticket - self.announced as u64, with_ticket);
        self.announced -= with_ticket;
    }

    /// The next so many items are worth to be announced, or not.
    pub fn is_worth_it(&mut self, items: usize) -> bool {
        let began = self.began;
        self.trial.goes_on(items as u64, || began.elapsed())
    }

    /// How many items behind the batch are announced.
    pub fn announced(&self) -> usize {
        self.announced
    }

    /// The next item, which is not announced yet: its state, and who will be expanded in it.
    pub fn announce(&mut self, state: &[u8], processes: ProcessSet) {
        if self.collected.wanted.is_empty() {
            self.collected.first = self.next_ticket;
        }
        let start = self.collected.bytes.len();
        self.collected.bytes.extend_from_slice(state);
        let end = self.collected.bytes.len();
        self.collected.wanted.push(Wanted { start, end, processes, answers: 0 });
        self.next_ticket += 1;
        self.announced += 1;
        if self.collected.wanted.len() == PART {
            self.give();
        }
    }

    fn give(&mut self) {
        let next = self.spare.pop().unwrap_or_default();
        let mut part = std::mem::replace(&mut self.collected, next);
        if part.first + PART as u64 <= self.missed {
            part.clear();
            self.spare.push(part);
        } else {
            self.pool.give(part.first / PART as u64, part);
        }
    }

    /// The item of the batch with this number is expanded now.
    pub fn come_to(&mut self, number: usize) {
        let (first, count) = self.batch;
        self.current = (number < count).then_some(first + number as u64);
    }

    /// Calls `visit` with everything that the process can do in the state of the current item, if that was computed; says
    /// whether it could move at all.
    pub fn answer(&mut self, state: &[u8], process: u8, visit: &mut dyn FnMut(Event<'_>)) -> Option<bool> {
        let ticket = self.current?;
        let part = self.part_of(ticket)?;
        let wanted = part.wanted.get((ticket - part.first) as usize)?;
        if part.is_wrong || part.bytes[wanted.start..wanted.end] != *state {
            return None;
        }
        let among = rank(&wanted.processes, process)?;
        let number = wanted.answers + among;
        let answer = &part.answers[number];
        debug_assert_eq!(answer.process, process);
        let first = number.checked_sub(1).map_or(0, |before| part.answers[before].events);
        for event in &part.events[first..answer.events] {
            visit(match *event {
                Recorded::Arrival { start, end, runs, steps } => {
                    Event::Arrival { state: &part.bytes[start..end], runs, steps }
                }
                Recorded::Violation { kind, steps } => Event::Violation { kind, steps },
            });
        }
        Some(answer.moved)
    }

    /// The part with this ticket, if somebody has computed it by now; if not, nobody needs to any more.
    fn part_of(&mut self, ticket: u64) -> Option<&Part> {
        let has_it = |part: &Part| part.first <= ticket && ticket < part.first + PART as u64;
        if !self.known.as_ref().is_some_and(has_it) {
            if ticket < self.missed {
                return None;
            }
            if let Some(mut part) = self.known.take() {
                part.clear();
                self.spare.push(part);
            }
            // Of what lies before it, nothing was needed.
            let job: Ticket = ticket / PART as u64;
            (self.next_job..job).for_each(|job| self.pool.forget(job));
            self.next_job = job + 1;
            self.known = self.pool.take(job);
            if self.known.is_none() {
                self.pool.forget(job);
                self.missed = self.next_job * PART as u64;
            }
        }
        self.known.as_ref()
    }

    pub fn bytes(&self) -> u64 {
        let of_part = |part: &Part| part.bytes.capacity() + part.events.capacity() * size_of::<Recorded>();
        // Those that others have are about as large.
        let each = self.known.iter().chain(&self.spare).map(of_part).max().unwrap_or(0);
        ((WINDOW / PART + self.spare.len()) * each) as u64
    }
}

/// The set with one process.
pub fn only(process: u8) -> ProcessSet {
    let mut set = ProcessSet::default();
    set[usize::from(process) / 64] |= 1 << (process % 64);
    set
}

#[cfg(test)]
mod tests {
    use super::{members, only, rank};

    #[test]
    fn members_of_a_set() {
        let mut set = only(3);
        set[3] = 1 << 63;
        set[1] = 1 | 1 << 5;
        let all: Vec<u8> = members(&set).collect();
        assert_eq!(all, [3, 64, 69, 255]);
        assert!(all.iter().enumerate().all(|(number, member)| rank(&set, *member) == Some(number)));
        assert_eq!(rank(&set, 4), None);
    }

    /// What was announced is answered by a helper, as the system itself would; nothing else is.
    #[cfg(feature = "native")]
    #[test]
    fn what_was_announced_is_known() {
        use super::{PART, with_helpers};
        use crate::native::Native;
        use crate::successors::{Event, Successors};
        use preempt_core::Budget;

        let text = "byte x; active [2] proctype P() { do :: x < 9 -> x++ :: x > 0 -> x = 0 :: skip od }";
        let additions = preempt_promela::Additions::default();
        let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
        let model = loaded.model.expect("a model");
        let budget = Budget::unlimited();
        let mut native = Native::within(&model, &loaded.sources, &budget).expect("a supported model");
        let state = native.initial().swap_remove(0);
        let other: Vec<u8> = state.iter().map(|byte| !byte).collect();
        let mut expected = Vec::new();
        let mut seen = |event: Event<'_>| expected.push(format!("{event:?}"));
        assert!(native.expand(&state, 1, &mut seen));
        let helper = native.another().expect("another thread's");
        with_helpers(vec![helper], |mut ahead| {
            ahead.work_within(&budget);
            (0..PART + 1).for_each(|_| ahead.announce(&state, only(1)));
            ahead.begin_batch(PART + 2);
            while !ahead.pool.is_done(0) {
                std::thread::yield_now();
            }
            for number in [0, 3, PART - 1] {
                let mut found = Vec::new();
                ahead.come_to(number);
                let moved = ahead.answer(&state, 1, &mut |event| found.push(format!("{event:?}")));
                assert_eq!((moved, &found), (Some(true), &expected));
                assert_eq!(ahead.answer(&state, 0, &mut |_| ()), None, "of another process");
                assert_eq!(ahead.answer(&other, 1, &mut |_| ()), None, "of another state");
            }
            for number in [PART, PART + 1] {
                ahead.come_to(number);
                assert_eq!(ahead.answer(&state, 1, &mut |_| ()), None, "not given to a helper yet");
            }
        });
    }
}
