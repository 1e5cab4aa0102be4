//! Coons, Musuvathi and McKinley 2013 (paper 003): bounded partial-order reduction (its Algorithm 1), with the preemption
//! bound (Algorithm 2) or another [`BoundFunction`], the fair bound (Algorithm 3), both together, or none.
//!
//! **What it computes.** A depth-first search that begins with one thread at each point of the run. For the next step of each
//! thread it looks back for the most recent steps that depend on it, and adds the thread to those to be tried there; under
//! a preemption bound also where the block of that step begins, since a switch may be free there that is not further on.
//!
//! **Why it is right.** Theorems 4 and 10: a set of steps that is persistent in the sense of the bound is sufficient locally.
//! Theorems 7 and 13: what the search has tried at a point, when it leaves it, is such a set. (`persistent.rs` has those
//! definitions as predicates, and tests compare.) Plain persistent sets are not enough under a bound: the steps that they
//! postpone may cost more later.
//!
//! **What it costs.** No table, so no memory beyond the stack; but the same graph may be run more than once, and every
//! bound starts anew. For each step all steps before it are looked at, once for each thread.
//!
//! Where we differ from the text:
//! - Line 8 of Algorithm 2 can be read as asking for a block start strictly before step `i`. Lemma 5, case 5.3, uses the
//!   start of the block that *contains* `i`, which is what is added here.
//! - A thread's last step enables those who wait for its end, and so changes which switches are free; it counts as
//!   dependent with their pending `join`.
//! - Algorithm 3 adds a thread `u` at a point even if its step there is beyond the fair bound and thus not explored.
//!   Then the explored set need not be persistent (requirement 1 of definition 1.10 fails for `u`, and a third thread
//!   may have to yield before `u` can move). All enabled threads are added in this case.
//! - Under both bounds together (which the paper does not treat) a yield is dependent with every step: it decides who
//!   may go on without being preempted.
//! - A step that ends the run (a failure) depends on every other step.
//! - Where a bound on depth cuts a run, each next step counts as one that ends it: a step that is not done does not show what
//!   it depends on, and one that fails may do so in a shorter run without the steps before it. So runs that are cut are
//!   not reduced.
//! - A step counts as a release if it is one by kind, or if it was seen to enable another thread, or if somebody
//!   waits for the end of its thread: the definition and the algorithm disagree on which step is meant, so either does.

use crate::bound::BoundFunction;
use crate::executable::{Executable, Flow, Move};
use crate::explore::{Exploration, ExplorationLimits, ExplorationStop, FailingRun, RunObserver};
use crate::graph::Graph;
use crate::operation::{Need, Operation};
use crate::recorder::RunRecorder;
use crate::runner::Runner;

/// A point of the current run: the state before its `i`-th step.
struct Point {
    enabled: Vec<usize>,
    /// Every possible move: of the enabled threads, and by another choice of the disabled ones.
    moves: Vec<Move>,
    backtrack: Vec<usize>,
    visited: Vec<Move>,
    /// Those of the visited that were within the bounds.
    taken: Vec<usize>,
    /// Of the path to here.
    cost: u32,
    preemptions: u32,
    last: Option<usize>,
    /// Yields beyond the enabled thread that has yielded least, for every thread.
    unfairness: Vec<u32>,
    /// Threads whose next step is a release.
    releases: Vec<usize>,
}

impl Point {
    fn add(&mut self, thread: usize) {
        if !self.backtrack.contains(&thread) {
            self.backtrack.push(thread);
        }
    }

    fn add_all(&mut self) {
        for step in self.moves.clone() {
            self.add(step.thread);
        }
    }

    fn can_move(&self, thread: usize) -> bool {
        self.moves.iter().any(|step| step.thread == thread)
    }

    /// The next move to be tried: of a thread that is to be tried all moves are.
    fn next(&self) -> Option<Move> {
        let tried = |step: &&Move| self.backtrack.contains(&step.thread) && !self.visited.contains(step);
        // In the order in which the threads were added.
        self.moves
            .iter()
            .filter(tried)
            .min_by_key(|step| self.backtrack.iter().position(|t| *t == step.thread))
            .copied()
    }

    /// Of the path with one more step.
    fn price(&self, function: BoundFunction, thread: usize) -> u32 {
        self.cost + function.price(self.last, &self.enabled, thread)
    }
}

/// The threads that were explored at a point, when the search has left it: what definitions 1.6 and 1.10 speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explored {
    /// The steps up to the point.
    pub path: Vec<Move>,
    /// Those whose next step was explored there.
    pub threads: Vec<usize>,
}

struct Search<'a, E, T> {
    runner: Runner<'a, E>,
    graph: Graph,
    recorder: RunRecorder<'a>,
    observer: &'a mut T,
    function: BoundFunction,
    /// `None`: there is none but the fair bound.
    bound: Option<u32>,
    fair: Option<u32>,
    stack: Vec<Point>,
    cut: bool,
    unfair: bool,
    /// Of the points that were left, if somebody wants to know.
    explored: Option<Vec<Explored>>,
}

/// With the bound 0, 1, 2, ... on what the function counts, and the fair bound if there is one. Every bound starts
/// anew.
pub fn explore<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    function: BoundFunction,
    observer: &mut impl RunObserver,
) -> Exploration {
    run(program, limits, observer, |search| {
        search.function = function;
        for bound in 0.. {
            search.bound = Some(bound);
            search.cut = false;
            search.within()?;
            search.recorder.completed_bound(bound);
            search.recorder.exploration.exhaustive = !search.cut && !search.unfair;
            search.recorder.exploration.unfair = search.unfair;
            if !search.cut || search.recorder.is_last(bound) {
                break;
            }
            search.runner.reset();
        }
        Ok(())
    })
}

/// Without a bound on preemptions: dynamic partial-order reduction, within the fair bound if there is one.
pub fn explore_unbounded<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut impl RunObserver,
) -> Exploration {
    run(program, limits, observer, |search| {
        search.within()?;
        search.recorder.exploration.exhaustive = !search.unfair;
        search.recorder.exploration.unfair = search.unfair;
        Ok(())
    })
}

/// What was explored at each point within one bound on preemptions, or none, and the fair bound of the limits.
pub fn explored_sets<E: Executable>(
    program: &mut E,
    limits: &ExplorationLimits,
    bound: Option<u32>,
) -> Vec<Explored> {
    let mut sets = Vec::new();
    run(program, limits, &mut (), |search| {
        (search.bound, search.explored) = (bound, Some(Vec::new()));
        let result = search.within();
        sets = search.explored.take().unwrap_or_default();
        result
    });
    sets
}

fn run<E: Executable, T: RunObserver>(
    program: &mut E,
    limits: &ExplorationLimits,
    observer: &mut T,
    how: impl FnOnce(&mut Search<'_, E, T>) -> Result<(), ExplorationStop>,
) -> Exploration {
    let runner = Runner::new(program);
    let graph = Graph::new(runner.program());
    let recorder = RunRecorder::new(limits);
    let mut search = Search {
        runner,
        graph,
        recorder,
        observer,
        function: BoundFunction::Preemptions,
        bound: None,
        fair: limits.fair,
        stack: Vec::new(),
        cut: false,
        unfair: false,
        explored: None,
    };
    let result = how(&mut search);
    let Search { runner, recorder, .. } = search;
    recorder.finish(result, &runner)
}

impl<E: Executable, T: RunObserver> Search<'_, E, T> {
    /// `Explore`, with the stack made explicit.
    fn within(&mut self) -> Result<(), ExplorationStop> {
        self.enter(0, 0, Flow::Continue)?;
        while let Some(point) = self.stack.last_mut() {
            let Some(step) = point.next() else {
                let left = self.stack.pop();
                // A run that the bounds have cut takes time as any other.
                if left.as_ref().is_some_and(|point| point.taken.is_empty() && !point.moves.is_empty()) {
                    self.recorder.check_limits()?;
                }
                if let (Some(explored), Some(point)) = (&mut self.explored, left) {
                    explored.push(Explored { path: self.graph.path().to_vec(), threads: point.taken });
                }
                if !self.graph.path().is_empty() {
                    self.graph.pop();
                    self.runner.rewind(self.graph.path().len());
                }
                continue;
            };
            point.visited.push(step);
            // Line 12.
            let cost = point.price(self.function, step.thread);
            let preemptions =
                point.preemptions + BoundFunction::Preemptions.price(point.last, &point.enabled, step.thread);
            if self.bound.is_some_and(|bound| cost > bound) {
                self.cut = true;
                continue;
            }
            if self.fair.is_some_and(|most| point.unfairness[step.thread] > most) {
                self.unfair = true;
                continue;
            }
            point.taken.push(step.thread);
            let flow = self.graph.follow(&mut self.runner, step)?;
            self.enter(cost, preemptions, flow)?;
        }
        Ok(())
    }

    fn enter(&mut self, cost: u32, preemptions: u32, flow: Flow) -> Result<(), ExplorationStop> {
        self.runner.arrive()?;
        let mut moves = if flow == Flow::Continue { self.runner.moves() } else { Vec::new() };
        let too_deep = self.function == BoundFunction::Depth && self.bound.is_some_and(|bound| cost >= bound);
        self.add_backtrack_points(flow == Flow::Stop, too_deep && !moves.is_empty());
        let counts = self.graph.whole().counts;
        let livelock = !moves.is_empty() && self.runner.is_endless(self.recorder.limits.steps);
        let schedule = self.runner.schedule();
        if livelock {
            moves.clear();
            self.recorder.failed(FailingRun { schedule, preemptions, livelock })?;
        } else if moves.is_empty() {
            let end = self.runner.program_mut().end();
            self.observer.observe(&self.graph);
            self.recorder.completed_run(end, || FailingRun { schedule, preemptions, livelock })?;
        }
        let threads = 0..self.graph.threads().len();
        let unfairness = threads.clone().map(|thread| self.graph.unfairness(&counts, thread)).collect();
        let awaited = |thread: usize| {
            let waits = |operation: &Operation| operation.needs.contains(&Some(Need::Finished(thread)));
            self.graph.threads().iter().any(|log| log.pending.as_ref().is_some_and(waits))
        };
        let is_release = |thread: &usize| {
            let pending = self.graph.threads()[*thread].pending;
            pending.is_some_and(|operation| operation.releases) || awaited(*thread)
        };
        let releases = match self.fair {
            Some(_) => threads.filter(is_release).collect(),
            None => Vec::new(),
        };
        let last = self.runner.last();
        let enabled = moves.iter().filter(|step| step.choice == 0).map(|step| step.thread).collect();
        let mut point = Point {
            enabled,
            moves,
            backtrack: Vec::new(),
            visited: Vec::new(),
            taken: Vec::new(),
            cost,
            preemptions,
            last,
            unfairness,
            releases,
        };
        self.initialize(&mut point);
        self.stack.push(point);
        Ok(())
    }

    /// `Initialize` of Algorithms 2 and 3: a cheapest thread, so that the search can always go on.
    fn initialize(&mut self, point: &mut Point) {
        if self.bound.is_some() && self.function.tries_all() {
            point.add_all();
        }
        let most = self.fair.unwrap_or(u32::MAX);
        let own = point.last.filter(|last| point.enabled.contains(last));
        match own {
            Some(own) if point.unfairness[own] <= most => point.add(own),
            // Under both bounds there may be no thread that is cheapest in both senses: try all.
            Some(_) if self.bound.is_some() => point.add_all(),
            _ => {
                // At rest, somebody who can go on by itself.
                let moves =
                    point.moves.iter().map(|step| (step.choice, point.unfairness[step.thread], step.thread));
                let fairest = moves.min().map(|(_, _, thread)| thread);
                fairest.into_iter().for_each(|thread| point.add(thread));
            }
        }
        // Definition 1.10, requirement 2: with a release, everybody.
        if self.fair.is_some() && point.backtrack.iter().any(|thread| point.releases.contains(thread)) {
            point.add_all();
        }
    }

    /// Lines 4 to 7: for the next step of every thread, disabled ones too, and every other thread, the most recent
    /// step that depends on it. If the last step has stopped the run, it depends on all, which was not known before. If the
    /// run is cut by its depth (`cut`), so does every next step: it may be one that stops the run.
    fn add_backtrack_points(&mut self, stopped: bool, cut: bool) {
        let steps: Vec<(usize, Operation, bool)> = {
            let mut counts = vec![0; self.graph.threads().len()];
            let logs = self.graph.threads();
            let path = self.graph.path().iter();
            path.map(|&Move { thread, .. }| {
                counts[thread] += 1;
                let log = &logs[thread];
                let final_step = log.pending.is_none() && counts[thread] == log.events.len();
                (thread, log.events[counts[thread] - 1].operation, final_step)
            })
            .collect()
        };
        let pending: Vec<Option<Operation>> = self.graph.threads().iter().map(|log| log.pending).collect();
        if stopped && let Some(((last, ..), earlier)) = steps.split_last() {
            let others = (0..pending.len()).filter(|u| u != last);
            others
                .clone()
                .filter(|u| pending[*u].is_some())
                .for_each(|u| self.backtrack(&steps, earlier.len(), u));
            let recent = others.filter_map(|v| earlier.iter().rposition(|(thread, ..)| *thread == v));
            recent.for_each(|i| self.backtrack(&steps, i, *last));
        }
        for (u, next) in pending.iter().enumerate() {
            let Some(next) = next else { continue };
            let mut seen = vec![false; pending.len()];
            for (i, (v, operation, final_step)) in steps.iter().enumerate().rev() {
                if *v == u || seen[*v] {
                    continue;
                }
                let ends = *final_step && next.needs.contains(&Some(Need::Finished(*v)));
                let yields = self.bound.is_some() && self.fair.is_some() && (operation.yields || next.yields);
                if operation.conflicts(next) || ends || yields || cut {
                    seen[*v] = true;
                    self.backtrack(&steps, i, u);
                }
            }
        }
    }

    fn backtrack(&mut self, steps: &[(usize, Operation, bool)], i: usize, u: usize) {
        self.add_backtrack_point(i, u);
        if self.bound.is_some() && self.function == BoundFunction::Preemptions {
            // Algorithm 2, lines 8 and 9: where the block of the step begins, a switch may be free that is not at `i`.
            // So it may where its thread could go on spuriously only.
            let begins =
                |j: usize| steps[j - 1].0 != steps[j].0 || !self.stack[j].enabled.contains(&steps[j].0);
            let start = (1..=i).rev().find(|&j| begins(j)).unwrap_or(0);
            if start != i {
                self.add_backtrack_point(start, u);
            }
        }
    }

    fn add_backtrack_point(&mut self, i: usize, u: usize) {
        let (stack, fair) = (&mut self.stack, self.fair);
        // Did step i enable somebody? Then it was a release, whatever its kind.
        let enables = fair.is_some()
            && stack
                .get(i + 1)
                .is_some_and(|after| after.enabled.iter().any(|t| !stack[i].enabled.contains(t)));
        let point = &mut stack[i];
        let fits = fair.is_none_or(|most| {
            let moved = point.visited.last().map(|step| step.thread);
            point.unfairness.get(u).is_some_and(|&unfairness| unfairness <= most)
                && !point.releases.contains(&u)
                && !moved.is_some_and(|moved| point.releases.contains(&moved))
                && !enables
        });
        if point.can_move(u) && fits { point.add(u) } else { point.add_all() }
    }
}
