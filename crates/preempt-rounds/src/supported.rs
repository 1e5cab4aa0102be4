//! What cannot be done: everything by which a thread depends on where other threads stand. The decision diagrams of
//! `preempt-symbolic` refuse the same.

use crate::codes::{codes, reads_pid};
use crate::error::{Result, unsupported};
use crate::threads::Threads;
use preempt_model::{Command, Expr, Init, Model, Place, Scope};

pub(crate) fn supported(model: &Model, threads: &Threads) -> Result<()> {
    if model.has_priorities {
        return unsupported("priorities");
    }
    if model.hidden_slots > 0 {
        return unsupported("hidden variables");
    }
    for thread in &threads.all {
        if thread.pid.is_none() && reads_pid(model, thread.code) {
            return unsupported("_pid of a process that is started in a loop or after a choice");
        }
        let all = codes(model, thread.code);
        if all.len() > 1 && all.iter().any(|code| model.code(*code).provided.is_some()) {
            return unsupported("a provided clause together with procedures");
        }
        for code in all {
            let mut why = None;
            let definition = model.code(code);
            definition.visit(&mut |expr| why = why.or(question(expr)));
            for init in &definition.init {
                match init {
                    Init::Channel { .. } => why = Some("channels"),
                    Init::Set { value, .. } => value.visit(&mut |expr| {
                        if matches!(expr, Expr::Any { .. }) {
                            why = Some("a nondeterministic initial value");
                        }
                    }),
                }
            }
            let edges = definition.locations.iter().flat_map(|location| &location.edges);
            for edge in edges {
                why = why.or(command(&edge.command));
            }
            if let Some(why) = why {
                return unsupported(why);
            }
        }
    }
    Ok(())
}

/// A question that a thread by itself cannot answer.
fn question(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => "channels",
        Expr::Timeout => "timeout",
        Expr::NonProgress => "np_",
        Expr::Enabled(_) => "enabled()",
        Expr::PcValue(_) => "pc_value()",
        Expr::Priority(_) => "priorities",
        Expr::ProcessCount => "_nr_pr",
        Expr::LastPid => "_last",
        Expr::NewPid => "the number of a process that is started in a loop or after a choice",
        Expr::At { .. } | Expr::Remote { .. } => "references to labels and variables of other processes",
        Expr::Load(place) if place.scope == Scope::Hidden => "hidden variables",
        Expr::Const(_)
        | Expr::Load(_)
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Conditional(..)
        | Expr::SelfPid
        | Expr::Any { .. } => return None,
    })
}

fn command(command: &Command) -> Option<&'static str> {
    let hidden = |place: &Place| place.scope == Scope::Hidden;
    Some(match command {
        Command::Send { .. } | Command::Receive { .. } => "channels",
        Command::SetPriority { .. } => "priorities",
        Command::Assign(assignments) if assignments.iter().any(|(place, _)| hidden(place)) => {
            "hidden variables"
        }
        Command::Call { results, .. } if results.iter().any(hidden) => "hidden variables",
        Command::Deterministic(block) => {
            let inner = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            for one in inner {
                match one {
                    Command::Run { .. } => return Some("starting a process inside a deterministic block"),
                    Command::Call { .. } | Command::Return(_) => {
                        return Some("calls inside a deterministic block");
                    }
                    Command::End => return Some("a process that ends inside a deterministic block"),
                    _ => {}
                }
                if let Some(why) = self::command(one) {
                    return Some(why);
                }
            }
            return None;
        }
        _ => return None,
    })
}
