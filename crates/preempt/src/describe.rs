//! What went wrong in a run, in words for people.

use crate::report::FailureKind;
use crate::runtime::failure::{Access, RunFailure, Waiting};
use crate::runtime::leaks::LiveObject;
use preempt_stateless::ObjectId;

/// Describes failures in words.
pub(crate) struct FailureWriter<'a> {
    pub thread: &'a dyn Fn(usize) -> String,
    pub object: &'a dyn Fn(ObjectId) -> String,
}

impl FailureWriter<'_> {
    /// The kind of the first one, and all that matters of the others. `None` if nothing went wrong.
    pub fn describe(&self, failed: &[RunFailure]) -> Option<(FailureKind, String)> {
        let first = failed.first()?;
        Some(match first {
            RunFailure::Panic { thread, message, location, .. } => {
                let at = location.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
                let mut text = format!("{} panicked{at}: {message}", (self.thread)(*thread));
                for later in &failed[1..] {
                    if let RunFailure::Panic { thread, message, .. } = later {
                        text.push_str(&format!("\nthen {} panicked: {message}", (self.thread)(*thread)));
                    }
                }
                (FailureKind::Panic, text)
            }
            RunFailure::Overflow { thread, stack, at } => {
                let after = at.map(|at| format!(", after its operation at {at}")).unwrap_or_default();
                let text = format!(
                    "{} has overflowed its stack of {} KiB{after}\n(Builder::stack_size, or RUST_MIN_STACK in the environment, \
                     gives it a larger one)",
                    (self.thread)(*thread),
                    stack >> 10
                );
                (FailureKind::StackOverflow, text)
            }
            RunFailure::Race { first, second } => {
                let side = |access: &Access| {
                    let verb = if access.write { "writes" } else { "reads" };
                    let object = (self.object)(access.object);
                    format!("{} {verb} {object} at {}", (self.thread)(access.thread), access.location)
                };
                let text = format!(
                    "data race: two accesses to the same memory, not ordered by any synchronisation\n  {}\n  {}\n\
                     nothing the first thread does after its access is acquired by the second before its own: a \
                     release store read by an acquire load, a lock, a channel or a join is missing",
                    side(first),
                    side(second)
                );
                (FailureKind::DataRace, text)
            }
            RunFailure::Leak { survivors } => {
                let mut text = "leak: the run is over, and not everything was freed".to_string();
                for LiveObject { kind, thread, location, .. } in survivors {
                    text.push_str(&format!("\n  {kind} of {}, made at {location}", (self.thread)(*thread)));
                }
                (FailureKind::Leak, text)
            }
            RunFailure::Deadlock { waiting } => (FailureKind::Deadlock, self.deadlock(waiting)),
        })
    }

    fn deadlock(&self, waiting: &[Waiting]) -> String {
        let mut text = "deadlock: nobody can go on".to_string();
        for wait in waiting {
            let object = wait.object.map(self.object).filter(|object| !object.is_empty());
            let object = object.map(|object| format!("{object}: ")).unwrap_or_default();
            let on = match wait.on {
                Some(other) if other == wait.thread => ", which it holds itself".to_string(),
                Some(other) if wait.object.is_some() => format!(", held by {}", (self.thread)(other)),
                Some(other) => format!(" {}", (self.thread)(other)),
                None => String::new(),
            };
            let (thread, verb, location) = ((self.thread)(wait.thread), wait.verb, wait.location);
            text.push_str(&format!("\n  {thread} waits at {location}: {object}{verb}{on}"));
        }
        if let Some(cycle) = cycle(waiting) {
            let names: Vec<String> = cycle.iter().map(|&thread| (self.thread)(thread)).collect();
            text.push_str(&format!("\n  in a circle: {}", names.join(" waits for ")));
        }
        text
    }
}

/// Threads each of which waits for the next; the first is the last.
fn cycle(waiting: &[Waiting]) -> Option<Vec<usize>> {
    let on = |thread: usize| waiting.iter().find(|wait| wait.thread == thread).and_then(|wait| wait.on);
    waiting.iter().find_map(|start| {
        let mut path = vec![start.thread];
        while let Some(next) = path.last().and_then(|&thread| on(thread)) {
            if next == start.thread {
                path.push(next);
                return Some(path);
            }
            if path.contains(&next) {
                return None;
            }
            path.push(next);
        }
        None
    })
}
