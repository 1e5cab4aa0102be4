//! Front ends and engines joined: from a text or a Rust type to one report.
//!
//! Promela text goes in, and the simplest run that violates it comes out:
//!
//! ```
//! use preempt_workbench::{Verdict, check_promela};
//!
//! let report = check_promela("
//!     byte x;
//!     active [2] proctype Add() { byte t; t = x; x = t + 1; (_nr_pr == 1) -> assert(x == 2) }
//! ")?;
//! assert_eq!(report.verdict, Verdict::Violated);
//! assert_eq!(report.counterexample.as_ref().unwrap().preemptions(), 1);
//! println!("{report}");
//! # assert!(report.to_string().starts_with("violated: assert(x == 2)"));
//! # Ok::<(), preempt_workbench::Error>(())
//! ```
//!
//! So does a protocol that is a Rust type:
//!
//! ```
//! use preempt_workbench::{Successor, System, Violation, check_system};
//!
//! struct Adders; // two of them read a counter, and write back one more
//! impl System for Adders {
//!     type State = (u8, [Option<u8>; 2], [bool; 2]); // the counter; for each what it read, and whether it is done
//!     type Action = &'static str;
//!     fn initial_states(&self) -> Vec<Self::State> { vec![(0, [None; 2], [false; 2])] }
//!     fn process_count(&self, _: &Self::State) -> usize { 2 }
//!     fn successors(&self, &(x, mut read, mut done): &Self::State, me: usize) -> Vec<Successor<Self::State, Self::Action>> {
//!         if done[me] { return vec![] }
//!         let Some(value) = read[me] else { read[me] = Some(x); return vec![Successor::new("read", (x, read, done), me)] };
//!         done[me] = true;
//!         let lost = (done == [true; 2] && value == 0).then(|| Violation::assertion("an addition is lost"));
//!         vec![Successor { violation: lost, ..Successor::new("write", (value + 1, read, done), me) }]
//!     }
//! }
//! println!("{}", check_system(&Adders)); // violated: ... the simplest run: 4 steps, 1 preemption ...
//! # let report = check_system(&Adders).to_string();
//! # assert!(report.contains("the simplest run: 4 steps, 1 preemption"), "{report}");
//! ```
//!
//! [`Checker`] has everything else that `preempt check` has, under the same names. The parts:
//!
//! * [`frontend`]: what can be read, one file each; [`engine`]: who answers, one file each;
//! * [`settings`]: every option, one row each; [`request`]: what was asked for; [`plan`]: what that means;
//! * [`replay`], [`simulate`], [`sequentialize`], [`certify`]: what else can be done with an input.
//!
//! Nothing here reads files, prints, or ends the process.
#![forbid(unsafe_code)]

mod again;
pub mod certify;
mod checker;
mod checks;
pub mod engine;
mod error;
pub mod frontend;
mod model;
pub mod plan;
pub mod replay;
pub mod request;
pub mod sequentialize;
pub mod settings;
pub mod simulate;
mod verb;

pub use checker::{Checked, Checker, check_promela, check_system, check_text};
pub use engine::{Context, ENGINES, Engine};
pub use error::{Error, Mistakes, Refusal};
pub use frontend::{FRONT_ENDS, FrontEnd, Input, Kind, LoadRequest, Loaded, LoadedNet};
pub use model::LoadedModel;
pub use plan::Plan;
pub use request::Request;
pub use verb::Verb;

pub use preempt_core::{
    Change, Limits, Measure, Minimality, Progress, PropertyKind, Report, Silent, Trace, Value, Verdict,
};
pub use preempt_explicit::{Checkpoints, Save};
pub use preempt_model::system::{Description, Successor, System, Violation};
