//! What was allocated and must be freed: counted references, tracked values and raw memory. A run that ends well and leaves
//! some of it behind has leaked it; [`crate::Checker::check_leaks`] makes that a failure.

use super::context::{Context, Location_, with};
use super::failure::Failed;
use super::place::Copy;
use preempt_stateless::ObjectId;
use std::collections::HashMap;

type Map<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// Something that lives, with its number in the order of creation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Birth {
    pub number: u64,
    pub what: &'static str,
    pub thread: usize,
    pub location: Location_,
}

/// The allocation of a [`crate::sync::tracked::Arc`].
#[derive(Debug)]
pub(crate) struct Counted {
    birth: Birth,
    /// Once somebody else may have a reference to it: until then nobody can see its count.
    object: Option<ObjectId>,
}

/// What lives in a run.
#[derive(Debug, Default)]
pub(crate) struct Living {
    births: u64,
    /// By the address of the value. It stays the same until the last reference is gone, and then the entry goes too.
    counted: Map<usize, Counted>,
    /// By the address of the memory.
    allocated: Map<usize, Birth>,
    tracked: Map<u64, Birth>,
}

impl Context {
    fn birth(&mut self, what: &'static str, location: Location_) -> Birth {
        self.living.births += 1;
        Birth { number: self.living.births, what, thread: self.current, location }
    }

    /// A counted allocation begins to live.
    pub fn counted(&mut self, address: usize, location: Location_) {
        let birth = self.birth("Arc", location);
        self.living.counted.insert(address, Counted { birth, object: None });
    }

    /// The object of a counted allocation, made if need be.
    pub fn counted_object(&mut self, address: usize, location: Location_) -> ObjectId {
        if !self.living.counted.contains_key(&address) {
            // It was made outside of the run.
            self.counted(address, location);
        }
        if let Some(object) = self.shared_object(address) {
            return object;
        }
        let object = ObjectId(self.fresh_object());
        self.object(object, "arc");
        if let Some(counted) = self.living.counted.get_mut(&address) {
            counted.object = Some(object);
        }
        object
    }

    /// The object of a counted allocation that somebody else may know.
    pub fn shared_object(&self, address: usize) -> Option<ObjectId> {
        self.living.counted.get(&address)?.object
    }

    /// The last reference is gone.
    pub fn uncounted(&mut self, address: usize) {
        self.living.counted.remove(&address);
    }

    pub fn allocated(&mut self, address: usize, location: Location_) {
        let birth = self.birth("memory", location);
        self.living.allocated.insert(address, birth);
    }

    /// False if nothing lives there.
    pub fn freed(&mut self, address: usize) -> bool {
        self.living.allocated.remove(&address).is_some()
    }

    /// Its number.
    pub fn tracked(&mut self, location: Location_) -> u64 {
        let birth = self.birth("tracked value", location);
        self.living.tracked.insert(birth.number, birth);
        birth.number
    }

    pub fn untracked(&mut self, number: u64) {
        self.living.tracked.remove(&number);
    }

    /// What still lives, oldest first.
    pub fn survivors(&self) -> Vec<Birth> {
        let counted = self.living.counted.values().map(|counted| counted.birth);
        let others = self.living.allocated.values().chain(self.living.tracked.values()).copied();
        let mut all: Vec<Birth> = counted.chain(others).collect();
        all.sort_by_key(|birth| birth.number);
        all
    }
}

/// At the end of a run that ended well: notes what still lives, but for what statics own.
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
        (std::mem::take(&mut context.copies), cutting)
    });
    copies.into_values().for_each(Copy::discard);
    with(|context| {
        context.cutting = cutting;
        let survivors = context.survivors();
        if !survivors.is_empty() {
            context.failed.push(Failed::Leak { survivors });
        }
    });
}
