//! What a search counts.

use preempt_core::{Level, PropertyKind, Stats};
use preempt_model::search::RunCost;

#[derive(Debug, Default)]
pub struct Statistics {
    pub stats: Stats,
}

impl Statistics {
    /// A state was visited for the first time, by a run of this cost.
    #[inline]
    pub fn new_state(&mut self, cost: RunCost) {
        self.stats.states += 1;
        self.stats.depth = self.stats.depth.max(cost.steps);
        self.level(cost.preemptions).states += 1;
    }

    /// A step was made, and the run costs this much now.
    #[inline]
    pub fn transition(&mut self, cost: RunCost) {
        self.stats.transitions += 1;
        self.level(cost.preemptions).transitions += 1;
    }

    /// So many of each at a level.
    pub fn add(&mut self, level: u32, states: u64, transitions: u64) {
        self.stats.states += states;
        self.stats.transitions += transitions;
        let level = self.level(level);
        level.states += states;
        level.transitions += transitions;
    }

    pub fn violation(&mut self, kind: PropertyKind) {
        *self.stats.violations.entry(kind).or_default() += 1;
    }

    pub fn has_violations(&self) -> bool {
        self.stats.violations.values().any(|count| *count > 0)
    }

    #[inline]
    fn level(&mut self, level: u32) -> &mut Level {
        let levels = &mut self.stats.levels;
        while levels.len() <= level as usize {
            levels.push(Level { level: levels.len() as u32, ..Level::default() });
        }
        &mut levels[level as usize]
    }
}
