//! What a command assigns to.

use preempt_model::Place;
use preempt_model::command::{Command, Pattern};

/// The places that a command stores to.
pub fn assigned_places<'m>(command: &'m Command, visit: &mut dyn FnMut(&'m Place)) {
    match command {
        Command::Assign(assignments) => assignments.iter().for_each(|(place, _)| visit(place)),
        Command::Receive { pattern, .. } => pattern.iter().for_each(|part| {
            if let Pattern::Bind(place) = part {
                visit(place);
            }
        }),
        Command::Run { result: Some((place, _)), .. } => visit(place),
        Command::Call { results, .. } => results.iter().for_each(visit),
        Command::Deterministic(block) => {
            let commands = block.nodes.iter().flatten().filter_map(|edge| edge.command.as_ref());
            commands.for_each(|command| assigned_places(command, visit));
        }
        _ => {}
    }
}
