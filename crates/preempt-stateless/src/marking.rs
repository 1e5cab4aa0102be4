//! Paper 001, Algorithm 2: `Search` drives the program to graphs that are new, `Mark` closes what leads nowhere new.
//!
//! A graph (that is, a prefix of a run) is *closed* within a bound if every complete run that continues it within the
//! bound has been executed. `Search` never enters a closed graph, so every complete run it makes has a graph that no
//! run had before (Theorem 4), whatever the bound.
//!
//! **Raising the bound.** The paper fixes the bound; we raise it and keep what was done. For every closed graph the
//! table has the smallest bound within which it is open again: a step that was cut costs so much, or leads to a graph
//! that is open again then. So nothing has to be removed: raising the bound *is* the un-marking, executed runs (which
//! are never open again) are kept, and a program is explored exhaustively once the empty graph is never open again.
//!
//! That number grows when a step that was cut turns out to lead to a graph that was closed by another way, so `Mark`
//! passes on what it learns to closed prefixes too. Then no run is begun in vain, as in Theorem 4, except under a
//! fair bound, where the paper's Lemma 2 fails: a state may have only continuations that are cut. `Search` marks such
//! a state itself.
//!
//! **Independent work.** A thread whose next step is hidden goes on before anybody else may move ([`crate::racing`]), so only
//! prefixes that do not separate hidden steps from those before are ever asked for. When something is found to race,
//! fewer steps are hidden: all but complete graphs are open again, and the frames on the stack look at their choices anew.

use crate::context_bound::ContextBounds;
use crate::executable::{Executable, Flow, Move, Operation, Stamp};
use crate::explore::{Exploration, Failing, Limits, Progress, Stop, Terminal, Watch};
use crate::graph::Graph;
use crate::prefix::Prefix;
use crate::runner::{Diverged, Runner};
use crate::table::{ALL_EPOCHS, ByStamp, Closed, SharedTable, Table};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Never open again: everything behind it has been executed.
const FOR_EVER: u32 = u32::MAX;

struct Search<'a, E, T, H> {
    runner: Runner<'a, E>,
    graph: Graph,
    /// The smallest bound within which each graph is open.
    closed: H,
    bounds: ContextBounds,
    watch: Watch<'a>,
    terminal: &'a mut T,
    bound: u32,
    /// What the threads stood before in each graph that a run has been in: it must always be the same.
    standing: ByStamp<u64>,
    /// A step was left out because it was unfair.
    unfair: bool,
    marks: u64,
    team: Team,
    /// Of the graph, when what is remembered was found out.
    epoch: u32,
    /// Memory for [`Search::opens_at`]: the ways on, and when what they lead to opens.
    steps: Vec<Move>,
    openings: Vec<u32>,
}

/// Searches that share a table.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    pub progress: Arc<Progress>,
    pub size: usize,
    /// Which of them this is: each begins elsewhere.
    pub member: usize,
}

/// One call of `Search`.
struct Frame {
    prefix: Prefix,
    /// Preemptions of the path to it.
    cost: u32,
    choices: Vec<Choice>,
    next: usize,
    /// When the choices were made.
    epoch: u32,
}

struct Choice {
    step: Move,
    successor: Stamp,
    /// Preemptions of this path with the step: no less than the context bound, and known without effort.
    cost: u32,
}

/// Explores bound 0, 1, 2, ... until the limit, or until nothing is cut.
pub fn explore<E: Executable>(program: &mut E, limits: &Limits, terminal: &mut impl Terminal) -> Exploration {
    let team = Team { progress: Arc::default(), size: 1, member: 0 };
    run(program, limits, terminal, ByStamp::<Closed>::default(), team)
}

/// One of several searches that share a table.
pub(crate) fn explore_from<E: Executable>(
    program: &mut E,
    limits: &Limits,
    table: &SharedTable,
    team: Team,
) -> Exploration {
    run(program, limits, &mut (), table, team)
}

fn run<E: Executable, H: Table>(
    program: &mut E,
    limits: &Limits,
    terminal: &mut impl Terminal,
    closed: H,
    team: Team,
) -> Exploration {
    let runner = Runner::new(program);
    let mut graph = Graph::new(runner.program());
    if team.size == 1 {
        // Searches that share a table would have to share what they learn.
        graph.hide();
    }
    let mut search = Search {
        runner,
        graph,
        closed,
        bounds: ContextBounds::new(limits.fair),
        watch: Watch::sharing(limits, Arc::clone(&team.progress)),
        terminal,
        bound: 0,
        standing: ByStamp::default(),
        unfair: false,
        marks: 0,
        team,
        epoch: 0,
        steps: Vec::new(),
        openings: Vec::new(),
    };
    let result = search.iterate();
    let Search { runner, closed, bounds, mut watch, marks, .. } = search;
    watch.found.graphs = closed.graphs();
    watch.found.prefixes = bounds.prefixes() as u64;
    watch.found.visits = marks;
    watch.finish(result, runner.runs, runner.steps)
}

impl<E: Executable, T: Terminal, H: Table> Search<'_, E, T, H> {
    fn iterate(&mut self) -> Result<(), Stop> {
        loop {
            self.search()?;
            // Another search may be about to find out that the graphs it has closed never open again.
            self.team.progress.wait_for_all(self.bound, self.team.size);
            self.watch.completed(self.bound);
            if self.opening_of(Stamp::EMPTY) == FOR_EVER {
                self.watch.found.exhaustive = !self.unfair;
                return Ok(());
            }
            if self.watch.limits.preemptions.is_some_and(|most| self.bound >= most) {
                return Ok(());
            }
            self.bound += 1;
        }
    }

    /// Lines 3 to 14, with the stack made explicit.
    fn search(&mut self) -> Result<(), Stop> {
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
                frame.choices = self.choices(&frame.prefix, frame.cost, moves, last);
                (frame.next, frame.epoch) = (0, self.epoch);
            }
            let Some(choice) = frame.choices.get(frame.next) else {
                if let Some(done) = stack.pop() {
                    self.leave(done);
                    self.back();
                }
                continue;
            };
            frame.next += 1;
            if self.is_closed(choice.successor) {
                continue;
            }
            // The path's own cost is an upper bound of the context bound: the dynamic program runs only beyond it.
            if choice.cost > self.bound
                && self.bounds.of_step(&self.graph, &frame.prefix, choice.step.thread) > self.bound
            {
                continue;
            }
            let (step, cost) = (choice.step, choice.cost);
            let flow = self.graph.follow(&mut self.runner, step)?;
            if self.graph.epoch() != self.epoch {
                self.epoch = self.graph.epoch();
                self.bounds.forget();
            }
            self.enter(&mut stack, cost, flow == Flow::Stop)?;
        }
        Ok(())
    }

    fn back(&mut self) {
        if !self.graph.path().is_empty() {
            self.graph.pop();
            self.runner.rewind(self.graph.path().len());
        }
    }

    /// A graph that is not closed: a complete run, or one more frame.
    fn enter(&mut self, stack: &mut Vec<Frame>, cost: u32, stopped: bool) -> Result<(), Stop> {
        self.runner.arrive()?;
        let prefix = self.graph.whole();
        self.recognise(prefix.stamp)?;
        let moves = if stopped { Vec::new() } else { self.runner.moves() };
        debug_assert!(
            stopped || self.graph.moves_in(&prefix.counts) == moves,
            "the graph and the program disagree on who can move"
        );
        if moves.is_empty() {
            let result = self.complete(&prefix);
            self.mark_predecessors(&prefix);
            self.back();
            return result;
        }
        if self.runner.is_endless(self.watch.limits.steps) {
            let (schedule, preemptions) = (self.runner.schedule(), cost);
            self.watch.failed(Failing { schedule, preemptions, livelock: true })?;
            // Not stopped at: close it, as a run that ended.
            self.closed.raise(prefix.stamp, FOR_EVER, ALL_EPOCHS);
            self.back();
            return self.watch.check();
        }
        let choices = self.choices(&prefix, cost, moves, self.runner.last());
        stack.push(Frame { prefix, cost, choices, next: 0, epoch: self.epoch });
        Ok(())
    }

    /// The ways on that have to be tried, and in which order.
    fn choices(
        &mut self,
        prefix: &Prefix,
        cost: u32,
        mut moves: Vec<Move>,
        last: Option<usize>,
    ) -> Vec<Choice> {
        let left = last.filter(|&last| moves.contains(&Move::from(last)));
        if let Some(obliged) = self.graph.obliged(&prefix.counts) {
            moves.retain(|step| step.thread == obliged);
        }
        // Going on is free, so it comes first: cheap runs are made before dear ones.
        moves.sort_by_key(|step| Some(step.thread) != left);
        let mut choices = Vec::with_capacity(moves.len());
        for step in moves {
            if !self.bounds.fair(&self.graph, prefix, step.thread) {
                self.unfair = true;
                continue;
            }
            let Some(successor) = self.graph.successor_stamp(prefix, step) else { continue };
            let cost = cost + u32::from(left.is_some_and(|left| left != step.thread));
            choices.push(Choice { step, successor, cost });
        }
        match self.team.member {
            0 => {}
            1 => choices.reverse(),
            member => {
                let turn = (prefix.stamp.0 as usize).wrapping_mul(member) % choices.len().max(1);
                choices.rotate_left(turn);
            }
        }
        choices
    }

    /// A complete run, unless another search was here first.
    fn complete(&mut self, prefix: &Prefix) -> Result<(), Stop> {
        if !self.closed.raise(prefix.stamp, FOR_EVER, ALL_EPOCHS) {
            return self.watch.check();
        }
        self.marks += 1;
        let end = self.runner.program_mut().end();
        self.terminal.terminal(&self.graph);
        let (graph, fair, bound) = (&self.graph, self.watch.limits.fair, self.bound);
        self.watch.ended(end, || Failing::cheapest(graph, fair, bound))
    }

    fn is_closed(&self, stamp: Stamp) -> bool {
        self.opening_of(stamp) > self.bound
    }

    fn opening_of(&self, stamp: Stamp) -> u32 {
        self.closed.opens_at(stamp, self.epoch)
    }

    /// A program that is not deterministic may stand elsewhere with the same steps behind it.
    fn recognise(&mut self, stamp: Stamp) -> Result<(), Diverged> {
        // Numbers of threads and names of objects depend on the path: they are left out, and so is the order.
        let kind = |operation: Operation| {
            (
                operation.code,
                std::mem::discriminant(&operation.ways),
                operation.accesses.map(|a| a.map(|a| a.write)),
            )
        };
        let hasher = foldhash::fast::FixedState::default();
        let pending =
            self.graph.threads().iter().map(|log| hasher.hash_one((log.name, log.pending.map(kind))));
        let digest = pending.fold(0, |digest, one| digest ^ one);
        match *self.standing.entry(stamp).or_insert(digest) == digest {
            true => Ok(()),
            false => {
                let (step, thread) = (self.runner.len(), self.runner.last().unwrap_or(0));
                Err(Diverged { step, thread, expected: None, found: None })
            }
        }
    }

    /// After the loop of lines 8 to 12 the graph is closed; almost always `Mark` has said so already, unless it lies within a
    /// block: then it is as closed as what it must lead to.
    fn leave(&mut self, frame: Frame) {
        let Frame { prefix, .. } = frame;
        if self.is_closed(prefix.stamp) {
            return;
        }
        let obliged = self.graph.obliged(&prefix.counts).map(Move::from);
        match obliged.and_then(|step| self.graph.successor_stamp(&prefix, step)) {
            Some(next) => _ = self.closed.raise(prefix.stamp, self.opening_of(next), self.epoch),
            None => self.mark(vec![prefix]),
        }
    }

    /// Lines 15 to 22: closes the graph, and the prefixes of it that have become closed with it. Prefixes that were
    /// closed already learn that they open later than they thought.
    fn mark(&mut self, mut work: Vec<Prefix>) {
        while let Some(prefix) = work.pop() {
            if self.opening_of(prefix.stamp) == FOR_EVER {
                continue;
            }
            let Some(opens_at) = self.opens_at(&prefix) else { continue };
            if self.closed.raise(prefix.stamp, opens_at, self.epoch) {
                self.marks += 1;
                self.push_predecessors(&prefix, &mut work);
            }
        }
    }

    fn mark_predecessors(&mut self, prefix: &Prefix) {
        let mut work = Vec::new();
        self.push_predecessors(prefix, &mut work);
        self.mark(work);
    }

    /// The prefixes without a block of steps that is maximal. The prefix that has only the first step of the block leads to
    /// this one and nowhere else, so it is as closed as this one; those in between are never asked for.
    fn push_predecessors(&mut self, prefix: &Prefix, work: &mut Vec<Prefix>) {
        let opens_at = self.opening_of(prefix.stamp);
        for thread in 0..self.graph.threads().len() {
            let Some((start, first)) = self.graph.without_block(prefix, thread) else { continue };
            if first != prefix.stamp {
                self.closed.raise(first, opens_at, self.epoch);
            }
            work.push(start);
        }
    }

    /// Line 18: is every step within the bound one to a closed graph? Then the smallest bound within which the graph is open
    /// again: the least, over its steps, of what the step costs and when its successor opens, whichever is more.
    ///
    /// Line 17's condition, that the predecessor lies within the bound itself, only saves work in the paper (its
    /// invariant MIa); a graph beyond the bound has nothing behind it within the bound, so closing it is right too,
    /// and needs no dynamic program.
    fn opens_at(&mut self, prefix: &Prefix) -> Option<u32> {
        let mut steps = std::mem::take(&mut self.steps);
        let opens_at = self.opens_at_after(prefix, &mut steps);
        self.steps = steps;
        opens_at
    }

    fn opens_at_after(&mut self, prefix: &Prefix, steps: &mut Vec<Move>) -> Option<u32> {
        steps.clear();
        match self.graph.obliged(&prefix.counts) {
            Some(thread) => steps.push(thread.into()),
            None => self.graph.add_moves_in(&prefix.counts, steps),
        }
        self.openings.clear();
        for &step in &*steps {
            let next = self.graph.successor_stamp(prefix, step);
            let opening = next.map_or(FOR_EVER, |next| self.opening_of(next));
            if opening <= self.bound && self.bounds.of_step(&self.graph, prefix, step.thread) <= self.bound {
                return None;
            }
            self.openings.push(opening);
        }
        let mut opens_at = FOR_EVER;
        for (step, &opening) in steps.iter().zip(&self.openings) {
            // Also if the step leads to a graph that is closed already: what is noted must not depend on the order.
            self.unfair |= !self.bounds.fair(&self.graph, prefix, step.thread);
            if opening < opens_at {
                let cost = self.bounds.of_step(&self.graph, prefix, step.thread);
                opens_at = opens_at.min(cost.max(opening));
            }
        }
        Some(opens_at)
    }
}
