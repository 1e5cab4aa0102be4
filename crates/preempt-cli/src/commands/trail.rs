//! `--trail FILE`: the counterexample in the format of Spin's trails.

use super::model::Ready;
use super::outcome::Delivery;
use crate::args::CheckArgs;
use crate::backend::trail::write_trail;
use crate::console::{self, Failure};
use crate::plan::Input;
use preempt_core::Outcome;

/// Asked before the search: other inputs are nothing that Spin reads.
pub fn refuse_elsewhere(args: &CheckArgs, input: Input) -> Result<(), Failure> {
    match (&args.trail, input) {
        (None, _) | (_, Input::Promela) => Ok(()),
        _ => Err(Failure::new("--trail is for Promela models: Spin reads nothing else").hint("use --trace")),
    }
}

/// The file, if it was asked for and there is a counterexample. The result is known by now and stays what it is, also
/// where no trail can be written.
pub fn write(
    args: &CheckArgs,
    ready: &Ready,
    outcome: &Outcome,
    delivery: &mut Delivery,
) -> Result<(), Failure> {
    let (Some(path), Some(property), Some(trace)) =
        (&args.trail, &outcome.violation, &outcome.counterexample)
    else {
        return Ok(());
    };
    let trail = match write_trail(&ready.interpreter()?, &ready.numbers, property, trace) {
        Ok(trail) => trail,
        Err(why) => {
            console::complain(&format!("warning: no trail is written: {}\n", why.0));
            console::complain("help: --trace FILE writes the counterexample for `preempt replay`\n");
            return Ok(());
        }
    };
    if trail.without_claim {
        console::complain("note: the trail has the steps of the processes, without moves of Spin's claim\n");
    }
    delivery.file(path, trail.text);
    Ok(())
}
