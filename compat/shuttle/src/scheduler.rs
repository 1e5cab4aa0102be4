//! How the schedules are chosen. The set is closed: each stands for one of preempt's strategies.

use preempt::Strategy;
use std::path::Path;

/// What a scheduler stands for.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Which algorithm.
    pub strategy: Strategy,
    /// So many at most.
    pub executions: Option<usize>,
    /// This schedule only.
    pub replay: Option<String>,
    /// Is a run repeated, to see whether it does the same? Tests for shuttle count their runs.
    pub repeats: bool,
    /// May the test use [`crate::rand`]?
    pub random: bool,
}

/// One of the schedulers of this module.
pub trait Scheduler {
    /// What it stands for.
    #[doc(hidden)]
    fn plan(&self) -> SearchPlan;
}

macro_rules! scheduler {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(SearchPlan);

        impl Scheduler for $name {
            fn plan(&self) -> SearchPlan {
                self.0.clone()
            }
        }
    };
}

fn plan(strategy: Strategy, executions: Option<usize>) -> SearchPlan {
    SearchPlan { strategy, executions, replay: None, repeats: false, random: true }
}

scheduler!(
    /// Every schedule that matters, in the order of their preemptions.
    DfsScheduler
);

impl DfsScheduler {
    /// At most so many. A test that uses [`crate::rand`] panics unless random data is allowed, since only one of many values is
    /// searched.
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> DfsScheduler {
        DfsScheduler(SearchPlan { random: allow_random_data, ..plan(Strategy::Marking, max_iterations) })
    }
}

scheduler!(
    /// Random schedules.
    RandomScheduler
);

impl RandomScheduler {
    /// So many.
    pub fn new(max_iterations: usize) -> RandomScheduler {
        RandomScheduler::new_from_seed(0, max_iterations)
    }

    /// So many, with a seed: the same one gives the same schedules.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> RandomScheduler {
        RandomScheduler(plan(Strategy::Random(seed), Some(max_iterations)))
    }
}

scheduler!(
    /// Random schedules; here it is the same walk as [`RandomScheduler`].
    UrwScheduler
);

impl UrwScheduler {
    /// So many.
    pub fn new(max_iterations: usize) -> UrwScheduler {
        UrwScheduler::new_from_seed(0, max_iterations)
    }

    /// So many, with a seed: the same one gives the same schedules.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> UrwScheduler {
        UrwScheduler(plan(Strategy::Random(seed), Some(max_iterations)))
    }
}

scheduler!(
    /// Probabilistic concurrency testing: by priorities, which change at a few points.
    PctScheduler
);

impl PctScheduler {
    /// So many, with priorities that change `max_depth - 1` times.
    pub fn new(max_depth: usize, max_iterations: usize) -> PctScheduler {
        PctScheduler::new_from_seed(0, max_depth, max_iterations)
    }

    /// As [`PctScheduler::new`], with a seed: the same one gives the same schedules.
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn new_from_seed(seed: u64, max_depth: usize, max_iterations: usize) -> PctScheduler {
        assert!(max_depth > 0, "the depth of probabilistic concurrency testing is at least 1");
        let depth = max_depth.try_into().unwrap_or_else(|_| panic!("a depth of {max_depth} is too much"));
        PctScheduler(plan(Strategy::Pct { seed, depth }, Some(max_iterations)))
    }
}

scheduler!(
    /// The threads take turns, a step each.
    RoundRobinScheduler
);

impl RoundRobinScheduler {
    /// All runs would be the same, so there is one.
    pub fn new(_max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler(plan(Strategy::RoundRobin, Some(1)))
    }
}

scheduler!(
    /// One schedule, which has failed before.
    ReplayScheduler
);

impl ReplayScheduler {
    /// A schedule as a failure shows it.
    pub fn new_from_encoded(encoded_schedule: &str) -> ReplayScheduler {
        let replay = Some(encoded_schedule.trim().to_string());
        ReplayScheduler(SearchPlan { replay, ..plan(Strategy::Marking, Some(1)) })
    }

    /// A schedule in a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> std::io::Result<ReplayScheduler> {
        Ok(ReplayScheduler::new_from_encoded(&std::fs::read_to_string(path)?))
    }

    /// A schedule may always end before the test does.
    pub fn set_allow_incomplete(&mut self) {}
}

/// The name that some versions of shuttle have for it.
pub use UrwScheduler as UrwRandomScheduler;

/// Runs another scheduler, and then its first run once more: the same schedule must do the same.
#[derive(Debug, Clone)]
pub struct UncontrolledNondeterminismCheckScheduler<S>(S);

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Of another one.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler(scheduler)
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn plan(&self) -> SearchPlan {
        SearchPlan { repeats: true, ..self.0.plan() }
    }
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn plan(&self) -> SearchPlan {
        (**self).plan()
    }
}
