//! Front ends and engines joined: from a text or a Rust type to one report.
//!
//! Promela text goes in, and the simplest run that violates it comes out:
//!
//! ```
//! use preempt_workbench::{Verdict, check_promela};
//!
//! let report = check_promela("
//!     byte x, done;
//!     active [2] proctype Add() { byte t; t = x; x = t + 1; done++; if :: done == 2 -> assert(x == 2) :: else fi }
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
//! use preempt_workbench::{Successor, System, check_system};
//! struct Adders; // two processes read a counter and write back one more
//! impl System for Adders {
//!     type State = (u8, [u8; 2]); // the counter; for each process 0, what it is going to write, or 9 when it is done
//!     type Action = &'static str;
//!     fn initial_states(&self) -> Vec<Self::State> { vec![(0, [0; 2])] }
//!     fn process_count(&self, _: &Self::State) -> usize { 2 }
//!     fn successors(&self, &(x, at): &Self::State, me: usize) -> Vec<Successor<Self::State, &'static str>> {
//!         let step = |does, x, next| { let mut at = at; at[me] = next; vec![Successor::new(does, (x, at), me)] };
//!         match at[me] { 0 => step("read", x, x + 1), 9 => vec![], sum => step("write", sum, 9) }
//!     }
//!     fn may_end(&self, &(x, _): &Self::State) -> bool { x == 2 } // no addition is lost
//! }
//! println!("{}", check_system(&Adders)); // violated: deadlock ... the simplest run: 4 steps, 1 preemption ...
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
#![warn(missing_docs)]

mod again;
pub mod certify;
mod checker;
mod checks;
pub mod engine;
mod error;
mod executed;
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
pub use engine::{Context, ENGINES, Engine, Together, search_together};
pub use error::{Error, Mistakes, Refusal};
pub use frontend::{FRONT_ENDS, FrontEnd, Input, Kind, LoadRequest, Loaded, LoadedNet};
pub use model::LoadedModel;
pub use plan::Plan;
pub use request::Request;
pub use verb::Verb;

pub use preempt_core::{
    Change, Limits, Measure, Minimality, Progress, PropertyKind, Report, Silent, Trace, Value, Verdict,
};
pub use preempt_explicit::{Checkpoints, Exchange, PartFiles, Save, Scratch, ScratchFile, Traffic};
pub use preempt_model::system::{Description, Successor, System, Violation};
