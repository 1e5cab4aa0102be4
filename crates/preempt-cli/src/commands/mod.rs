//! One file a verb.

pub mod certify;
pub mod check;
pub mod cluster;
pub mod convert;
mod delivery;
pub mod engines;
pub mod explain;
pub mod generate;
mod load;
mod pictures;
pub mod replay;
pub mod sequentialize;
pub mod show;
pub mod simulate;
mod trail;
