//! shuttle's schedulers. Each has a plan, by which preempt runs it as a strategy of its own; the steps here are for schedulers of the
//! user's that ask another one.

use crate::schedule::Schedule;
use crate::scheduler::{Scheduler, SearchPlan};
use crate::task::{Task, TaskId};
use preempt::Strategy;
use preempt_core::Rng;

fn plan(strategy: Strategy, executions: Option<usize>) -> SearchPlan {
    SearchPlan { strategy, executions, replay: None, random: true }
}

/// Random numbers for tests as shuttle makes them of a seed, so that its schedules have the same ones: PCG XSL 128/64 (MCG) of O'Neill
/// 2014, with a state that the crate `rand_core` 0.6 makes of 64 bits. Each execution begins with another seed, from the one before.
#[derive(Debug, Clone)]
pub(crate) struct RandomNumbers {
    state: u128,
    next_seed: Option<u64>,
}

impl RandomNumbers {
    pub fn new(seed: u64) -> RandomNumbers {
        RandomNumbers { state: RandomNumbers::state(seed), next_seed: Some(seed) }
    }

    /// An execution begins; returns its seed.
    pub fn begin(&mut self) -> u64 {
        let seed = self.next_seed.take().unwrap_or_else(|| self.next());
        self.state = RandomNumbers::state(seed);
        seed
    }

    /// Four words of a PCG with 32 bits, lowest first. (`SeedableRng::seed_from_u64`.)
    fn state(seed: u64) -> u128 {
        let mut small = seed;
        let words = (0..4).map(|place| {
            small = small.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11_634_580_027_462_260_723);
            let word = (((small >> 18) ^ small) >> 27) as u32;
            u128::from(word.rotate_right((small >> 59) as u32)) << (32 * place)
        });
        words.sum::<u128>() | 1
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645);
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }
}

/// So many executions with random numbers of their own.
#[derive(Debug, Clone)]
struct Executions {
    left: Option<usize>,
    rng: Rng,
    numbers: RandomNumbers,
}

impl Executions {
    fn new(seed: u64, most: Option<usize>) -> Executions {
        Executions { left: most, rng: Rng::new(seed), numbers: RandomNumbers::new(seed) }
    }

    fn begin(&mut self) -> Option<Schedule> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        Some(Schedule::new(self.numbers.begin()))
    }
}

macro_rules! random_scheduler {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            plan: SearchPlan,
            executions: Executions,
        }

        impl $name {
            /// So many.
            pub fn new(max_iterations: usize) -> $name {
                $name::new_from_seed(0, max_iterations)
            }

            /// So many, with a seed: the same one gives the same schedules.
            pub fn new_from_seed(seed: u64, max_iterations: usize) -> $name {
                let plan = plan(Strategy::Random(seed), Some(max_iterations));
                $name { plan, executions: Executions::new(seed, Some(max_iterations)) }
            }
        }

        impl Scheduler for $name {
            fn new_execution(&mut self) -> Option<Schedule> {
                self.executions.begin()
            }

            fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
                Some(tasks[self.executions.rng.below(tasks.len())].id())
            }

            fn next_u64(&mut self) -> u64 {
                self.executions.numbers.next()
            }

            fn plan(&self) -> Option<SearchPlan> {
                Some(self.plan.clone())
            }
        }
    };
}

random_scheduler!(
    /// Random schedules.
    RandomScheduler
);
random_scheduler!(
    /// Random schedules; here it is the same walk as [`RandomScheduler`].
    UrwScheduler
);

/// The name that some versions of shuttle have for it.
pub use UrwScheduler as UrwRandomScheduler;

/// Every schedule that matters, in the order of their preemptions. Within a scheduler of the user's: every schedule, depth first.
#[derive(Debug, Clone)]
pub struct DfsScheduler {
    plan: SearchPlan,
    executions: Executions,
    /// What was chosen at each step of the execution before, by index, and of how many.
    path: Vec<(usize, usize)>,
    step: usize,
    started: bool,
}

impl DfsScheduler {
    /// At most so many. A test that uses [`crate::rand`] panics unless random data is allowed, since only one of many values is
    /// searched.
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> DfsScheduler {
        let plan = SearchPlan { random: allow_random_data, ..plan(Strategy::Marking, max_iterations) };
        let executions = Executions::new(0, max_iterations);
        DfsScheduler { plan, executions, path: Vec::new(), step: 0, started: false }
    }
}

impl Scheduler for DfsScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if std::mem::replace(&mut self.started, true) {
            // The last step that had another choice takes the next one.
            while self.path.pop_if(|(chosen, of)| *chosen + 1 >= *of).is_some() {}
            self.path.last_mut()?.0 += 1;
        }
        self.step = 0;
        self.executions.begin()
    }

    /// # Panics
    /// If the test is not deterministic.
    fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        if self.step == self.path.len() {
            self.path.push((0, tasks.len()));
        }
        let (chosen, of) = self.path[self.step];
        assert!(
            of == tasks.len(),
            "possible nondeterminism: there were {of} runnable tasks, now {}",
            tasks.len()
        );
        self.step += 1;
        Some(tasks[chosen].id())
    }

    /// # Panics
    /// If random data is not allowed.
    fn next_u64(&mut self) -> u64 {
        assert!(self.plan.random, "requested random data from DFS scheduler with allow_random_data = false");
        self.executions.numbers.next()
    }

    fn plan(&self) -> Option<SearchPlan> {
        Some(self.plan.clone())
    }
}

/// Probabilistic concurrency testing: by priorities, which change at a few points.
#[derive(Debug, Clone)]
pub struct PctScheduler {
    plan: SearchPlan,
    executions: Executions,
    depth: u32,
    /// By number of the task; the highest runs.
    priorities: Vec<i64>,
    /// The steps at which they change.
    changes: Vec<usize>,
    step: usize,
    /// The longest execution so far: that of the next one is not known.
    longest: usize,
    yields: i64,
}

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
        PctScheduler {
            plan: plan(Strategy::Pct { seed, depth }, Some(max_iterations)),
            executions: Executions::new(seed, Some(max_iterations)),
            depth,
            priorities: Vec::new(),
            changes: Vec::new(),
            step: 0,
            longest: 1,
            yields: 0,
        }
    }

    fn highest(&self, tasks: &[&Task]) -> TaskId {
        let highest = tasks.iter().max_by_key(|task| self.priorities[usize::from(task.id())]);
        highest.map_or(TaskId::from(0), |task| task.id())
    }
}

/// As `preempt_stateless::pct`, which says why.
impl Scheduler for PctScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.priorities.clear();
        self.step = 0;
        self.changes = (1..self.depth).map(|_| self.executions.rng.below(self.longest)).collect();
        self.executions.begin()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let known = tasks.iter().map(|task| task.id()).chain(current).map(usize::from).max();
        while self.priorities.len() <= known.unwrap_or(0) {
            self.priorities.push((self.executions.rng.word() >> 2) as i64 | 1 << 62);
        }
        if let Some(current) = current.filter(|_| yields) {
            self.yields += 1;
            self.priorities[usize::from(current)] = -self.yields;
        }
        if let Some(drawn) = self.changes.iter().position(|change| *change == self.step) {
            let falls = usize::from(self.highest(tasks));
            self.priorities[falls] = drawn as i64 + 1;
        }
        self.step += 1;
        self.longest = self.longest.max(self.step);
        Some(self.highest(tasks))
    }

    fn next_u64(&mut self) -> u64 {
        self.executions.numbers.next()
    }

    fn plan(&self) -> Option<SearchPlan> {
        Some(self.plan.clone())
    }
}

/// The threads take turns, a step each.
#[derive(Debug, Clone)]
pub struct RoundRobinScheduler {
    executions: Executions,
}

impl RoundRobinScheduler {
    /// All runs would be the same, so there is one; within a scheduler of the user's there are so many.
    pub fn new(max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler { executions: Executions::new(0, Some(max_iterations)) }
    }
}

impl Scheduler for RoundRobinScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.executions.begin()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
        let next = tasks.iter().find(|task| Some(task.id()) > current).or(tasks.first());
        next.map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        self.executions.numbers.next()
    }

    fn plan(&self) -> Option<SearchPlan> {
        Some(plan(Strategy::RoundRobin, Some(1)))
    }
}
