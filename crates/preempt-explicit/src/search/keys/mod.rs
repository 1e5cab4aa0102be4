//! What the searches over packed keys share: a state is a key from beginning to end, and a step mostly a remembered difference
//! of keys.
//!
//! * [`stepper`]: what processes do in a state, with [`steps`] of one process; [`remembered`]: steps that need not be computed again;
//!   [`chosen`]: who need not be tried;
//! * [`how`]: how a state was reached; [`arrival`]: what was met and not looked up yet;
//! * [`waiting`]: states that wait as keys; [`feed`]: where threads take them from; [`quota`]: what a round may bring.

pub mod arrival;
pub mod chosen;
pub mod feed;
pub mod how;
pub mod quota;
pub mod remembered;
pub mod stepper;
mod steps;
pub mod waiting;

/// What is known of a state beside its processes: that everybody is to be expanded later, and that everybody else has been
/// expanded, or is being expanded.
pub const QUEUED: u8 = 1;
pub const DONE: u8 = 2;
