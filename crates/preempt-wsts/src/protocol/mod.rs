//! Protocols with any number of processes: can something bad be reached? [`check_protocol`] is the entry.
//!
//! | engine | finds |
//! | --- | --- |
//! | by basis (Fig. 1), `flat` | proofs and runs, where local states can be numbered |
//! | by weight (Fig. 3), `slices` on `diagrams` and `symbolic` | proofs and runs |
//! | `forward` | runs, with guards as they are |
//!
//! Guards over all others are removed before (`preempt_net::protocol::guards`); what is found in B' is led back by `theorem6`.
//! Nothing leaves here unverified: a run is replayed by the definition of the protocol, and a certificate
//! ([`certificate`]) is checked by [`checker`], which shares no code with the engines.

pub mod certificate;
mod check;
pub mod checker;
mod diagrams;
mod flat;
mod forward;
mod slices;
mod symbolic;
mod theorem6;
mod trace;

pub use check::{ProtocolAnswer, ProtocolOptions, SIDE_CONDITION, check_protocol, refuses};
pub use diagrams::SlotOrder;
pub use forward::count_states;
pub use slices::DiagramSet;
pub use trace::trace;

use preempt_core::StopReason;
use preempt_net::protocol::{ProtocolRun, ProtocolState};

/// What an engine knows at its end.
#[derive(Debug)]
pub(crate) enum Found {
    /// A run to a bad state.
    Reached(ProtocolRun),
    /// A basis of everything that leads to a bad state, and the weight of its heaviest element.
    Elements(Vec<ProtocolState>, u64),
    /// The states of one weight that lead to a bad one; what lies above them is all that does, from this weight on.
    Diagram(DiagramSet),
    /// It was stopped.
    Stopped(StopReason),
    /// It looked everywhere it looks, and found nothing.
    Nothing(String),
    /// Something that must not happen.
    Wrong(String),
}

/// What an engine has counted; 0 where it does not count that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The last weight that brought something new; for a run the number of its processes.
    pub n: u64,
    /// A step takes away at most so much of the weight.
    pub delta: u64,
    /// The largest weight that was looked at.
    pub weight: u64,
    /// The Boolean variables of the sets of that weight.
    pub height: u64,
    /// The most nodes in the table of diagrams.
    pub nodes: u64,
    /// Backward images that were computed.
    pub images: u64,
    /// For each weight the nodes of the set Gamma.
    pub sizes: Vec<(u64, u64)>,
    /// Elements of the basis that were looked at.
    pub elements: u64,
    /// Elements in the final basis.
    pub basis: u64,
    /// Predecessors that were computed.
    pub predecessors: u64,
    /// States that were met, forward.
    pub states: u64,
}
