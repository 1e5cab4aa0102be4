//! The runtime under the mirrors of std.

pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod failure;
pub(crate) mod fibers;
pub(crate) mod hook;
pub(crate) mod living;
pub(crate) mod operate;
pub(crate) mod place;
pub(crate) mod race;
pub(crate) mod trap;
pub(crate) mod word;
