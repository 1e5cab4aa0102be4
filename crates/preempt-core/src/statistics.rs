//! What a job cost, in numbers that say what they count.
//!
//! Engines count different things: states, nodes of decision diagrams, elements of a basis. Each has a [`Measure`] of its
//! own, and a number that an engine does not have is absent, which is not the same as 0.

use crate::limits::Cost;
use crate::property::PropertyKind;
use crate::verdict::{Coverage, Level, Memory, Stats};
use std::collections::BTreeMap;
use std::time::Duration;

/// Something that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// Distinct states.
    States,
    /// Steps taken between states.
    Transitions,
    /// The longest path, in steps, on which a search met a new state.
    Depth,
    /// Expansions of an already expanded (state, process).
    Revisits,
    /// Runs that were executed from their beginning: random walks.
    Executions,
    /// Execution contexts of each thread that were considered, or that the violation takes.
    Contexts,
    /// Threads that were analysed.
    Threads,
    /// Valuations of the shared variables that some context can end with.
    SharedStates,
    /// Nodes of decision diagrams.
    BddNodes,
    /// Minimal elements of upward-closed sets that were kept.
    BasisElements,
    /// Elements that an invariant has shown to be unreachable.
    PrunedElements,
    /// Predecessors of such elements that were computed.
    Predecessors,
    /// Markings that were met going forward.
    Markings,
    /// Transitions of a net that were fired going forward.
    Firings,
    /// The largest weight (number of tokens) of a set that was considered.
    Weight,
    /// The last weight at which something new was found.
    LastNewWeight,
    /// By how much one transition can lower the weight.
    Delta,
    /// What a token can be: its place, or nothing.
    LocalStates,
    /// Boolean variables of the largest diagram.
    DiagramHeight,
    /// What that number can be at most.
    DiagramHeightBound,
    /// Backward images of sets.
    BackwardImages,
    /// The most tokens that the run has at once.
    Tokens,
    /// Symbols that can be on the stacks of pushdown systems.
    StackSymbols,
    /// Rules of pushdown systems.
    Rules,
}

impl Measure {
    /// In the order in which they are shown.
    pub const ALL: [Measure; 24] = [
        Measure::States,
        Measure::Transitions,
        Measure::Depth,
        Measure::Revisits,
        Measure::Executions,
        Measure::Contexts,
        Measure::Threads,
        Measure::SharedStates,
        Measure::BddNodes,
        Measure::BasisElements,
        Measure::PrunedElements,
        Measure::Predecessors,
        Measure::Markings,
        Measure::Firings,
        Measure::Weight,
        Measure::LastNewWeight,
        Measure::Delta,
        Measure::LocalStates,
        Measure::DiagramHeight,
        Measure::DiagramHeightBound,
        Measure::BackwardImages,
        Measure::Tokens,
        Measure::StackSymbols,
        Measure::Rules,
    ];

    /// What is counted, in words: `basis elements`.
    pub fn label(self) -> &'static str {
        match self {
            Measure::States => "states",
            Measure::Transitions => "transitions",
            Measure::Revisits => "revisits",
            Measure::Depth => "depth",
            Measure::Executions => "executions",
            Measure::Contexts => "contexts",
            Measure::Threads => "threads",
            Measure::SharedStates => "shared states",
            Measure::BddNodes => "BDD nodes",
            Measure::BasisElements => "basis elements",
            Measure::PrunedElements => "pruned elements",
            Measure::Predecessors => "predecessors",
            Measure::Markings => "markings",
            Measure::Firings => "firings",
            Measure::Weight => "weight",
            Measure::LastNewWeight => "last new weight",
            Measure::Delta => "delta",
            Measure::LocalStates => "local states",
            Measure::DiagramHeight => "diagram height",
            Measure::DiagramHeightBound => "diagram height bound",
            Measure::BackwardImages => "backward images",
            Measure::Tokens => "tokens",
            Measure::StackSymbols => "stack symbols",
            Measure::Rules => "rules",
        }
    }

    /// The name for programs: `basis_elements`.
    pub fn name(self) -> String {
        self.label().to_lowercase().replace(' ', "_")
    }

    /// Is it a number of things, so that it stands before them (`3 states`), or a size (`depth 3`)?
    pub fn is_a_count(self) -> bool {
        !matches!(
            self,
            Measure::Depth
                | Measure::Weight
                | Measure::LastNewWeight
                | Measure::Delta
                | Measure::DiagramHeight
                | Measure::DiagramHeightBound
        )
    }
}

/// What a job cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// `None` if nothing was searched.
    pub time: Option<Duration>,
    /// The most memory in use; `None` if nobody counted.
    pub peak_bytes: Option<u64>,
    /// What the memory was used for, where that is known.
    pub memory: Option<Memory>,
    /// What was new at each level of the cost, for searches that go level by level.
    pub levels: Option<Vec<Level>>,
    /// What the levels count.
    pub unit: Cost,
    /// How many violations of each kind were met, where they were counted.
    pub violations: Option<BTreeMap<PropertyKind, u64>>,
    /// For a search that visits only part.
    pub coverage: Option<Coverage>,
    counts: BTreeMap<Measure, u64>,
}

impl Statistics {
    /// Of work that took so long and so much memory, as far as that is known; nothing was counted yet.
    pub fn of(time: Duration, peak_bytes: u64) -> Statistics {
        let peak_bytes = (peak_bytes > 0).then_some(peak_bytes);
        Statistics { time: Some(time), peak_bytes, ..Statistics::default() }
    }

    /// `None` if the engine does not count this.
    pub fn get(&self, measure: Measure) -> Option<u64> {
        self.counts.get(&measure).copied()
    }

    /// So many, whatever was there.
    pub fn set(&mut self, measure: Measure, number: u64) {
        self.counts.insert(measure, number);
    }

    /// As if it had not been counted.
    pub fn remove(&mut self, measure: Measure) {
        self.counts.remove(&measure);
    }

    /// With these numbers beside the others.
    pub fn with(mut self, numbers: impl IntoIterator<Item = (Measure, u64)>) -> Statistics {
        self.counts.extend(numbers);
        self
    }

    /// Everything that was counted, in the order of [`Measure::ALL`].
    pub fn counts(&self) -> impl Iterator<Item = (Measure, u64)> {
        self.counts.iter().map(|(measure, number)| (*measure, *number))
    }
}

/// Of a search that visits states one by one.
impl From<Stats> for Statistics {
    fn from(stats: Stats) -> Statistics {
        let mut counts = BTreeMap::from([
            (Measure::States, stats.states),
            (Measure::Transitions, stats.transitions),
            (Measure::Revisits, stats.revisits),
        ]);
        // A search that goes in no order of steps does not know it.
        if stats.depth > 0 || stats.states <= 1 {
            counts.insert(Measure::Depth, stats.depth);
        }
        if stats.executions > 0 {
            counts.insert(Measure::Executions, stats.executions);
        }
        Statistics {
            time: Some(stats.time),
            peak_bytes: (stats.peak_bytes > 0).then_some(stats.peak_bytes),
            memory: stats.memory,
            levels: (!stats.levels.is_empty()).then_some(stats.levels),
            unit: stats.unit,
            violations: Some(stats.violations),
            coverage: stats.coverage,
            counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_a_name_of_its_own_and_is_listed_in_order() {
        assert!(Measure::ALL.is_sorted());
        for (number, measure) in Measure::ALL.into_iter().enumerate() {
            assert_eq!(measure as usize, number, "{measure:?} is missing from the list");
            let others = Measure::ALL.iter().filter(|other| other.name() == measure.name());
            assert_eq!(others.count(), 1, "{measure:?}");
            assert!(measure.name().chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        }
    }

    #[test]
    fn what_is_not_counted_is_absent_and_what_is_none_is_0() {
        let statistics = Statistics::from(Stats::default());
        assert_eq!(statistics.get(Measure::States), Some(0));
        assert_eq!(statistics.get(Measure::BddNodes), None);
        assert_eq!((statistics.peak_bytes, statistics.levels), (None, None));
    }
}
