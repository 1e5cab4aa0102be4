//! A search that can be continued: everything it knows, written through a sink that the command supplies, and read
//! back. The engine itself opens no files.
//!
//! A checkpoint is made between two batches, so that the search that continues does exactly what this one would have
//! done: it ends with the same numbers and the same run.
//!
//! Its end says how long it is and what its bytes sum up to, so that whatever happened to it is noticed; and every number
//! is looked at before it is used, so that one that was made to fit is refused where it cannot be, and never leads astray
//! in memory.

use super::cost_store::{End, Who};
use super::exact::ExactStore;
use super::frontier::{Frontier, Item, MOST_LEVELS, MOST_STEPS};
use super::{ByCost, Goal, SearchOptions};
use crate::replay::Ending;
use crate::saved::{Summed, damaged, read_below, read_bytes, read_u64, write_bytes, write_u64};
use crate::store::{Opened, Store};
use crate::successors::Replayable;
use preempt_core::{Level, PropertyKind};
use preempt_model::search::RunCost;
use std::hash::{BuildHasher, Hasher};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::time::Duration;

/// Writes itself where it is told to.
pub type Save<'a> = dyn FnMut(&mut dyn Write) -> Result<()> + 'a;

/// Where checkpoints go, and where one comes from.
pub trait Checkpoints {
    /// Are there to be any, or is one to be continued from?
    fn are_wanted(&self) -> bool {
        true
    }

    /// Is it time for one?
    fn is_due(&mut self) -> bool;

    /// A place to write to; what goes wrong there is the command's to tell.
    fn save(&mut self, write: &mut Save<'_>);

    /// The checkpoint to continue from, the first time that it is asked for.
    fn resume(&mut self) -> Option<Box<dyn Read>> {
        None
    }
}

/// No checkpoints.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

impl Checkpoints for NoCheckpoints {
    fn are_wanted(&self) -> bool {
        false
    }

    fn is_due(&mut self) -> bool {
        false
    }

    fn save(&mut self, _: &mut Save<'_>) {}
}

const MAGIC: &[u8] = b"preempt checkpoint 2\n";

/// A number that is different for another model or another check.
pub fn identity<S: Replayable + ?Sized>(system: &S, options: &SearchOptions, goal: Goal) -> u64 {
    let SearchOptions { order, cost, bound, fair_switch, reduction, .. } = options;
    let check = format!("{order:?} {cost:?} {bound:?} {fair_switch} {reduction:?} {goal:?}");
    let mut hasher = foldhash::quality::FixedState::default().build_hasher();
    hasher.write(check.as_bytes());
    hasher.write_u64(system.identity());
    hasher.finish()
}

type ExactSearch<'a, S> = ByCost<'a, S, ExactStore>;

pub(super) fn save<S: Replayable + ?Sized>(search: &ExactSearch<'_, S>, out: &mut dyn Write) -> Result<()> {
    let mut summed = Summed::new(out);
    search.save_all(&mut summed)?;
    summed.finish()
}

/// Takes up a search where its checkpoint left it.
pub(super) fn restore<S: Replayable + ?Sized>(
    search: &mut ExactSearch<'_, S>,
    input: &mut dyn Read,
) -> Result<()> {
    let mut summed = Summed::new(input);
    let ends = search.restore_all(&mut summed)?;
    summed.finish()?;
    search.resumed = true;
    let mut opened = Opened::default();
    for (cost, end) in ends {
        search.store.states.open(&*search.system, end.site, &mut opened);
        let is_one = search.system.violation(&opened.bytes, end.ending).is_some();
        if !is_one && search.budget.stopped().is_none() {
            return Err(damaged("it has a violation that is none"));
        }
        search.violation(cost, end, &opened.bytes);
    }
    Ok(())
}

impl<S: Replayable + ?Sized> ExactSearch<'_, S> {
    fn save_all(&self, out: &mut dyn Write) -> Result<()> {
        out.write_all(MAGIC)?;
        write_u64(out, identity(&*self.system, self.options, self.goal))?;
        self.system.save(out)?;
        self.store.states.save(out)?;
        self.store.predecessors.save(out)?;
        self.store.frontier.save(out)?;
        write_u64(out, self.at.preemptions.into())?;
        write_u64(out, self.at.steps)?;
        save_items(out, self.store.frontier.rest())?;
        self.save_numbers(out)?;
        // Another depth may be asked for when it goes on.
        let nearest = self.cheapest.iter().chain(&self.beyond).min_by_key(|(cost, _)| *cost);
        let all = self.all.values().chain(&self.beyond);
        match self.goal {
            Goal::All => save_ends(out, all.collect())?,
            Goal::First | Goal::Count => save_ends(out, nearest.into_iter().collect())?,
        }
        write_u64(out, self.wrong.len() as u64)?;
        for (state, reported) in &self.wrong {
            write_u64(out, u64::from(*state) << 1 | u64::from(*reported))?;
        }
        Ok(())
    }

    fn save_numbers(&self, out: &mut dyn Write) -> Result<()> {
        let stats = &self.statistics.stats;
        let numbers = [stats.states, stats.transitions, stats.revisits, stats.depth];
        numbers.into_iter().try_for_each(|number| write_u64(out, number))?;
        write_u64(out, self.budget.elapsed().as_micros() as u64)?;
        write_u64(out, stats.levels.len() as u64)?;
        for level in &stats.levels {
            write_u64(out, level.states)?;
            write_u64(out, level.transitions)?;
        }
        write_u64(out, stats.violations.len() as u64)?;
        for (kind, count) in &stats.violations {
            write_bytes(out, kind.name().as_bytes())?;
            write_u64(out, *count)?;
        }
        Ok(())
    }

    /// Returns the violations that were found.
    fn restore_all(&mut self, input: &mut dyn Read) -> Result<Vec<(RunCost, End)>> {
        let mut magic = vec![0; MAGIC.len()];
        input.read_exact(&mut magic).map_err(|_| damaged("it is no checkpoint"))?;
        if magic != MAGIC {
            return Err(damaged("it is no checkpoint of this version"));
        }
        if read_u64(input)? != identity(&*self.system, self.options, self.goal) {
            return Err(damaged("it belongs to another model, or to other options"));
        }
        self.system.restore(input)?;
        self.store.states = Store::restore(&*self.system, input)?;
        let ExactStore { states: Store { records, .. }, frontier, predecessors } = &mut self.store;
        let is_possible = |item: &Item| records.contains(item.state) && records.contains(item.from);
        predecessors.restore(input, &is_possible)?;
        *frontier = Frontier::restore(input, &is_possible)?;
        self.at.preemptions = read_below(input, MOST_LEVELS)? as u32;
        self.at.steps = read_below(input, MOST_STEPS)?;
        frontier.begin_with(restore_items(input, &is_possible)?);
        if frontier.lowest().is_some_and(|lowest| lowest < (self.at.preemptions, self.at.steps)) {
            return Err(damaged("something waits that should have been done"));
        }
        let count = records.count();
        let mut ends = Vec::new();
        self.restore_numbers(input)?;
        for _ in 0..read_u64(input)? {
            ends.push(restore_end(input)?);
        }
        for _ in 0..read_u64(input)? {
            let packed = read_below(input, 1 << 33)?;
            self.wrong.insert((packed >> 1) as u32, packed & 1 != 0);
        }
        let records = &self.store.states.records;
        let named = ends.iter().map(|(_, end)| end.site).chain(self.wrong.keys().copied());
        let stats = &self.statistics.stats;
        let sum = |number: fn(&Level) -> u64| {
            stats.levels.iter().try_fold(0u64, |sum, level| sum.checked_add(number(level)))
        };
        let adds_up = stats.states == count
            && sum(|level| level.states) == Some(stats.states)
            && sum(|level| level.transitions) == Some(stats.transitions);
        if !adds_up || !named.into_iter().all(|state| records.contains(state)) {
            return Err(damaged("its numbers do not fit together"));
        }
        Ok(ends)
    }

    fn restore_numbers(&mut self, input: &mut dyn Read) -> Result<()> {
        let stats = &mut self.statistics.stats;
        stats.states = read_u64(input)?;
        stats.transitions = read_u64(input)?;
        stats.revisits = read_u64(input)?;
        stats.depth = read_u64(input)?;
        self.budget.before = Duration::from_micros(read_u64(input)?);
        for level in 0..read_u64(input)? {
            let (states, transitions) = (read_u64(input)?, read_u64(input)?);
            stats.levels.push(Level { level: level as u32, states, transitions });
        }
        if stats.levels.len() as u64 > u64::from(self.at.preemptions) + 1 {
            return Err(damaged("it was at levels that come later"));
        }
        for _ in 0..read_u64(input)? {
            let name = read_bytes(input)?;
            let kind = PropertyKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == name);
            let kind = kind.ok_or_else(|| damaged("it names a violation that does not exist"))?;
            if stats.violations.insert(kind, read_u64(input)?).is_some() {
                return Err(damaged("it has a kind of violation twice"));
            }
        }
        Ok(())
    }
}

/// What is wrong with a checkpoint.
pub(super) fn describe(error: &Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "it ends too early".into(),
        _ => error.to_string(),
    }
}

fn save_ends(out: &mut dyn Write, ends: Vec<&(RunCost, End)>) -> Result<()> {
    write_u64(out, ends.len() as u64)?;
    for (cost, end) in ends {
        let (process, violation) = match end.ending {
            Ending::During { process, violation } => (process, u64::from(violation) + 1),
            Ending::InState => (end.last, 0),
        };
        let numbers = [cost.preemptions.into(), cost.steps, end.site.into(), process.into(), violation];
        numbers.into_iter().try_for_each(|number| write_u64(out, number))?;
    }
    Ok(())
}

fn restore_end(input: &mut dyn Read) -> Result<(RunCost, End)> {
    let cost = RunCost {
        preemptions: read_below(input, MOST_LEVELS)? as u32,
        steps: read_below(input, MOST_STEPS)?,
    };
    let (site, last) = (read_below(input, 1 << 32)? as u32, read_below(input, 1 << 8)? as u8);
    let ending = match read_below(input, 1 << 32)? {
        0 => Ending::InState,
        violation => Ending::During { process: last, violation: violation as u32 - 1 },
    };
    Ok((cost, End { site, last, ending }))
}

pub(super) fn save_items(out: &mut dyn Write, items: &[Item]) -> Result<()> {
    write_u64(out, items.len() as u64)?;
    for item in items {
        let who = match item.who {
            Who::Last => 0,
            Who::Others => 1,
            Who::Nobody => 2,
        };
        out.write_all(&item.state.to_le_bytes())?;
        out.write_all(&item.from.to_le_bytes())?;
        out.write_all(&[item.by, item.last, who])?;
    }
    Ok(())
}

pub(super) fn restore_items(input: &mut dyn Read, is_possible: &dyn Fn(&Item) -> bool) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for _ in 0..read_u64(input)? {
        let mut bytes = [0; 11];
        input.read_exact(&mut bytes)?;
        let [s0, s1, s2, s3, f0, f1, f2, f3, by, last, who] = bytes;
        let who = match who {
            0 => Who::Last,
            1 => Who::Others,
            2 => Who::Nobody,
            _ => return Err(damaged("it has a number that cannot be")),
        };
        let (state, from) = (u32::from_le_bytes([s0, s1, s2, s3]), u32::from_le_bytes([f0, f1, f2, f3]));
        let item = Item { state, from, by, last, who };
        if !is_possible(&item) {
            return Err(damaged("it names a state that is not there"));
        }
        items.push(item);
    }
    Ok(items)
}
