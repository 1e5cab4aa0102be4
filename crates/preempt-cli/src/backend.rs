//! Front ends and engines, under the names that the commands use.
//!
//! Everything that the commands know of them goes through here.

pub use preempt_boolean::{
    BooleanOptions, Dialect, inline, load_within as load_boolean, print, sequentialize,
};
pub use preempt_explicit::{
    Answers, CheckError, Checkpoints, Figure, Goal, Order, Portfolio, Published, Reduction, Save,
    SearchOptions, SearchReport, Storage, SuccessorSource, Walks, explore_saved, swarm, why_not_reduced,
};
pub use preempt_model::check::{Check, CheckOptions};
pub use preempt_model::check_all::check_all;
pub use preempt_model::search::{self, ReferenceOptions};
pub use preempt_model::{Interpreter, Model, System, interpreter};
pub use preempt_promela::{Additions, Loaded, ModelText, load, trail};
pub use preempt_symbolic as symbolic;
