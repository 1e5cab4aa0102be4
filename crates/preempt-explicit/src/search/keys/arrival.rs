//! What was met on the way: successors that were not looked up yet, and what is counted.

use super::how::How;
use crate::store::packed::encoding::{Key, hash_of};
use preempt_core::PropertyKind;
use std::collections::BTreeMap;

/// A successor that was not looked up yet.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub key: Key,
    pub hash: u64,
    pub how: How,
}

impl Arrival {
    #[inline]
    pub fn new(key: Key, how: How) -> Arrival {
        Arrival { key, hash: hash_of(&key), how }
    }
}

/// A successor that could not be looked up: the store must change first.
#[derive(Debug)]
pub struct Deferred {
    pub state: Vec<u8>,
    pub how: How,
}

/// What was counted since somebody looked.
#[derive(Debug, Default)]
pub struct Counted {
    pub states: u64,
    pub transitions: u64,
    pub violations: BTreeMap<PropertyKind, u64>,
}
