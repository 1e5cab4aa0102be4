//! The words that every part of Preempt shares: the property and its verdict, the run that violates it, the limits of a
//! search, and places in source texts.
//!
//! Plain data. No input or output, no engine, no serialisation (that is `preempt-report`'s). The only code that does
//! something is what every engine needs once: [`Budget`] (when to stop), [`run_supervised`] (work that can be stopped
//! although it does not listen) and [`Rng`] (numbers from a seed).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod budget;
pub mod counters;
pub mod diagnostic;
pub mod executed;
pub mod limits;
pub mod progress;
pub mod projection;
pub mod property;
pub mod property_result;
pub mod report;
pub mod rng;
pub mod source;
pub mod statistics;
pub mod supervised;
pub mod trace;
pub mod verdict;
pub mod waiting;

pub use budget::Budget;
pub use counters::{Counter, Counters};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use executed::{Executed, ExecutedPart, ExecutedUnit, Unit};
pub use limits::{Bound, Cost, Limits};
pub use progress::{Progress, Silent, Snapshot};
pub use projection::{ErrorProjection, ProjectedStatement};
pub use property::{Property, PropertyKind};
pub use property_result::{FormulaAnswer, Minimality, PropertyResult, TraceCost};
pub use report::{CertificateText, Note, NoteKind, OptionValue, Report, RunInfo};
pub use rng::Rng;
pub use source::{Expansion, ExpansionId, ExpansionKind, Location, Source, SourceId, SourceMap, Span};
pub use statistics::{Measure, Statistics};
pub use supervised::run_supervised;
pub use trace::{Call, Change, Partner, Step, SwitchKind, Trace, Value};
pub use verdict::{Coverage, Guarantee, Level, Memory, Outcome, Stats, StopReason, Verdict};
pub use waiting::{Awaited, Waiting};
