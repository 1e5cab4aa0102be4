//! A search in several processes: what it needs beside the search itself, which is `preempt-explicit`'s.
//!
//! * [`exchange`]: mail between the parts, on timely dataflow;
//! * [`hosts`]: who belongs to it; [`mod@connect`]: connections between all of them, each of which begins with a [`handshake`];
//! * [`supervisor`]: starts processes, and says what has become of them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod connect;
pub mod exchange;
pub mod handshake;
pub mod hosts;
pub mod supervisor;

pub use connect::connect;
pub use exchange::Cluster;
pub use handshake::{Identity, Secret};
pub use hosts::Hosts;

/// Why processes do not work together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
