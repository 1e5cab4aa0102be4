//! From a set back to its members: how many there are, and one of them.

use crate::space::{Space, Variable};
use crate::table::Bdd;
use num_bigint::BigUint;
use oxidd::bdd::BDDFunction;
use oxidd::util::OptBool;
use oxidd::{BooleanFunction, Function, HasLevel, Manager, Node};
use std::collections::HashMap;

impl Space {
    /// How many assignments to these variables are in the set; `None` if the set depends on other variables.
    #[expect(clippy::mutable_key_type, reason = "a diagram is known by its root, which does not change")]
    pub fn count(&self, set: &Bdd, variables: &[Variable]) -> Option<BigUint> {
        let mut levels: Vec<u32> =
            variables.iter().flat_map(|&variable| self.levels(variable).to_vec()).collect();
        levels.sort_unstable();
        levels.dedup();
        let depth: HashMap<u32, usize> =
            levels.iter().enumerate().map(|(depth, &level)| (level, depth)).collect();
        let mut known = HashMap::new();
        let (count, top) = count_below(&set.0, &depth, &mut known)?;
        Some(count << top)
    }

    /// One member of the set: the values of these variables in their order; 0 where the set does not care.
    pub fn pick(&self, set: &Bdd, variables: &[Variable]) -> Option<Vec<u64>> {
        let cube = set.0.pick_cube(|_, _, _| false)?;
        Some(
            variables
                .iter()
                .map(|&variable| {
                    let bits = self.levels(variable).iter().enumerate();
                    bits.map(|(bit, &level)| u64::from(cube[level as usize] == OptBool::True) << bit).sum()
                })
                .collect(),
        )
    }
}

/// The number of assignments to the counted levels from a function's top level on, and how many of them lie above it. Every
/// node is counted once.
#[expect(clippy::mutable_key_type, reason = "a diagram is known by its root, which does not change")]
fn count_below(
    function: &BDDFunction,
    depth: &HashMap<u32, usize>,
    known: &mut HashMap<BDDFunction, (BigUint, usize)>,
) -> Option<(BigUint, usize)> {
    let level = function.with_manager_shared(|manager, edge| match manager.get_node(edge) {
        Node::Inner(node) => Some(node.level()),
        Node::Terminal(_) => None,
    });
    let Some(level) = level else {
        return Some((BigUint::from(u32::from(function.valid())), depth.len()));
    };
    if let Some(counted) = known.get(function) {
        return Some(counted.clone());
    }
    let here = *depth.get(&level)?;
    let (high, low) = function.cofactors()?;
    let mut total = BigUint::ZERO;
    for child in [high, low] {
        let (count, top) = count_below(&child, depth, known)?;
        total += count << (top - here - 1);
    }
    known.insert(function.clone(), (total.clone(), here));
    Some((total, here))
}
