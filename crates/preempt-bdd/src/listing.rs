//! A diagram as a list of its nodes, for whoever reads diagrams by itself: files, and checkers that share no code.

use crate::space::Space;
use crate::table::{Bdd, Full};
use oxidd::bdd::BDDFunction;
use oxidd::{BooleanFunction, Function, HasLevel, Manager, Node};
use std::collections::HashMap;

/// A diagram as a list: children stand before their parents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The level, and the children for 0 and for 1: 0 is false, 1 is true, and `n + 2` is the n-th of this list.
    pub nodes: Vec<(u32, usize, usize)>,
    /// The diagram itself, named as the children are.
    pub root: usize,
}

impl Space {
    /// The nodes of a diagram, each once.
    #[expect(clippy::mutable_key_type, reason = "a diagram is known by its root, which does not change")]
    pub fn listing(&self, set: &Bdd) -> Result<Listing, Full> {
        let mut listing = Listing::default();
        let mut known: HashMap<BDDFunction, usize> = HashMap::new();
        let level = |function: &BDDFunction| {
            function.with_manager_shared(|manager, edge| match manager.get_node(edge) {
                Node::Inner(node) => Some(node.level()),
                Node::Terminal(_) => None,
            })
        };
        let mut waiting = vec![set.0.clone()];
        while let Some(function) = waiting.last().cloned() {
            if listing.nodes.len().is_multiple_of(1024) {
                self.go_on()?;
            }
            if known.contains_key(&function) {
                waiting.pop();
                continue;
            }
            let (Some(level), Some((high, low))) = (level(&function), function.cofactors()) else {
                known.insert(function.clone(), usize::from(function.valid()));
                waiting.pop();
                continue;
            };
            match (known.get(&low), known.get(&high)) {
                (Some(low), Some(high)) => {
                    listing.nodes.push((level, *low, *high));
                    known.insert(function, listing.nodes.len() + 1);
                    waiting.pop();
                }
                _ => waiting.extend([low, high]),
            }
        }
        listing.root = known.get(&set.0).copied().unwrap_or(0);
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Full, Layout, TableOptions};

    #[test]
    fn a_listing_says_the_same_as_the_diagram() -> Result<(), Full> {
        let mut layout = Layout::new();
        let (x, y) = (layout.add(8, 1), layout.add(8, 1));
        let space = layout.build(TableOptions { nodes: 1 << 10, cache: 1 << 8 })?;
        let set = space.sum(y, x, 3)?;
        let listing = space.listing(&set)?;
        assert_eq!(listing.nodes.len(), set.nodes() - 2, "the two constants are not listed");
        let holds = |x_value: u64, y_value: u64| {
            let mut at = listing.root;
            while at >= 2 {
                let (level, low, high) = listing.nodes[at - 2];
                let bit = |variable, value: u64| {
                    let bit = space.levels(variable).iter().position(|it| *it == level);
                    bit.map(|bit| value >> bit & 1 == 1)
                };
                let one = bit(x, x_value).or_else(|| bit(y, y_value)).expect("a bit of one of them");
                at = if one { high } else { low };
            }
            at == 1
        };
        for x in 0..8 {
            for y in 0..8 {
                assert_eq!(holds(x, y), y == x + 3, "{x} {y}");
            }
        }
        Ok(())
    }
}
