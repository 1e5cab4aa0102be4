//! A search in order of cost that several processes make together: from what each part has found to one report.
//!
//! The parts find the least cost and all numbers ([`super::by_cost::part`]). They do not remember how states were reached: of
//! several runs that cost the same one process shows the first that it meets, and which that is depends on everything it
//! met before, in order. So if there is a violation, the first part searches for it as one process would, up to the known
//! cost and on disk if that does not fit into memory; what it finds is the same run, with the same numbers, or it is an error.

use super::by_cost::part::{PartResult, SearchPart, code_of, reason_of};
use super::by_cost::wire::{put_number, take_number};
use super::by_cost::{ByCost, ExactStore, checkpoint};
use super::report::{Findings, report};
use super::{Goal, NoCheckpoints, SearchJob, SearchOptions, SearchReport};
use crate::parts::{Exchange, Mail, Moment, Part, PartFiles, Post, Traffic};
use crate::store::known::Reach;
use crate::successors::Replayable;
use crate::{CheckError, Unsupported};
use preempt_core::{Level, Limits, Memory, Progress, PropertyKind, Stats, StopReason, Verdict};
use preempt_model::search::RunCost;
use std::time::Instant;

/// How a search is made in parts.
#[allow(missing_debug_implementations, reason = "a listener need not have one")]
pub struct InParts<'a> {
    /// For the whole; the limit of states is for all parts together, those of time and memory for each.
    pub options: &'a SearchOptions,
    /// The simplest violation, or the number of states.
    pub goal: Goal,
    /// Between the parts.
    pub exchange: &'a mut dyn Exchange,
    /// For checkpoints.
    pub files: &'a mut dyn PartFiles,
    /// Hears how far this part is, and may end it.
    pub progress: &'a mut dyn Progress,
}

/// What all parts together have found.
#[derive(Debug, Clone, PartialEq)]
pub struct PartsReport {
    /// Only the first part has it.
    pub report: Option<SearchReport>,
    /// What each of them has sent.
    pub traffic: Vec<Traffic>,
    /// The least cost of a violation, if there is one; its run is in the report unless something ended the search for it.
    pub cost: Option<RunCost>,
}

impl InParts<'_> {
    /// Searches any source of successors whose states can be sent.
    pub(crate) fn search<S: Replayable + ?Sized>(self, system: &mut S) -> Result<PartsReport, CheckError> {
        let InParts { options, goal, exchange, files, progress } = self;
        let (started, place) = (Instant::now(), exchange.place());
        let initial = system.initial();
        let can_be_sent = |state: &Vec<u8>| system.describe_class(system.class_of(state)).is_some();
        if goal == Goal::All || !initial.iter().all(can_be_sent) {
            let why = "a search in parts, of what is no model in machine code or for every violation";
            return Err(Unsupported(why.into()).into());
        }
        let continued = agree(exchange, checkpoint::identity(&*system, options, goal), files.kept())?;
        let of_part = SearchOptions { limits: Limits { states: None, ..options.limits }, ..options.clone() };
        let search = ByCost::new(&mut *system, ExactStore::new(), &of_part, goal);
        let last = continued.unwrap_or(0);
        let mut part = SearchPart::new(search, place, last, &mut *files, &mut *progress);
        part.most_states = options.limits.states;
        let failure = continued.and_then(|number| part.resume(number).err());
        // Nobody begins if somebody cannot.
        let failures = gather(exchange, failure.unwrap_or_default().into_bytes())?;
        if let Some((number, why)) = failures.iter().enumerate().find(|(_, why)| !why.is_empty()) {
            let why = String::from_utf8_lossy(why);
            return Err(CheckError::Checkpoint(format!("part {number}: {why}")));
        }
        exchange.run(&mut part).map_err(CheckError::Parts)?;
        let own = part.finish();
        if let Some(error) = system.error() {
            return Err(error.into());
        }
        let parts = gather(exchange, written(&own))?;
        let parts: Option<Vec<PartResult>> = parts.iter().map(|bytes| read(bytes)).collect();
        let parts = parts.ok_or_else(|| CheckError::Parts("a part has sent what cannot be read".into()))?;
        let traffic = parts.iter().map(|part| part.traffic).collect();
        let whole = merged(parts);
        let cost = whole.known.filter(|_| whole.stopped.is_none());
        if place.0 != 0 {
            return Ok(PartsReport { report: None, traffic, cost });
        }
        let mut found = match cost {
            Some(cost) => {
                let time = options.limits.time.map(|most| most.saturating_sub(started.elapsed()));
                let limits = Limits { time, ..of_part.limits };
                let cheaper_than = Some(RunCost { steps: cost.steps + 1, ..cost });
                let alone = SearchOptions { limits, cheaper_than, ..of_part };
                shown(system, &alone, cost, whole, progress)?
            }
            None => finished(options, goal, whole),
        };
        found.outcome.stats.time = started.elapsed();
        Ok(PartsReport { report: Some(found), traffic, cost })
    }
}

/// Nothing was found, or something ended the search; or everything was counted.
fn finished(options: &SearchOptions, goal: Goal, whole: PartResult) -> SearchReport {
    let PartResult { stats, memory, stopped, .. } = whole;
    let is_violated = goal == Goal::Count && stats.violations.values().any(|count| *count > 0);
    let verdict = match stopped {
        Some(reason) => Verdict::Inconclusive(reason),
        None => Verdict::conclude(is_violated, None),
    };
    report(options, Findings { verdict, errors: Vec::new(), stats, memory, reach: Reach::Whole })
}

/// The run of this cost, as one process finds it.
fn shown<S: Replayable + ?Sized>(
    system: &mut S,
    options: &SearchOptions,
    cost: RunCost,
    whole: PartResult,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let mut none = NoCheckpoints;
    let mut found = SearchJob::new(options, Goal::First, &mut none, progress).search(system)?;
    match found.outcome.verdict {
        Verdict::Violated => {
            let numbers = |stats: &Stats| (stats.states, stats.transitions, stats.levels.clone());
            let (alone, together) = (numbers(&found.outcome.stats), numbers(&whole.stats));
            if alone != together {
                let why =
                    format!("internal error: the parts have met {together:?}, and one process {alone:?}");
                return Err(CheckError::Parts(why));
            }
        }
        Verdict::Holds => {
            let why =
                format!("internal error: the parts found a violation of {cost:?}, and one process none");
            return Err(CheckError::Parts(why));
        }
        Verdict::Inconclusive(_) => {}
    }
    let PartResult { stats, memory, .. } = whole;
    let peak_bytes = memory.store + memory.frontier + memory.parents;
    found.outcome.stats = Stats { unit: options.cost, memory: Some(memory), peak_bytes, ..stats };
    Ok(found)
}

/// Are all parts about the same search, and from which checkpoint does it go on, if from one?
fn agree(
    exchange: &mut dyn Exchange,
    identity: u64,
    kept: Option<Vec<u64>>,
) -> Result<Option<u64>, CheckError> {
    let mut own = Vec::new();
    put_number(&mut own, identity);
    put_number(&mut own, u64::from(kept.is_some()));
    kept.iter().flatten().for_each(|number| put_number(&mut own, *number));
    let mut common: Option<Vec<u64>> = kept;
    for (number, hello) in gather(exchange, own)?.iter().enumerate() {
        let mut input = &hello[..];
        if take_number(&mut input) != Some(identity) {
            let why = format!("part {number} has another model, or other options");
            return Err(CheckError::Parts(why));
        }
        if take_number(&mut input) != Some(u64::from(common.is_some())) {
            let why =
                format!("part {number} begins anew, and another goes on from a checkpoint, or the reverse");
            return Err(CheckError::Parts(why));
        }
        let mut theirs = Vec::new();
        while let Some(number) = take_number(&mut input) {
            theirs.push(number);
        }
        if let Some(common) = &mut common {
            common.retain(|number| theirs.contains(number));
        }
    }
    match common {
        None => Ok(None),
        Some(common) => match common.into_iter().max() {
            Some(number) => Ok(Some(number)),
            None => Err(CheckError::Checkpoint("there is none of which every part is there".into())),
        },
    }
}

/// What each part has to say, by their numbers.
fn gather(exchange: &mut dyn Exchange, own: Vec<u8>) -> Result<Vec<Vec<u8>>, CheckError> {
    let (number, count) = exchange.place();
    let mut all = Gathering { own: number, found: vec![Vec::new(); count] };
    all.found[number] = own;
    exchange.run(&mut all).map_err(CheckError::Parts)?;
    Ok(all.found)
}

/// Everybody tells everybody.
struct Gathering {
    own: usize,
    found: Vec<Vec<u8>>,
}

impl Part for Gathering {
    fn at(&mut self, moment: Moment, mail: Vec<Mail>, post: &mut dyn Post) -> Result<(), String> {
        if moment == (0, 0) {
            let others = (0..self.found.len()).filter(|to| *to != self.own);
            others.for_each(|to| post.send(to, self.found[self.own].clone()));
        }
        for Mail { from, bytes } in mail {
            *self.found.get_mut(from).ok_or("mail from nobody")? = bytes;
        }
        Ok(())
    }
}

/// The numbers of all parts together.
fn merged(parts: Vec<PartResult>) -> PartResult {
    let mut whole = PartResult {
        stats: Stats::default(),
        memory: Memory::default(),
        traffic: Traffic::default(),
        known: None,
        stopped: None,
    };
    for part in parts {
        let stats = &mut whole.stats;
        stats.states += part.stats.states;
        stats.transitions += part.stats.transitions;
        stats.depth = stats.depth.max(part.stats.depth);
        for level in &part.stats.levels {
            while stats.levels.len() <= level.level as usize {
                stats.levels.push(Level { level: stats.levels.len() as u32, ..Level::default() });
            }
            let all = &mut stats.levels[level.level as usize];
            all.states += level.states;
            all.transitions += level.transitions;
        }
        for (kind, count) in part.stats.violations {
            *stats.violations.entry(kind).or_default() += count;
        }
        whole.memory.store += part.memory.store;
        whole.memory.frontier += part.memory.frontier;
        whole.known = [whole.known, part.known].into_iter().flatten().min();
        whole.stopped = whole.stopped.or(part.stopped);
    }
    whole
}

fn written(part: &PartResult) -> Vec<u8> {
    let PartResult { stats, memory, traffic, known, stopped } = part;
    let known = known.unwrap_or(RunCost { preemptions: u32::MAX, steps: 0 });
    let mut numbers = vec![stats.states, stats.transitions, stats.depth, memory.store, memory.frontier];
    numbers.extend([traffic.states, traffic.messages, traffic.bytes, traffic.moments, traffic.own]);
    numbers.extend([known.preemptions.into(), known.steps, stopped.map_or(0, |reason| code_of(reason) + 1)]);
    numbers.push(stats.levels.len() as u64);
    numbers.extend(stats.levels.iter().flat_map(|level| [level.states, level.transitions]));
    numbers.extend(PropertyKind::ALL.map(|kind| stats.violations.get(&kind).copied().unwrap_or(0)));
    let mut bytes = Vec::new();
    numbers.into_iter().for_each(|number| put_number(&mut bytes, number));
    bytes
}

fn read(mut bytes: &[u8]) -> Option<PartResult> {
    let mut next = || take_number(&mut bytes);
    let (states, transitions, depth) = (next()?, next()?, next()?);
    let memory = Memory { store: next()?, frontier: next()?, parents: 0 };
    let traffic =
        Traffic { states: next()?, messages: next()?, bytes: next()?, moments: next()?, own: next()? };
    let known = RunCost { preemptions: u32::try_from(next()?).ok()?, steps: next()? };
    let stopped = next()?.checked_sub(1).map(reason_of);
    let mut stats = Stats { states, transitions, depth, ..Stats::default() };
    for level in 0..u32::try_from(next()?).ok()? {
        stats.levels.push(Level { level, states: next()?, transitions: next()? });
    }
    for kind in PropertyKind::ALL {
        let count = next()?;
        if count > 0 {
            stats.violations.insert(kind, count);
        }
    }
    let known = Some(known).filter(|known| known.preemptions < u32::MAX);
    let stopped: Option<StopReason> = match stopped {
        Some(reason) => Some(reason?),
        None => None,
    };
    Some(PartResult { stats, memory, traffic, known, stopped })
}
