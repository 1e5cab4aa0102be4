//! The product of model and observer as a graph whose states are numbered as they are met: what every algorithm for runs
//! without end works on.
//!
//! States lie in the exact store; edges are computed anew each time they are asked for, which costs less than keeping them. With
//! several threads others compute them before ([`super::steps_ahead`]).

use super::Lasso;
use super::graph::{Edge, Expansion, Graph, Incomplete};
use super::parallel_nested_depth_first::Whole;
use super::steps_ahead::{Ahead, Computed, Following, Wanted};
use crate::Unsupported;
use crate::budget::SearchBudget;
use crate::observed::Observed;
use crate::product::Product;
use crate::replay::{LassoPath, NOBODY, PathState};
use crate::search::SearchOptions;
use crate::store::{Opened, StateNumber, Store};
use crate::successors::Successors;
use preempt_core::{Budget, Progress, Snapshot, Stats, StopReason, Trace};
use preempt_model::system::Violation;
use std::collections::HashMap;

pub struct ProductGraph<'a, 'm> {
    product: Product<'a, 'm>,
    budget: SearchBudget,
    store: Store,
    stats: Stats,
    opened: Opened,
    computed: Computed,
    /// Most that the searches needed beside the store, as they say.
    most_search_bytes: u64,
    fair_switch: bool,
    /// Are states left out that the reduction need not try?
    reduces: bool,
    judges: bool,
    /// Some step has no end: it fails, or goes round in an atomic sequence for ever.
    has_dead_ends: bool,
    /// Of a store that was used instead of this one.
    store_bytes_elsewhere: u64,
    /// By the states' numbers: how many processes they have, and whether they accept.
    processes: Vec<u8>,
    accepting: Vec<bool>,
    /// With several threads; fewer states than so many are not worth it.
    pub ahead: Option<Ahead>,
    worth_sharing: u64,
}

/// The steps from one state, and who may be left there for free.
#[derive(Debug, Default, Clone)]
pub struct CostedExpansion {
    pub edges: Vec<Edge>,
    pub free: Vec<u8>,
}

/// How often, in steps, the clock, the memory and the observer of the search are looked at.
const LOOK_EVERY: u32 = 256;

/// Fewer states than this are not worth a thread.
const WORTH_SHARING: u64 = 1 << 12;

/// A state cannot be stored: there are too many.
const FULL: Incomplete = Incomplete::Limit(StopReason::Memory);

impl<'a, 'm> ProductGraph<'a, 'm> {
    pub fn new(mut product: Product<'a, 'm>, options: &SearchOptions, progress: &dyn Progress) -> Self {
        let mut budget = SearchBudget::new(options.limits, LOOK_EVERY);
        product.work_within(budget.begin(progress));
        ProductGraph {
            product,
            budget,
            store: Store::new(),
            stats: Stats::default(),
            opened: Opened::default(),
            computed: Computed::default(),
            most_search_bytes: 0,
            fair_switch: options.fair_switch,
            reduces: true,
            judges: false,
            has_dead_ends: false,
            store_bytes_elsewhere: 0,
            processes: Vec::new(),
            accepting: Vec::new(),
            ahead: None,
            worth_sharing: WORTH_SHARING.min(options.in_order_first),
        }
    }

    /// Ends the search at a state that is a violation in itself.
    pub fn judging(self) -> Self {
        ProductGraph { judges: true, ..self }
    }

    /// What was searched so far counts for nothing any more.
    pub fn begun_again(self, options: &SearchOptions, progress: &dyn Progress) -> Self {
        let ProductGraph { product, judges, .. } = self;
        ProductGraph { judges, ..ProductGraph::new(product, options, progress) }
    }

    /// Everything there is was searched elsewhere, with this result.
    pub fn searched(&mut self, whole: &Whole) {
        self.stats.states = whole.states;
        self.stats.transitions = whole.transitions;
        self.stats.depth = whole.depth;
        self.most_search_bytes = whole.search_bytes;
        self.store_bytes_elsewhere = whole.store_bytes;
        self.has_dead_ends = whole.has_dead_ends;
    }

    /// These states were met elsewhere, in this order, by a search that has found a lasso whose states are numbered in another way. Here
    /// they are met in the same order, as if it had been searched here.
    pub fn continued(
        &mut self,
        whole: &Whole,
        met: impl Iterator<Item = (StateNumber, Vec<u8>)>,
        lasso: Lasso,
    ) -> Result<Lasso, Incomplete> {
        let mut numbers = HashMap::<_, _, foldhash::fast::FixedState>::default();
        for (number, state) in met {
            let (here, _) = self.number(&state, &Opened::default())?;
            numbers.insert(number, here);
        }
        self.stats.transitions = whole.transitions;
        self.stats.depth = whole.depth;
        self.most_search_bytes = whole.search_bytes;
        let number = |number: StateNumber| numbers.get(&number).copied().ok_or(FULL);
        let edge = |edge: Edge| Ok(Edge { from: number(edge.from)?, to: number(edge.to)?, ..edge });
        Ok(Lasso {
            initial: number(lasso.initial)?,
            stem: lasso.stem.into_iter().map(edge).collect::<Result<_, _>>()?,
            cycle: lasso.cycle.into_iter().map(edge).collect::<Result<_, _>>()?,
        })
    }

    /// From now on no more states than this.
    pub fn at_most(&mut self, states: u64) {
        self.budget.lower_states(states);
    }

    pub fn observed(&self) -> &Observed<'m> {
        &self.product.observed
    }

    pub fn judges(&self) -> bool {
        self.judges
    }
}

impl ProductGraph<'_, '_> {
    /// From now on every step counts. So many states more are allowed than were met.
    pub fn unreduced(&mut self, more: u64) {
        self.reduces = false;
        self.budget.lower_states(self.stats.states + more);
    }

    /// The state's number, and is it new?
    fn number(&mut self, state: &[u8], like: &Opened) -> Result<(StateNumber, bool), Incomplete> {
        let key = self.store.encode(&self.product, state, like).ok_or(FULL)?;
        let processes = self.product.process_count(state);
        let (number, is_new) = self.store.insert(key, key.hash(), processes).ok_or(FULL)?;
        if is_new {
            self.stats.states += 1;
            let (at, accepts) = (number as usize, self.product.observed.accepts(state));
            // Numbers come in blocks, one for each kind of state.
            if self.processes.len() <= at {
                self.processes.resize(at + 1, 0);
                self.accepting.resize(at + 1, false);
            }
            (self.processes[at], self.accepting[at]) = (processes as u8, accepts);
        }
        Ok((number, is_new))
    }

    /// What is asked of a state, where nobody counts what it costs.
    pub fn wanted(&self) -> Wanted {
        let ProductGraph { reduces, judges, fair_switch, .. } = *self;
        Wanted { reduces, judges, costs: false, fair_switch }
    }

    /// The same for a search in the order of cost.
    pub fn expand_with_costs(&mut self, number: StateNumber) -> Result<CostedExpansion, Incomplete> {
        let wanted = Wanted { costs: true, ..self.wanted() };
        self.expand_as(number, wanted, |edges, following| CostedExpansion {
            edges,
            free: following.free.to_vec(),
        })
    }

    fn expand_as<R>(
        &mut self,
        number: StateNumber,
        wanted: Wanted,
        made: impl FnOnce(Vec<Edge>, Following<'_>) -> R,
    ) -> Result<R, Incomplete> {
        let mut opened = std::mem::take(&mut self.opened);
        self.store.open(&self.product, number, &mut opened);
        let (system, budget) = (&mut self.product.observed, &self.budget.shared);
        let ahead = self.ahead.as_mut().filter(|ahead| ahead.is_in_order() == wanted.costs);
        let answer = ahead.and_then(|ahead| ahead.answer(number, system, budget));
        let mut own = std::mem::take(&mut self.computed);
        let following = match &answer {
            Some((computed, place)) => computed.of(*place),
            None => {
                own.clear();
                own.add(system, budget, &opened.bytes, wanted);
                own.of(0)
            }
        };
        if following.is_violation {
            return Err(Incomplete::FiniteViolation);
        }
        self.has_dead_ends |= following.has_dead_ends;
        let mut edges = Vec::with_capacity(following.arrivals.len());
        let is_announced =
            self.ahead.as_ref().is_some_and(Ahead::is_in_order) && self.stats.states >= self.worth_sharing;
        for step in following.arrivals {
            let state = following.state(step);
            let (to, is_new) = self.number(state, &opened)?;
            edges.push(Edge { from: number, to, by: step.by, runs: step.runs, steps: step.steps });
            if is_new && is_announced {
                self.ahead.iter_mut().for_each(|ahead| ahead.announce(to, state));
            }
        }
        self.stats.transitions += edges.len() as u64;
        let made = made(edges, following);
        (self.opened, self.computed) = (opened, own);
        self.is_whole()?;
        Ok(made)
    }

    pub fn process_count(&self, number: StateNumber) -> u8 {
        self.processes[number as usize]
    }

    /// Was everything done that was asked for? If not, what came back is not all.
    pub fn is_whole(&self) -> Result<(), Incomplete> {
        self.budget.stopped().map_or(Ok(()), |reason| Err(Incomplete::Limit(reason)))
    }

    /// For whoever works beside the graph.
    pub fn budget(&self) -> &Budget {
        &self.budget.shared
    }

    /// At each step of a search without a path: so much is waiting, and so many bytes are used beside the store.
    pub fn poll(
        &mut self,
        frontier: u64,
        bytes: u64,
        level: u32,
        progress: &mut dyn Progress,
    ) -> Result<(), Incomplete> {
        self.most_search_bytes = self.most_search_bytes.max(bytes);
        let Stats { states, transitions, depth, .. } = self.stats;
        let (store, product, known) = (&self.store, &self.product, self.known_bytes());
        let snapshot = || {
            let bytes = store.bytes() + product.bytes() + known + bytes;
            Snapshot { states, transitions, frontier, depth, level, bytes }
        };
        self.budget.poll(states, progress, snapshot).map_or(Ok(()), |reason| Err(Incomplete::Limit(reason)))
    }

    pub fn has_dead_ends(&self) -> bool {
        self.has_dead_ends
    }

    pub fn cut_by_depth(&self) -> bool {
        self.budget.cut_by_depth
    }

    pub fn store_bytes(&self) -> u64 {
        self.store.bytes() + self.known_bytes() + self.store_bytes_elsewhere + self.product.bytes()
    }

    /// What is known of states beside the store.
    fn known_bytes(&self) -> u64 {
        let ahead = self.ahead.as_ref().map_or(0, Ahead::bytes);
        (self.processes.capacity() + self.accepting.capacity()) as u64 + ahead
    }

    pub fn most_search_bytes(&self) -> u64 {
        self.most_search_bytes
    }

    pub fn stats(&self) -> Stats {
        Stats { time: self.budget.elapsed(), ..self.stats.clone() }
    }

    pub fn error(&self) -> Option<Unsupported> {
        self.product.error()
    }

    /// What an accepted run violates.
    pub fn violation(&self) -> Violation {
        self.product.accepted_violation()
    }

    /// Begins at this state and takes these edges: the path as it can be replayed.
    pub fn path(&mut self, initial: StateNumber, edges: impl Iterator<Item = Edge>) -> Vec<PathState> {
        let mut opened = Opened::default();
        let mut state = |number, by, last| {
            self.store.open(&self.product, number, &mut opened);
            PathState { bytes: opened.bytes.clone(), by, last }
        };
        let first = state(initial, NOBODY, NOBODY);
        std::iter::once(first).chain(edges.map(|edge| state(edge.to, edge.by, edge.runs))).collect()
    }

    /// The run of such a path, executed by the definition.
    pub fn replay(&mut self, path: &LassoPath, progress: &dyn Progress) -> Result<Trace, StopReason> {
        let budget = self.budget.for_replay(progress);
        self.product.work_within(&budget);
        self.product.replay_lasso(path, &budget)
    }
}

impl Graph for ProductGraph<'_, '_> {
    fn initial(&mut self) -> Result<Vec<StateNumber>, Incomplete> {
        let states = self.product.initial();
        states.iter().map(|state| self.number(state, &Opened::default()).map(|(number, _)| number)).collect()
    }

    /// Without the steps that the reduction leaves out.
    fn expand(&mut self, number: StateNumber) -> Result<Expansion, Incomplete> {
        let processes = self.processes[number as usize];
        self.expand_as(number, self.wanted(), |edges, following| Expansion {
            edges,
            resting: following.resting.to_vec(),
            processes,
        })
    }

    fn accepts(&self, number: StateNumber) -> bool {
        self.accepting[number as usize]
    }

    fn is_within_depth(&mut self, path: usize) -> bool {
        self.budget.is_within_depth(path as u64)
    }

    fn poll_path(
        &mut self,
        path: usize,
        bytes: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), Incomplete> {
        self.stats.depth = self.stats.depth.max(path as u64);
        self.poll(path as u64, bytes as u64, 0, progress)
    }

    /// As long as it is not too many.
    fn announce(&mut self, states: &[StateNumber]) {
        if let Some(mut ahead) = self.ahead.take() {
            if self.stats.states >= self.worth_sharing {
                let mut opened = std::mem::take(&mut self.opened);
                for state in states {
                    self.store.open(&self.product, *state, &mut opened);
                    ahead.announce(*state, &opened.bytes);
                }
                self.opened = opened;
            }
            self.ahead = Some(ahead);
        }
    }
}
