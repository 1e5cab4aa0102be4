//! One file a verb.

mod again;
pub mod certify;
pub mod check;
pub mod convert;
pub mod count;
pub mod engines;
mod explicit;
pub mod generate;
mod model;
mod net;
mod outcome;
mod partial;
pub mod replay;
pub mod sequentialize;
pub mod simulate;
mod symbolic;
mod trail;
