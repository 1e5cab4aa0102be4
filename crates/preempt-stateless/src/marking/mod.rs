//! Musuvathi and Qadeer 2007 (paper 001), Algorithm 2: `Search` drives the program to graphs that are new, `Mark` closes what
//! leads nowhere new. The default.
//!
//! **What it computes.** A graph (that is, a prefix of a run) is *closed* within a bound if every complete run that continues
//! it within the bound has been executed. `Search` never enters a closed graph. When a run is complete, `Mark` closes its
//! graph, and then those prefixes of it all of whose successors are closed or beyond the bound.
//!
//! **Why it is right.** Theorem 3: at the end every graph with a context bound of at most c is in the table. Theorem 4: where
//! `Search` stands there is always a step to a graph that is not closed, so every run that is begun is completed, and has a
//! graph that no run had before: as many executions as complete graphs, whatever the bound.
//!
//! **Raising the bound.** The paper fixes the bound; we raise it and keep what was done. For every closed graph the
//! table has the smallest bound within which it is open again: a step that was cut costs so much, or leads to a graph
//! that is open again then. So nothing has to be removed: raising the bound *is* the un-marking, executed runs (which
//! are never open again) are kept, and a program is explored exhaustively once the empty graph is never open again.
//!
//! That number grows when a step that was cut turns out to lead to a graph that was closed from elsewhere, so `Mark`
//! passes on what it learns to closed prefixes too. Then no run is begun in vain, as in Theorem 4, except under a
//! fair bound, where the paper's Lemma 2 fails: a state may have only continuations that are cut. `Search` marks such
//! a state itself.
//!
//! **Independent work.** A thread whose next step is hidden goes on before anybody else may move (`racing.rs`), so only
//! prefixes that do not separate hidden steps from those before are ever looked at; and a thread that shares nothing moves
//! when somebody waits for it, or nobody else can (`private.rs`), so that there are no prefixes for its place among others. When something is found to race, fewer
//! steps are hidden: all but complete graphs are open again, and the frames on the stack compute their branches anew.
//! Searches that share a table share what they know to race, too.
//!
//! **What it costs.** Executions: one for each complete graph. Besides, in the worst case each prefix of each graph is marked
//! once for each bound, without running the program. Memory: the table, 24 bytes for each prefix that was closed, and as much
//! for the check that the program is deterministic.
//!
//! **Tried and dropped.** *Sleep sets*: under a bound they lose runs (paper 001, Fig. 1). *Looking at the successors of a
//! prefix twice*, to see whether it is closed and then for when it opens again: the two are one number
//! (`opens_at` in `mark.rs`), and `Mark` was half of the time. *A prefix for each step of independent work*: n threads with k
//! steps each had k^n of them.

mod mark;

use crate::context_bound::ContextBounds;
use crate::executable::{Executable, Flow, Move};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::graph::Graph;
use crate::operation::Operation;
use crate::prefix::Prefix;
use crate::recorder::RunRecorder;
use crate::runner::{Diverged, Runner};
use crate::stamp::Stamp;
use crate::table::{ALL_EPOCHS, Closed, SharedTable, StampMap, Table};
use crate::team::{Team, TeamProgress};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Never open again: everything behind it has been executed.
const NEVER: u32 = u32::MAX;

struct Search<'a, E, T, H> {
    runner: Runner<'a, E>,
    graph: Graph,
    /// The smallest bound within which each graph is open.
    closed: H,
    bounds: ContextBounds,
    recorder: RunRecorder<'a>,
    observer: &'a mut T,
    bound: u32,
    /// A digest of the pending operations in each graph that a run has been in: it must always be the same.
    pending_digests: StampMap<u64>,
    /// A step was left out because it was unfair.
    unfair: bool,
    marks: u64,
    team: Team,
    /// Of the graph, when what is remembered was found out.
    epoch: u32,
    /// Memory for [`Search::opens_at`]: the moves, and when what they lead to opens.
    moves: Vec<Move>,
    openings: Vec<u32>,
}

/// One call of `Search`.
struct Frame {
    prefix: Prefix,
    /// Preemptions of the path to it.
    cost: u32,
    branches: Vec<Branch>,
    next: usize,
    /// When the branches were made.
    epoch: u32,
}

struct Branch {
    step: Move,
    successor: Stamp,
    /// Preemptions of this path with the step: no less than the context bound, and known without effort.
    cost: u32,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    let team = Team { progress: Arc::new(TeamProgress::new(limits)), racing: None, size: 1, member: 0 };
    Search::new(program, limits, observer, StampMap::<Closed>::default(), team).explore()
}

/// One of several searches that share a table.
pub(crate) fn explore_from<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    table: &SharedTable,
    team: Team,
) -> Exploration {
    Search::new(program, limits, &mut (), table, team).explore()
}

impl<'a, E: Executable, T: RunObserver, H: Table> Search<'a, E, T, H> {
    fn new(
        program: &'a mut E,
        limits: &'a ExplorationLimits,
        observer: &'a mut T,
        closed: H,
        team: Team,
    ) -> Search<'a, E, T, H> {
        let runner = Runner::new(program);
        let mut graph = Graph::new(runner.program());
        graph.hide();
        if team.racing.is_some() {
            graph.others_may_defer();
        }
        Search {
            runner,
            graph,
            closed,
            bounds: ContextBounds::new(limits.fair),
            recorder: RunRecorder::of_member(limits, Arc::clone(&team.progress)),
            observer,
            bound: 0,
            pending_digests: StampMap::default(),
            unfair: false,
            marks: 0,
            team,
            epoch: 0,
            moves: Vec::new(),
            openings: Vec::new(),
        }
    }

    fn explore(mut self) -> Exploration {
        let result = self.iterate();
        self.recorder.exploration.graphs = self.closed.graphs();
        self.recorder.exploration.prefixes = self.bounds.prefixes() as u64;
        self.recorder.exploration.visits = self.marks;
        self.recorder.exploration.unfair = self.unfair;
        self.recorder.finish(result, &self.runner)
    }

    fn iterate(&mut self) -> Result<(), ExplorationStop> {
        loop {
            self.search()?;
            // Another search may be about to find out that the graphs it has closed never open again.
            self.team.progress.wait_for_all(self.bound, self.team.size);
            // Who has found the last race has searched all of this bound since.
            self.begin_epoch();
            self.recorder.completed_bound(self.bound);
            if self.opening_of(Stamp::EMPTY) == NEVER {
                self.recorder.exploration.exhaustive = !self.unfair;
                return Ok(());
            }
            if self.recorder.is_last(self.bound) {
                return Ok(());
            }
            self.bound += 1;
        }
    }

    /// Lines 3 to 14, with the stack made explicit.
    fn search(&mut self) -> Result<(), ExplorationStop> {
        debug_assert!(self.graph.path().is_empty());
        if self.is_closed(Stamp::EMPTY) {
            return Ok(());
        }
        let mut stack = Vec::new();
        self.enter(&mut stack, 0, false)?;
        while let Some(frame) = stack.last_mut() {
            if frame.epoch != self.epoch {
                let moves = self.graph.moves_in(&frame.prefix.counts);
                let last = self.graph.path().last().map(|step| step.thread);
                frame.branches = self.branches(&frame.prefix, frame.cost, moves, last);
                (frame.next, frame.epoch) = (0, self.epoch);
            }
            let Some(branch) = frame.branches.get(frame.next) else {
                if let Some(done) = stack.pop() {
                    self.leave(done)?;
                    self.back();
                }
                continue;
            };
            frame.next += 1;
            if self.is_closed(branch.successor) {
                continue;
            }
            // The path's own cost is an upper bound of the context bound: the dynamic program runs only beyond it.
            if branch.cost > self.bound
                && self.bounds.of_step(&self.graph, &frame.prefix, branch.step.thread) > self.bound
            {
                continue;
            }
            let (step, cost) = (branch.step, branch.cost);
            let flow = self.graph.follow(&mut self.runner, step)?;
            self.begin_epoch();
            self.enter(&mut stack, cost, flow == Flow::Stop)?;
        }
        Ok(())
    }

    /// If something is found to race, here or by another member of the team, what is remembered counts no more.
    fn begin_epoch(&mut self) {
        if let Some(team) = &self.team.racing {
            self.graph.exchange_races(team, self.epoch);
        }
        if self.graph.epoch() != self.epoch {
            self.epoch = self.graph.epoch();
            self.bounds.forget();
        }
    }

    fn back(&mut self) {
        if !self.graph.path().is_empty() {
            self.graph.pop();
            self.runner.rewind(self.graph.path().len());
        }
    }

    /// A graph that is not closed: a complete run, or one more frame.
    fn enter(&mut self, stack: &mut Vec<Frame>, cost: u32, stopped: bool) -> Result<(), ExplorationStop> {
        self.runner.arrive()?;
        let prefix = self.graph.whole();
        self.check_determinism(prefix.stamp)?;
        let moves = if stopped { Vec::new() } else { self.runner.moves() };
        // What the graph says follows from the steps alone, so the program does not keep to its invariants.
        if cfg!(debug_assertions) && !stopped && self.graph.moves_in(&prefix.counts) != moves {
            let thread = self.runner.last().unwrap_or(0);
            let step = self.runner.len().saturating_sub(1);
            return Err(Diverged { step, thread, expected: None, found: None }.into());
        }
        if moves.is_empty() {
            let result = self.complete(&prefix);
            let marked = self.mark_predecessors(&prefix);
            self.back();
            return result.and(marked);
        }
        if self.runner.is_endless(self.recorder.limits.steps) {
            let (schedule, preemptions) = (self.runner.schedule(), cost);
            self.recorder.failed(FailingRun { schedule, preemptions, livelock: true })?;
            // Not stopped at: close it, as a run that ended.
            self.closed.raise(prefix.stamp, NEVER, ALL_EPOCHS);
            self.back();
            return self.recorder.check_limits();
        }
        let branches = self.branches(&prefix, cost, moves, self.runner.last());
        stack.push(Frame { prefix, cost, branches, next: 0, epoch: self.epoch });
        Ok(())
    }

    /// The moves that have to be tried, and in which order.
    fn branches(
        &mut self,
        prefix: &Prefix,
        cost: u32,
        mut moves: Vec<Move>,
        last: Option<usize>,
    ) -> Vec<Branch> {
        let left = last.filter(|&last| moves.contains(&Move::from(last)));
        if let Some(must_continue) = self.graph.must_continue(&prefix.counts) {
            moves.retain(|step| step.thread == must_continue);
        } else {
            moves.retain(|step| !self.graph.is_deferred(&prefix.counts, step.thread));
        }
        // Going on is free, so it comes first: cheap runs are made before expensive ones.
        moves.sort_by_key(|step| Some(step.thread) != left);
        let mut branches = Vec::with_capacity(moves.len());
        for step in moves {
            if !self.bounds.fair(&self.graph, prefix, step.thread) {
                self.unfair = true;
                continue;
            }
            let Some(successor) = self.graph.successor_stamp(prefix, step) else { continue };
            let cost = cost + u32::from(left.is_some_and(|left| left != step.thread));
            branches.push(Branch { step, successor, cost });
        }
        match self.team.member {
            0 => {}
            1 => branches.reverse(),
            member => {
                let turn = (prefix.stamp.0 as usize).wrapping_mul(member) % branches.len().max(1);
                branches.rotate_left(turn);
            }
        }
        branches
    }

    /// A complete run, unless another search was here first.
    fn complete(&mut self, prefix: &Prefix) -> Result<(), ExplorationStop> {
        if !self.closed.raise(prefix.stamp, NEVER, ALL_EPOCHS) {
            return self.recorder.check_limits();
        }
        self.marks += 1;
        let end = self.runner.program_mut().end();
        self.observer.observe(&self.graph);
        let (graph, fair, bound) = (&self.graph, self.recorder.limits.fair, self.bound);
        self.recorder.completed_run(end, || FailingRun::cheapest(graph, fair, bound))
    }

    fn is_closed(&self, stamp: Stamp) -> bool {
        self.opening_of(stamp) > self.bound
    }

    fn opening_of(&self, stamp: Stamp) -> u32 {
        self.closed.opens_at(stamp, self.epoch)
    }

    /// `Err` if the program stands elsewhere than an earlier run did with the same steps behind it: then it is not
    /// deterministic.
    fn check_determinism(&mut self, stamp: Stamp) -> Result<(), Diverged> {
        // Numbers of threads and names of objects depend on the path: they are left out, and so is the order.
        let kind = |operation: Operation| {
            (
                operation.code,
                std::mem::discriminant(&operation.choices),
                operation.accesses.map(|a| a.map(|a| a.write)),
            )
        };
        let hasher = foldhash::fast::FixedState::default();
        let pending =
            self.graph.threads().iter().map(|log| hasher.hash_one((log.name, log.pending.map(kind))));
        let digest = pending.fold(0, |digest, one| digest ^ one);
        match *self.pending_digests.entry(stamp).or_insert(digest) == digest {
            true => Ok(()),
            false => {
                let (step, thread) = (self.runner.len(), self.runner.last().unwrap_or(0));
                Err(Diverged { step, thread, expected: None, found: None })
            }
        }
    }

    /// After the loop of lines 8 to 12 the graph is closed; almost always `Mark` has said so already, unless it lies within a
    /// block: then it is as closed as what it must lead to.
    fn leave(&mut self, frame: Frame) -> Result<(), ExplorationStop> {
        let Frame { prefix, .. } = frame;
        if self.is_closed(prefix.stamp) {
            return Ok(());
        }
        let next = self.graph.must_continue(&prefix.counts).map(Move::from);
        match next.and_then(|step| self.graph.successor_stamp(&prefix, step)) {
            Some(next) => {
                self.closed.raise(prefix.stamp, self.opening_of(next), self.epoch);
                Ok(())
            }
            None => self.mark(vec![prefix]),
        }
    }
}
