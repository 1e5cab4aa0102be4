//! What may differ between searches that are otherwise the same: a swarm makes use of it.

use crate::store::sketch::Sketch;
use preempt_core::Rng;

#[derive(Debug, Default)]
pub struct Variety<'a> {
    /// Of the hash functions, and of what is left to chance.
    pub seed: u64,
    pub processes: TryOrder,
    pub transitions: TryOrder,
    /// Is shown every new state.
    pub sketch: Option<&'a mut Sketch>,
}

/// The order in which a depth-first search tries what it can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TryOrder {
    /// The last one first, as Spin does with processes.
    #[default]
    LastFirst,
    FirstFirst,
    Shuffled,
}

impl TryOrder {
    /// Arranges what is taken from the end.
    pub fn arrange<T>(self, list: &mut [T], rng: &mut Rng) {
        match self {
            TryOrder::LastFirst => {}
            TryOrder::FirstFirst => list.reverse(),
            TryOrder::Shuffled => rng.shuffle(list),
        }
    }
}
