//! The runtime under the mirrors of std: modelled threads as coroutines, and what a run knows of its threads and objects.

pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod current;
pub(crate) mod extra;
pub(crate) mod failure;
pub(crate) mod fibers;
pub(crate) mod hook;
pub(crate) mod identity;
pub(crate) mod leaks;
pub(crate) mod object;
pub(crate) mod opcode;
pub(crate) mod operate;
pub(crate) mod race;
pub(crate) mod tally;
pub(crate) mod thread;
pub(crate) mod trap;
pub(crate) mod word;
