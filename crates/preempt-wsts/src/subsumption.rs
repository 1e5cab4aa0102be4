//! Markings in a trie, to find out whether one of them lies below a given one.
//!
//! A path spells the entries (place, tokens) of a marking in the order of places. Whatever lies below a marking
//! uses only its places, so that a lookup follows few of the branches, however many markings there are. In the worst case it
//! follows all of them; with a hundred thousand elements of eight tokens one takes microseconds.

use preempt_net::{Marking, Place};

#[derive(Debug, Default)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Sorted by place, then tokens.
    children: Vec<(Place, u64, u32)>,
    /// Which marking ends here.
    end: Option<u32>,
}

impl Trie {
    pub(crate) fn new() -> Trie {
        Trie { nodes: vec![Node::default()] }
    }

    pub(crate) fn insert(&mut self, marking: &Marking, number: u32) {
        let mut at = 0;
        for (place, tokens) in marking.iter() {
            let found = self.nodes[at].children.binary_search_by_key(&(place, tokens), |(p, n, _)| (*p, *n));
            at = match found {
                Ok(child) => self.nodes[at].children[child].2 as usize,
                Err(child) => {
                    let new = self.nodes.len();
                    self.nodes.push(Node::default());
                    self.nodes[at].children.insert(child, (place, tokens, new as u32));
                    new
                }
            };
        }
        self.nodes[at].end = Some(number);
    }

    /// Is a marking below this one, other than the one with number `except`?
    pub(crate) fn has_below(&self, marking: &Marking, except: Option<u32>) -> bool {
        self.below(0, marking.as_slice(), except).is_some()
    }

    /// The number of a marking below this one.
    pub(crate) fn find_below(&self, marking: &Marking) -> Option<u32> {
        self.below(0, marking.as_slice(), None)
    }

    /// Is a marking above this one? It looks at no more than `budget` branches, and then says no.
    pub(crate) fn has_above(&self, marking: &Marking, mut budget: u32) -> bool {
        self.above(0, marking.as_slice(), &mut budget)
    }

    fn above(&self, at: usize, entries: &[(Place, u64)], budget: &mut u32) -> bool {
        // Every node lies on the way to some marking.
        let Some((place, tokens)) = entries.first() else { return true };
        for (p, n, child) in &self.nodes[at].children {
            if *budget == 0 || p > place {
                return false;
            }
            *budget -= 1;
            let rest = if p == place { &entries[1..] } else { entries };
            if (p < place || n >= tokens) && self.above(*child as usize, rest, budget) {
                return true;
            }
        }
        false
    }

    fn below(&self, at: usize, entries: &[(Place, u64)], except: Option<u32>) -> Option<u32> {
        let node = &self.nodes[at];
        if node.end.is_some() && node.end != except {
            return node.end;
        }
        let mut children = node.children.as_slice();
        for (index, (place, tokens)) in entries.iter().enumerate() {
            if children.is_empty() {
                return None;
            }
            children = &children[children.partition_point(|(p, _, _)| p < place)..];
            let same = children.iter().take_while(|(p, n, _)| p == place && n <= tokens);
            for (_, _, child) in same {
                if let Some(found) = self.below(*child as usize, &entries[index + 1..], except) {
                    return Some(found);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_core::Rng;

    #[test]
    fn the_trie_answers_as_a_list_does() {
        let mut rng = Rng::new(12345);
        let mut below = |n: usize| rng.below(n) as u64;
        let mut trie = Trie::new();
        let mut list: Vec<Marking> = Vec::new();
        for number in 0..2000 {
            let marking: Marking = (0..6).map(|p| (p, if below(3) == 0 { below(5) } else { 0 })).collect();
            let expected = list.iter().any(|small| marking.covers(small));
            assert_eq!(trie.has_below(&marking, None), expected);
            let above = list.iter().any(|large| large.covers(&marking));
            assert_eq!(trie.has_above(&marking, u32::MAX), above || (list.is_empty() && marking.is_empty()));
            if !expected {
                trie.insert(&marking, number);
                assert!(!trie.has_below(&marking, Some(number)));
                list.push(marking);
            }
        }
    }

    /// A hundred thousand elements, and a lookup takes microseconds: far from looking at all of them.
    #[test]
    fn many_elements_are_searched_fast() {
        let mut rng = Rng::new(99);
        let mut below = |n: usize| rng.below(n) as u64;
        let mut random = |tokens: usize| -> Marking {
            (0..tokens).map(|_| (below(60) as u32, 1 + below(2))).collect::<Vec<_>>().into_iter().collect()
        };
        let mut trie = Trie::new();
        let mut count = 0;
        while count < 100_000 {
            let marking = random(8);
            if !trie.has_below(&marking, None) {
                trie.insert(&marking, count);
                count += 1;
            }
        }
        let start = std::time::Instant::now();
        let found = (0..20_000).filter(|_| trie.has_below(&random(8), None)).count();
        assert!(found < 20_000);
        // Comparing with each would take two thousand million comparisons.
        assert!(start.elapsed() < std::time::Duration::from_secs(4), "{:?}", start.elapsed());
    }
}
