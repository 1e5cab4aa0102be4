//! Swarm verification (Holzmann, Joshi and Groce, "Swarm verification techniques", 2010): many searches that differ as
//! much as they can, each within a part of the time and the memory, and one verdict. A large state space is seen from
//! many sides instead of from one; nothing is proved.

use crate::check::interned;
#[cfg(feature = "native")]
use crate::native::Native;
use crate::reduction::Reduction;
use crate::search::{
    Figure, Goal, NoCheckpoints, Order, Published, SearchJob, SearchOptions, SearchReport, Storage, TryOrder,
    Variety, Walks,
};
use crate::store::sketch::Sketch;
use crate::{CheckError, Unsupported};
use preempt_core::{
    Budget, Coverage, Limits, Memory, Outcome, Progress, Rng, Snapshot, SourceMap, Stats, StopReason, Trace,
    Verdict,
};
use preempt_model::Model;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Memory of all searches together where nothing else is said.
const USUAL_BYTES: u64 = 256 << 20;

/// When so many searches one after the other saw nothing new, there is hardly anything left to be seen.
const ENOUGH_IN_VAIN: u64 = 200;

/// How often the observer is asked.
const LOOK_UP: Duration = Duration::from_millis(20);

/// One search of the swarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    kind: Kind,
    seed: u64,
    bound: Option<u32>,
    depth: Option<u64>,
    hashes: u32,
    /// The store has 2 to the power of this fewer bits than there is room for.
    smaller: u32,
    processes: TryOrder,
    transitions: TryOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    FewestPreemptions,
    DepthFirst,
    ContextBounded,
    RandomWalks,
}

impl Kind {
    const ALL: [Kind; 4] =
        [Kind::DepthFirst, Kind::FewestPreemptions, Kind::RandomWalks, Kind::ContextBounded];

    fn name(self) -> &'static str {
        match self {
            Kind::FewestPreemptions => "fewest-preemptions",
            Kind::DepthFirst => "depth-first",
            Kind::ContextBounded => "context-bounded",
            Kind::RandomWalks => "random",
        }
    }
}

impl Member {
    /// The kinds take turns; everything else is random, and the same for the same number.
    fn new(number: u64, seed: u64) -> Member {
        let mut rng = Rng::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let kind = Kind::ALL[(number % Kind::ALL.len() as u64) as usize];
        let mut order = || [TryOrder::LastFirst, TryOrder::FirstFirst, TryOrder::Shuffled][rng.below(3)];
        let (processes, transitions) = (order(), order());
        Member {
            kind,
            seed: rng.word(),
            bound: match kind {
                Kind::ContextBounded => Some(rng.below(8) as u32),
                Kind::RandomWalks => [None, None, Some(1), Some(3)][rng.below(4)],
                Kind::FewestPreemptions | Kind::DepthFirst => None,
            },
            depth: match kind {
                Kind::DepthFirst => [None, Some(100), Some(1000), Some(10_000)][rng.below(4)],
                _ => None,
            },
            hashes: 1 + rng.below(4) as u32,
            smaller: rng.below(6) as u32,
            processes,
            transitions,
        }
    }

    /// Within the limits of all, and cheaper than what is known already.
    fn options(&self, all: &SearchOptions, part: Limits, most: Option<u32>) -> SearchOptions {
        let bound = [self.bound, all.bound, most].into_iter().flatten().min();
        let order = match (self.kind, bound) {
            (Kind::FewestPreemptions, _) => Order::ByCost,
            (Kind::DepthFirst, None) => Order::DepthFirst,
            (Kind::RandomWalks, _) => Order::Random(Walks { seed: self.seed, most: None }),
            (Kind::ContextBounded, _) | (Kind::DepthFirst, Some(_)) => Order::Published(Published {
                figure: Figure::ContextBounded,
                cycles: false,
                shortening: false,
            }),
        };
        let room = part.memory_bytes.unwrap_or(USUAL_BYTES);
        SearchOptions {
            order,
            store: match self.kind {
                Kind::RandomWalks => Storage::Exact,
                _ => Storage::Bitstate {
                    hashes: self.hashes,
                    bits: Some(room.saturating_mul(4) >> self.smaller),
                },
            },
            bound,
            // Only where nobody is left out for a reason that a bound takes away.
            reduction: if order == Order::ByCost { Reduction::Exact } else { Reduction::None },
            limits: Limits { depth: [self.depth, all.limits.depth].into_iter().flatten().min(), ..part },
            // Every thread has a search of its own.
            threads: 1,
            ..all.clone()
        }
    }
}

/// What all members know.
struct Swarm<'a> {
    model: &'a Model,
    sources: &'a SourceMap,
    options: &'a SearchOptions,
    seed: u64,
    threads: u64,
    started: Instant,
    stop: AtomicBool,
    /// Of the whole job.
    budget: Budget,
    next: AtomicU64,
    states: AtomicU64,
    /// By all searches together, each time that one was met.
    visited: AtomicU64,
    /// When all are to end, in nanoseconds after the start.
    end: AtomicU64,
    found: Mutex<Findings>,
}

/// What they have found together.
#[derive(Default)]
struct Findings {
    sketch: Sketch,
    stats: Stats,
    kinds: BTreeMap<Kind, u64>,
    in_vain: u64,
    /// The cheapest violation.
    best: Option<SearchReport>,
    error: Option<CheckError>,
    /// At any one time.
    most_bytes: u64,
}

/// Which searches a swarm makes, and how many at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwarmSize {
    /// The same seed gives the same searches.
    pub seed: u64,
    /// At least one.
    pub threads: usize,
}

/// Many searches within `options.limits.time`, on so many threads. The bound, the depth and the memory hold for all.
pub fn swarm(
    model: &Model,
    sources: &SourceMap,
    options: &SearchOptions,
    SwarmSize { seed, threads }: SwarmSize,
    progress: &mut dyn Progress,
) -> Result<SearchReport, CheckError> {
    let Some(time) = options.limits.time else {
        return Err(Unsupported("a swarm without a limit of time".into()).into());
    };
    let swarm = Swarm {
        model,
        sources,
        options,
        seed,
        threads: threads.max(1) as u64,
        started: Instant::now(),
        stop: AtomicBool::new(false),
        budget: progress.budget(),
        next: AtomicU64::new(0),
        states: AtomicU64::new(0),
        visited: AtomicU64::new(0),
        end: AtomicU64::new(time.as_nanos() as u64),
        found: Mutex::new(Findings::default()),
    };
    let mut stopped = None;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..swarm.threads).map(|_| scope.spawn(|| swarm.work())).collect();
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(LOOK_UP);
            progress
                .update(&Snapshot { states: swarm.states.load(Ordering::Relaxed), ..Snapshot::default() });
            if let Some(reason) = progress.stop() {
                stopped = Some(reason);
                swarm.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    swarm.verdict(stopped)
}

impl Swarm<'_> {
    /// One thread: search after search, with machine code of its own.
    fn work(&self) {
        if let Err(error) = self.search_until_the_end() {
            self.locked().error.get_or_insert(error);
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    fn search_until_the_end(&self) -> Result<(), CheckError> {
        #[cfg(feature = "native")]
        if self.options.successors.is_native() {
            let budget = self.budget.part(&self.options.limits);
            let native = Native::within(self.model, self.sources, &budget)?;
            let mut native = native.reduced(Reduction::Exact);
            while self.one(&mut |job| job.search(&mut native)) {}
            return Ok(());
        }
        while self.one(&mut |job| interned(self.model, self.sources, job)) {}
        Ok(())
    }

    /// One search; false if it is time to end.
    fn one(&self, search: &mut dyn FnMut(SearchJob<'_>) -> Result<SearchReport, CheckError>) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let best = self
            .locked()
            .best
            .as_ref()
            .and_then(|best| best.outcome.counterexample.as_ref())
            .map(Trace::preemptions);
        let Some(time) = self.slice(number) else { return false };
        let visited = self.visited.load(Ordering::Relaxed);
        let states = self.options.limits.states.map(|most| most.saturating_sub(visited));
        if states == Some(0) && number > 0 {
            return false;
        }
        // Nothing is simpler than no preemption.
        if best == Some(0) || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let member = Member::new(number, self.seed);
        let memory = self.options.limits.memory_bytes.unwrap_or(USUAL_BYTES) / self.threads;
        let part = Limits {
            states: states.map(|left| left.div_ceil(self.threads)),
            time: Some(time),
            memory_bytes: Some(memory),
            ..self.options.limits
        };
        let options = member.options(self.options, part, best.map(|best| best as u32 - 1));
        let mut sketch = Sketch::default();
        let variety = Variety {
            seed: member.seed,
            processes: member.processes,
            transitions: member.transitions,
            sketch: Some(&mut sketch),
        };
        let (options, goal, checkpoints) = (&options, Goal::First, &mut NoCheckpoints);
        let progress = &mut MemberProgress { swarm: self };
        let result = search(SearchJob { options, goal, variety, checkpoints, progress, ahead: None });
        self.merge(member.kind, result, &sketch);
        true
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Findings> {
        self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn left(&self) -> Duration {
        Duration::from_nanos(self.end.load(Ordering::Relaxed)).saturating_sub(self.started.elapsed())
    }

    /// The time of the search with this number: the first ones are short, so that each kind comes soon.
    fn slice(&self, number: u64) -> Option<Duration> {
        let round = number / Kind::ALL.len() as u64;
        let all = self.options.limits.time.unwrap_or_default();
        let part = (all / 64 * (1 + round.min(15)) as u32).max(Duration::from_millis(10));
        Some(self.left().min(part)).filter(|time| !time.is_zero())
    }

    fn merge(&self, kind: Kind, result: Result<SearchReport, CheckError>, sketch: &Sketch) {
        let mut found = self.locked();
        let report = match result {
            Ok(report) => report,
            Err(error) => {
                found.error.get_or_insert(error);
                self.stop.store(true, Ordering::Relaxed);
                return;
            }
        };
        self.visited.fetch_add(report.visited, Ordering::Relaxed);
        let is_new = found.sketch.absorb(sketch);
        found.in_vain = if is_new { 0 } else { found.in_vain + 1 };
        if found.in_vain >= ENOUGH_IN_VAIN {
            self.stop.store(true, Ordering::Relaxed);
        }
        *found.kinds.entry(kind).or_default() += 1;
        let stats = &report.outcome.stats;
        found.stats.transitions += stats.transitions;
        found.stats.executions += stats.executions;
        found.stats.depth = found.stats.depth.max(stats.depth);
        found.most_bytes = found.most_bytes.max(stats.peak_bytes);
        self.states.store(found.sketch.estimate(), Ordering::Relaxed);
        if report.outcome.verdict != Verdict::Violated {
            return;
        }
        // As long again as the first took, to find a simpler one.
        let end = 2 * self.started.elapsed() + LOOK_UP;
        self.end.fetch_min(end.as_nanos() as u64, Ordering::Relaxed);
        let cost = |report: &SearchReport| {
            report.outcome.counterexample.as_ref().map(|trace| (trace.preemptions(), trace.steps.len()))
        };
        if found.best.as_ref().is_none_or(|best| cost(&report) < cost(best)) {
            found.best = Some(report);
        }
    }

    fn verdict(self, stopped: Option<StopReason>) -> Result<SearchReport, CheckError> {
        let found = self.found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let (Some(error), None) = (found.error, &found.best) {
            return Err(error);
        }
        let visited = self.visited.into_inner();
        let searches = found.kinds.iter().map(|(kind, count)| (kind.name().to_string(), *count)).collect();
        let memory = Memory { store: found.most_bytes * self.threads, ..Memory::default() };
        let stats = Stats {
            states: found.sketch.estimate(),
            time: self.started.elapsed(),
            peak_bytes: memory.store,
            unit: self.options.cost,
            violations: found
                .best
                .as_ref()
                .map(|best| best.outcome.stats.violations.clone())
                .unwrap_or_default(),
            coverage: Some(Coverage { states_are_estimated: true, searches, ..Coverage::default() }),
            ..found.stats
        };
        Ok(match found.best {
            Some(best) => {
                let outcome = Outcome { stats, ..best.outcome };
                SearchReport { outcome, errors: best.errors, simplest: false, visited }
            }
            None => {
                let reason = stopped.unwrap_or(StopReason::Partial);
                let guarantee = preempt_core::Guarantee::Exhaustive;
                let verdict = Verdict::Inconclusive(reason);
                let outcome = Outcome { verdict, guarantee, violation: None, counterexample: None, stats };
                SearchReport { outcome, errors: Vec::new(), simplest: false, visited }
            }
        })
    }
}

/// Says to a member whether all are to stop, or the time is shorter by now.
struct MemberProgress<'a, 's> {
    swarm: &'a Swarm<'s>,
}

impl Progress for MemberProgress<'_, '_> {
    fn update(&mut self, _: &Snapshot) {}

    fn stop(&self) -> Option<StopReason> {
        let over = self.swarm.stop.load(Ordering::Relaxed) || self.swarm.left().is_zero();
        over.then_some(StopReason::Interrupted)
    }

    fn budget(&self) -> Budget {
        self.swarm.budget.clone()
    }
}
