//! What Preempt tells: to programs as JSON, to people as text and as pictures, and about mistakes in a text as diagnostics.
//!
//! Every function here turns data into a string (or back). Nothing is printed, no terminal is looked at: the
//! caller says how wide it may be and whether there is colour.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod chart;
#[cfg(feature = "diagnostics")]
pub mod diagnostics;
pub mod html;
#[cfg(feature = "json")]
pub mod json;
pub mod style;
pub mod text;

#[cfg(test)]
mod fixtures;

pub use chart::render_svg;
#[cfg(feature = "diagnostics")]
pub use diagnostics::render_diagnostics;
pub use html::{Page, Points, Sample, render_html};
#[cfg(feature = "json")]
pub use json::{ReadError, Recorded, read_counterexample, to_json};
pub use style::Style;
pub use text::{
    TextOptions, minimality, render_cut_short, render_notes, render_report, render_run, why_stopped,
};
