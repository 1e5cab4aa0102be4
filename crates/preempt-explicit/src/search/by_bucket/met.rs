//! What was met, for a search bucket by bucket: what is asked while a bucket is worked on is what was known before it, and only
//! at its end it learns what the bucket has met. So nothing depends on which thread was first.

use super::worker::{Candidate, Worker};
use crate::crew::Crew;
use crate::search::keys::stepper::Stepper;
use crate::search::keys::waiting::Waiting;
use crate::store::known::Reach;
use crate::store::packed::encoding::Key;
use crate::store::packed::table::{Known, SHARDS};
use crate::store::packed::{Full, PackedStore};
use crate::successors::Expander;

pub trait Met: Sized + Sync {
    /// What a state is known by.
    type Id: Copy + Send + Sync;

    fn id<S: Expander>(&self, steps: &mut Stepper<'_, S>, store: &PackedStore, key: &Key) -> Self::Id;

    /// The same after keys were packed anew.
    fn id_again(&self, id: Self::Id, key: &Key) -> Self::Id;

    /// Asks for the memory that [`Met::is_known`] will need, and that [`Met::take_all`] will.
    fn prefetch(&self, store: &PackedStore, candidate: &Candidate<Self::Id>);

    fn prefetch_all(&self, store: &PackedStore, id: &Self::Id, key: &Key, processes: usize);

    /// Does nothing follow from this arrival?
    fn is_known(&self, store: &PackedStore, candidate: &Candidate<Self::Id>) -> bool;

    /// Where it needs no end of a bucket to say so: is the state new, by itself? `None`: ask at the end.
    fn insert_at_once(&self, store: &PackedStore, candidate: &Candidate<Self::Id>) -> Option<bool>;

    /// For [`Met::count`].
    fn shard_of(&self, candidate: &Candidate<Self::Id>) -> usize;

    /// In an order that depends on nothing but what they are, if what is met depends on the order.
    fn put_in_order(_: &mut [Candidate<Self::Id>]) {}

    /// At the end of a bucket: what it has met. What did not fit stays with the workers.
    fn commit<S: Expander + Send>(
        &mut self,
        store: &PackedStore,
        workers: &mut [Worker<'_, S, Self::Id>],
        threads: usize,
        crew: &mut Crew,
    );

    /// Everybody else is to run in these: each state once, and not where that was done before. Whoever it is said of is done.
    fn each_once<S: Expander + Send>(
        &mut self,
        store: &PackedStore,
        workers: &mut [Worker<'_, S, Self::Id>],
        others: Waiting,
        threads: (usize, &mut Crew),
    ) -> Waiting;

    /// Everybody else of so many processes is about to run here: who has run. If others are not said once each, whether that was done before.
    fn take_all(&self, store: &PackedStore, id: &Self::Id, key: &Key, processes: usize) -> Known;

    /// Makes room for so many states more with so many processes.
    fn make_room(
        &mut self,
        store: &mut PackedStore,
        more: u64,
        processes: usize,
        crew: &mut Crew,
    ) -> Result<(), Full>;

    /// Several threads use it from now on, or one.
    fn set_shared(&mut self, store: &mut PackedStore, shared: bool);

    /// So many states of each shard of its table are new.
    fn count(&mut self, store: &mut PackedStore, new: &[u64; SHARDS]);

    fn bytes(&self) -> u64;

    fn reach(&self) -> Reach;
}
