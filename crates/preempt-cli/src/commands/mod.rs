//! One file a verb.

pub mod certify;
pub mod check;
pub mod convert;
mod delivery;
pub mod engines;
pub mod generate;
mod load;
pub mod replay;
pub mod sequentialize;
pub mod simulate;
mod trail;
