//! Which steps an observer may see: those that can change what it reads. A reduction may put off the others only where
//! nobody who watches could tell (Peled, "Combining partial order reductions with on-the-fly model-checking", 1996): the
//! processes that are tried alone must make steps that are not seen, and the observer must not count how often a state
//! is repeated.

use super::exact::in_one_step;
use preempt_model::footprint::Channels;
use preempt_model::{Code, CodeId, Command, Expr, Footprint, LocationId, Model, Scope};
use std::collections::HashSet;

/// For each code and location: may a step from there be seen?
#[derive(Debug, Clone)]
pub struct VisibleLocations(Vec<Vec<bool>>);

impl VisibleLocations {
    /// `conditions` is what the observer reads; `accept` says whether it heeds accept labels.
    pub fn new(model: &Model, conditions: &[Expr], accept: bool) -> VisibleLocations {
        let sight = Sight::new(model, conditions, accept);
        let of_code = |(number, code): (usize, &Code)| {
            let id = CodeId(number as u16);
            (0..code.locations.len()).map(|location| sight.sees_step(model, id, location)).collect()
        };
        VisibleLocations(model.codes.iter().enumerate().map(of_code).collect())
    }

    #[inline]
    pub fn contains(&self, code: CodeId, location: LocationId) -> bool {
        self.0[usize::from(code.0)][location.0 as usize]
    }
}

/// What an observer reads.
#[derive(Default)]
struct Sight {
    everything: bool,
    variables: HashSet<(Scope, u32)>,
    channels: Vec<Channels>,
    /// Which processes there are.
    processes: bool,
    /// Codes whose variables it reads.
    codes: HashSet<CodeId>,
    /// Places where it matters whether a process stands there.
    locations: HashSet<(CodeId, LocationId)>,
    /// Can a step move two processes?
    has_rendezvous: bool,
}

impl Sight {
    fn new(model: &Model, conditions: &[Expr], accept: bool) -> Sight {
        let mut sight = Sight {
            has_rendezvous: model.templates.iter().any(|template| template.capacity == 0),
            ..Sight::default()
        };
        let mut progress = false;
        for condition in conditions {
            let footprint = Footprint::of(model, &Command::Guard(condition.clone()));
            sight.variables.extend(footprint.may_read.0);
            sight.channels.push(footprint.polls);
            condition.visit(&mut |expr| match expr {
                Expr::Timeout
                | Expr::Enabled(_)
                | Expr::PcValue(_)
                | Expr::Priority(_)
                | Expr::LastPid
                | Expr::SelfPid => sight.everything = true,
                Expr::Load(place) => sight.everything |= place.scope == Scope::Local,
                Expr::NonProgress => progress = true,
                Expr::ProcessCount => sight.processes = true,
                Expr::Remote { code, .. } => {
                    sight.processes = true;
                    sight.codes.insert(*code);
                }
                Expr::At { code, label, .. } => {
                    sight.processes = true;
                    let labels = &model.code(*code).labels;
                    sight.locations.extend(labels.get(*label as usize).map(|(_, at)| (*code, *at)));
                }
                _ => {}
            });
        }
        for (number, code) in model.codes.iter().enumerate() {
            let labelled = code
                .locations
                .iter()
                .enumerate()
                .filter(|(_, location)| accept && location.accept || progress && location.progress);
            let at = |(location, _)| (CodeId(number as u16), LocationId(location as u32));
            sight.locations.extend(labelled.map(at));
        }
        sight.processes |= !sight.locations.is_empty();
        sight
    }

    /// May a step from here change what is read? An atomic sequence is one step.
    fn sees_step(&self, model: &Model, code: CodeId, location: usize) -> bool {
        let code_itself = model.code(code);
        let passed = in_one_step(code_itself, location);
        let ends = passed.iter().flat_map(|at| &code_itself.locations[*at].edges).map(|edge| edge.target);
        let is_read = |at: LocationId| self.locations.contains(&(code, at));
        self.everything
            || self.codes.contains(&code)
            || passed.iter().any(|at| is_read(LocationId(*at as u32)))
            || ends.into_iter().any(is_read)
            || passed.iter().any(|at| {
                let footprint = Footprint::of_location(model, code, LocationId(*at as u32));
                let messages = [&footprint.sends, &footprint.receives];
                footprint.may_write.0.iter().any(|slot| self.variables.contains(slot))
                    || messages.iter().any(|used| self.channels.iter().any(|read| overlap(used, read)))
                    || self.has_rendezvous && messages.iter().any(|used| **used != Channels::None)
                    || self.processes && footprint.processes.writes
            })
    }
}

fn overlap(one: &Channels, other: &Channels) -> bool {
    match (one, other) {
        (Channels::None, _) | (_, Channels::None) => false,
        (Channels::All, _) | (_, Channels::All) => true,
        (Channels::These(one), Channels::These(other)) => !one.is_disjoint(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_model::generator::program_from_seed;

    /// Whoever reads nothing sees nothing, and whoever asks for everybody's next step sees every step.
    #[test]
    fn nothing_and_everything() {
        for seed in 0..20 {
            let (model, _) = program_from_seed(seed).to_model();
            let is_quiet = model.templates.iter().all(|template| template.capacity > 0);
            let nothing = VisibleLocations::new(&model, &[], false);
            assert!(!is_quiet || nothing.0.iter().flatten().all(|seen| !seen));
            let everything = VisibleLocations::new(&model, &[Expr::Timeout], false);
            assert!(everything.0.iter().flatten().all(|seen| *seen));
        }
    }

    /// Entering and leaving a labelled location is seen.
    #[test]
    fn labels_are_seen() {
        let (mut model, _) = program_from_seed(3).to_model();
        let labelled = 1;
        model.codes[0].locations[labelled].accept = true;
        let seen = VisibleLocations::new(&model, &[], true);
        let blind = VisibleLocations::new(&model, &[], false);
        assert!(seen.0[0][labelled]);
        for (from, location) in model.codes[0].locations.iter().enumerate() {
            let enters = location.edges.iter().any(|edge| edge.target.0 as usize == labelled);
            assert!(!enters || seen.0[0][from]);
        }
        assert!(!blind.0[0][labelled] || model.templates.iter().any(|template| template.capacity == 0));
    }
}
