//! Front ends and engines, under the names that the commands use.
//!
//! Everything that the commands know of them goes through here.

pub use preempt_boolean::{
    Dialect, Options as BooleanOptions, inline, load as load_boolean, print, sequentialize,
};
pub use preempt_explicit::{
    Answers, Checkpoints, Figure, Goal, Options as ExplicitOptions, Order, Published, Reduction, Refusal,
    Report, Save, Source, Storage, Strategy, Walks, explore_saved, swarm, why_not_reduced,
};
pub use preempt_model::all_questions::answer_all;
pub use preempt_model::question::{Asking, Question};
pub use preempt_model::search::{self, Options};
pub use preempt_model::{Interpreter, Model, System, interpreter};
pub use preempt_promela::{Additions, Loaded, load, trail};
pub use preempt_symbolic as symbolic;
