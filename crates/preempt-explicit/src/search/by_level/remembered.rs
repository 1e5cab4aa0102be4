//! Steps that were computed once are not computed again.
//!
//! **The idea.** What a process does in a state depends on a few pieces of it: its own, and those that it reads and writes
//! where it stands. In a packed key ([`crate::store::packed`]) these are some of the bits. So the successors of every state
//! with the same bits there differ from it in the same way, and that difference is remembered, as an exclusive or of
//! keys: next time nothing is unpacked, executed or packed. (Local transition caching of Blom, van de Pol and Weber, "LTSmin:
//! distributed and symbolic reachability", CAV 2010, on keys instead of vectors.)
//!
//! **Why it is right.** Successors say on which stretches of a state the steps of a process depend, and which they change
//! ([`crate::successors::Expander::decided_by`]); the mask has every bit that says something about these. What is remembered
//! is compared with all bits under the mask, so nothing is guessed. Steps that violate something or lead to another class of
//! states are not remembered, nor are those of processes of which nothing is known. When keys are packed anew, everything is
//! forgotten.
//!
//! **What it costs.** A line of the cache for each difference, at most [`MOST_LINES`], two bytes for each state or so; what is
//! new takes the place of what is old. Where most of what is asked is not there, it is not asked for a while.

use crate::store::index::prefetch;
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Field, Key, UPPER};
use crate::successors::{Decided, Expander};
use std::ops::Range;

/// Steps that have room in a line.
const STEPS: usize = 3;

/// So many are in a near cache.
const NEAR_LINES: usize = 1 << 12;
const FEWEST_LINES: usize = 1 << 8;
const MOST_LINES: usize = 1 << 20;
/// States for each line, where there are many.
const STATES_PER_LINE: u64 = 16;

/// Steps that have no room in a line; more than that, and everything is forgotten.
const MOST_BESIDE: usize = 1 << 18;

/// After so many questions it is seen how many were answered.
const WINDOW: u32 = 1 << 12;
/// So long nothing is asked where few were.
const REST: u32 = 1 << 14;

/// Where the process is noted in a key's second word, and what else.
const PROCESS: u32 = 48;
const NOTE: u32 = 56;

/// In a step: the exact reduction lets the process go on alone.
const ALONE: u64 = 1;
/// In a line: it has so many steps less one, and these are beside it.
const BESIDE: u64 = STEPS as u64 + 2;

/// The bits that decide, whose process it is and how many steps there are, plus one; then the steps.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line {
    tag: Key,
    steps: [Step; STEPS],
}

/// A difference between a state and a successor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step(Key);

impl Step {
    pub fn new(from: &Key, to: &Key, runs: u8, alone: bool) -> Step {
        let note = u64::from(runs) << PROCESS | (u64::from(alone) * ALONE) << NOTE;
        Step([from[0] ^ to[0], (from[1] ^ to[1]) & UPPER | note])
    }

    #[inline]
    pub fn from(self, key: &Key) -> Key {
        [key[0] ^ self.0[0], key[1] ^ (self.0[1] & UPPER)]
    }

    #[inline]
    pub fn runs(self) -> u8 {
        (self.0[1] >> PROCESS) as u8
    }

    #[inline]
    pub fn is_alone(self) -> bool {
        self.0[1] >> NOTE & ALONE != 0
    }
}

/// States of one class in which a process's own piece has certain numbers: which bits decide what it does.
#[derive(Debug, Clone, Copy)]
struct Group {
    mask: Key,
    asks_timeout: bool,
    asked: u32,
    missed: u32,
    /// So many questions are not asked.
    rest: u32,
}

/// A process in the states of one class.
#[derive(Debug, Default)]
struct Process {
    /// What its own piece holds.
    own: Field,
    /// Where that lies in a state, and how long it is.
    place: Option<(usize, usize)>,
    /// By the number of what it holds: the group, plus one; 0 if that is not known yet.
    by_number: Vec<u16>,
    groups: Vec<Group>,
}

/// Of what nothing can be remembered.
const NO_GROUP: u16 = u16::MAX;
/// Of so many different contents of a process's own piece it is known which bits decide.
const MOST_NUMBERS: usize = 1 << 17;

#[derive(Debug, Default)]
pub struct Class {
    pub processes: usize,
    each: Vec<Process>,
}

/// What is remembered in the packing of one encoding.
#[derive(Debug, Default)]
pub struct Remembered {
    lines: Vec<Line>,
    beside: Vec<Step>,
    classes: Vec<Option<Class>>,
    /// Lines that were overwritten since there are so many.
    lost: usize,
}

/// What is known of a process in a state.
pub enum Asked {
    /// Its steps are at [`Remembered::steps`]; `asks_timeout`: where there is no timeout.
    Known { place: Place, asks_timeout: bool },
    /// Not yet: [`Remembered::remember`] it with this.
    New(Tag),
    /// Not even which bits decide: [`Remembered::find_group`].
    Unknown,
    /// Nothing, and nothing is to be remembered.
    Never,
}

#[derive(Debug, Clone, Copy)]
pub struct Place(u32);

/// What is compared, and whether the process asks for a timeout: then it is remembered what it does where there is none.
#[derive(Debug, Clone, Copy)]
pub struct Tag {
    key: Key,
    pub asks_timeout: bool,
}

#[inline]
fn home(tag: &Key, lines: usize) -> usize {
    let product = u128::from(tag[0] ^ 0x9E37_79B9_7F4A_7C15) * u128::from(tag[1] ^ 0xD1B5_4A32_D192_ED03);
    let word = (product as u64 ^ (product >> 64) as u64).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    (word >> 32) as usize & (lines - 1)
}

const TAG: u64 = UPPER | 0xFF << PROCESS;

impl Remembered {
    /// The packing is another one.
    pub fn forget(&mut self) {
        self.lines.fill(Line::default());
        self.beside.clear();
        self.classes.clear();
    }

    /// What is known of a class; `None` if it was not asked about yet.
    #[inline]
    pub fn class(&self, class: u32) -> Option<&Class> {
        self.classes.get(class as usize)?.as_ref()
    }

    /// Makes a class known, by a state of it.
    pub fn meet<S: Expander>(&mut self, store: &PackedStore, system: &S, class: u32, state: &[u8]) {
        let processes = system.process_count(state);
        let each = (0..processes).map(|process| {
            let place = system.place_of(state, process);
            let own = place.and_then(|at| store.encoding.field_at(&store.pieces, class, at));
            let pieces = &store.pieces.classes()[class as usize];
            let length = place.and_then(|at| pieces.leaf_at(at)).map(|leaf| pieces.length_of(leaf));
            let place = place.zip(length).filter(|_| own.is_some());
            Process { own: own.unwrap_or_default(), place, by_number: Vec::new(), groups: Vec::new() }
        });
        let each = each.collect();
        if self.classes.len() <= class as usize {
            self.classes.resize_with(class as usize + 1, || None);
        }
        self.classes[class as usize] = Some(Class { processes, each });
    }

    /// What is known of a process in a state of a class that was met.
    #[inline]
    pub fn ask(&mut self, class: u32, key: &Key, process: usize) -> Asked {
        let lines = self.lines.len();
        let Some(Some(class)) = self.classes.get_mut(class as usize) else { return Asked::Never };
        let Some(own) = class.each.get_mut(process) else { return Asked::Never };
        let number = own.own.get(key) as usize;
        let group = match own.by_number.get(number) {
            None | Some(0) if own.place.is_some() && number < MOST_NUMBERS => return Asked::Unknown,
            Some(group) if *group != NO_GROUP && *group > 0 => *group,
            _ => return Asked::Never,
        };
        let Some(group) = own.groups.get_mut(usize::from(group) - 1) else { return Asked::Never };
        if group.rest > 0 {
            group.rest -= 1;
            return Asked::Never;
        }
        group.asked += 1;
        if group.asked >= WINDOW {
            group.rest = if group.missed > WINDOW / 2 { REST } else { 0 };
            (group.asked, group.missed) = (0, 0);
        }
        let asks_timeout = group.asks_timeout;
        let tag = [key[0] & group.mask[0], key[1] & group.mask[1] | (process as u64) << PROCESS];
        if lines == 0 {
            return Asked::New(Tag { key: tag, asks_timeout });
        }
        let at = home(&tag, lines);
        for at in [at, at ^ 1] {
            let line = &self.lines[at];
            if line.tag[0] == tag[0] && line.tag[1] & TAG == tag[1] && line.tag[1] >> NOTE != 0 {
                return Asked::Known { place: Place(at as u32), asks_timeout };
            }
        }
        group.missed += 1;
        Asked::New(Tag { key: tag, asks_timeout })
    }

    /// Asks for the memory that a question about a process will need, if there is too much of it for a near cache.
    #[inline]
    pub fn hint(&self, class: u32, key: &Key, processes: Range<usize>) {
        let lines = self.lines.len();
        let Some(class) = self.class(class).filter(|_| lines > NEAR_LINES) else { return };
        for process in processes {
            let Some(own) = class.each.get(process) else { return };
            let number = own.own.get(key) as usize;
            let group = own
                .by_number
                .get(number)
                .and_then(|group| own.groups.get(usize::from(*group).wrapping_sub(1)));
            if let Some(Group { mask, rest: 0, .. }) = group {
                let tag = [key[0] & mask[0], key[1] & mask[1] | (process as u64) << PROCESS];
                prefetch(&self.lines[home(&tag, lines)]);
            }
        }
    }

    #[inline]
    pub fn steps(&self, Place(at): Place) -> &[Step] {
        let line = &self.lines[at as usize];
        match line.tag[1] >> NOTE {
            BESIDE => {
                let Step([start, count]) = line.steps[0];
                &self.beside[start as usize..(start + count) as usize]
            }
            more => &line.steps[..more as usize - 1],
        }
    }

    /// Finds out which bits decide what a process does, for all states in which its own piece holds what it does here.
    pub fn find_group<S: Expander>(
        &mut self,
        store: &PackedStore,
        system: &mut S,
        (class, key): (u32, &Key),
        process: usize,
        state: &[u8],
    ) -> Option<Tag> {
        let own = self.classes.get_mut(class as usize)?.as_mut()?.each.get_mut(process)?;
        let (at, length) = own.place?;
        let number = own.own.get(key) as usize;
        if own.by_number.len() <= number {
            own.by_number.resize(number + 1, 0);
        }
        // What lies in the process's own piece, or is the same everywhere.
        let is_known = |stretch: &Range<usize>| {
            let is_own = at <= stretch.start && stretch.end <= at + length;
            is_own || store.encoding.is_constant(&store.pieces, class, stretch)
        };
        let Some(Decided { stretches, asks_timeout }) = system.decided_by(state, process, &is_known) else {
            own.by_number[number] = NO_GROUP;
            return None;
        };
        let mask = store.encoding.mask_of(&store.pieces, class, &stretches);
        let is_same = |group: &Group| group.mask == mask && group.asks_timeout == asks_timeout;
        let group = own.groups.iter().position(is_same).unwrap_or_else(|| {
            own.groups.push(Group { mask, asks_timeout, asked: 0, missed: 0, rest: 0 });
            own.groups.len() - 1
        });
        own.by_number[number] = u16::try_from(group + 1).unwrap_or(NO_GROUP);
        let key = [key[0] & mask[0], key[1] & mask[1] | (process as u64) << PROCESS];
        Some(Tag { key, asks_timeout })
    }

    /// Remembers the steps of the process that was asked for.
    pub fn remember(&mut self, tag: Tag, steps: impl ExactSizeIterator<Item = Step>, states: u64) {
        self.make_room(states);
        let count = steps.len();
        let mut line = Line { tag: tag.key, ..Line::default() };
        let note = if count <= STEPS {
            line.steps.iter_mut().zip(steps).for_each(|(place, step)| *place = step);
            count as u64 + 1
        } else {
            if self.beside.len() + count > MOST_BESIDE {
                self.lines.fill(Line::default());
                self.beside.clear();
            }
            line.steps[0] = Step([self.beside.len() as u64, count as u64]);
            self.beside.extend(steps);
            BESIDE
        };
        line.tag[1] |= note << NOTE;
        self.put(line);
    }

    fn put(&mut self, line: Line) {
        let tag = [line.tag[0], line.tag[1] & TAG];
        let at = home(&tag, self.lines.len());
        let is_free = |at: usize| self.lines[at].tag[1] >> NOTE == 0;
        let at = match (is_free(at), is_free(at ^ 1)) {
            (true, _) => at,
            (false, true) => at ^ 1,
            (false, false) => {
                self.lost += 1;
                at ^ (self.lost & 1)
            }
        };
        self.lines[at] = line;
    }

    /// Twice as many lines, if many were lost and there are states enough.
    fn make_room(&mut self, states: u64) {
        let lines = self.lines.len();
        let most = (states / STATES_PER_LINE).clamp(1 << 14, MOST_LINES as u64) as usize;
        if lines > 0 && (self.lost < lines / 2 || 2 * lines > most) {
            return;
        }
        let more = (2 * lines).max(FEWEST_LINES);
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); more]);
        self.lost = 0;
        old.into_iter().filter(|line| line.tag[1] >> NOTE != 0).for_each(|line| self.put(line));
        self.lost = 0;
    }

    pub fn bytes(&self) -> u64 {
        let of_process = |process: &Process| {
            size_of::<Process>()
                + 2 * process.by_number.capacity()
                + process.groups.capacity() * size_of::<Group>()
        };
        let classes = self.classes.iter().flatten().flat_map(|class| &class.each);
        let lines = self.lines.capacity() * size_of::<Line>() + self.beside.capacity() * size_of::<Step>();
        (lines + classes.map(of_process).sum::<usize>()) as u64
    }
}
