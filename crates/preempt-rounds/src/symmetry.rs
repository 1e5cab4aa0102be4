//! All runs at once, however many contexts they take, with equal threads sorted.
//!
//! Threads that execute the same code, and do not ask for their number, may change places: what one of them can do, any other
//! can do in its place. So of the configurations that differ only in who is who, one is enough, the sorted one; n equal
//! threads have up to n! times fewer of them. It answers the question *without* a bound only: "is a violation reachable" does
//! not depend on who is who, but K rounds in a fixed order do. With threads A and B of equal code, a run "B, then A" takes
//! two rounds, and "A, then B" one: a search that takes them for the same would say one where it is two. (Two broken
//! additions: a test has them.) So this is never mixed with `round_robin`; the two take turns.

use crate::configurations::Configurations;
use crate::error::Result;
use crate::round_robin::End;
use crate::search::Start;
use crate::turns::Turns;

pub(crate) struct Sorted {
    pub configurations: Configurations,
    start: Start,
    /// The threads that may change places, as ranges of places.
    classes: Vec<Vec<usize>>,
    next: usize,
    pub cut: bool,
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
    pub fn new(start: Start) -> Sorted {
        let of = classes(&start);
        let members = |class: usize| (0..of.len()).filter(|thread| of[*thread] == class).collect::<Vec<_>>();
        let classes: Vec<_> = (0..of.len()).filter(|thread| of[*thread] == *thread).map(members).collect();
        let configurations = Configurations::new(&of);
        let mut sorted = Sorted { configurations, start, classes, next: 0, cut: false };
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
            if self.next == self.configurations.len() {
                return Ok(Some(End::Nothing));
            }
            let from = self.next;
            self.next += 1;
            from_cells.clear();
            from_cells.extend_from_slice(self.configurations.get(from));
            let shared = from_cells[0];
            let before = self.configurations.hash(&from_cells);
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
                        self.configurations.insert(&cells, hash, (from, thread));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The configuration as it is kept.
    pub fn sorted(&self, mut cells: Vec<u32>) -> Vec<u32> {
        self.sort(&mut cells);
        cells
    }
}
