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
//! **What it costs.** A line of the cache for each process and what decides its steps, at most [`MOST_LINES`], eight bytes for
//! each state where there are many and all are used; what is new takes the place of what is old. Where most of what is asked
//! is not there, it is not asked for a while.
//!
//! A question ([`Question`]) is asked for all states of a batch before the first answer is looked at, so that the lines are on
//! their way while the other questions are asked.

use crate::store::index::prefetch;
use crate::store::packed::PackedStore;
use crate::store::packed::encoding::{Field, Key, UPPER};
use crate::store::packed::pages::{Zeroed, ZeroedList};
use crate::successors::{Decided, Expander};
use std::ops::Range;

/// Steps that have room in a line.
const STEPS: usize = 3;

/// So many are in a near cache.
const NEAR_LINES: usize = 1 << 12;
const FEWEST_LINES: usize = 1 << 8;
const MOST_LINES: usize = 1 << 20;
/// States for each line, where there are many.
const STATES_PER_LINE: u64 = 8;

/// Steps that have no room in a line; more than that, and everything is forgotten.
const MOST_BESIDE: usize = 1 << 18;

/// After so many questions it is seen how many were answered.
const WINDOW: u32 = 1 << 12;
/// So long nothing is asked where few were, and twice as long each time that it is still so.
const REST: u32 = 1 << 14;
const LONGEST_REST: u32 = 1 << 20;

/// Where the process is noted in a key's second word, and what else.
const PROCESS: u32 = 48;
const NOTE: u32 = 56;

/// In a line, where others have the number of steps: these are beside it.
const BESIDE: u64 = STEPS as u64 + 1;

/// The number of steps takes so many bits; above it is how many more there are that change nothing.
const COUNT: u32 = 3;
/// Of these, at most.
pub const MOST_UNCHANGED: u64 = u8::MAX as u64 >> COUNT;

/// The bits that decide, whose process it is and how many steps there are; then the steps that change something.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line {
    tag: Key,
    steps: [Step; STEPS],
}

// SAFETY: it consists of numbers.
#[allow(unsafe_code, reason = "said of plain data")]
unsafe impl Zeroed for Line {}

impl Line {
    /// Of a process that there is not: they are numbered from one.
    const EMPTY: Line = Line { tag: [0, 0], steps: [Step([0, 0]); STEPS] };

    #[inline]
    fn is_free(&self) -> bool {
        self.tag[1] & 0xFF << PROCESS == 0
    }

    #[inline]
    fn has(&self, tag: &Key) -> bool {
        self.tag[0] == tag[0] && self.tag[1] & TAG == tag[1]
    }
}

/// A difference between a state and a successor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step(Key);

impl Step {
    /// Noted: the exact reduction lets the process go on alone.
    pub const ALONE: u8 = 1;

    /// More steps than these cannot be noted.
    pub const MOST_STEPS: u32 = 1 << 7;

    /// Of so many steps, after which this process runs.
    pub fn new(from: &Key, to: &Key, (runs, steps): (u8, u32), note: u8) -> Step {
        debug_assert!((1..=Step::MOST_STEPS).contains(&steps));
        let note = u64::from(runs) << PROCESS | u64::from(((steps - 1) as u8) << 1 | note) << NOTE;
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
    pub fn note(self) -> u8 {
        (self.0[1] >> NOTE) as u8 & Step::ALONE
    }

    /// So many steps it was.
    #[inline]
    pub fn steps(self) -> u32 {
        (self.0[1] >> NOTE >> 1) as u32 + 1
    }
}

/// States of one class in which a process's own piece has certain numbers: which bits decide what it does.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// And which process it is.
    mask: Key,
    process: u64,
    /// Since the last look at how many questions were answered.
    asked: u32,
    missed: u32,
    /// So many questions are not asked, and so many the next time.
    rest: u32,
    next_rest: u32,
    asks_timeout: bool,
}

/// A process in the states of one class.
#[derive(Debug, Default)]
struct Process {
    /// What its own piece holds, and where its number lies in a key.
    own: Field,
    lane: u8,
    shift: u8,
    mask: u64,
    /// Where that lies in a state, and how long it is.
    place: Option<(usize, usize)>,
    /// By the number of what it holds: the group, plus one; 0 if that is not known yet.
    by_number: Vec<u16>,
}

/// Of what nothing can be remembered.
const NO_GROUP: u16 = u16::MAX;
/// Of so many different contents of a process's own piece it is known which bits decide.
const MOST_NUMBERS: usize = 1 << 17;

#[derive(Debug, Default)]
pub struct Class {
    pub processes: usize,
    each: Vec<Process>,
    groups: Vec<Group>,
}

/// What is remembered in the packing of one encoding.
#[derive(Debug, Default)]
pub struct Remembered {
    lines: ZeroedList<Line>,
    beside: Vec<Step>,
    classes: Vec<Option<Class>>,
    /// What a hash is shifted by to be the number of a line.
    shift: u32,
    /// Lines that were overwritten since there are so many.
    lost: usize,
}

/// What is asked of a process in a state, before the memory that has the answer is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    tag: Key,
    line: u32,
    group: u16,
    process: u8,
    about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Steps,
    /// Where there is no timeout.
    TimelessSteps,
    /// Which bits decide is not known yet.
    Group,
    Nothing,
}

impl Question {
    /// Of which nothing is looked for.
    fn other(process: usize, about: About) -> Question {
        Question { tag: [0, 0], line: 0, group: 0, process: process as u8, about }
    }

    /// Who it is about.
    #[inline]
    pub fn process(&self) -> usize {
        usize::from(self.process)
    }
}

/// What is known of a process in a state.
pub enum Answer {
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
fn hash_of(tag: &Key) -> u64 {
    let both = tag[0].wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ tag[1].rotate_left(32);
    (both ^ both >> 32).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

const TAG: u64 = UPPER | 0xFF << PROCESS;

impl Remembered {
    /// The packing is another one.
    pub fn forget(&mut self) {
        self.lines.fill(Line::EMPTY);
        self.beside.clear();
        self.classes.clear();
    }

    /// What is known of a class; `None` if it was not asked about yet.
    #[inline]
    pub fn class(&self, class: u32) -> Option<&Class> {
        self.classes.get(class as usize)?.as_ref()
    }

    /// How many processes the states of a class have; none if it was not asked about yet.
    #[inline]
    pub fn processes(&self, class: u32) -> usize {
        self.class(class).map_or(0, |class| class.processes)
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
            let own = own.unwrap_or_default();
            let (lane, shift, mask) = own.place();
            Process { own, lane, shift, mask, place, by_number: Vec::new() }
        });
        let each = each.collect();
        if self.classes.len() <= class as usize {
            self.classes.resize_with(class as usize + 1, || None);
        }
        self.classes[class as usize] = Some(Class { processes, each, groups: Vec::new() });
    }

    /// Asks about processes in a state of a class that was met, and for the memory that the answers will need.
    #[inline]
    pub fn ask(
        &mut self,
        class: u32,
        key: &Key,
        processes: impl Iterator<Item = usize>,
        questions: &mut Vec<Question>,
    ) {
        let Some(Some(Class { each, groups, .. })) = self.classes.get_mut(class as usize) else { return };
        let is_far = self.lines.len() > NEAR_LINES;
        for process in processes {
            let Some(own) = each.get(process) else { return };
            let number = (key[usize::from(own.lane & 1)] >> own.shift & own.mask) as usize;
            let group = own.by_number.get(number).copied().unwrap_or(0);
            let Some(known) = groups.get_mut(usize::from(group).wrapping_sub(1)) else {
                let is_open = group == 0 && own.place.is_some() && number < MOST_NUMBERS;
                let about = if is_open { About::Group } else { About::Nothing };
                questions.push(Question::other(process, about));
                continue;
            };
            if known.rest > 0 {
                known.rest -= 1;
                questions.push(Question::other(process, About::Nothing));
                continue;
            }
            known.asked += 1;
            let tag = [key[0] & known.mask[0], key[1] & known.mask[1] | known.process];
            let line = (hash_of(&tag) >> self.shift) as u32;
            if is_far && let Some(line) = self.lines.get(line as usize) {
                prefetch(line);
            }
            let about = if known.asks_timeout { About::TimelessSteps } else { About::Steps };
            questions.push(Question { tag, line, group, process: process as u8, about });
        }
    }

    /// Where the steps are that a question is about, if they are remembered.
    #[inline]
    fn place_of(&self, question: &Question) -> Option<Place> {
        let at = question.line as usize;
        if self.lines.get(at)?.has(&question.tag) {
            return Some(Place(question.line));
        }
        self.lines.get(at ^ 1)?.has(&question.tag).then_some(Place(question.line ^ 1))
    }

    /// The steps, if they are remembered, whether there is a timeout or not.
    #[inline]
    pub fn steps_of(&self, question: &Question) -> Option<Place> {
        if question.about == About::Steps { self.place_of(question) } else { None }
    }

    /// The answer, for the same class.
    pub fn answer(&mut self, class: u32, question: &Question) -> Answer {
        let Question { tag, group, about, .. } = *question;
        let asks_timeout = match about {
            About::Group => return Answer::Unknown,
            About::Nothing => return Answer::Never,
            About::Steps => false,
            About::TimelessSteps => true,
        };
        match self.place_of(question) {
            Some(place) => Answer::Known { place, asks_timeout },
            None => {
                self.missed(class, group);
                Answer::New(Tag { key: tag, asks_timeout })
            }
        }
    }

    /// Where most of what is asked is not there, it is not asked for a while.
    #[cold]
    fn missed(&mut self, class: u32, group: u16) {
        let Some(Some(class)) = self.classes.get_mut(class as usize) else { return };
        let Some(group) = class.groups.get_mut(usize::from(group).wrapping_sub(1)) else { return };
        group.missed += 1;
        if group.missed > WINDOW / 2 {
            (group.rest, group.next_rest) = match group.asked < WINDOW {
                true => (group.next_rest, (2 * group.next_rest).min(LONGEST_REST)),
                false => (0, REST),
            };
            (group.asked, group.missed) = (0, 0);
        }
    }

    /// The steps that change something, and how many others there are.
    #[inline]
    pub fn steps(&self, Place(at): Place) -> (&[Step], u64) {
        let line = &self.lines[at as usize];
        let note = line.tag[1] >> NOTE;
        let steps = match note & ((1 << COUNT) - 1) {
            BESIDE => {
                let Step([start, count]) = line.steps[0];
                &self.beside[start as usize..(start + count) as usize]
            }
            count => &line.steps[..(count as usize).min(STEPS)],
        };
        (steps, note >> COUNT)
    }

    /// Can the process move?
    #[inline]
    pub fn moves(&self, Place(at): Place) -> bool {
        self.lines[at as usize].tag[1] >> NOTE != 0
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
        let Class { each, groups, .. } = self.classes.get_mut(class as usize)?.as_mut()?;
        let own = each.get_mut(process)?;
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
        let process = (process as u64 + 1) << PROCESS;
        let group = Group { mask, process, asked: 0, missed: 0, rest: 0, next_rest: REST, asks_timeout };
        let is_same =
            |other: &Group| (other.mask, other.process, other.asks_timeout) == (mask, process, asks_timeout);
        let number_of_group = groups.iter().position(is_same).unwrap_or_else(|| {
            groups.push(group);
            groups.len() - 1
        });
        own.by_number[number] = u16::try_from(number_of_group + 1).unwrap_or(NO_GROUP);
        let key = [key[0] & mask[0], key[1] & mask[1] | process];
        Some(Tag { key, asks_timeout })
    }

    /// Remembers the steps of the process that was asked for, and how many others change nothing: at most [`MOST_UNCHANGED`].
    pub fn remember(
        &mut self,
        tag: Tag,
        (steps, unchanged): (impl ExactSizeIterator<Item = Step>, u64),
        states: u64,
    ) {
        self.make_room(states);
        if self.lines.is_empty() {
            return;
        }
        let count = steps.len();
        let mut line = Line { tag: tag.key, ..Line::EMPTY };
        let note = if count <= STEPS {
            line.steps.iter_mut().zip(steps).for_each(|(place, step)| *place = step);
            count as u64
        } else {
            if self.beside.len() + count > MOST_BESIDE {
                self.lines.fill(Line::EMPTY);
                self.beside.clear();
            }
            line.steps[0] = Step([self.beside.len() as u64, count as u64]);
            self.beside.extend(steps);
            BESIDE
        };
        line.tag[1] |= (note | unchanged << COUNT) << NOTE;
        self.put(line);
    }

    fn put(&mut self, line: Line) {
        let at = (hash_of(&[line.tag[0], line.tag[1] & TAG]) >> self.shift) as usize;
        let at = match (self.lines[at].is_free(), self.lines[at ^ 1].is_free()) {
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
        let Some(more) = ZeroedList::new(more) else { return };
        let old = std::mem::replace(&mut self.lines, more);
        (self.lost, self.shift) = (0, 64 - self.lines.len().ilog2());
        old.iter().filter(|line| !line.is_free()).for_each(|line| self.put(*line));
        self.lost = 0;
    }

    pub fn bytes(&self) -> u64 {
        let of_process = |process: &Process| size_of::<Process>() + 2 * process.by_number.capacity();
        let of_class = |class: &Class| {
            class.each.iter().map(of_process).sum::<usize>() + class.groups.capacity() * size_of::<Group>()
        };
        let lines = self.lines.bytes() + self.beside.capacity() * size_of::<Step>();
        (lines + self.classes.iter().flatten().map(of_class).sum::<usize>()) as u64
    }
}
