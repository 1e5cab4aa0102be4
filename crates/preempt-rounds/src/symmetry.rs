//! All runs at once, however many contexts they take, with equal threads sorted.
//!
//! Threads that execute the same code, and do not ask for their number, may change places: what one of them can do, any other
//! can do in its place. So of the configurations that differ only in who is who, one is enough, the sorted one; n equal
//! threads have up to n! times fewer of them. It answers the question *without* a bound only: "is a violation reachable" does
//! not depend on who is who, but K rounds in a fixed order do. With threads A and B of equal code, a run "B, then A" takes
//! two rounds, and "A, then B" one: a search that takes them for the same would say one where it is two. (Two broken
//! additions: a test has them.) So this is never mixed with `round_robin`; the two take turns. What it does give the rounds is
//! a run: real threads in an order, whose rounds can be counted (`run`). It goes by context switches for that reason, few first,
//! as far as that costs nothing: a configuration is expanded once, with the switches of the first way to it.

use crate::configurations::Configurations;
use crate::error::Result;
use crate::round_robin::End;
use crate::search::Start;
use crate::turns::Turns;

/// No thread has gone on.
const NOBODY_YET: u32 = u32::MAX;

pub(crate) struct Sorted {
    pub configurations: Configurations,
    start: Start,
    /// The threads that may change places, as ranges of places.
    classes: Vec<Vec<usize>>,
    order: Order,
    /// For each configuration the place of the thread that went last, or the first one's own if nobody has.
    last: Vec<u32>,
    /// What is to be expanded: with as many switches as now, from `next` on, and with one more.
    queue: Vec<u32>,
    next: usize,
    later: Vec<u32>,
    pub cut: bool,
}

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// What few turns lead to, whoever takes them.
    Turns,
    /// What few switches lead to.
    Switches,
}

/// For each thread the first one that it may change places with.
pub(crate) fn classes(start: &Start) -> Vec<usize> {
    let same = |a: usize, b: usize| {
        let codes = start.codes[a] == start.codes[b] && start.kinds[a] == start.kinds[b];
        codes && start.sites[a] == start.sites[b] && start.exclusive != Some(a) && start.exclusive != Some(b)
    };
    (0..start.codes.len())
        .map(|thread| (0..thread).find(|other| same(*other, thread)).unwrap_or(thread))
        .collect()
}

/// Are there threads that may change places?
pub(crate) fn applies(start: &Start) -> bool {
    classes(start).iter().enumerate().any(|(thread, class)| thread != *class)
}

impl Sorted {
    pub fn new(start: Start, order: Order) -> Sorted {
        let of = classes(&start);
        let members = |class: usize| (0..of.len()).filter(|thread| of[*thread] == class).collect::<Vec<_>>();
        let classes: Vec<_> = (0..of.len()).filter(|thread| of[*thread] == *thread).map(members).collect();
        let configurations = Configurations::new(&of);
        let (last, queue, later) = (vec![NOBODY_YET], vec![0], Vec::new());
        let mut sorted =
            Sorted { configurations, start, classes, order, last, queue, next: 0, later, cut: false };
        let mut cells = sorted.start.cells.clone();
        sorted.sort(&mut cells);
        sorted.configurations.insert(&cells, sorted.configurations.hash(&cells), (0, 0));
        sorted
    }

    fn sort(&self, cells: &mut [u32]) {
        for class in self.classes.iter().filter(|class| class.len() > 1) {
            // few, and sorted but for one of them
            for at in 1..class.len() {
                let mut place = at;
                while place > 0 && cells[class[place - 1] + 1] > cells[class[place] + 1] {
                    cells.swap(class[place - 1] + 1, class[place] + 1);
                    place -= 1;
                }
            }
        }
    }

    /// Expands so many configurations, by every thread, or fewer if it comes to an end.
    pub fn advance(&mut self, turns: &mut Turns<'_>, work: usize) -> Result<Option<End>> {
        let mut cells = Vec::new();
        let mut from_cells = Vec::new();
        for _ in 0..work {
            if self.next == self.queue.len() {
                self.queue.clear();
                std::mem::swap(&mut self.queue, &mut self.later);
                self.next = 0;
            }
            let Some(from) = self.queue.get(self.next).map(|from| *from as usize) else {
                return Ok(Some(End::Nothing));
            };
            self.next += 1;
            from_cells.clear();
            from_cells.extend_from_slice(self.configurations.get(from));
            let shared = from_cells[0];
            let before = self.configurations.hash(&from_cells);
            let ran = self.last[from];
            for class in 0..self.classes.len() {
                let mut last = None;
                for index in 0..self.classes[class].len() {
                    let thread = self.classes[class][index];
                    let stack = from_cells[thread + 1];
                    // Of equal threads in equal places one is enough.
                    if !Turns::moves(stack)
                        || last.replace(stack) == Some(stack)
                        || !self.start.may_move(from, thread)
                    {
                        continue;
                    }
                    let turn = turns.turn(self.start.kinds[thread], shared, stack)?;
                    for started in &turns.content(turn).fails {
                        cells.clear();
                        cells.extend_from_slice(&from_cells);
                        match self.start.begin(turns, &mut cells, *started) {
                            true => return Ok(Some(End::Failure { from, thread })),
                            false => self.cut = true,
                        }
                    }
                    for stop in &turns.content(turn).stops {
                        cells.clear();
                        cells.extend_from_slice(&from_cells);
                        if !self.start.apply(turns, &mut cells, thread, stop) {
                            self.cut = true;
                            continue;
                        }
                        let hash = match stop.started {
                            crate::turns::NOBODY => {
                                let store = &self.configurations;
                                let change = |place: usize, old: u32, new: u32| {
                                    store.share(place, new).wrapping_sub(store.share(place, old))
                                };
                                let changes = change(0, shared, stop.shared);
                                before.wrapping_add(changes).wrapping_add(change(
                                    thread + 1,
                                    stack,
                                    stop.stack,
                                ))
                            }
                            _ => self.configurations.hash(&cells),
                        };
                        self.sort(&mut cells);
                        if self.configurations.insert(&cells, hash, (from, thread)) {
                            // Equal threads in equal places may be taken for each other.
                            let goes_on = ran == NOBODY_YET
                                || self.classes[class].contains(&(ran as usize))
                                    && from_cells[ran as usize + 1] == stack;
                            let place = self.classes[class].iter().find(|at| cells[**at + 1] == stop.stack);
                            self.last.push(place.map_or(NOBODY_YET, |place| *place as u32));
                            let number = self.last.len() as u32 - 1;
                            match goes_on || self.order == Order::Turns {
                                true => self.queue.push(number),
                                false => self.later.push(number),
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> u64 {
        let orders = self.last.capacity() + self.queue.capacity() + self.later.capacity();
        self.configurations.bytes() + 4 * orders as u64
    }

    /// The configuration as it is kept.
    pub fn sorted(&self, mut cells: Vec<u32>) -> Vec<u32> {
        self.sort(&mut cells);
        cells
    }
}
