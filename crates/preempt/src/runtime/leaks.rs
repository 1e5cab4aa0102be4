//! What was allocated and must be freed: counted references, tracked values and raw memory. A run that ends well and leaves
//! some of it behind has leaked it; [`crate::Checker::check_leaks`] makes that a failure.

use super::context::Context;
use super::current::with;
use super::failure::RunFailure;
use super::identity::StaticCopy;
use super::thread::CodeLocation;
use preempt_stateless::ObjectId;
use std::collections::HashMap;

type Map<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// Something that lives, with its number in the order of creation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiveObject {
    pub number: u64,
    /// For people.
    pub kind: &'static str,
    pub thread: usize,
    pub location: CodeLocation,
}

/// The allocation of a [`crate::sync::tracked::Arc`].
#[derive(Debug)]
pub(crate) struct CountedAllocation {
    itself: LiveObject,
    /// Once somebody else may have a reference to it: until then nobody can see its count.
    object: Option<ObjectId>,
}

/// What lives in a run.
#[derive(Debug, Default)]
pub(crate) struct LiveObjects {
    created: u64,
    /// By the address of the value. It stays the same until the last reference is gone, and then the entry goes too.
    counted: Map<usize, CountedAllocation>,
    /// By the address of the memory.
    allocated: Map<usize, LiveObject>,
    tracked: Map<u64, LiveObject>,
}

impl Context {
    fn new_live_object(&mut self, kind: &'static str, location: CodeLocation) -> LiveObject {
        self.live.created += 1;
        LiveObject { number: self.live.created, kind, thread: self.current, location }
    }

    /// A counted allocation begins to live.
    pub fn counted(&mut self, address: usize, location: CodeLocation) {
        let itself = self.new_live_object("Arc", location);
        self.live.counted.insert(address, CountedAllocation { itself, object: None });
    }

    /// The object of a counted allocation, made if need be.
    pub fn counted_object(&mut self, address: usize, location: CodeLocation) -> ObjectId {
        if !self.live.counted.contains_key(&address) {
            // It was made outside of the run.
            self.counted(address, location);
        }
        if let Some(object) = self.shared_object(address) {
            return object;
        }
        let object = self.fresh_object();
        self.object(object, "arc");
        if let Some(counted) = self.live.counted.get_mut(&address) {
            counted.object = Some(object);
        }
        object
    }

    /// The object of a counted allocation that somebody else may know.
    pub fn shared_object(&self, address: usize) -> Option<ObjectId> {
        self.live.counted.get(&address)?.object
    }

    /// The last reference is gone.
    pub fn uncounted(&mut self, address: usize) {
        self.live.counted.remove(&address);
    }

    pub fn allocated(&mut self, address: usize, location: CodeLocation) {
        let itself = self.new_live_object("memory", location);
        self.live.allocated.insert(address, itself);
    }

    /// False if nothing lives there.
    pub fn freed(&mut self, address: usize) -> bool {
        self.live.allocated.remove(&address).is_some()
    }

    /// Its number.
    pub fn tracked(&mut self, location: CodeLocation) -> u64 {
        let itself = self.new_live_object("tracked value", location);
        self.live.tracked.insert(itself.number, itself);
        itself.number
    }

    pub fn untracked(&mut self, number: u64) {
        self.live.tracked.remove(&number);
    }

    /// What still lives, oldest first.
    pub fn survivors(&self) -> Vec<LiveObject> {
        let counted = self.live.counted.values().map(|counted| counted.itself);
        let others = self.live.allocated.values().chain(self.live.tracked.values()).copied();
        let mut all: Vec<LiveObject> = counted.chain(others).collect();
        all.sort_by_key(|object| object.number);
        all
    }
}

/// At the end of a run that ended well: what still lives is a failure, but for what statics own.
pub(crate) fn look_for_leaks() {
    let ended_well = |context: &mut Context| {
        context.failures().is_empty() && context.threads.iter().all(|thread| thread.finished)
    };
    if !with(ended_well) {
        return;
    }
    // The statics' destructors are the user's. Nothing is scheduled any more, so their operations do nothing.
    let (copies, cutting) = with(|context| {
        let cutting = std::mem::replace(&mut context.cutting, true);
        (std::mem::take(&mut context.static_copies), cutting)
    });
    copies.into_values().for_each(StaticCopy::discard);
    with(|context| {
        context.cutting = cutting;
        let survivors = context.survivors();
        if !survivors.is_empty() {
            context.failed.push(RunFailure::Leak { survivors });
        }
    });
}
