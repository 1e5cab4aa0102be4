//! The words that every part of Preempt shares: what was asked, what was found, and where in the text.
//!
//! Plain data. No input or output, no engine, no serialisation (that is `preempt-report`'s).
#![forbid(unsafe_code)]

pub mod budget;
pub mod diagnostic;
pub mod limits;
pub mod progress;
pub mod property;
pub mod property_result;
pub mod rng;
pub mod source;
pub mod trace;
pub mod verdict;
pub mod waiting;
pub mod watched;

pub use budget::Budget;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use limits::{Bound, Cost, Limits};
pub use progress::{Progress, Silent, Snapshot};
pub use property::{Property, PropertyKind};
pub use property_result::{Minimality, PropertyResult, TraceCost};
pub use rng::Rng;
pub use source::{Expansion, ExpansionId, ExpansionKind, Location, Source, SourceId, SourceMap, Span};
pub use trace::{Change, Partner, Step, SwitchKind, Trace, Value};
pub use verdict::{Coverage, Guarantee, Level, Memory, Outcome, Stats, StopReason, Verdict};
pub use waiting::{Awaited, Waiting};
pub use watched::watched;
