//! What a thread's code may call, and what follows from it: whether it ever reads its number, and whether its procedures can
//! be in progress only once.

use crate::threads::Threads;
use preempt_model::{CodeId, Command, Expr, Init, Model};
use std::collections::BTreeSet;

/// The codes that a thread of this code can be in.
pub fn codes(model: &Model, code: CodeId) -> Vec<CodeId> {
    let mut seen = BTreeSet::from([code]);
    let mut waiting = vec![code];
    while let Some(code) = waiting.pop() {
        for edge in model.code(code).locations.iter().flat_map(|location| &location.edges) {
            if let Command::Call { code, .. } = &edge.command
                && seen.insert(*code)
            {
                waiting.push(*code);
            }
        }
    }
    seen.into_iter().collect()
}

/// Can a thread of this code ever ask for its number?
pub fn reads_pid(model: &Model, code: CodeId) -> bool {
    let mut reads = false;
    for code in codes(model, code) {
        let definition = model.code(code);
        let edges = definition.locations.iter().flat_map(|location| &location.edges);
        edges.for_each(|edge| edge.command.visit(&mut |expr| reads |= *expr == Expr::SelfPid));
        if let Some(provided) = &definition.provided {
            provided.visit(&mut |expr| reads |= *expr == Expr::SelfPid);
        }
        for init in &definition.init {
            if let Init::Set { value, .. } = init {
                value.visit(&mut |expr| reads |= *expr == Expr::SelfPid);
            }
        }
    }
    reads
}

/// The codes of each thread, if none of them can be in progress twice; otherwise nothing.
pub fn own_codes(model: &Model, threads: &Threads) -> Vec<Vec<CodeId>> {
    let calls_itself = |code: CodeId| {
        let edges = model.code(code).locations.iter().flat_map(|location| &location.edges);
        edges
            .filter_map(|edge| match &edge.command {
                Command::Call { code: callee, .. } => Some(*callee),
                _ => None,
            })
            .any(|callee| codes(model, callee).contains(&code))
    };
    let own: Vec<Vec<CodeId>> = threads.all.iter().map(|thread| codes(model, thread.code)).collect();
    if own.len() < 2 || own.iter().flatten().any(|code| calls_itself(*code)) { Vec::new() } else { own }
}
