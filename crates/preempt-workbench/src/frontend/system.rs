//! Well-structured systems other than nets (protocols, and whatever else is asked the same): what the engines for
//! coverability, `certify` and `convert` need of them. A new kind of system implements [`Coverable`], and its front end gives
//! [`Input::System`](super::Input).

use super::Written;
use crate::error::Error;
use crate::plan::Plan;
use preempt_core::{Budget, Progress, Report, SourceMap};
use preempt_wsts::Engine as Way;
use std::fmt::Debug;

/// A system of which it is asked whether something bad can be reached.
#[derive(Debug)]
pub struct LoadedSystem {
    /// As whoever asked has named it.
    pub file: String,
    /// The texts that it was read from.
    pub sources: SourceMap,
    /// The system itself, with what must not be reached.
    pub system: Box<dyn Coverable>,
}

/// What can be done with such a system.
pub trait Coverable: Debug {
    /// Why an engine does not apply to it, if it does not.
    fn refuses(&self, way: Way) -> Option<String>;

    /// Looks for a run to something bad, or proves that there is none; whatever is found has been verified.
    fn check(
        &self,
        way: Way,
        plan: &Plan,
        sources: &SourceMap,
        progress: &mut dyn Progress,
    ) -> Result<Report, Error>;

    /// What the certificate is made of, if it shows that nothing bad can be reached.
    fn certify(&self, certificate: &str, budget: &Budget) -> Result<Certified, Error>;

    /// As a Promela model with a fixed number of processes, or why not.
    fn write_promela(&self, plan: &Plan, budget: &Budget) -> Result<Vec<Written>, Error>;
}

/// What a certificate shows, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// One sentence without a full stop, as in "the target cannot be covered".
    pub statement: String,
    /// What the certificate is made of, line by line.
    pub summary: Vec<String>,
}
