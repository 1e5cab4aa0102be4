//! A relation as a conjunction of parts that is never built: a set is joined with one part after the other, and what no
//! later part looks at is forgotten on the way (Burch, Clarke, Long 1991). The conjunction of many small functions may be
//! huge where the image of a set under it is not.

use crate::relation::Cube;
use crate::space::{Space, Variable};
use crate::table::{Bdd, Full};
use oxidd::bdd::BDDFunction;
use oxidd::{Function, HasLevel, Manager, Node};
use std::collections::{BTreeSet, HashSet};

/// The parts in their order, each with what is forgotten when it has been joined.
#[derive(Debug, Clone)]
pub struct Partition(Vec<(Bdd, Cube)>);

impl Space {
    /// The levels that a function depends on.
    pub fn support(&self, function: &Bdd) -> BTreeSet<u32> {
        let (mut support, mut seen) = (BTreeSet::new(), HashSet::new());
        let mut waiting: Vec<BDDFunction> = vec![function.0.clone()];
        while let Some(function) = waiting.pop() {
            let level = function.with_manager_shared(|manager, edge| match manager.get_node(edge) {
                Node::Inner(node) => Some(node.level()),
                Node::Terminal(_) => None,
            });
            let Some(level) = level else { continue };
            if seen.insert(function.clone()) {
                support.insert(level);
                waiting.extend(
                    oxidd::BooleanFunction::cofactors(&function)
                        .into_iter()
                        .flat_map(|(high, low)| [high, low]),
                );
            }
        }
        support
    }

    /// Neighbours together as long as their conjunction has at most so many nodes: fewer parts are fewer operations.
    pub fn clusters(&self, parts: &[Bdd], most: usize) -> Result<Vec<Bdd>, Full> {
        let mut clusters: Vec<Bdd> = Vec::new();
        for part in parts {
            self.go_on()?;
            match clusters.last_mut().filter(|last| last.nodes() + part.nodes() <= most) {
                Some(last) => {
                    let both = last.and(part)?;
                    match both.nodes() <= most {
                        true => *last = both,
                        false => clusters.push(part.clone()),
                    }
                }
                None => clusters.push(part.clone()),
            }
        }
        Ok(clusters)
    }

    /// The relation that is the conjunction of the parts, and the variables to forget from what is joined with it.
    pub fn partition(
        &self,
        parts: &[Bdd],
        forget: impl IntoIterator<Item = Variable>,
    ) -> Result<Partition, Full> {
        let everything = [self.yes()];
        let parts = if parts.is_empty() { &everything } else { parts };
        let supports: Vec<BTreeSet<u32>> = parts.iter().map(|part| self.support(part)).collect();
        let mut forgotten = vec![Vec::new(); parts.len()];
        for level in forget.into_iter().flat_map(|variable| self.levels(variable).to_vec()) {
            let last = supports.iter().rposition(|support| support.contains(&level));
            if let Some(levels) = forgotten.get_mut(last.unwrap_or(0)) {
                levels.push(level);
            }
        }
        let steps =
            parts.iter().zip(forgotten).map(|(part, levels)| Ok((part.clone(), self.cube_of(levels)?)));
        Ok(Partition(steps.collect::<Result<_, Full>>()?))
    }
}

impl Bdd {
    /// The image: everything that is joined with the parts, without what is to be forgotten.
    pub fn through(&self, partition: &Partition) -> Result<Bdd, Full> {
        let mut result = self.clone();
        for (part, cube) in &partition.0 {
            result = result.and_exists(part, cube)?;
        }
        Ok(result)
    }
}
