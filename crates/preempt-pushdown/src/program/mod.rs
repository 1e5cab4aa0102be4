//! Programs as pushdown systems: section 4 of paper 002 over the states that can be met.
//!
//! P is made of the shared valuations, Γ of frames: a place in the code, the values of the locals that still matter, and
//! whether the thread is within an atomic sequence. A rule is what the reference interpreter does with one frame, or with two
//! where a procedure returns; so rules mean what the definition of the language says. A call leaves the caller's frame
//! below, waiting for its results; a return is two rules, one that takes the frame away and keeps what it returns in the
//! state, and one that gives it to whoever waits.
//!
//! Which pairs of shared state and frame are looked at is found thread by thread (Flanagan and Qadeer 2003): a thread can meet
//! what it leads to itself, and a change that another thread can make in a state it may stand in. That is more than can happen
//! and never less, so that the analysis of the rules is exact; and if no thread can go wrong even so, none can whatever the
//! number of contexts.

mod explore;
mod frames;

pub use explore::{Lowered, lower};
pub use frames::{Action, Frame, Told};

use preempt_model::{Command, Expr, Model};

/// Something in a program that cannot be a rule, in words.
pub(crate) fn unsupported(model: &Model) -> Option<&'static str> {
    if model.has_priorities {
        return Some("priorities");
    }
    if model.hidden_slots > 0 {
        return Some("hidden variables");
    }
    if model.codes.iter().any(|code| code.provided.is_some()) {
        return Some("provided clauses");
    }
    let mut found = None;
    for code in &model.codes {
        code.visit(&mut |expr| {
            let what = match expr {
                Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => "channels",
                Expr::Timeout | Expr::NonProgress | Expr::Enabled(_) => "questions about all processes",
                Expr::PcValue(_) | Expr::At { .. } | Expr::Remote { .. } => "questions about other processes",
                Expr::Priority(_) => "priorities",
                Expr::SelfPid | Expr::ProcessCount | Expr::LastPid | Expr::NewPid => "numbers of processes",
                _ => return,
            };
            found = found.or(Some(what));
        });
    }
    for edge in model.edges() {
        let what = match &edge.command {
            Command::Send { .. } | Command::Receive { .. } => "channels",
            Command::SetPriority { .. } => "priorities",
            Command::Run { result: Some(_), .. } => "numbers of processes",
            Command::Deterministic(block) => {
                let commands = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
                let mut inside = commands.map(|command| match command {
                    Command::Send { .. } | Command::Receive { .. } => Some("channels"),
                    Command::Run { .. } | Command::Call { .. } | Command::Return(_) => {
                        Some("starts and calls within a d_step sequence")
                    }
                    _ => None,
                });
                match inside.find_map(|what| what) {
                    Some(what) => what,
                    None => continue,
                }
            }
            _ => continue,
        };
        found = found.or(Some(what));
    }
    found
}
